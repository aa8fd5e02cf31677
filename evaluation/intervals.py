"""95 % intervals: of a mean, by the normal distribution, and of a share of match wins, after Wilson."""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass
from statistics import NormalDist

import numpy as np
import numpy.typing as npt

Z_95 = NormalDist().inv_cdf(0.975)


@dataclass(frozen=True, slots=True)
class Interval:
    """An estimate and the ends of its 95 % interval."""

    mean: float
    low: float
    high: float

    def to_dict(self) -> dict[str, float]:
        """Return {"mean", "low", "high"}."""
        return asdict(self)


def mean_interval(values: npt.NDArray[np.float64]) -> Interval:
    """Interval of the mean of independent `values`, float64 (n,), n >= 2: mean +- 1.96 s / sqrt(n)."""
    mean, half = float(values.mean()), half_width_of(values)
    return Interval(mean, mean - half, mean + half)


def half_width_of(values: npt.NDArray[np.float64]) -> float:
    """Half the width of that interval, 1.96 s / sqrt(n), of `values`, float64 (n,), n >= 2."""
    if values.shape[0] < 2:
        raise ValueError(f"{values.shape[0]} value(s) give no interval; allowed: at least 2")
    return Z_95 * float(values.std(ddof=1)) / math.sqrt(values.shape[0])


def pair_win_interval(pairs: npt.NDArray[np.float64], size: int = 2) -> Interval:
    """Wilson interval of a win rate measured in pairs of matches (or groups of `size`) on the same cards.

    `pairs`, float64 (n,): the mean of the results of a pair (1 won, 1/2 tied, 0 lost), each in 0..1. The
    matches of a pair are not independent: a pair counts as p (1 - p) / s**2 matches, where s**2 is the
    variance between pairs, but never as more than `size` nor as less than one.
    """
    n = pairs.shape[0]
    if n < 1:
        raise ValueError("no pair of matches gives no interval; allowed: at least 1")
    p = float(pairs.mean())
    spread = float(pairs.var(ddof=1)) if n > 1 else 0.25
    each = float(size) if spread == 0.0 and n > 1 else min(max(p * (1.0 - p) / spread, 1.0), float(size))
    matches = n * each
    z2 = Z_95 * Z_95
    centre = (p + z2 / (2.0 * matches)) / (1.0 + z2 / matches)
    half = Z_95 / (1.0 + z2 / matches) * math.sqrt(p * (1.0 - p) / matches + z2 / (4.0 * matches * matches))
    return Interval(p, max(0.0, min(p, centre - half)), min(1.0, max(p, centre + half)))

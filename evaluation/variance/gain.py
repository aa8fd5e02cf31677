"""What controls brought and what they cost, as the field `control` of an evaluation's JSON."""

from __future__ import annotations

import dataclasses
import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from evaluation.intervals import Interval
from evaluation.variance.fit import Controls, FloatArray, controlled, variance_ratio


@dataclass(frozen=True)
class ReferenceUse:
    """The reference pairs of an evaluation.

    Attributes:
        pairs: names of the two agents of each.
        plays: how often a pair played each deal.
        seconds: of work of all pairs, on evaluated and on further deals.
    """

    pairs: tuple[tuple[str, str], ...]
    plays: int
    seconds: float


def control_dict(
    margins: FloatArray,
    controls: Controls,
    margin: Interval,
    playouts: int,
    use: ReferenceUse | None,
    seconds: tuple[float, float],
) -> dict[str, Any]:
    """Return plain values; docs/evaluation.md describes them.

    `margins`, float64 (n,), plain; `margin`: the controlled one; `seconds`: of work on the deals, luck included, and of
    measuring luck.
    """
    better = controlled(margins, controls)
    ratio = variance_ratio(margins, better)
    deals, luck = seconds
    extra = use.seconds if use else 0.0
    spent = deals + extra
    return {
        "playouts": playouts,
        "reference": _reference(margins, controls, use, deals) if use else None,
        "margin": margin.to_dict(),
        "variance_ratio": ratio,
        "seconds": luck + extra,
        "efficiency": ratio * (deals - luck) / spent if spent else ratio,
    }


def _reference(margins: FloatArray, controls: Controls, use: ReferenceUse, seconds: float) -> dict[str, Any]:
    """Return what the pairs were, and which number of further deals would have been best."""
    without = dataclasses.replace(controls, reference=controls.reference[:, :0], further=controls.further[:, :0])
    before, after = (float(controlled(margins, some).var(ddof=1)) for some in (without, controls))
    return {
        "pairs": [list(pair) for pair in use.pairs],
        "plays": use.plays,
        "deals": len(controls.further),
        "seconds": use.seconds,
        "best_deals": best_deals(before, after, len(margins), len(controls.further), use.seconds / max(seconds, 1e-9)),
    }


def best_deals(before: float, after: float, deals: int, further: int, cost: float) -> int:
    """Return with how many further deals the interval would be narrowest for the time spent.

    `before`, `after`: variance of a deal without and with the reference, which took `cost` times as long as the
    `deals` evaluated ones, for them and `further` ones. With s times as many in all as are evaluated, a deal has the
    variance a + b / s, where a + b is `before`, and the time is 1 + c s: the product is least at s = sqrt(b / (a c)).
    """
    times = 1.0 + further / deals
    explained = max(0.0, before - after) / (1.0 - 1.0 / times)
    left, each = before - explained, cost / times
    if explained == 0.0:
        return 0
    best = math.sqrt(explained / max(left * each, np.finfo(np.float64).tiny))
    return round(deals * max(0.0, min(best, 1e6) - 1.0))

"""How much of a control to subtract, and what is gained.

Controls are of two kinds: of known mean 0 (luck), and such whose mean is itself estimated from other deals (what
cheaper agents came to). The second is what sampling theory calls double sampling: many cheap observations and few dear
ones, regression tying them together (Cochran, Sampling Techniques, 3rd ed. 1977, chapter 12).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
import numpy.typing as npt

from evaluation.play import LogArray

DEALS_A_CONTROL: Final = 20
"""Deals for each control of estimated mean that is used: with fewer, coefficients would be mostly noise."""

FloatArray = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Controls:
    """What is known of each of n duplicate deals besides its margin.

    Attributes:
        luck: of the agents, in A's favour, float64 (n, p), of mean 0; p is 0 where it was not measured.
        reference: what the reference pairs came to on the same deals, float64 (n, q).
        further: the same on m other deals, float64 (m, q), from which the mean is estimated.
    """

    luck: FloatArray
    reference: FloatArray
    further: FloatArray


def controls_of(log: LogArray, rows: Sequence[Sequence[int]], agents: int) -> FloatArray:
    """Return the luck of each of `agents` agents in each duplicate deal, float64 (deals, agents), in A's favour.

    `log`: DEAL_LOG (rows * deals,) ordered by row and deal; `rows`: which agent sits on each of the seats 0 to 3.
    """
    sign = np.where(np.arange(4) % 2 == log["team_of_a"][:, None], 1.0, -1.0)
    luck = (sign * log["luck"]).reshape(len(rows), -1, 4)
    sits = np.asarray(rows)[:, :, None] == np.arange(agents)
    result: FloatArray = np.einsum("rds,rsa->da", luck, sits.astype(np.float64)) / len(rows)
    return result


def controlled(values: FloatArray, found: Controls) -> FloatArray:
    """Return `values`, float64 (n,), less the part that the controls explain linearly.

    Of the q columns of `reference` the first are used, one for each DEALS_A_CONTROL of the n deals.

    The coefficients of one half of the deals (even or odd numbers) come from the other half. So they do not depend
    on what they multiply, and the mean over deals stays unbiased, whatever n and m. The result lies about its mean so
    widely that s / sqrt(n) holds the error of the mean of `further`, too.
    """
    n, m = values.shape[0], found.further.shape[0]
    used = min(found.reference.shape[1], n // DEALS_A_CONTROL)
    further = found.further[:, :used]
    mean = further.mean(axis=0) if used else np.zeros(0)
    controls = np.concatenate([found.luck, found.reference[:, :used] - mean], axis=1)
    half = np.arange(n) % 2
    result, weights = values.copy(), np.zeros(used)
    for side in (0, 1):
        own, other = half == side, half != side
        coefficients = _coefficients(values[other], controls[other], used, n / max(m, 1))
        result[own] -= controls[own] @ coefficients
        weights += own.mean() * coefficients[found.luck.shape[1] :]
    return _widened(result, float(((further - mean) @ weights).var(ddof=1)) / m) if used else result


def _coefficients(values: FloatArray, controls: FloatArray, used: int, share: float) -> FloatArray:
    """Return the best coefficients of `values` on `controls`, float64 (p,); 0 for what never varies.

    The means of the last `used` controls are estimated from 1 / `share` times as many deals as are evaluated, so the
    difference between both means varies 1 + `share` times as much as the mean over the evaluated deals. Their sums of
    squares count as so many times as large, which is what the rows below the others do in least squares.
    """
    centred = controls - controls.mean(axis=0)
    noise = math.sqrt(share) * centred
    noise[:, : controls.shape[1] - used] = 0.0
    rows = np.concatenate([centred, noise]) if used else centred
    aims = np.concatenate([values - values.mean(), np.zeros(len(rows) - len(values))])
    solution: FloatArray = np.linalg.lstsq(rows, aims, rcond=None)[0]
    return solution


def _widened(values: FloatArray, error: float) -> FloatArray:
    """Return `values`, float64 (n,), with the variance `error` added to that of their mean, which stays."""
    own = float(values.var(ddof=1)) / values.shape[0]
    if own == 0.0:
        return values
    mean = values.mean()
    result: FloatArray = mean + (values - mean) * math.sqrt(1.0 + error / own)
    return result


def variance_ratio(values: FloatArray, better: FloatArray) -> float:
    """Return how many times as many deals the plain `values` need for the same interval as `better`."""
    after = float(better.var(ddof=1))
    before = float(values.var(ddof=1))
    if after == 0.0:
        return 1.0 if before == 0.0 else float("inf")
    return before / after

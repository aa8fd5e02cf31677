"""How much of a control to subtract, and what is gained."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from evaluation.play import LogArray

FloatArray = npt.NDArray[np.float64]


def controls_of(log: LogArray, rows: Sequence[Sequence[int]], agents: int) -> FloatArray:
    """Return the luck of each of `agents` agents in each duplicate deal, float64 (deals, agents), in A's favour.

    `log`: DEAL_LOG (rows * deals,) ordered by row and deal; `rows`: which agent sits on each of the seats 0 to 3.
    """
    sign = np.where(np.arange(4) % 2 == log["team_of_a"][:, None], 1.0, -1.0)
    luck = (sign * log["luck"]).reshape(len(rows), -1, 4)
    sits = np.asarray(rows)[:, :, None] == np.arange(agents)
    result: FloatArray = np.einsum("rds,rsa->da", luck, sits.astype(np.float64)) / len(rows)
    return result


def controlled(values: FloatArray, controls: FloatArray) -> FloatArray:
    """Return `values`, float64 (n,), less the part that `controls`, float64 (n, p) of mean 0, explain linearly.

    The coefficients of one half of the deals (even or odd numbers) come from the other half, least squares about the
    means. So they do not depend on what they multiply, and the mean over deals stays unbiased, whatever n.
    """
    half = np.arange(values.shape[0]) % 2
    result = values.copy()
    for side in (0, 1):
        own, other = half == side, half != side
        result[own] -= controls[own] @ _coefficients(values[other], controls[other])
    return result


def _coefficients(values: FloatArray, controls: FloatArray) -> FloatArray:
    """Return the least-squares coefficients of `values` on `controls`, float64 (p,); 0 for what never varies."""
    centred = controls - controls.mean(axis=0)
    solution: FloatArray = np.linalg.lstsq(centred, values - values.mean(), rcond=None)[0]
    return solution


def variance_ratio(values: FloatArray, better: FloatArray) -> float:
    """Return how many times as many deals the plain `values` need for the same interval as `better`."""
    after = float(better.var(ddof=1))
    before = float(values.var(ddof=1))
    if after == 0.0:
        return 1.0 if before == 0.0 else float("inf")
    return before / after

"""How much of a control to subtract, and what is gained."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

FloatArray = npt.NDArray[np.float64]


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

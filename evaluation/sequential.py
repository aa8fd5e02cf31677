"""Playing until an interval is as narrow as was asked for: when to look, and when to stop.

The looks stand fixed beforehand, so where an evaluation stops does not depend on how its games were cut into parts.
"""

from __future__ import annotations

from typing import Final, Literal

import numpy as np
import numpy.typing as npt

from evaluation.intervals import half_width_of

FIRST_LOOK: Final = 500
"""Deals before the first look: fewer say too little of the standard deviation."""
STEP: Final = 10
"""From one look to the next it is a tenth, one over STEP, of the deals so far."""
DEFAULT_MAX_DEALS: Final = 2_000_000

Stopped = Literal["deals", "half_width", "max_deals"]
"""Why an evaluation ended: all deals asked for; narrow enough; no more allowed."""


def next_look(deals: int) -> int:
    """Return the first look after `deals` deals: 500, 550, 605, ..., each a tenth (rounded down) after the last."""
    look = FIRST_LOOK
    while look <= deals:
        look += look // STEP
    return look


def previous_look(look: int) -> int | None:
    """Return the look before `look`, or None before the first one."""
    before, at = None, FIRST_LOOK
    while at < look:
        before, at = at, at + at // STEP
    return before


def verdict(margins: npt.NDArray[np.float64], half_width: float, max_deals: int) -> Stopped | None:
    """Say whether to stop after `margins`, float64 (n,), n being a look or `max_deals`; None: go on.

    Stopped is one look after 1.96 s / sqrt(n) <= half_width was first found. To stop at once would favour moments at
    which s happens to be small, and so cover the truth too rarely; some more observations make up for it (Simons,
    "On the cost of not knowing the variance when making a fixed-width confidence interval for the mean", 1968).
    """
    n = margins.shape[0]
    before = previous_look(n)
    if before is not None and half_width_of(margins[:before]) <= half_width:
        return "half_width"
    if n >= max_deals:
        return "half_width" if half_width_of(margins) <= half_width else "max_deals"
    return None


def expected_deals(margins: npt.NDArray[np.float64], half_width: float, max_deals: int) -> int:
    """Return about how many deals it will take, judging by those played, float64 (n,), n >= 2; for time left."""
    n = margins.shape[0]
    needed = n * (half_width_of(margins) / half_width) ** 2
    return max(n, min(max_deals, next_look(next_look(int(min(needed, max_deals))))))

"""Playing until an interval is as narrow as was asked for: when to look, and when to stop.

The looks stand fixed beforehand, so where an evaluation stops does not depend on how its games were cut into parts.
"""

from __future__ import annotations

import math
from typing import Final, Literal

import numpy as np
import numpy.typing as npt

from evaluation.intervals import half_width_of

FIRST_LOOK: Final = 500
"""Deals before the first look: fewer say too little of the standard deviation."""
STEP: Final = 10
"""From one look to the next it is a tenth, one over STEP, of the deals so far."""
DEFAULT_MAX_DEALS: Final = 2_000_000
SWING: Final = 500.0
"""Points by which one rare event is taken to move the margin of a duplicate deal at most: a bid of 13 instead of the
usual one was measured to cost up to 170."""
UNSEEN: Final = 3.0
"""The rule of three: what has not happened in n deals has a chance below 3 / n, at 95 %."""

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


def least_deals(half_width: float) -> int:
    """Return how many deals a stop needs at least, 3 * SWING / half_width, however narrow the interval is by then.

    A standard deviation says nothing of what has not happened yet. With so many deals, whatever moves the mean by more
    than `half_width` has been seen, at 95 %. (Hanley and Lippman-Hand, "If nothing goes wrong, is everything all
    right?", JAMA 249, 1983.)
    """
    return math.ceil(min(UNSEEN * SWING / half_width, 2.0**62))


def verdict(margins: npt.NDArray[np.float64], half_width: float, max_deals: int, alike: bool = False) -> Stopped | None:
    """Say whether to stop after `margins`, float64 (n,), n being a look or `max_deals`; None: go on.

    `alike`: an agent against itself, whose margins are 0 by construction, so that there is nothing to wait for.

    Stopped is one look after 1.96 s / sqrt(n) <= half_width was first found with `least_deals` played. To stop at once
    would favour moments at which s happens to be small, and so cover the truth too rarely; some more observations make
    up for it (Simons, "On the cost of not knowing the variance when making a fixed-width confidence interval for the
    mean", 1968).
    """
    n = margins.shape[0]
    least = 0 if alike else least_deals(half_width)

    def enough(deals: int) -> bool:
        return deals >= least and half_width_of(margins[:deals]) <= half_width

    before = previous_look(n)
    if before is not None and enough(before):
        return "half_width"
    if n >= max_deals:
        return "half_width" if enough(n) else "max_deals"
    return None


def expected_deals(margins: npt.NDArray[np.float64], half_width: float, max_deals: int, alike: bool = False) -> int:
    """Return about how many deals it will take, judging by those played, float64 (n,), n >= 2; for time left."""
    n = margins.shape[0]
    needed = max(n * (half_width_of(margins) / half_width) ** 2, 0 if alike else least_deals(half_width))
    return max(n, min(max_deals, next_look(next_look(int(min(needed, max_deals))))))

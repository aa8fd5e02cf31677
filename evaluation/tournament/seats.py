"""Mixed teams: who sits with whom in each game of the schedule in which every seat is rated for itself."""

from __future__ import annotations

from typing import Final

import numpy as np
import numpy.typing as npt

CHAIRS: Final = 4
PURPOSE_LINE_UPS: Final = 2
"""Distinguishes, of one seed, what is drawn here from what the other modules of this folder draw."""


def mixed_line_ups(limits: list[int], games: int, seed: int) -> npt.NDArray[np.int8]:
    """Return who sits on each chair, int8 (n, 4), four different agents a game; chairs 0 and 2 are partners.

    Round by round all agents are shuffled and seated four at a time; the one to three left over sit out. Agent k
    plays at most `limits[k]` games; n is `games`, or less when fewer than four agents may still play. The first
    games are the same whatever `games` is.
    """
    seated = np.zeros(len(limits), np.int64)
    line_ups: list[npt.NDArray[np.int64]] = []
    turn = 0
    while len(line_ups) < games:
        able = np.flatnonzero(seated < limits)
        if len(able) < CHAIRS:
            break
        order = np.random.default_rng([seed, PURPOSE_LINE_UPS, turn]).permutation(able)
        for start in range(0, len(order) - CHAIRS + 1, CHAIRS):
            line_ups.append(order[start : start + CHAIRS])
            seated[line_ups[-1]] += 1
        turn += 1
    return np.array(line_ups[:games], np.int8).reshape(-1, CHAIRS)

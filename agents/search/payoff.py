"""What a deal is worth to team 0, for every way in which its remaining tricks may still be divided.

The value of one split is `split_value` of agents/stakes.py; here they are tabulated for a search.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from agents.stakes import Stakes, split_value
from spades_env.engine.kernel import kernel
from spades_env.engine.state import FAILED_HELP_PARTNER

FloatArray = npt.NDArray[np.float64]


@kernel
def partners_alike(game: np.void, team: int) -> bool:
    """Whether only the sum of both partners' tricks counts for `team`; so it is with a team of one seat."""
    rules = game["rules"]
    if int(rules["players"]) == 2:
        return True
    nils = int(game["bids"][team] == 0) + int(game["bids"][team + 2] == 0)
    if nils == 0:
        return int(rules["individual"]) == 0
    if nils == 2:
        return int(rules["both_nil_unit"]) == 1
    if int(rules["failed_nil"]) != FAILED_HELP_PARTNER:
        return False
    nil = team if int(game["bids"][team]) == 0 else team + 2
    return int(game["tricks"][nil]) > 0


@kernel
def fill_payoffs(game: np.void, stakes: Stakes, out: FloatArray) -> None:
    """`split_value` of every split of the R tricks left, the one in progress included.

    `out`, float64 of at least (R + 1)**3 entries, has the value at index (a * (R + 1) + b) * (R + 1) + c, where
    seats 0, 1, 2 take a, b, c more tricks and seat 3 the rest. Where partners are alike, all their tricks count as
    those of seat 0 or of seat 3: then only entries with c = 0, or b = 0, are written.
    """
    rules = game["rules"]
    left = int(rules["hand_size"]) - int(game["trick"])
    size = left + 1
    alike_0, alike_1 = partners_alike(game, 0), partners_alike(game, 1)
    four = int(rules["players"]) == 4
    taken_0, taken_1 = int(game["tricks"][0]), int(game["tricks"][1])
    taken_2, taken_3 = int(game["tricks"][2]), int(game["tricks"][3])
    for a in range(size):
        for b in range(1 if alike_1 else size - a):
            for c in range(1 if alike_0 else size - a - b):
                rest = left - a - b - c
                if four:
                    value = split_value(game, taken_0 + a, taken_1 + b, taken_2 + c, taken_3 + rest, stakes)
                else:
                    value = split_value(game, taken_0 + a, taken_1 + rest, 0, 0, stakes)
                out[(a * size + b) * size + c] = value

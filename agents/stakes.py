"""What agents play for: points in single deals and far from the end of a match, the chance to win it near the end.

A kernel that values outcomes takes `stakes`, the pair (values, grid) of an equity table; POINTS, with an empty table,
stands for points. How near the end is: some team could end the match within about two deals.
"""

from __future__ import annotations

from typing import Final

import numpy as np

from agents.equity.grid import GRID
from agents.equity.lookup import TableArray, match_equity
from spades_env.engine.kernel import inline_kernel, kernel
from spades_env.engine.scoring import bag_penalty, deal_points
from spades_env.engine.state import NONE, StateArray

Stakes = tuple[TableArray, StateArray]

POINTS: Final[Stakes] = (np.zeros((0, 0, 0, 0), np.float32), np.zeros(1, GRID))
POINTS[0].flags.writeable = False  # like a table's values: one type, so that kernels are compiled once
WIN: Final = 1000.0
"""What a certain win is worth when matches count, so that a point is worth about one in mid-match."""
NEAR_END: Final = 150
"""With a team this close to the target or to mercy, `auto` plays for the match."""


@inline_kernel
def kept_bags_cost(rules: np.void, before: int, left: int) -> float:
    """Points that the bags of a deal cost which brought no penalty: each its share of the next one (R21).

    `before` and `left` are the counts on the sheet; a lower one afterwards means that a penalty has been paid.
    """
    limit = int(rules["bag_limit"])
    if limit == 0:
        return 0.0
    kept = left - before if left >= before else left - before + limit - 1
    return kept * int(rules["bag_penalty"]) / limit


@inline_kernel
def worth(game: np.void, points_0: int, left_0: int, points_1: int, left_1: int, stakes: Stakes) -> float:
    """What the deal in progress is worth to team 0 if the teams score these points, penalties included.

    `left_*` is the bag count afterwards. As points: the difference as scored, every bag that brings no penalty itself
    charged with its share of one (a careful player's price: near the limit it is dearer than the match makes it). As
    a match: WIN times the chance to win it.
    """
    if stakes[0].shape[0] > 0:
        return WIN * match_equity(
            stakes[0],
            stakes[1],
            int(game["scores"][0]) + points_0,
            int(game["scores"][1]) + points_1,
            left_0,
            left_1,
            1 - int(game["dealer"]) % 2,
        )
    cost_0 = kept_bags_cost(game["rules"], int(game["bags"][0]), left_0)
    cost_1 = kept_bags_cost(game["rules"], int(game["bags"][1]), left_1)
    return points_0 - points_1 - cost_0 + cost_1


@kernel
def is_near_end(game: np.void) -> bool:
    """Whether a team is so close to the target or to mercy that the match counts, not the points (see NEAR_END)."""
    rules = game["rules"]
    high = max(int(game["scores"][0]), int(game["scores"][1]))
    low = min(int(game["scores"][0]), int(game["scores"][1]))
    mercy = int(rules["mercy"])
    return high >= int(rules["target"]) - NEAR_END or (mercy != NONE and low <= mercy + NEAR_END)


@inline_kernel
def team_outcome(game: np.void, team: int, tricks: int, partner_tricks: int) -> tuple[int, int]:
    """(points of the deal, penalty included; bags left on the sheet) of a team with these tricks (R17-R22).

    `game` is a STATE record before the deal is scored; `tricks` are those of the seat with the team's number.
    """
    rules = game["rules"]
    bid, blind = -1, 0
    if int(rules["players"]) == 4:
        bid, blind = int(game["bids"][team + 2]), int(game["blind"][team + 2])
    points, nils, bags = deal_points(
        rules, int(game["bids"][team]), int(game["blind"][team]), tricks, bid, blind, partner_tricks
    )
    penalty, left = bag_penalty(rules, int(game["bags"][team]) + bags)
    return points + nils + bags * int(rules["bag_points"]) + penalty, left


@inline_kernel
def split_value(game: np.void, tricks_0: int, tricks_1: int, tricks_2: int, tricks_3: int, stakes: Stakes) -> float:
    """`worth` of the deal if the seats end it with these tricks; with two players seats 2 and 3 have none."""
    points_0, left_0 = team_outcome(game, 0, tricks_0, tricks_2)
    points_1, left_1 = team_outcome(game, 1, tricks_1, tricks_3)
    return worth(game, points_0, left_0, points_1, left_1, stakes)

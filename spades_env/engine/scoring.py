"""Scoring a deal and ending a match, to be read beside R16-R26.

`deal_points` and `bag_penalty` are pure functions of numbers; solver, bots and tests call them as they are.
"""

from __future__ import annotations

import numpy as np

from spades_env.engine.kernel import kernel
from spades_env.engine.state import (
    FAILED_HELP_PARTNER,
    FAILED_IGNORED,
    NONE,
    PHASE_DEAL_OVER,
    PHASE_MATCH_OVER,
)


@kernel
def contract_points(contract: int, counted: int) -> tuple[int, int]:
    """(points, bags) of a contract for which `counted` tricks count (R18)."""
    if counted >= contract:
        return 10 * contract, counted - contract
    return -10 * contract, 0


@kernel
def nil_points(rules: np.void, blind: int, tricks: int) -> int:
    """Points of one nil, blind if `blind` is 1, whose seat took `tricks` (R19)."""
    value = int(rules["blind_nil_value"]) if blind == 1 else int(rules["nil_value"])
    return value if tricks == 0 else -value


@kernel
def nil_unit_points(rules: np.void, blind_a: int, blind_b: int, tricks: int) -> int:
    """Points of two nils of a team under `both_nil: unit`; `tricks` is the sum of both seats' tricks."""
    value = nil_points(rules, blind_a, 0) + nil_points(rules, blind_b, 0)
    return value if tricks == 0 else -value


@kernel
def deal_points(
    rules: np.void, bid_a: int, blind_a: int, tricks_a: int, bid_b: int, blind_b: int, tricks_b: int
) -> tuple[int, int, int]:
    """Points of a team for its contract and for its nils, and its bags, from two seats' bids and tricks (R17-R20).

    A team of one seat gives the second seat a bid of -1 and no tricks (R22).
    """
    if bid_a == 0 and bid_b == 0 and int(rules["both_nil_unit"]) == 1:
        return 0, nil_unit_points(rules, blind_a, blind_b, tricks_a + tricks_b), 0
    failed_nil = int(rules["failed_nil"])
    contract, counted, nil_tricks, nils = 0, 0, 0, 0
    points, bags = 0, 0
    for k in range(2):
        bid, blind, tricks = (bid_a, blind_a, tricks_a) if k == 0 else (bid_b, blind_b, tricks_b)
        if bid == 0:
            nils += nil_points(rules, blind, tricks)
            nil_tricks += tricks
        elif bid > 0 and int(rules["individual"]) == 1:
            own_points, own_bags = contract_points(bid, tricks)
            points += own_points
            bags += own_bags
        elif bid > 0:
            contract += bid
            counted += tricks
    if failed_nil == FAILED_HELP_PARTNER and contract > 0:
        counted += nil_tricks
    elif failed_nil != FAILED_IGNORED:
        bags += nil_tricks
    team_points, team_bags = contract_points(contract, counted)
    return points + team_points, nils, bags + team_bags


@kernel
def bag_penalty(rules: np.void, count: int) -> tuple[int, int]:
    """(points taken, as 0 or a negative number; bags left) for a bag count after a deal (R21)."""
    limit = int(rules["bag_limit"])
    if limit == 0 or count < limit:
        return 0, count
    if int(rules["bag_reset"]) == 1:
        return -int(rules["bag_penalty"]), 0
    return -int(rules["bag_penalty"]) * (count // limit), count % limit


@kernel
def score_team(game: np.void, team: int) -> None:
    """Write the itemised result of `team` and add it to its score and bags (R17-R22)."""
    rules, result = game["rules"], game["result"]
    bid_b, blind_b, tricks_b = -1, 0, 0
    if int(rules["players"]) == 4:
        partner = team + 2
        bid_b, blind_b = int(game["bids"][partner]), int(game["blind"][partner])
        tricks_b = int(game["tricks"][partner])
    points, nils, bags = deal_points(
        rules,
        int(game["bids"][team]),
        int(game["blind"][team]),
        int(game["tricks"][team]),
        bid_b,
        blind_b,
        tricks_b,
    )
    penalty, left = bag_penalty(rules, int(game["bags"][team]) + bags)
    bag_points = bags * int(rules["bag_points"])
    result["contract"][team] = points
    result["nil"][team] = nils
    result["bags"][team] = bags
    result["bag_points"][team] = bag_points
    result["penalty"][team] = penalty
    game["scores"][team] = int(game["scores"][team]) + points + nils + bag_points + penalty
    game["bags"][team] = left
    if int(game["tricks"][team]) + tricks_b == int(rules["hand_size"]):
        result["boston"] = team  # R16


@kernel
def deal_value(game: np.void, team: int, bag_price: float) -> float:
    """Points of `team` in the deal scored last: bags priced at `bag_price`, or as scored if that is NaN."""
    result = game["result"]
    points = float(int(result["contract"][team]) + int(result["nil"][team]))
    if np.isnan(bag_price):
        return points + float(int(result["bag_points"][team]) + int(result["penalty"][team]))
    return points + bag_price * float(int(result["bags"][team]))


@kernel
def match_winner(game: np.void) -> int:
    """The team that has won by the scores after a deal, or -1 (R24, R25)."""
    rules = game["rules"]
    score_0, score_1 = int(game["scores"][0]), int(game["scores"][1])
    if score_0 == score_1:
        return -1
    high, low = max(score_0, score_1), min(score_0, score_1)
    mercy = int(rules["mercy"])
    if high >= int(rules["target"]) or (mercy != NONE and low <= mercy):
        return 0 if score_0 > score_1 else 1
    return -1


@kernel
def finish_deal(game: np.void) -> None:
    """Score the deal that has just been played out and decide whether the match is over (R24-R26)."""
    game["result"]["boston"] = -1
    game["result"]["scored"] = 1
    score_team(game, 0)
    score_team(game, 1)
    game["winner"] = match_winner(game)
    max_deals = int(game["rules"]["max_deals"])
    if int(game["winner"]) >= 0:
        game["phase"] = PHASE_MATCH_OVER
    elif max_deals > 0 and int(game["deal"]) + 1 >= max_deals:
        game["truncated"] = 1
        game["phase"] = PHASE_MATCH_OVER
    else:
        game["phase"] = PHASE_DEAL_OVER

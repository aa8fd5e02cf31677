"""Where the two teams stand in a deal: what each still needs, whose nil is alive, whether more tricks are wanted.

All take a STATE record or the `known` part of a view and read only what the seat to act may know.
"""

from __future__ import annotations

import numpy as np

from agents.stakes import Stakes, split_value
from spades_env.engine.kernel import inline_kernel, kernel
from spades_env.engine.scoring import bag_penalty
from spades_env.engine.state import FAILED_HELP_PARTNER, FAILED_IGNORED

SET_CHANCE = (0.90, 0.60, 0.30, 0.12)
"""Chance to set opponents who can afford to lose 0, 1, 2 or 3 of the tricks left, if we fight for every trick."""


@inline_kernel
def nil_alive(game: np.void, seat: int) -> bool:
    """Whether the nil of `seat` (of any kind) may still be made; under `both_nil: unit` two stand or fall together."""
    if int(game["bids"][seat]) != 0 or int(game["tricks"][seat]) > 0:
        return False
    if int(game["rules"]["both_nil_unit"]) == 0:
        return True
    partner = (seat + 2) & 3
    return int(game["bids"][partner]) != 0 or int(game["tricks"][partner]) == 0


@inline_kernel
def team_need(game: np.void, seat: int, players: int) -> int:
    """Tricks that the team of `seat` still needs for its contract, negative for tricks above it (R17, R18).

    With individual contracts the seat's own; who has no contract needs none.
    """
    rules = game["rules"]
    bid, tricks = int(game["bids"][seat]), int(game["tricks"][seat])
    if players == 2 or int(rules["individual"]) == 1:
        return bid - tricks if bid > 0 else 0
    partner = (seat + 2) & 3
    partner_bid, partner_tricks = int(game["bids"][partner]), int(game["tricks"][partner])
    helps = int(rules["failed_nil"]) == FAILED_HELP_PARTNER
    counted = 0
    if bid > 0 or helps:
        counted += tricks
    if partner_bid > 0 or helps:
        counted += partner_tricks
    contract = bid + partner_bid
    return contract - counted if contract > 0 else 0


@inline_kernel
def bag_cost(game: np.void, team: int, have: int, more: int) -> float:
    """Points that `more` bags cost `team` on top of `have` bags of this deal, negative if bags pay.

    A penalty costs what it takes (R21); a bag that stays on the sheet costs its share of the next one.
    """
    rules = game["rules"]
    limit = int(rules["bag_limit"])
    cost = float(-more * int(rules["bag_points"]))
    if limit == 0:
        return cost
    before = int(game["bags"][team]) + have
    taken, _ = bag_penalty(rules, before)
    penalty, _ = bag_penalty(rules, before + more)
    if penalty != taken:
        return cost + float(taken - penalty)
    return cost + float(more * int(rules["bag_penalty"])) / float(limit)


@kernel
def taker(game: np.void, team: int, players: int) -> int:
    """The seat of `team` to which further tricks are booked: one that has made an ordinary bid, if there is one."""
    return team + 2 if players == 4 and int(game["bids"][team]) == 0 else team


@kernel
def end_worth(game: np.void, team: int, ours: int, theirs: int, players: int, stakes: Stakes) -> float:
    """What the deal is worth to `team` if it takes `ours` of the tricks left and the others `theirs`."""
    taker_0, taker_1 = taker(game, 0, players), taker(game, 1, players)
    more_0, more_1 = (ours, theirs) if team == 0 else (theirs, ours)
    tricks_2, tricks_3 = (int(game["tricks"][2]), int(game["tricks"][3])) if players == 4 else (0, 0)
    value = split_value(
        game,
        int(game["tricks"][0]) + (more_0 if taker_0 == 0 else 0),
        int(game["tricks"][1]) + (more_1 if taker_1 == 1 else 0),
        tricks_2 + (more_0 if taker_0 == 2 else 0),
        tricks_3 + (more_1 if taker_1 == 3 else 0),
        stakes,
    )
    return value if team == 0 else -value


@kernel
def fights_for_match(game: np.void, team: int, slack: int, left: int, players: int, stakes: Stakes) -> bool:
    """Whether trying to set the others is worth more for the match than letting them make their contract."""
    most = end_worth(game, team, left, 0, players, stakes)
    set_them = end_worth(game, team, slack + 1, left - slack - 1, players, stakes)
    just_made = end_worth(game, team, slack, left - slack, players, stakes)
    duck = end_worth(game, team, 0, left, players, stakes)
    chance = SET_CHANCE[slack] if slack < 4 else 0.0
    return max(most, chance * set_them + (1.0 - chance) * just_made) > duck + 1e-9


@inline_kernel
def wants_for_points(game: np.void, seat: int, players: int, need: int) -> bool:
    """Whether the seat to act tries to win tricks where points count: for the contract, to set, or as bags are free.

    `need` is what `team_need` says of her.
    """
    team = seat & 1
    rules = game["rules"]
    if need > 0 or bag_cost(game, team, -need, 1) <= 0.0:
        return True
    if int(rules["individual"]) == 1:
        return False  # to set the others, each her own contract, is not tried
    if int(game["bids"][seat]) == 0 and int(rules["failed_nil"]) == FAILED_IGNORED:
        return True  # her nil is lost and her tricks cost nothing (R22)
    left = int(game["rules"]["hand_size"]) - int(game["trick"])
    need_them = team_need(game, 1 - team, players)
    slack = left - need_them
    if need_them <= 0 or slack < 0 or slack > 3:
        return False
    contract = int(game["bids"][1 - team])
    if players == 4:
        contract += int(game["bids"][3 - team])
    return SET_CHANCE[slack] * 20.0 * contract > bag_cost(game, team, -need, slack + 1)


@kernel
def wants_for_match(game: np.void, seat: int, players: int, need: int, stakes: Stakes) -> bool:
    """Whether the seat to act tries to win tricks where the match counts."""
    team = seat & 1
    if need > 0:
        return True
    left = int(game["rules"]["hand_size"]) - int(game["trick"])
    need_them = team_need(game, 1 - team, players)
    slack = left - need_them
    if need_them <= 0 or slack < 0:
        return end_worth(game, team, 1, left - 1, players, stakes) > end_worth(game, team, 0, left, players, stakes)
    return fights_for_match(game, team, slack, left, players, stakes)

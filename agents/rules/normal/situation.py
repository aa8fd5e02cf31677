"""Where the two teams stand in a deal: what each still needs, whose nil is alive, whether more tricks are wanted.

All take a STATE record or the `known` part of a view and read only what the seat to act may know.
"""

from __future__ import annotations

import numpy as np

from agents.rules.facts import trick_so_far
from agents.stakes import Stakes, split_value
from spades_env.engine.kernel import inline_kernel, kernel
from spades_env.engine.scoring import bag_penalty
from spades_env.engine.state import FAILED_BAGS_ONLY, FAILED_HELP_PARTNER, FAILED_IGNORED

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
    """Tricks still needed for the contract that `seat` plays for, negative for tricks above it (R17, R18).

    That is her team's; with individual contracts her own, or her partner's if she bid nil. Without any it is 0.
    """
    rules = game["rules"]
    bid, tricks = int(game["bids"][seat]), int(game["tricks"][seat])
    if players == 2 or (int(rules["individual"]) == 1 and bid > 0):
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
def tricks_help(game: np.void, seat: int) -> bool:
    """Whether tricks of `seat` count for a contract: not those of a nil, unless the rules say so (R17, R20)."""
    return int(game["bids"][seat]) != 0 or int(game["rules"]["failed_nil"]) == FAILED_HELP_PARTNER


@inline_kernel
def partner_helps(game: np.void, seat: int) -> bool:
    """Whether a trick of the partner of `seat` is one towards what `seat` needs, as `team_need` counts it."""
    if int(game["rules"]["individual"]) == 1 and int(game["bids"][seat]) > 0:
        return False
    return tricks_help(game, (seat + 2) & 3)


@inline_kernel
def tricks_are_nothing(game: np.void, seat: int, players: int) -> bool:
    """Whether tricks of `seat` give neither points nor bags: `failed_nil: ignored` (R22), two nils lost as a unit."""
    rules = game["rules"]
    if int(game["bids"][seat]) != 0:
        return False
    if players == 4 and int(rules["both_nil_unit"]) == 1 and int(game["bids"][(seat + 2) & 3]) == 0:
        return True
    return int(rules["failed_nil"]) == FAILED_IGNORED


@inline_kernel
def bags_so_far(game: np.void, seat: int, players: int, need: int) -> int:
    """Bags that the team of `seat` has taken in this deal (R18, R20); `need` is what `team_need` says of her."""
    rules = game["rules"]
    individual = int(rules["individual"]) == 1
    bags = 0 if individual or need > 0 else -need
    for k in range(players >> 1):
        other = (seat + 2 * k) & 3
        bid, tricks = int(game["bids"][other]), int(game["tricks"][other])
        if bid == 0 and int(rules["failed_nil"]) == FAILED_BAGS_ONLY:
            bags += tricks
        elif bid > 0 and individual and tricks > bid:
            bags += tricks - bid
    return bags


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


@inline_kernel
def tricks_cost(game: np.void, seat: int, players: int, need: int, more: int) -> float:
    """Points that `more` tricks of `seat` cost her team where they are of no help to a contract."""
    if tricks_are_nothing(game, seat, players):
        return 0.0
    return bag_cost(game, seat & 1, bags_so_far(game, seat, players, need), more)


@inline_kernel
def partners_share(need: int, slack: int) -> int:
    """Of the tricks that would set the others, those that the partner of a seat who does not help is left to take."""
    return min(max(need, 0), slack)


@inline_kernel
def set_pays_in_points(game: np.void, seat: int, players: int, need: int, contract: int, slack: int) -> bool:
    """Whether it pays for `seat` to fight a contract that can spare `slack` of the tricks left (0 or more)."""
    if tricks_are_nothing(game, seat, players):
        return True
    if slack > 3:
        return False
    more = slack + 1 - partners_share(need, slack)
    return SET_CHANCE[slack] * 20.0 * contract > tricks_cost(game, seat, players, need, more)


@kernel
def may_win_trick(game: np.void, other: int) -> bool:
    """Whether seat `other` of four is winning the trick in progress or has still to play to it."""
    length = int(game["trick_len"])
    if length == 0:
        return True
    _, winner, _ = trick_so_far(game)
    turns = ((other - int(game["leaders"][int(game["trick"])])) * int(game["rules"]["step"])) & 3
    return winner == other or turns >= length


@kernel
def single_slack(game: np.void, other: int) -> int:
    """Tricks that seat `other` can spare of those left for her individual contract.

    -1 if there is nothing to fight: she has none, has made it, cannot make it, or has lost the trick in progress.
    """
    bid = int(game["bids"][other])
    need = bid - int(game["tricks"][other])
    left = int(game["rules"]["hand_size"]) - int(game["trick"])
    if bid <= 0 or need <= 0 or need > left or not may_win_trick(game, other):
        return -1
    return left - need


@kernel
def sets_one_for_points(game: np.void, seat: int, players: int, need: int) -> bool:
    """Whether it pays to fight the individual contract of an opponent who may yet win the trick."""
    for other in ((seat + 1) & 3, (seat + 3) & 3):
        slack = single_slack(game, other)
        if slack >= 0 and set_pays_in_points(game, seat, players, need, int(game["bids"][other]), slack):
            return True
    return False


@inline_kernel
def wants_for_points(game: np.void, seat: int, players: int, need: int) -> bool:
    """Whether the seat to act tries to win tricks where points count: for the contract, to set, or as bags are free.

    `need` is what `team_need` says of her. A failed nil whose tricks do not help leaves tricks to a partner who needs
    them, unless the others may be set for more than her bags cost.
    """
    if need > 0:
        if tricks_help(game, seat):
            return True
    elif tricks_cost(game, seat, players, need, 1) <= 0.0:
        return True
    if int(game["rules"]["individual"]) == 1:
        return sets_one_for_points(game, seat, players, need)
    team = seat & 1
    left = int(game["rules"]["hand_size"]) - int(game["trick"])
    need_them = team_need(game, 1 - team, players)
    if need_them <= 0 or need_them > left:
        return False
    contract = int(game["bids"][1 - team])
    if players == 4:
        contract += int(game["bids"][3 - team])
    return set_pays_in_points(game, seat, players, need, contract, left - need_them)


@kernel
def taker(game: np.void, team: int, players: int) -> int:
    """The seat of `team` to which the others' tricks are booked: one that has made an ordinary bid, if there is one."""
    return team + 2 if players == 4 and int(game["bids"][team]) == 0 else team


@inline_kernel
def end_tricks(game: np.void, k: int, seat: int, mine: int, partners: int, foe: int, theirs: int) -> int:
    """Tricks of seat `k` at the end of the deal in `end_worth`."""
    tricks = int(game["tricks"][k])
    if k == seat:
        return tricks + mine
    if k == foe:
        return tricks + theirs
    return tricks + partners if k == seat ^ 2 else tricks


@kernel
def end_worth(game: np.void, seat: int, mine: int, partners: int, foe: int, theirs: int, stakes: Stakes) -> float:
    """What the deal is worth to the team of `seat` if of the tricks left she takes `mine`, her partner `partners` (with
    two players 0) and the opponent `foe` takes `theirs`."""
    value = split_value(
        game,
        end_tricks(game, 0, seat, mine, partners, foe, theirs),
        end_tricks(game, 1, seat, mine, partners, foe, theirs),
        end_tricks(game, 2, seat, mine, partners, foe, theirs),
        end_tricks(game, 3, seat, mine, partners, foe, theirs),
        stakes,
    )
    return value if seat & 1 == 0 else -value


@kernel
def set_pays_in_match(game: np.void, seat: int, need: int, foe: int, slack: int, stakes: Stakes) -> bool:
    """Whether trying to set `foe`, who can spare `slack` of the tricks left (0 or more), is worth more for the match
    than letting her make her contract."""
    left = int(game["rules"]["hand_size"]) - int(game["trick"])
    chance = SET_CHANCE[slack] if slack < 4 else 0.0
    if need > 0 and chance == 0.0:
        return False
    partners = partners_share(need, slack)
    set_them = end_worth(game, seat, slack + 1 - partners, partners, foe, left - slack - 1, stakes)
    just_made = end_worth(game, seat, slack - partners, partners, foe, left - slack, stakes)
    duck = end_worth(game, seat, 0, partners, foe, left - partners, stakes)
    fight = chance * set_them + (1.0 - chance) * just_made
    if need <= 0:
        fight = max(fight, end_worth(game, seat, left, 0, foe, 0, stakes))
    return fight > duck + 1e-9


@kernel
def trick_pays_in_match(game: np.void, seat: int, foe: int, stakes: Stakes) -> bool:
    """Whether one more trick is worth something for the match, with nobody to set."""
    left = int(game["rules"]["hand_size"]) - int(game["trick"])
    return end_worth(game, seat, 1, 0, foe, left - 1, stakes) > end_worth(game, seat, 0, 0, foe, left, stakes)


@kernel
def sets_one_for_match(game: np.void, seat: int, need: int, stakes: Stakes) -> bool:
    """`sets_one_for_points` where the match counts."""
    for other in ((seat + 1) & 3, (seat + 3) & 3):
        slack = single_slack(game, other)
        if slack >= 0 and set_pays_in_match(game, seat, need, other, slack, stakes):
            return True
    return False


@kernel
def wants_for_match(game: np.void, seat: int, players: int, need: int, stakes: Stakes) -> bool:
    """Whether the seat to act tries to win tricks where the match counts; see `wants_for_points`."""
    if need > 0 and tricks_help(game, seat):
        return True
    team = seat & 1
    foe = taker(game, 1 - team, players)
    if int(game["rules"]["individual"]) == 1:
        if sets_one_for_match(game, seat, need, stakes):
            return True
        return need <= 0 and trick_pays_in_match(game, seat, foe, stakes)
    left = int(game["rules"]["hand_size"]) - int(game["trick"])
    need_them = team_need(game, 1 - team, players)
    if need_them <= 0 or need_them > left:
        return need <= 0 and trick_pays_in_match(game, seat, foe, stakes)
    return set_pays_in_match(game, seat, need, foe, left - need_them, stakes)

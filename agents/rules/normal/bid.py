"""How `normal` bids: the bid whose outcome over the likely numbers of tricks is worth most, nil by its chance.

The likely tricks of the team come from her own hand, the bids before hers and the measured tables.
"""

from __future__ import annotations

import math

import numpy as np

from agents.rules.easy_bid import easy_bid
from agents.rules.facts import nearest_bid
from agents.rules.normal.strength import expected_tricks, low_club_escape, nil_chance, table_number, tables_fit, top_run
from agents.rules.normal.tables import BLIND_CHANCE, NIL_BEFORE, TEAM_TRICKS
from agents.stakes import Stakes, worth
from spades_env.engine.bidding import legal_bids
from spades_env.engine.kernel import inline_kernel, kernel
from spades_env.engine.scoring import bag_penalty, deal_points
from spades_env.engine.state import NO_BID

BOLDNESS = (-0.15, 0.15)
"""Tricks added to what the hand and the bids promise, with four players and with two."""
UNKNOWN_SHARE = (0.31, 0.93)
"""What a seat that has not bid is taken to bid, as a share of the tricks that we leave: with four players, with two."""
PARTNER_SHARE = 0.35
"""What a partner who has not bid is taken to make, likewise."""
COVER_TRICKS = 0.4
"""Tricks above her bid that a seat makes on average while her partner plays nil."""
FIRST_SPREAD, SEAT_SPREAD = 1.06, 0.9
"""Spread of the team's tricks around the mean with a partner still to bid; of a single seat's tricks."""
MEAN_TRICKS = (3.25, 6.5)
"""Tricks of a hand that is not seen, with four players and with two."""
MOST_FOR_NIL, LEAST_CHANCE = 3.6, 0.3
"""Hands of more tricks, and nils of less chance, are not looked at as nils."""


@inline_kernel
def normal_cdf(x: float) -> float:
    """Distribution function of the standard normal."""
    return 0.5 * (1.0 + math.erf(x * 0.7071067811865476))


@inline_kernel
def chance_of(tricks: int, mean: float, spread: float, most: int) -> float:
    """Chance of exactly `tricks` of `most`: a normal distribution cut at both ends."""
    low = 0.0 if tricks == 0 else normal_cdf((tricks - 0.5 - mean) / spread)
    high = 1.0 if tricks == most else normal_cdf((tricks + 0.5 - mean) / spread)
    return high - low


@inline_kernel
def pair_outcome(
    game: np.void, team: int, bid_a: int, blind_a: int, tricks_a: int, bid_b: int, blind_b: int, tricks_b: int
) -> tuple[int, int]:
    """(points, bags left on the sheet) of `team` for bids and tricks of its two seats (R17-R21)."""
    rules = game["rules"]
    points, nils, bags = deal_points(rules, bid_a, blind_a, tricks_a, bid_b, blind_b, tricks_b)
    penalty, left = bag_penalty(rules, int(game["bags"][team]) + bags)
    return points + nils + bags * int(rules["bag_points"]) + penalty, left


@inline_kernel
def place_in_turn(game: np.void) -> int:
    """How many seats have bid before the seat to act in this round's order (those who bid blind in a draft too)."""
    rules = game["rules"]
    players, step = int(rules["players"]), int(rules["step"])
    return ((int(game["turn"]) - int(game["first"])) * step) % players


@inline_kernel
def bids_before(game: np.void, seat: int) -> tuple[int, int, int, int]:
    """(partner's ordinary bid, her nils, the opponents' ordinary bids, their nils) so far."""
    players = int(game["rules"]["players"])
    partner_bid, partner_nil, bids, nils = 0, 0, 0, 0
    for other in range(players):
        bid = int(game["bids"][other])
        if other == seat or bid == NO_BID:
            continue
        if (other - seat) & 1 == 0:
            partner_bid, partner_nil = bid, 1 if bid == 0 else 0
        else:
            bids += bid
            nils += 1 if bid == 0 else 0
    return partner_bid, partner_nil, bids, nils


@inline_kernel
def weighed(weights: np.ndarray, game: np.void, seat: int, mine: float) -> float:
    """Sum of 1, the tricks that `seat` expects and the bids before hers, by `weights` in this order."""
    partner_bid, partner_nil, bids, nils = bids_before(game, seat)
    total = float(weights[0]) + float(weights[1]) * mine
    total += float(weights[2]) * partner_bid + float(weights[3]) * partner_nil
    return total + float(weights[4]) * bids + float(weights[5]) * nils


@kernel
def team_outlook(game: np.void, seat: int, mine: float) -> tuple[float, float]:
    """(mean, spread) of the tricks that the team of `seat` can make if she expects `mine` of her own.

    A partner who has not bid is taken to make her share of the rest: she will bid with ours in mind.
    """
    rules = game["rules"]
    players = int(rules["players"])
    if int(rules["individual"]) == 1:
        return mine, SEAT_SPREAD
    if players == 4 and int(game["bids"][(seat + 2) & 3]) == NO_BID:
        return mine + PARTNER_SHARE * (13.0 - mine), FIRST_SPREAD
    row = place_in_turn(game) & 1
    if players == 2 and int(game["bids"][1 - seat]) == NO_BID:
        row = 0  # asked about double nil, the dealer has heard no bid either (R28)
    model = TEAM_TRICKS[0 if players == 4 else 1, row]
    return weighed(model, game, seat, mine), float(model[6])


@inline_kernel
def assumed_bid(game: np.void, seat: int, mine: float) -> int:
    """The bid of `seat`, or the one she is taken to make beside our `mine` tricks; -1: there is no such seat."""
    players = int(game["rules"]["players"])
    if seat >= players:
        return -1
    bid = int(game["bids"][seat])
    if bid != NO_BID:
        return bid
    return int((UNKNOWN_SHARE[0] if players == 4 else UNKNOWN_SHARE[1]) * (13.0 - mine) + 0.5)


@kernel
def bid_value(
    game: np.void,
    seat: int,
    mine: float,
    bid: int,
    blind: int,
    own_tricks: int,
    mean: float,
    spread: float,
    stakes: Stakes,
) -> float:
    """Expected worth of the deal to the team of `seat` (stakes.py) if she bids `bid`, expecting `mine` tricks.

    The team's counted tricks are normal with `mean` and `spread`; a nil bidder takes `own_tricks` beside them.
    """
    team = seat & 1
    size = int(game["rules"]["hand_size"])
    partner_bid = assumed_bid(game, (seat + 2) & 3, mine)
    partner_blind = int(game["blind"][(seat + 2) & 3])
    other, other_partner = (seat + 1) & 3, (seat + 3) & 3
    if int(game["rules"]["players"]) == 2:
        other, other_partner, partner_bid, partner_blind = 1 - seat, 3, -1, 0
    if int(game["rules"]["individual"]) == 1:
        partner_bid = -1  # her contract is her own affair
    bid_c, blind_c = assumed_bid(game, other, mine), int(game["blind"][other])
    bid_d, blind_d = assumed_bid(game, other_partner, mine), int(game["blind"][other_partner])
    most = size - own_tricks if bid == 0 else size
    total = 0.0
    for tricks in range(most + 1):
        chance = chance_of(tricks, mean, spread, most)
        if chance < 0.002:
            continue
        if bid == 0:
            points, left = pair_outcome(game, team, 0, blind, own_tricks, partner_bid, partner_blind, tricks)
        else:
            points, left = pair_outcome(game, team, bid, blind, tricks, partner_bid, partner_blind, 0)
        theirs = most - tricks
        tricks_c, tricks_d = (0, theirs) if bid_c == 0 and bid_d > 0 else (theirs, 0)
        against, against_left = pair_outcome(game, 1 - team, bid_c, blind_c, tricks_c, bid_d, blind_d, tricks_d)
        if team == 0:
            total += chance * worth(game, points, left, against, against_left, stakes)
        else:
            total -= chance * worth(game, against, against_left, points, left, stakes)
    return total


@kernel
def nil_value(game: np.void, seat: int, mine: float, blind: int, chance: float, stakes: Stakes) -> float:
    """Expected worth of the deal if `seat` bids nil and makes it with `chance`."""
    partner_mean = 0.0
    partner_bid = assumed_bid(game, (seat + 2) & 3, mine)
    if partner_bid > 0:
        partner_mean = partner_bid + COVER_TRICKS
    made = bid_value(game, seat, mine, 0, blind, 0, partner_mean, FIRST_SPREAD, stakes)
    failed = bid_value(game, seat, mine, 0, blind, 1, partner_mean, FIRST_SPREAD, stakes)
    return chance * made + (1.0 - chance) * failed


@kernel
def best_ordinary_bid(game: np.void, seat: int, mine: float, certain: int, stakes: Stakes) -> tuple[int, float]:
    """(the ordinary bid worth most, its worth) for a seat that expects `mine` tricks, `certain` of them for sure."""
    legal = legal_bids(game)
    mean, spread = team_outlook(game, seat, mine)
    mean += BOLDNESS[0] if int(game["rules"]["players"]) == 4 else BOLDNESS[1]
    spread = max(0.05, spread * math.sqrt(1.0 - certain / 13.0))
    centre = int(mine)
    low, high = max(1, centre - 2), min(13, centre + 3)
    if stakes[0].shape[0] > 0:
        low, high = 1, 13
    best, best_value = -1, -1e9
    for bid in range(low, high + 1):
        if (legal >> bid) & 1 == 1:
            value = bid_value(game, seat, mine, bid, 0, 0, mean, spread, stakes)
            if value > best_value:
                best, best_value = bid, value
    if best < 0:
        best = nearest_bid(legal, centre)
        best_value = bid_value(game, seat, mine, best, 0, 0, mean, spread, stakes)
    return best, best_value


@kernel
def own_nil_chance(game: np.void, mine: float) -> float:
    """Chance that the seat to act, who expects `mine` tricks, makes nil: her cards and the bids before hers."""
    rules = game["rules"]
    seat, players, jokers = int(game["turn"]), int(rules["players"]), int(rules["jokers"])
    hand = int(game["hands"][seat])
    shift = weighed(NIL_BEFORE[table_number(players, jokers), place_in_turn(game)], game, seat, mine)
    chance = nil_chance(hand, players, jokers, shift)
    if int(rules["low_club"]) == 1:
        chance *= low_club_escape(hand, players)
    return chance


@kernel
def normal_bid(game: np.void, stakes: Stakes) -> int:
    """The bid of the seat to act, 0 for nil, in a STATE record or the `known` part of her view."""
    rules = game["rules"]
    if not tables_fit(rules):
        return easy_bid(game)  # the tables know hands of 13 of 52 cards only
    seat, players, jokers = int(game["turn"]), int(rules["players"]), int(rules["jokers"])
    hand = int(game["hands"][seat])
    mine = expected_tricks(hand, players, jokers)
    nil_is_legal = legal_bids(game) & 1 == 1
    if nil_is_legal and players == 4 and int(game["bids"][(seat + 2) & 3]) == 13:
        return 0  # partner takes every trick
    bid, value = best_ordinary_bid(game, seat, mine, top_run(hand, jokers), stakes)
    if nil_is_legal and mine < MOST_FOR_NIL:
        chance = own_nil_chance(game, mine)
        if chance > LEAST_CHANCE and nil_value(game, seat, mine, 0, chance, stakes) > value:
            return 0
    return bid


@kernel
def bids_blind(game: np.void, stakes: Stakes) -> bool:
    """Whether the seat to act, who has not seen her cards, bids blind or double nil (R10, R28)."""
    seat, players = int(game["turn"]), int(game["rules"]["players"])
    chance = BLIND_CHANCE[0] if players == 4 else BLIND_CHANCE[1]
    if not tables_fit(game["rules"]):
        return False
    mine = MEAN_TRICKS[0] if players == 4 else MEAN_TRICKS[1]
    _, value = best_ordinary_bid(game, seat, mine, 0, stakes)
    return nil_value(game, seat, mine, 1, chance, stakes) > value

"""How well a world fits what the other seats have said and done: soft likelihoods of their bids and plays.

Both compare with what `normal` would do on the hands of the world, softly: others reckon otherwise.
"""

from __future__ import annotations

import math

import numpy as np

from agents.rules.normal.card import points_card
from agents.rules.normal.draft import keeps_card
from agents.rules.normal.strength import expected_tricks, nil_logit, tables_fit
from agents.search.sampler_plan import BINOMIAL
from spades_env.actions import KEEP, TAKE_NEXT
from spades_env.engine.kernel import inline_kernel, kernel, lowest_bit
from spades_env.engine.play import legal_cards
from spades_env.engine.state import NO_BID, PHASE_PLAY
from spades_env.engine.step import apply_action

BID_SHIFT = ((0.85, 0.85, 0.3, -0.35), (0.9, 0.5, 0.0, 0.0))
"""Tricks that a hand promises above the bid made on it, on average, by place in the bidding: four players, two.

Between what `normal` and `hard` do: 0.79, 0.79, 0.29, -0.56 and 0.91, 0.97, 0.26, -0.19.
"""
BID_SPREAD = ((0.65, 0.65, 0.7, 0.85), (0.65, 0.8, 0.0, 0.0))
"""Spread of that: 0.32, 0.32, 0.44, 0.82 for `normal` and 0.86, 0.80, 0.86, 0.78 for `hard`."""
NIL_MIDDLE, NIL_STEEP = 0.4, 3.0
"""Log-odds of success at which half the hands bid nil, and how fast the readiness grows with them."""
NIL_RIVAL = 2
"""Bids up to this are made on hands that might have bid nil."""
DRAFT_MISS = 1.5
"""Log-likelihood that a hand loses for each card that it lacks of those its seat is taken to have kept."""
FLOOR = -6.0
"""Least log-likelihood of a seat's bid: anybody may do something odd."""


@inline_kernel
def log_sigmoid(x: float) -> float:
    """log(1 / (1 + exp(-x)))."""
    return -math.log1p(math.exp(-x))


@kernel
def cards_kept(known: np.void, seat: int) -> int:
    """How often `seat` kept the card that she was shown in the draft; the dealer and the other take turns (R27)."""
    seat_decides = seat == int(known["dealer"])
    kept = 0
    for k in range(int(known["n_actions"])):
        action = int(known["actions"][k])
        if action in (KEEP, TAKE_NEXT):
            if action == KEEP and seat_decides:
                kept += 1
            seat_decides = not seat_decides
    return kept


@kernel
def draft_fit(known: np.void, world: np.void, seat: int) -> float:
    """Log-likelihood of what the other seat of a draft kept, with her hand in `world`, up to a constant.

    If she keeps just the cards that `normal` would, any of the fitting cards in her hand may be those she kept and
    the rest came unseen: a hand with more of them is likelier by the number of ways. Each one too few costs as much
    as a surprise.
    """
    other = 1 - seat
    kept = cards_kept(known, other)
    hand = int(world["hands"][other]) | int(known["played"][other])
    plays_nil = int(known["blind"][other]) == 1
    fitting = 0
    while hand:
        if keeps_card(lowest_bit(hand), plays_nil):
            fitting += 1
        hand &= hand - 1
    if fitting < kept:
        return DRAFT_MISS * (fitting - kept)
    return math.log(BINOMIAL[fitting, kept])


@kernel
def bid_fit(known: np.void, world: np.void, seat: int) -> float:
    """Log-likelihood of draft and bids of all seats but `seat` with the hands of `world`, up to a constant."""
    rules = known["rules"]
    players, jokers = int(rules["players"]), int(rules["jokers"])
    first, step = int(known["first"]), int(rules["step"])
    kind = 1 if players == 2 else 0
    total = 0.0
    for other in range(players):
        bid = int(known["bids"][other])
        if other == seat or bid == NO_BID or int(known["blind"][other]) == 1 or not tables_fit(rules):
            continue
        hand = int(world["hands"][other]) | int(known["played"][other])
        if bid == 0:
            total += max(FLOOR, log_sigmoid(NIL_STEEP * (nil_logit(hand, players, jokers) - NIL_MIDDLE)))
        else:
            place = ((other - first) * step) % players
            shift, spread = BID_SHIFT[kind][place], BID_SPREAD[kind][place]
            miss = (expected_tricks(hand, players, jokers) - bid - shift) / spread
            fit = -0.5 * miss * miss
            if bid <= NIL_RIVAL:  # she has passed over a nil
                fit += log_sigmoid(-NIL_STEEP * (nil_logit(hand, players, jokers) - NIL_MIDDLE))
            total += max(FLOOR, fit)
    if int(rules["draft"]) == 1:
        total += draft_fit(known, world, seat)
    return total


@kernel
def rewind(known: np.void, world: np.void, game: np.void) -> None:
    """Make `game` (already a copy of `known`) the position at the opening lead, with the hands of `world`."""
    for seat in range(4):
        game["hands"][seat] = int(world["hands"][seat]) | int(known["played"][seat])
        game["played"][seat] = 0
        game["voids"][seat] = 0
        game["tricks"][seat] = 0
    for k in range(14):
        game["leaders"][k] = 0
    game["leaders"][0] = known["first"]
    game["n_actions"] = known["first_play"]
    game["trick"] = 0
    game["trick_len"] = 0
    game["broken"] = 0
    game["turn"] = known["first"]
    game["phase"] = PHASE_PLAY


@kernel
def surprises(known: np.void, game: np.void, seat: int) -> int:
    """Cards of this deal that other seats than `seat` played and `normal` would not have, on the hands of a world.

    `game` is the position at the opening lead (`rewind`) and is played up to the present one.
    """
    count = 0
    for k in range(int(known["first_play"]), int(known["n_actions"])):
        card = int(known["actions"][k])
        if int(game["turn"]) != seat:
            legal = legal_cards(game)
            if legal & (legal - 1) != 0 and points_card(game) != card:
                count += 1
        apply_action(game, card)
    return count

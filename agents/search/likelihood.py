"""How well a world fits what the other seats have said and done: soft likelihoods of their bids and plays.

Both compare with what `normal` would do on the hands of the world, softly: others reckon otherwise.
"""

from __future__ import annotations

import math

import numpy as np

from agents.rules.normal.card import normal_card
from agents.rules.normal.strength import expected_tricks, nil_logit
from agents.stakes import Stakes
from spades_env.engine.kernel import inline_kernel, kernel
from spades_env.engine.play import legal_cards
from spades_env.engine.state import NO_BID, PHASE_PLAY
from spades_env.engine.step import apply_action

BID_SHIFT = ((0.8, 0.8, 0.3, -0.4), (0.7, 0.0, 0.0, 0.0))
"""Tricks that a hand promises above the bid made on it, on average, by place in the bidding: four players, two."""
BID_SPREAD = ((0.5, 0.5, 0.6, 0.9), (0.7, 0.8, 0.0, 0.0))
"""Spread of that, wider than our own so as to allow for bidders who reckon otherwise."""
NIL_MIDDLE, NIL_STEEP = 0.1, 4.0
"""Log-odds of success at which half the hands bid nil, and how fast the readiness grows with them."""
NIL_RIVAL = 2
"""Bids up to this are made on hands that might have bid nil."""
FLOOR = -6.0
"""Least log-likelihood of a seat's bid: anybody may do something odd."""


@inline_kernel
def log_sigmoid(x: float) -> float:
    """log(1 / (1 + exp(-x)))."""
    return -math.log1p(math.exp(-x))


@kernel
def bid_fit(known: np.void, world: np.void, seat: int) -> float:
    """Log-likelihood of the bids of all seats but `seat` with the hands of `world`, up to a constant."""
    rules = known["rules"]
    players, jokers = int(rules["players"]), int(rules["jokers"])
    first, step = int(known["first"]), int(rules["step"])
    kind = 1 if players == 2 else 0
    total = 0.0
    for other in range(players):
        bid = int(known["bids"][other])
        if other == seat or bid == NO_BID or int(known["blind"][other]) == 1:
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
def surprises(known: np.void, game: np.void, seat: int, points: Stakes) -> int:
    """Cards of this deal that other seats than `seat` played and `normal` would not have, on the hands of a world.

    `game` is the position at the opening lead (`rewind`) and is played up to the present one.
    """
    count = 0
    for k in range(int(known["first_play"]), int(known["n_actions"])):
        card = int(known["actions"][k])
        if int(game["turn"]) != seat:
            legal = legal_cards(game)
            if legal & (legal - 1) != 0 and normal_card(game, points) != card:
                count += 1
        apply_action(game, card)
    return count

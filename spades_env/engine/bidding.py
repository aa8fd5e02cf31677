"""The bidding round: ordinary bids, nil, and blind nil before the cards are seen (R7-R10)."""

from __future__ import annotations

import numpy as np

from spades_env.engine.kernel import inline_kernel, kernel
from spades_env.engine.state import NO_BID, NONE, PHASE_BID, PHASE_BLIND, PHASE_PLAY

# Bits of a `legal_calls` mask: action id minus 54 (see actions.py).
CALL_BLIND = 1 << 14
CALL_LOOK = 1 << 15
ACTION_BID_0 = 54
ACTION_BLIND = 68


@kernel
def may_bid_blind(game: np.void, seat: int) -> bool:
    """Whether `seat` is offered blind nil (R10) or double nil (R28), which the scores before the deal decide."""
    rules = game["rules"]
    if int(rules["blind_nil"]) == 0:
        return False
    deficit = int(rules["blind_nil_deficit"])
    if deficit == NONE:
        return True
    team = seat % 2
    return int(game["scores"][team]) <= int(game["scores"][1 - team]) - deficit


@kernel
def legal_bids(game: np.void) -> int:
    """Legal bids of the seat to act as a mask, bit n for a bid of n (R8)."""
    rules = game["rules"]
    lowest, highest = int(rules["min_bid"]), int(rules["hand_size"])
    cap = int(rules["max_team_bid"])
    if cap > 0:
        partner_bid = int(game["bids"][(int(game["turn"]) + 2) % 4])
        room = cap - lowest if partner_bid == NO_BID else cap - partner_bid
        highest = min(highest, room)
    mask = 0
    if highest >= lowest:
        mask = (1 << (highest + 1)) - (1 << lowest)
    if int(rules["nil_allowed"]) == 1:
        mask |= 1
    return mask


@inline_kernel
def ask_for_bid(game: np.void, seat: int) -> None:
    """Give `seat` the turn: to choose between blind nil and looking if she has not seen her cards, else to bid."""
    game["turn"] = seat
    game["phase"] = PHASE_BID if int(game["looked"][seat]) == 1 else PHASE_BLIND


@kernel
def next_bidder(game: np.void) -> None:
    """After a bid: the next seat without one in turn order, or the opening lead when all have bid (R5, R7)."""
    rules = game["rules"]
    players, step = int(rules["players"]), int(rules["step"])
    seat = int(game["first"])
    for _ in range(players):
        if int(game["bids"][seat]) == NO_BID:
            ask_for_bid(game, seat)
            return
        seat = (seat + step) % players
    game["turn"] = game["first"]
    game["phase"] = PHASE_PLAY
    game["first_play"] = game["n_actions"]
    game["leaders"][0] = game["first"]


@kernel
def apply_bid(game: np.void, action: int) -> None:
    """An ordinary bid or nil, action ids 54-67."""
    game["bids"][int(game["turn"])] = action - ACTION_BID_0
    next_bidder(game)


@kernel
def apply_blind(game: np.void, action: int) -> None:
    """Blind nil, which is the bid and shows the cards afterwards, or look, after which the same seat bids (R10)."""
    seat = int(game["turn"])
    game["looked"][seat] = 1
    if action == ACTION_BLIND:
        game["bids"][seat] = 0
        game["blind"][seat] = 1
        next_bidder(game)
    else:
        game["phase"] = PHASE_BID

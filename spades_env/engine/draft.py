"""The two-player deal: double nil, keep or take the next card, and the exchange (R27-R29)."""

from __future__ import annotations

import numpy as np

from spades_env.engine.bidding import ACTION_BLIND, may_bid_blind, next_bidder
from spades_env.engine.kernel import kernel, nth_bit, popcount
from spades_env.engine.rng import PURPOSE_EXCHANGE, below, combine, stream
from spades_env.engine.state import PHASE_BLIND, PHASE_DRAFT, PHASE_EXCHANGE

CALL_KEEP = 1 << 16
CALL_TAKE_NEXT = 1 << 17
CALL_DONE = 1 << 18
ACTION_KEEP = 70
ACTION_TAKE_NEXT = 71
ACTION_DONE = 72


@kernel
def ask_for_draft(game: np.void, seat: int) -> None:
    """Give `seat` the turn: the double-nil question at her first turn to draw (R28), else the card on top (R27)."""
    game["turn"] = seat
    if int(game["asked"][seat]) == 0 and may_bid_blind(game, seat):
        game["phase"] = PHASE_BLIND
    else:
        game["asked"][seat] = 1
        game["phase"] = PHASE_DRAFT


@kernel
def apply_double_nil(game: np.void, action: int) -> None:
    """Double nil (then the seat has bid) or draw without it; either way she draws next, from the same pile."""
    seat = int(game["turn"])
    game["asked"][seat] = 1
    if action == ACTION_BLIND:
        game["bids"][seat] = 0
        game["blind"][seat] = 1
    game["phase"] = PHASE_DRAFT


@kernel
def apply_draft(game: np.void, action: int) -> None:
    """Keep the card shown and discard the next unseen, or discard it and hold the next (R27)."""
    seat = int(game["turn"])
    position = int(game["pile_pos"])
    shown = 1 << int(game["pile"][position])
    following = 1 << int(game["pile"][position + 1])
    kept, gone = shown, following
    if action == ACTION_TAKE_NEXT:
        kept, gone = following, shown
    game["hands"][seat] |= kept
    game["discards"] |= gone
    if action == ACTION_TAKE_NEXT or int(game["rules"]["second_seen"]) == 1:
        game["rejected"][seat] |= gone
    game["pile_pos"] = position + 2
    if position + 2 < 52:
        ask_for_draft(game, 1 - seat)
    else:
        ask_for_exchange(game, int(game["dealer"]))


@kernel
def ask_for_exchange(game: np.void, seat: int) -> None:
    """Give the exchange to `seat` if she called double nil, else to the other, else go on to the bids (R28).

    The dealer, who drew first (R27), exchanges first.
    """
    dealer = int(game["dealer"])
    while int(game["blind"][seat]) == 0 or int(game["rules"]["exchange"]) == 0:
        if seat != dealer:
            next_bidder(game)
            return
        seat = 1 - seat
    game["turn"] = seat
    game["phase"] = PHASE_EXCHANGE


@kernel
def apply_exchange(game: np.void, action: int) -> None:
    """Name one card to give up, or be done; replacements are drawn when the naming ends (R28)."""
    seat = int(game["turn"])
    if action != ACTION_DONE:
        bit = 1 << action
        game["hands"][seat] &= ~bit
        game["thrown"][seat] |= bit
        game["exchanged"][seat] = int(game["exchanged"][seat]) + 1
        if int(game["exchanged"][seat]) < int(game["rules"]["exchange"]):
            return
    draw_replacements(game, seat)
    if seat == int(game["dealer"]):
        ask_for_exchange(game, 1 - seat)
    else:
        next_bidder(game)


@kernel
def draw_replacements(game: np.void, seat: int) -> None:
    """One card for each given up, at random without replacement from the draft discards still there (R28)."""
    key = stream(game["key"], int(game["match"]), int(game["deal"]), PURPOSE_EXCHANGE)
    key = combine(key, seat)
    for k in range(int(game["exchanged"][seat])):
        available = int(game["discards"])
        bit = 1 << nth_bit(available, below(key, k, popcount(available)))
        game["discards"] = available & ~bit
        game["hands"][seat] |= bit

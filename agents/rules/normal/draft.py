"""How `normal` drafts and exchanges in the two-player game (R27, R28): trumps and high cards, or low ones for a nil."""

from __future__ import annotations

import numpy as np

from agents.rules.facts import KING, rank_of
from spades_env.actions import DONE, KEEP, TAKE_NEXT
from spades_env.engine.kernel import kernel, lowest_bit
from spades_env.engine.play import SPADES, suit_of

KEEP_FROM = KING
"""Rank from which a side card is kept by a seat that plays for tricks; she keeps every spade."""
SPADE_DANGER = 7
"""Ranks by which a spade is worse for a nil than a side card."""
NIL_REJECT_FROM, NIL_THROW_FROM = 8, 10
"""Rank, spades counted as above, from which a double-nil bidder takes the next card instead, and gives a card up."""


@kernel
def danger(card: int) -> int:
    """How bad a card is for a nil: its rank, a spade's SPADE_DANGER more."""
    return rank_of(card) + (SPADE_DANGER if suit_of(card) == SPADES else 0)


@kernel
def keeps_card(card: int, plays_nil: bool) -> bool:
    """Whether a card shown is kept, by a seat that has called double nil or not."""
    if plays_nil:
        return danger(card) < NIL_REJECT_FROM
    return suit_of(card) == SPADES or rank_of(card) >= KEEP_FROM


@kernel
def normal_draft(known: np.void, shown: int) -> int:
    """Keep the card shown or take the next."""
    return KEEP if keeps_card(shown, int(known["bids"][int(known["turn"])]) == 0) else TAKE_NEXT


@kernel
def worst_for_nil(hand: int) -> int:
    """The card of a mask that is worst for a nil, the lowest id among equals; -1 if there is none."""
    worst, worst_danger = -1, -1
    while hand:
        card = lowest_bit(hand)
        hand &= hand - 1
        if danger(card) > worst_danger:
            worst, worst_danger = card, danger(card)
    return worst


@kernel
def normal_exchange(known: np.void) -> int:
    """The worst card of a double-nil bidder's hand while it is too bad to keep, then done."""
    worst = worst_for_nil(int(known["hands"][int(known["turn"])]))
    return worst if danger(worst) >= NIL_THROW_FROM else DONE

"""`lowest` and `highest`: the two ends of the scale, for a first opponent and for a check of every measure.

Both look before a blind nil, never bid nil and exchange nothing. Among cards of equal rank they take the lowest id.

| | `lowest` | `highest` |
| --- | --- | --- |
| bid | the lowest ordinary bid that is legal | aces, kings and jokers + spades beyond the third, at least 1 |
| play | the legal card of the lowest rank | the legal card of the highest rank |
| draft | keeps an eight or lower | keeps an eight or higher |

A spade's rank counts as any other's; the jokers rank above the aces. A bid that is not legal gives way to the nearest.
"""

from __future__ import annotations

import numpy as np

from agents.base import ActionArray, KeyArray, check_views
from agents.rules.facts import KING, nearest_bid, rank_of
from spades_env.actions import DONE, FIRST_BID, KEEP, LOOK, TAKE_NEXT
from spades_env.engine.bidding import legal_bids
from spades_env.engine.kernel import kernel, lowest_bit, popcount
from spades_env.engine.play import SPADE_MASK, legal_cards
from spades_env.engine.state import PHASE_BID, PHASE_BLIND, PHASE_DRAFT, PHASE_EXCHANGE, StateArray

LOW, HIGH = -1, 1
"""Which end of the scale: the sign with which ranks are compared."""
EIGHT = 6
"""Rank in the middle of a suit, which both keep in a draft."""


@kernel
def extreme_card(cards: int, end: int) -> int:
    """The card of a mask (not 0) whose rank lies furthest towards `end`, the lowest id among equals."""
    best, best_rank = -1, -100
    while cards:
        card = lowest_bit(cards)
        cards &= cards - 1
        rank = end * rank_of(card)
        if rank > best_rank:
            best, best_rank = card, rank
    return best


@kernel
def highest_wish(hand: int) -> int:
    """The bid of `highest`, legal or not: aces, kings and jokers, and spades beyond the third; at least 1."""
    count = max(0, popcount(hand & SPADE_MASK) - 3)
    while hand:
        if rank_of(lowest_bit(hand)) >= KING:
            count += 1
        hand &= hand - 1
    return max(1, count)


@kernel
def extreme_action(known: np.void, shown: int, end: int) -> int:
    """Action of the seat to act in a STATE record or the `known` part of her view; `end` is LOW or HIGH.

    `shown` is the card to keep or not (a view's field `shown`).
    """
    phase = int(known["phase"])
    if phase == PHASE_BLIND:
        return LOOK
    if phase == PHASE_DRAFT:
        return KEEP if end * rank_of(shown) >= end * EIGHT else TAKE_NEXT
    if phase == PHASE_EXCHANGE:
        return DONE
    if phase == PHASE_BID:
        wish = 1 if end == LOW else highest_wish(int(known["hands"][int(known["turn"])]))
        return FIRST_BID + nearest_bid(legal_bids(known), wish)
    return extreme_card(legal_cards(known), end)


@kernel
def extreme_moves(views: StateArray, end: int, out: ActionArray) -> None:
    """`extreme_action` for each of `views`; the arrays have shape (n,)."""
    for i in range(views.shape[0]):
        out[i] = extreme_action(views[i]["known"], int(views[i]["shown"]), end)


class LowestAgent:
    """Bids and plays as low as she may."""

    name = "lowest"

    def act(self, views: StateArray, keys: KeyArray) -> ActionArray:
        """Return actions, int16 of shape (n,), for `views` (VIEW) of shape (n,); `keys` are not needed."""
        check_views(views, keys)
        out = np.empty(views.shape[0], np.int16)
        extreme_moves(views, LOW, out)
        return out


class HighestAgent:
    """Bids her high cards and plays as high as she may."""

    name = "highest"

    def act(self, views: StateArray, keys: KeyArray) -> ActionArray:
        """Return actions, int16 of shape (n,), for `views` (VIEW) of shape (n,); `keys` are not needed."""
        check_views(views, keys)
        out = np.empty(views.shape[0], np.int16)
        extreme_moves(views, HIGH, out)
        return out

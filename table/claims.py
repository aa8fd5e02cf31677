"""When the rest of the tricks is certain: a seat on lead whose cards all win, however the unseen cards lie.

Exact for what it says and cautious in what it finds: it looks for one order of leads, all of them winners.
"""

from __future__ import annotations

import numpy as np

from spades_env.cards import SPADES, SUIT_MASKS, cards_of, mask_of
from spades_env.engine.front import pack_mask
from spades_env.game import View


def certain_line(view: View) -> list[int] | None:
    """Her remaining cards in an order in which she may lead them and takes every trick, or None.

    She must be on lead, with the first trick behind her. Nobody else, her partner included, is counted on.
    """
    on_lead = view.phase == "play" and view.turn == view.seat and not view.trick and len(view.trick_winners) > 0
    if not on_lead:
        return None
    hand, unseen = mask_of(view.hand), unseen_cards(view)
    spades = hand & SUIT_MASKS[SPADES]
    out = _held_elsewhere(view, unseen, SPADES)
    sides = hand & ~SUIT_MASKS[SPADES]
    order: list[int] = []
    if out or not sides:
        # Spades first, to draw theirs; the rules must let her lead them as long as she holds another suit.
        may_lead = view.rules.lead_spades == "any" or (view.rules.lead_spades == "broken" and view.broken)
        if sides and not may_lead:
            return None
        if not _runs(spades, out, len(view.hand)) or (sides and spades.bit_count() < _longest(out, view)):
            return None
        order += reversed(cards_of(spades))
        spades = 0
    for suit in (0, 1, 2):
        own = hand & SUIT_MASKS[suit]
        if not _runs(own, _held_elsewhere(view, unseen, suit), len(view.hand)):
            return None
        order += reversed(cards_of(own))
    # Spades that no other seat has: she leads them when nothing else is left, which every rule allows.
    return order + list(reversed(cards_of(spades)))


def unseen_cards(view: View) -> int:
    """Mask of the cards of which she does not know that they are gone or hers."""
    pack = int(pack_mask(np.ascontiguousarray(view.views["known"]), 0))
    known = mask_of(view.hand) | mask_of(card for _, card in view.plays) | mask_of(view.thrown)
    return pack & ~known


def _held_elsewhere(view: View, unseen: int, suit: int) -> int:
    """Cards of a suit that another seat may hold: none if all others have shown that they have none (R11)."""
    others = [seat for seat in range(view.players) if seat != view.seat]
    if all(suit in view.voids[seat] for seat in others):
        return 0
    return unseen & SUIT_MASKS[suit]


def _longest(out: int, view: View) -> int:
    """Most cards of `out` that one seat can hold."""
    return min(out.bit_count(), len(view.hand))


def _runs(own: int, out: int, hand_size: int) -> bool:
    """Whether every card of a suit wins when led from the top, if no one can ruff it.

    In the worst case one seat holds all that is out, as far as her hand reaches, and keeps the highest: her low cards
    win only when as many top cards before them have drawn all of it.
    """
    if not out or not own:
        return True
    top = own & ~((1 << out.bit_length()) - 1)
    return top == own or top.bit_count() >= min(out.bit_count(), hand_size)

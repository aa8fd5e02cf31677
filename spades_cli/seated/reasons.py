"""Why an action is not legal, in words for the person who tried it.

The engine has refused it before; this only finds the paragraph of docs/rules.md that says so.
"""

from __future__ import annotations

from spades_env.actions import FIRST_BID, MAX_BID
from spades_env.cards import CLUBS, SPADES, SUIT_NAMES, suit_of
from spades_env.game import View


def why_not(view: View, action: int) -> str:
    """The reason why the seat to act may not take an action that is not legal for her."""
    if view.phase == "play":
        return _why_no_card(view, action)
    if view.phase == "bid":
        return _why_no_bid(view, action)
    if view.phase == "exchange":
        return "you do not hold it" if action < FIRST_BID else "now you name a card to give up, or say done (R28)"
    if view.phase == "draft":
        return "now you keep the card shown or take the next one (R27)"
    name = "double nil, or draw (R28)" if view.rules.deal == "draft" else "blind nil, or look at your cards (R10)"
    return f"now you choose: {name}"


def _why_no_bid(view: View, action: int) -> str:
    """R8."""
    rules, bid = view.rules, action - FIRST_BID
    if not 0 <= bid <= MAX_BID:
        return "now you bid: a number of tricks, or nil (R7)"
    if bid == 0:
        return "nil is not allowed under these rules (R8)"
    if bid > rules.hand_size:
        return f"there are only {rules.hand_size} tricks (R8)"
    if bid < rules.min_bid:
        return f"the lowest bid is {rules.min_bid} (R8)"
    return f"your team may bid {rules.max_team_bid} together at most, {rules.min_bid} each at least (R8)"


def _why_no_card(view: View, card: int) -> str:
    """R11, R13 and the options of the first trick."""
    if card >= FIRST_BID:
        return "now you play a card"
    if card not in view.hand:
        return "you do not hold it"
    suits = {suit_of(held) for held in view.hand}
    first = len(view.trick_winners) == 0
    if first and view.rules.opening_lead == "low_club":
        if CLUBS in suits:
            return "every seat plays its lowest club to the first trick (low_club)"
        return "without a club you play no spade to the first trick while you hold another suit (low_club)"
    led = suit_of(view.trick[0][1]) if view.trick else None
    if led is not None and led in suits and suit_of(card) != led:
        return f"{SUIT_NAMES[led]} were led, and you hold some (R11)"
    if first and view.rules.first_trick_spades == "forbid" and suit_of(card) == SPADES:
        return "no spade in the first trick while you hold another suit (first_trick_spades)"
    if view.rules.lead_spades == "only_spades_left":
        return "spades are led only when you hold nothing else (R13)"
    return "spades are not broken yet, and you hold another suit to lead (R13)"

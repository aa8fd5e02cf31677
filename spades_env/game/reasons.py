"""Why an action is not legal, for the person who tried it: a key, words with gaps, and the paragraph of docs/rules.md.

The engine has refused the action before; this only finds what says so.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

from spades_env.actions import FIRST_BID, MAX_BID
from spades_env.cards import CLUBS, SPADES, SUIT_NAMES, suit_of
from spades_env.game.known import View

REASONS: Final[Mapping[str, tuple[str, str]]] = {
    "not_held": ("you do not hold it", ""),
    "exchange": ("now you name a card to give up, or say done", "R28"),
    "draft": ("now you keep the card shown or take the next one", "R27"),
    "double_nil": ("now you choose: double nil, or draw", "R28"),
    "blind_nil": ("now you choose: blind nil, or look at your cards", "R10"),
    "bid": ("now you bid: a number of tricks, or nil", "R7"),
    "no_nil": ("nil is not allowed under these rules", "R8"),
    "bid_above_hand": ("there are only {tricks} tricks", "R8"),
    "bid_too_low": ("the lowest bid is {bid}", "R8"),
    "team_bid": ("your team may bid {bid} together at most, {lowest} each at least", "R8"),
    "play": ("now you play a card", ""),
    "lowest_club": ("every seat plays its lowest club to the first trick", "low_club"),
    "no_club": ("without a club you play no spade to the first trick while you hold another suit", "low_club"),
    "follow": ("{suit} were led, and you hold some", "R11"),
    "first_trick_spade": ("no spade in the first trick while you hold another suit", "first_trick_spades"),
    "only_spades_left": ("spades are led only when you hold nothing else", "R13"),
    "not_broken": ("spades are not broken yet, and you hold another suit to lead", "R13"),
}
"""{key: (words with {gaps}, paragraph of docs/rules.md or the rule field, "" where none is needed)}."""


@dataclass(frozen=True, slots=True)
class Reason:
    """One reason: its key in REASONS, and what stands in the gaps of its words."""

    key: str
    values: Mapping[str, int | str] = field(default_factory=dict)

    @property
    def words(self) -> str:
        """The words with their gaps."""
        return REASONS[self.key][0]

    @property
    def paragraph(self) -> str:
        """The paragraph of docs/rules.md, a rule field, or ""."""
        return REASONS[self.key][1]

    @property
    def text(self) -> str:
        """The reason in English, in one line."""
        said = self.words.format(**self.values)
        return f"{said} ({self.paragraph})" if self.paragraph else said


def why_not(view: View, action: int) -> Reason:
    """The reason why the seat to act may not take an action that is not legal for her."""
    if view.phase == "play":
        return _why_no_card(view, action)
    if view.phase == "bid":
        return _why_no_bid(view, action)
    if view.phase == "exchange":
        return Reason("not_held" if action < FIRST_BID else "exchange")
    if view.phase == "draft":
        return Reason("draft")
    return Reason("double_nil" if view.rules.deal == "draft" else "blind_nil")


def _why_no_bid(view: View, action: int) -> Reason:
    """R8."""
    rules, bid = view.rules, action - FIRST_BID
    if not 0 <= bid <= MAX_BID:
        return Reason("bid")
    if bid == 0:
        return Reason("no_nil")
    if bid > rules.hand_size:
        return Reason("bid_above_hand", {"tricks": rules.hand_size})
    if bid < rules.min_bid:
        return Reason("bid_too_low", {"bid": rules.min_bid})
    return Reason("team_bid", {"bid": rules.max_team_bid or 0, "lowest": rules.min_bid})


def _why_no_card(view: View, card: int) -> Reason:
    """R11, R13 and the options of the first trick."""
    if card >= FIRST_BID:
        return Reason("play")
    if card not in view.hand:
        return Reason("not_held")
    suits = {suit_of(held) for held in view.hand}
    first = len(view.trick_winners) == 0
    if first and view.rules.opening_lead == "low_club":
        return Reason("lowest_club" if CLUBS in suits else "no_club")
    led = suit_of(view.trick[0][1]) if view.trick else None
    if led is not None and led in suits and suit_of(card) != led:
        return Reason("follow", {"suit": SUIT_NAMES[led]})
    if first and view.rules.first_trick_spades == "forbid" and suit_of(card) == SPADES:
        return Reason("first_trick_spade")
    return Reason("only_spades_left" if view.rules.lead_spades == "only_spades_left" else "not_broken")

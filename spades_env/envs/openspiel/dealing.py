"""Chance in OpenSpiel's terms: who deals, who gets which card, in small steps that make every deal as likely as it is.

The cards of a pack are given out in the order of their ids, each to a seat or to nobody, with the chance (places
left) / (cards left). So every way to deal (R6) comes up once in the tree, and with the same probability; dealing in
the order of a shuffle would list each (hand_size!) ** players times. A draft's pile is laid out card by card (R27).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from spades_env.cards import card_text, cards_of
from spades_env.engine.deal import deck_mask
from spades_env.engine.state import rules_to_record
from spades_env.rules import Rules

Outcomes = list[tuple[int, float]]
"""Of a chance node: (outcome, probability)."""


class Dealing:
    """How the deals of a game come about; the outcomes so far are a list kept by the state.

    Attributes:
        pack: the cards, ascending.
        steps: number of chance nodes before the first decision.
    """

    def __init__(self, rules: Rules, dealer: int | None) -> None:
        self.rules, self.dealer = rules, dealer
        self.pack = cards_of(int(deck_mask(rules_to_record(rules)[0])))
        self.steps = len(self.pack) + (dealer is None)

    @property
    def most_outcomes(self) -> int:
        """Most outcomes of a chance node."""
        return len(self.pack) if self.rules.deal == "draft" else self.rules.players + 1

    def outcomes(self, past: Sequence[int]) -> Outcomes:
        """What may come next after the outcomes `past`."""
        drawn = self._drawn(past)
        if drawn is None:
            return [(seat, 1.0 / self.rules.players) for seat in range(self.rules.players)]
        left = len(self.pack) - len(drawn)
        if self.rules.deal == "draft":
            return [(card, 1.0 / left) for card in self.pack if card not in drawn]
        given = Counter(drawn)
        room = [self.rules.hand_size - given[seat] for seat in range(self.rules.players)]
        room.append(left - sum(room))
        return [(place, places / left) for place, places in enumerate(room) if places]

    def dealer_of(self, past: Sequence[int]) -> int:
        """The dealer's seat once it is known."""
        return past[0] if self.dealer is None else self.dealer

    def hands(self, past: Sequence[int]) -> list[list[int]]:
        """The hand of each seat after all steps."""
        drawn = self._drawn(past) or ()
        return [
            [card for card, place in zip(self.pack, drawn, strict=True) if place == seat]
            for seat in range(self.rules.players)
        ]

    def pile(self, past: Sequence[int]) -> list[int]:
        """The draft pile after all steps, the card drawn first in front."""
        return list(self._drawn(past) or ())

    def text(self, past: Sequence[int], outcome: int) -> str:
        """An outcome in words."""
        drawn = self._drawn(past)
        if drawn is None:
            return f"dealer {outcome}"
        if self.rules.deal == "draft":
            return card_text(outcome)
        place = "nobody" if outcome == self.rules.players else str(outcome)
        return f"{card_text(self.pack[len(drawn)])} to {place}"

    def _drawn(self, past: Sequence[int]) -> Sequence[int] | None:
        """The outcomes that are about cards; None: the dealer comes first."""
        if self.dealer is not None:
            return past
        return past[1:] if past else None

"""The course of play at one table: a `Game` for each deal, and the list of events that leads to it.

The list only grows; whoever has it and the secret has the same cards and scores again.
"""

from __future__ import annotations

import hashlib
from dataclasses import asdict, dataclass
from typing import Any

from spades_env.game import Game
from spades_env.rules import Rules

ACT, DEAL, MATCH, UNDO = "act", "deal", "match", "undo"
"""Kinds of events: an action; the next deal; the next match; back to an earlier action of this deal."""

PERSON, AGENT, STAND_IN, CLAIM = 0, 1, 2, 3
"""Who chose an action: a person; the agent of the seat; one in a person's place; the server after a claim."""


@dataclass(frozen=True, slots=True)
class Event:
    """One entry of the list."""

    kind: str
    value: int = 0
    """The action; for UNDO how many actions of the deal stay."""
    by: int = PERSON


def deal_seed(secret: bytes, match: int, deal: int) -> int:
    """The seed of a deal, 0 to 2**63 - 1.

    Each deal has its own, so that the record of a finished one, which tells its seed, says nothing of those to come.
    """
    digest = hashlib.sha256(b"spades table deal" + secret + match.to_bytes(8, "big") + deal.to_bytes(8, "big"))
    return int.from_bytes(digest.digest()[:8], "big") >> 1


class Course:
    """Matches under one set of rules: where they stand, and how they got there."""

    def __init__(self, rules: Rules, secret: bytes) -> None:
        self.rules, self._secret = rules, secret
        self.n = 0
        """Number of events so far: the version of the state."""
        self.deals = 0
        """Number of finished deals, over all matches."""
        self.history: list[dict[str, Any]] = []
        """The finished deals of this match, for the score sheet."""
        self.taken_back = 0
        """How often an action of this deal was taken back."""
        self.by: list[int] = []
        """Who chose each action of this deal."""
        self._start(Game(rules, seed=deal_seed(secret, 0, 0)))

    def take(self, event: Event) -> None:
        """Let an event happen; the engine refuses what the rules do not allow."""
        if event.kind == ACT:
            self._act(event)
        elif event.kind == DEAL:
            self._start(self._next_deal())
        elif event.kind == MATCH:
            game = self.game.copy()
            game.next_match()
            self.history = []
            self._start(Game(self.rules, seed=deal_seed(self._secret, game.match, 0), match=game.match))
        else:
            self._undo(event.value)
        self.n += 1

    def record(self, players: list[str], code: str) -> dict[str, Any]:
        """The record of this deal, whole, in the format of docs/records.md."""
        return self.game.to_record(players=players, meta={"table": code, "by": self.by, "taken_back": self.taken_back})

    def last_decision(self, seat: int) -> int | None:
        """How many actions came before the last one of `seat` in this deal, or None."""
        game, found = self._opening.copy(), None
        for k, action in enumerate(self.game.actions):
            if game.turn == seat:
                found = k
            game.apply(action)
        return found

    def _act(self, event: Event) -> None:
        self.game.apply(event.value)
        self.by.append(event.by)
        if self.game.deal_over:
            self._note_deal()

    def _start(self, game: Game) -> None:
        self.game, self._opening = game, game.copy()
        self.by, self.taken_back = [], 0

    def _next_deal(self) -> Game:
        """The deal after this one: who deals and what is on the sheet is the engine's to say, the cards are new."""
        game = self.game.copy()
        game.next_deal()
        return Game(
            self.rules,
            seed=deal_seed(self._secret, game.match, game.deal),
            match=game.match,
            deal=game.deal,
            dealer=game.dealer,
            scores=game.scores,
            bags=game.bags,
        )

    def _undo(self, keep: int) -> None:
        """Play the deal again up to its first `keep` actions."""
        if self.game.deal_over:
            self.history.pop()
            self.deals -= 1
        actions = self.game.actions[:keep]
        self.game = self._opening.copy()
        for action in actions:
            self.game.apply(action)
        del self.by[keep:]
        self.taken_back += 1

    def _note_deal(self) -> None:
        game, result = self.game, self.game.result
        assert result is not None  # a deal that is over has been scored
        self.history.append(
            {
                "k": self.deals,
                "match": game.match,
                "deal": game.deal,
                "bids": game.bids,
                "blind": game.blind,
                "tricks": game.tricks,
                "result": [asdict(part) | {"points": part.points} for part in result],
                "scores": list(game.scores),
                "bags": list(game.bags),
            }
        )
        self.deals += 1

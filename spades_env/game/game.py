"""Game: one game of Spades as a friendly Python object; every rule it keeps is the engine's."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from spades_env.actions import action_text
from spades_env.cards import hand_text
from spades_env.engine.batch import IllegalActionError, illegal_text, legal_action_list
from spades_env.engine.state import StateArray
from spades_env.engine.step import advance, apply, is_legal
from spades_env.game.facts import Facts
from spades_env.game.known import View
from spades_env.game.position import (
    HIGHEST_COUNT,
    HIGHEST_TOTAL,
    Cards,
    PositionError,
    action_id,
    course_of,
    new_state,
    open_position,
    whole_number,
)
from spades_env.game.storage import pack_state, unpack_state
from spades_env.rules import Rules, as_rules
from spades_env.view import empty_views, view_of

RulesLike = Rules | str | Path | Mapping[str, Any]


class Game(Facts):
    """One game, the whole truth: hands of all seats, and the way on.

    A game is fixed by (`seed`, `game`): its first dealer, every pack and every exchange. `hands` (or `pile`),
    `dealer`, `scores` and `bags` replace what its first deal would have, and nothing drawn later.

    Args:
        rules: a Rules value, a preset's name, a YAML file or a mapping of fields.
        seed: 0 to 2**63 - 1.
        game: number of the game under that seed. match: number of the match in that game, up to a million.
        deal: number of the deal in the match; decides its pack, and how many are left before `max_deals`, which
            is a million at most.
        dealer: seat of the dealer; drawn if None (R5).
        scores, bags: of both teams before the deal; bags below the limit (R6), a match not yet won.
        hands: a hand per seat, as text ("AS KS 2C ...") or card texts and ids.
        pile: the 52 cards of a draft in drawing order (R27).
    """

    _origin: tuple[int, int] | None = None
    """(seed, game) of a game that was made from them, which its key does not tell."""
    _deal_start: tuple[int, int, tuple[int, int]] | None = None
    """(match, deal, bag counts before it) of the deal begun last by this object; a state forgets such bags."""

    def __init__(
        self,
        rules: RulesLike = "classic",
        *,
        seed: int = 0,
        game: int = 0,
        match: int = 0,
        deal: int = 0,
        dealer: int | None = None,
        scores: Sequence[int] = (0, 0),
        bags: Sequence[int] = (0, 0),
        hands: Sequence[Cards] | None = None,
        pile: Cards | None = None,
    ) -> None:
        self._rules = as_rules(rules)
        self._states: StateArray = new_state(self._rules, seed, game, match)
        open_position(
            self._states,
            self._rules,
            dealer=dealer,
            scores=scores,
            bags=bags,
            deal=deal,
            hands=hands,
            pile=pile,
        )
        self._origin, self._deal_start = (int(seed), int(game)), (self.match, self.deal, self.bags)

    @classmethod
    def from_position(
        cls,
        rules: RulesLike = "classic",
        *,
        dealer: int,
        hands: Sequence[Cards] | None = None,
        pile: Cards | None = None,
        scores: Sequence[int] = (0, 0),
        bags: Sequence[int] = (0, 0),
        actions: Iterable[int | str] = (),
        deal: int = 0,
        seed: int = 0,
    ) -> Game:
        """A game in the middle of a deal: the hands as dealt (or the draft pile) and the actions taken since.

        Every action is checked; the error names its index, the seat, the action and what was legal. `seed`
        decides the deals to come and what an exchange draws.
        """
        if hands is None and pile is None:
            raise PositionError("hands and pile are missing; allowed: hands if dealt, the pile if drafted")
        game = cls(rules, seed=seed, deal=deal, dealer=dealer, scores=scores, bags=bags, hands=hands, pile=pile)
        for index, action in enumerate(course_of(actions)):
            try:
                game.apply(action)
            except (IllegalActionError, PositionError) as error:
                raise type(error)(f"actions[{index}]: {error}") from None
        return game

    @property
    def hands(self) -> list[list[int]]:
        """Cards that each seat holds now, ascending card ids; also of a seat that has not looked."""
        return [self._cards("hands", seat) for seat in range(self.players)]

    @property
    def hand_texts(self) -> list[str]:
        """`hands` as text, spades first: "AS 9S KH 2C"."""
        return [hand_text(int(self._states["hands"][0, seat])) for seat in range(self.players)]

    @property
    def pile(self) -> list[int]:
        """Cards still to be drawn from the draft pile, the next one first; empty without a draft (R27)."""
        if self._rules.deal != "draft":
            return []
        return [int(card) for card in self._states["pile"][0, self._int("pile_pos") :]]

    @property
    def states(self) -> StateArray:
        """The live ``STATE`` record, shape (1,), for kernels. Writing to it bypasses every check."""
        return self._states

    def legal_actions(self) -> list[int]:
        """Legal actions of the seat to act, ascending; empty once the deal is over."""
        return legal_action_list(self._states, 0)

    def legal_texts(self) -> list[str]:
        """`legal_actions` as text, such as "AS", "bid 3" or "nil"."""
        return [action_text(action) for action in self.legal_actions()]

    def apply(self, action: int | str) -> None:
        """Take an action, an id or its text; an illegal one is refused with the legal ones in the message."""
        number = action_id(action)
        if not is_legal(self._states, 0, number):
            raise IllegalActionError(illegal_text(self._states, 0, number))
        apply(self._states, 0, number)

    def next_deal(self) -> None:
        """Deal again, with the deal passed on (R5); allowed once a deal is over and the match is not."""
        self._go_on("next_deal", "deal over", "deal")

    def next_match(self) -> None:
        """Start the next match of this game at 0:0 (R26); allowed once a match is over."""
        self._go_on("next_match", "match over", "match")

    def view(self, seat: int) -> View:
        """What `seat` knows now (R30)."""
        views = empty_views(1)
        view_of(self._states, 0, whole_number("seat", seat, 0, self.players - 1), views, 0)
        return View(views)

    def copy(self) -> Game:
        """The same game, on its own from now on."""
        twin = type(self).__new__(type(self))
        twin._rules, twin._states = self._rules, self._states.copy()
        twin._origin, twin._deal_start = self._origin, self._deal_start
        return twin

    def to_bytes(self) -> bytes:
        """The exact state, for `from_bytes`."""
        return pack_state(self._states)

    @classmethod
    def from_bytes(cls, data: bytes) -> Game:
        """The game saved by `to_bytes`; StorageError for damaged or foreign bytes and impossible states."""
        game = cls.__new__(cls)
        game._states, game._rules = unpack_state(data)
        return game

    def to_record(
        self, *, players: Sequence[str] | None = None, meta: Mapping[str, Any] | None = None
    ) -> dict[str, Any]:
        """This deal so far as a game record: plain JSON values, for `spades_env.record` (docs/records.md).

        `players` are names by seat, `meta` is any JSON object of your own.
        """
        from spades_env.record.write import record_of  # here, because records are made of games

        start = self._deal_start
        # Whoever advances `states` by a kernel leaves the start of an earlier deal here.
        bags = start[2] if start is not None and start[:2] == (self.match, self.deal) else None
        return record_of(self._states, origin=self._origin, bags=bags, players=players, meta=meta)

    @classmethod
    def from_record(cls, record: dict[str, Any], *, actions: int | None = None) -> Game:
        """The game that a deal's record leads to, or stands at after its first `actions` actions.

        All of the record is checked by replaying it; RecordError names action, seat and what was legal.
        """
        from spades_env.record.replay import replayed  # here, because records are made of games

        game = cls.__new__(cls)
        game._states, game._rules, game._origin, game._deal_start = replayed(record, actions)
        return game

    def __eq__(self, other: object) -> bool:
        """Same rules, match, deal and course so far, and the same to come."""
        if not isinstance(other, Game):
            return NotImplemented
        return _comparable(self._states) == _comparable(other._states)

    __hash__ = None  # type: ignore[assignment]  # a game changes

    def __repr__(self) -> str:
        name = self._rules.preset_name or "own rules"
        turn = "" if self.turn is None else f", seat {self.turn} to act"
        return f"Game({name}, match {self.match}, deal {self.deal}, {self.phase}{turn})"

    def _go_on(self, name: str, phase: str, counter: str) -> None:
        if self.phase != phase:
            raise PositionError(f"{name} is called in phase {self.phase!r}; allowed in {phase!r}")
        if self._int(counter) >= HIGHEST_COUNT:
            raise PositionError(f"{name} is called in {counter} {self._int(counter)}; allowed before {HIGHEST_COUNT}")
        if counter == "deal" and max(map(abs, self.scores)) > HIGHEST_TOTAL:
            raise PositionError(f"{name} is called at scores {self.scores}; allowed up to {HIGHEST_TOTAL} either way")
        advance(self._states, 0)
        self._deal_start = (self.match, self.deal, self.bags)


def _comparable(states: StateArray) -> bytes:
    """The record as bytes, without the order of a pack that is dealt: who got which card is what matters."""
    same = states.copy()
    if not np.any(same["rules"]["draft"]):
        same["pile"] = 0
    return same.tobytes()

"""View: what one seat knows, taken from a game or put together from what a player saw at a table (R30)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from spades_env.actions import action_text
from spades_env.cards import hand_text
from spades_env.engine.batch import legal_action_list
from spades_env.engine.state import HIDDEN, StateArray, rules_from_record
from spades_env.game.facts import Facts, TeamResult
from spades_env.game.position import Cards, PositionError
from spades_env.game.replay import known_views
from spades_env.rules import Rules
from spades_env.view import VIEW


class View(Facts):
    """What one seat may know. Wraps one ``VIEW`` record; what is hidden is not there at all."""

    def __init__(self, views: StateArray) -> None:
        if not isinstance(views, np.ndarray) or views.dtype != VIEW or views.shape != (1,):
            what = f"{views.dtype}, shape {views.shape}" if isinstance(views, np.ndarray) else repr(views)
            raise PositionError(f"views are {what}; allowed: dtype VIEW, shape (1,)")
        self._views = views
        self._states = np.ascontiguousarray(views["known"])
        self._rules = rules_from_record(self._states["rules"][0])

    @classmethod
    def from_known(
        cls,
        rules: Rules | str | Path | Mapping[str, Any] = "classic",
        *,
        seat: int,
        dealer: int,
        hand: Cards | None = None,
        actions: Iterable[int | str] = (),
        scores: Sequence[int] = (0, 0),
        bags: Sequence[int] = (0, 0),
        deal: int = 0,
        match: int = 0,
        shown: int | str | None = None,
        rejected: Cards = (),
        result: tuple[TeamResult, TeamResult] | None = None,
    ) -> View:
        """The view of `seat` from what she has seen at a table, without knowing anybody else's cards.

        Args:
            hand: her cards as dealt, those already played included; None as long as she has not looked (R10).
                In a draft: the cards she holds now and those she has played.
            actions: every action of this deal so far, of all seats, in order, as ids or text. A card that the
                other seat gave up in the exchange (R28) is "?" or -1.
            scores, bags, deal, match: as in `Game`, before this deal.
            shown: draft: the card she is deciding about now.
            rejected: draft: all cards she looked at and discarded.
            result: score of the deal before, as `Game.result` gives it.

        Her own actions must be legal. Other seats' plays must be possible: not a card that she holds or that
        is gone, nor of a suit they have shown not to hold; some layout of the unseen cards must fit them all.
        """
        return cls(
            known_views(
                rules,
                seat=seat,
                dealer=dealer,
                hand=hand,
                actions=actions,
                scores=scores,
                bags=bags,
                deal=deal,
                match=match,
                shown=shown,
                rejected=rejected,
                result=result,
            )
        )

    @property
    def views(self) -> StateArray:
        """The ``VIEW`` record, shape (1,), for agents and encoders."""
        return self._views

    @property
    def seat(self) -> int:
        """Whose view this is."""
        return int(self._views["seat"][0])

    @property
    def hand(self) -> list[int]:
        """Cards she holds now, ascending ids; empty before she has looked (R10)."""
        return self._cards("hands", self.seat)

    @property
    def hand_text(self) -> str:
        """`hand` as text, spades first."""
        return hand_text(int(self._states["hands"][0, self.seat]))

    @property
    def shown(self) -> int | None:
        """Draft: the card she is deciding about (R27), else None."""
        card = int(self._views["shown"][0])
        return None if card == HIDDEN else card

    @property
    def rejected(self) -> list[int]:
        """Draft: cards she looked at and discarded (R29)."""
        return self._cards("rejected", self.seat) if self._rules.deal == "draft" else []

    @property
    def thrown(self) -> list[int]:
        """Draft: cards she gave up in the exchange (R29)."""
        return self._cards("thrown", self.seat) if self._rules.deal == "draft" else []

    def legal_actions(self) -> list[int]:
        """Her legal actions, ascending; empty when another seat is to act: hers would tell her hand."""
        return legal_action_list(self._states, 0) if self.turn == self.seat else []

    def legal_texts(self) -> list[str]:
        """`legal_actions` as text."""
        return [action_text(action) for action in self.legal_actions()]

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, View):
            return NotImplemented
        return self._views.tobytes() == other._views.tobytes()

    __hash__ = None  # type: ignore[assignment]  # holds an array that may change

    def __repr__(self) -> str:
        name = self._rules.preset_name or "own rules"
        return f"View(seat {self.seat}, {name}, deal {self.deal}, {self.phase}, hand {self.hand_text or '-'})"

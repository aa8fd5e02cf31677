"""`SearchAgent`: `hard` and `expert`, which compare their actions over sampled worlds."""

from __future__ import annotations

import time
from dataclasses import asdict, dataclass
from functools import cached_property
from typing import Any

import numpy as np

from agents.base import ActionArray, AgentError, FloatArray, KeyArray, check_views
from agents.objective import Objective, checked_objective, for_each_stakes
from agents.search.beliefs import search_beliefs, write_nil_shares
from agents.search.effort import Desk, Effort, new_desk
from agents.search.searcher import best_row, fallback_row, search_moves, search_row, start_row
from agents.search.values import search_values
from agents.stakes import POINTS, Stakes
from spades_env.actions import NUM_ACTIONS
from spades_env.checks import finite_number, whole_number
from spades_env.engine.state import StateArray

MOST_WORLDS, MOST_FACTOR, MOST_NODES = 100_000, 1000, 1 << 40


@dataclass(frozen=True)
class SearchAgent:
    """Samples worlds that fit what she knows, plays or solves them for every candidate, takes the best on average.

    The effort is fixed by numbers of worlds (see `effort.Effort`), so that her choices can be repeated. With `ms`
    she goes on with more batches of `worlds` until so many milliseconds are over, and they cannot.
    Not for two threads at once: an agent has one desk to work on.
    """

    level: str = "hard"
    worlds: int = 50
    exact: int = 5
    draws: int = 32
    reads: int = 4
    trust: float = 0.7
    margin: float = 3.0
    doubt: float = 0.2
    nodes: int = 200_000
    objective: Objective = "auto"
    ms: float = 0.0

    def __post_init__(self) -> None:
        if self.level not in LEVELS:
            raise AgentError(f"level={self.level!r} is not allowed: one of {', '.join(LEVELS)}")
        for name, low, high in (
            ("worlds", 2, MOST_WORLDS),
            ("exact", 0, 13),
            ("draws", 1, MOST_FACTOR),
            ("reads", 0, MOST_FACTOR),
            ("nodes", 1, MOST_NODES),
        ):
            whole_number(name, getattr(self, name), low, high, AgentError)
        for name in ("trust", "margin", "doubt", "ms"):
            value = finite_number(name, getattr(self, name), AgentError)
            if value < 0:
                raise AgentError(f"{name}={value!r} is not allowed: 0 or more")
        if self.doubt > 1:
            raise AgentError(f"doubt={self.doubt!r} is not allowed: a chance, 0..1")
        checked_objective(self.objective)

    @property
    def name(self) -> str:
        """The level, with its options where they are not the level's own."""
        defaults = LEVELS[self.level]
        changed = {k: v for k, v in asdict(self).items() if k != "level" and v != defaults.get(k, DEFAULTS[k])}
        if not changed:
            return self.level
        return f"{self.level}:" + ",".join(
            f"{k}={v:g}" if isinstance(v, float) else f"{k}={v}" for k, v in changed.items()
        )

    @property
    def effort(self) -> Effort:
        """What is spent on one decision, or on one batch of it with `ms`."""
        return Effort(
            worlds=self.worlds,
            exact=self.exact,
            draws=self.draws,
            reads=self.reads,
            trust=float(self.trust),
            margin=float(self.margin),
            doubt=float(self.doubt),
            nodes=self.nodes,
        )

    @cached_property
    def _desk(self) -> Desk:
        return new_desk(self.effort)

    def __getstate__(self) -> dict[str, Any]:
        """Leave the desk out of copies and pickles."""
        return asdict(self)

    def act(self, views: StateArray, keys: KeyArray) -> ActionArray:
        """Return actions, int16 of shape (n,), for `views` (VIEW) and `keys` (uint64), both of shape (n,)."""
        check_views(views, keys)
        out = np.empty(views.shape[0], np.int16)
        for rows, stakes in for_each_stakes(views, self.objective):
            if self.ms == 0.0:
                search_moves(views, rows, keys, self.effort, stakes, POINTS, self._desk, out)
            else:
                for row in rows:
                    out[row] = self._act_until(views, int(row), keys[row], stakes)
        return out

    def nil_chances(self, views: StateArray, keys: KeyArray) -> FloatArray:
        """Return the share of her worlds in which a nil is made, see `agents.base.NilForecaster`."""
        out = np.empty(views.shape[0])
        write_nil_shares(views, keys, self.effort, POINTS, self._desk, out)
        return out

    def beliefs(self, views: StateArray, keys: KeyArray) -> FloatArray:
        """Return where she thinks the unseen cards are, see `agents.base.Believer`."""
        return search_beliefs(views, keys, float(self.trust))

    def values(self, views: StateArray, keys: KeyArray) -> FloatArray:
        """Return what each action she compares is worth to her team, see `agents.base.Valuer`."""
        out = np.empty((views.shape[0], NUM_ACTIONS))
        for rows, stakes in for_each_stakes(views, self.objective):
            some = np.empty((rows.size, NUM_ACTIONS))
            search_values(views[rows], keys[rows], self.effort, stakes, POINTS, self._desk, some)
            out[rows] = some
        return out

    def _act_until(self, views: StateArray, row: int, key: np.uint64, stakes: Stakes) -> int:
        """Search batch after batch until the time is over or one candidate is left."""
        end = time.perf_counter() + self.ms / 1000.0
        count = start_row(views, row, stakes, self._desk)
        if count == 1:
            return best_row(count, self._desk)
        batch = 0
        while True:
            left = search_row(views, row, key, batch, count, self.effort, stakes, POINTS, self._desk) if count else 0
            if left == 0:
                return fallback_row(views, row, stakes)
            batch += 1
            if left == 1 or time.perf_counter() >= end:
                return best_row(count, self._desk)


DEFAULTS = {name: field.default for name, field in SearchAgent.__dataclass_fields__.items()}
LEVELS: dict[str, dict[str, Any]] = {
    "hard": {},
    "expert": {"worlds": 600, "exact": 7},
}
"""What the levels spend, where it differs from the defaults."""


def level(name: str, **options: Any) -> SearchAgent:
    """The agent of a level of LEVELS, with options changed."""
    return SearchAgent(**{"level": name, **LEVELS[name], **options})

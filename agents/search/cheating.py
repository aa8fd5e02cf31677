"""`CheatingAgent`: a searcher that sees all hands, as a ceiling for those that do not (an `OracleAgent`)."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from agents.base import ActionArray, KeyArray
from agents.objective import Objective, checked_objective, for_each_stakes
from agents.rules.normal.agent import normal_action
from agents.search.draft_worlds import is_drafting, is_exchanging
from agents.search.effort import Desk, Effort, IntArray, new_desk
from agents.search.searcher import best_of, compare, start
from agents.stakes import POINTS, Stakes
from spades_env.engine.kernel import kernel
from spades_env.engine.state import StateArray
from spades_env.view import empty_views, views_to_act

EXACT, NODES = 9, 4_000_000


@kernel
def cheating_action(game: np.void, view: np.void, effort: Effort, stakes: Stakes, points: Stakes, desk: Desk) -> int:
    """The action of the seat to act in `game`, a STATE record, of which `view` is her view.

    Candidates are played out with the true hands, or solved near the end. Double nil, draft and
    exchange are those of `normal`.
    """
    count = start(view, stakes, desk)
    if count == 0 or is_drafting(game) or is_exchanging(game):
        return normal_action(view["known"], int(view["shown"]), stakes)
    for seat in range(4):
        for k in range(desk.hands.shape[0]):
            desk.hands[k, seat] = game["hands"][seat]
    desk.chosen[:] = 0
    compare(view["known"], count, effort, stakes, points, desk)
    return int(desk.actions[best_of(desk.actions, desk.totals, count)])


@kernel
def cheating_moves(
    states: StateArray,
    views: StateArray,
    rows: IntArray,
    effort: Effort,
    stakes: Stakes,
    points: Stakes,
    desk: Desk,
    out: ActionArray,
) -> None:
    """`cheating_action` for the `rows` of `states`."""
    for row in rows:
        out[row] = cheating_action(states[row], views[row], effort, stakes, points, desk)


@dataclass(frozen=True)
class CheatingAgent:
    """Knows every card: the double-dummy pair. Ranks, tables and leak tests refuse it.

    With `exact` tricks left or fewer her play is perfect against perfect play, before that as good as one playout by
    `normal` of each action, and she bids what such playouts come to.
    """

    exact: int = EXACT
    objective: Objective = "auto"

    def __post_init__(self) -> None:
        checked_objective(self.objective)

    @property
    def name(self) -> str:
        """`cheating`."""
        return "cheating"

    @cached_property
    def _desk(self) -> Desk:
        return new_desk(self._effort)

    @property
    def _effort(self) -> Effort:
        return Effort(worlds=1, exact=self.exact, draws=1, reads=0, trust=0.0, margin=0.0, doubt=0.0, nodes=NODES)

    def act_on_states(self, states: StateArray, keys: KeyArray) -> ActionArray:
        """Return actions, int16 of shape (n,), for `states` (STATE); `keys` are not used."""
        views = empty_views(states.shape[0])
        views_to_act(states, views)
        out = np.empty(states.shape[0], np.int16)
        for rows, stakes in for_each_stakes(views, self.objective):
            cheating_moves(states, views, rows, self._effort, stakes, POINTS, self._desk, out)
        return out

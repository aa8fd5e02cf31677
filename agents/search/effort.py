"""How hard a search works, and the memory it works in."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from agents.search.candidates import MOST_CANDIDATES
from agents.search.sampler import new_plans
from agents.search.solver.workspace import new_workspace
from spades_env.cards import NUM_CARDS
from spades_env.engine.state import STATE, StateArray
from spades_env.view import empty_views

FloatArray = npt.NDArray[np.float64]
IntArray = npt.NDArray[np.int64]

DRAFT_WORLDS = 4
"""Worlds looked at in a draft for each one elsewhere: there are two actions, whose worth differs little."""


class Effort(NamedTuple):
    """What is spent on one decision.

    Attributes:
        worlds: worlds in which the candidates are compared.
        exact: with so many tricks left or fewer, worlds are solved instead of played out; 0: never.
        draws: most uniform worlds drawn for each one kept, when the bids make some likelier than others.
        reads: worlds kept after the bids for each one kept after the plays are read as well; 0: plays are not read.
        trust: what a play that `normal` would not have made costs a world in log-likelihood.
        margin: standard errors by which a candidate must lie behind to be dropped before all worlds are done.
        doubt: chance that a nil which a playout makes would fail, when bids are compared.
        nodes: cards that the solver may play for one world before it is played out instead.
    """

    worlds: int
    exact: int
    draws: int
    reads: int
    trust: float
    margin: float
    doubt: float
    nodes: int


class Desk(NamedTuple):
    """Arrays that a search writes to; made once, reused for any number of decisions.

    `views`: the view at hand, with all that is hidden blanked. `states`: two STATE records. `hands` and `weights`:
    worlds drawn. `stream`: key of what is dealt to them only when they are looked at (draft_worlds.py). `picked`,
    `chosen`: indices of those kept after bids, and after plays. `actions`: candidates, -1 once dropped. `values`: worth
    of each in each world. `totals`: their sums over all batches. `solved`: values by card from the solver.
    """

    plans: StateArray
    views: StateArray
    states: StateArray
    workspace: StateArray
    hands: IntArray
    weights: FloatArray
    stream: npt.NDArray[np.uint64]
    picked: IntArray
    chosen: IntArray
    actions: IntArray
    values: FloatArray
    totals: FloatArray
    solved: FloatArray


def new_desk(effort: Effort) -> Desk:
    """Memory for searches of this effort; about 5 MB and more with many worlds."""
    kept = effort.worlds * max(1, effort.reads)
    drawn = kept * max(1, effort.draws // max(1, effort.reads))
    return Desk(
        plans=new_plans(1),
        views=empty_views(1),
        states=np.zeros(2, STATE),
        workspace=new_workspace(),
        hands=np.zeros((drawn, 4), np.int64),
        weights=np.zeros(drawn),
        stream=np.zeros(1, np.uint64),
        picked=np.zeros(kept, np.int64),
        chosen=np.zeros(effort.worlds, np.int64),
        actions=np.zeros(MOST_CANDIDATES, np.int64),
        values=np.zeros((DRAFT_WORLDS * effort.worlds, MOST_CANDIDATES)),
        totals=np.zeros(MOST_CANDIDATES),
        solved=np.zeros(NUM_CARDS),
    )

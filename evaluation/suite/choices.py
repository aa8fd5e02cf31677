"""What an agent chooses in frozen positions, one decision each."""

from __future__ import annotations

import numpy as np

from agents.base import decision_keys
from evaluation.play import IndexArray
from evaluation.suite.task import Run
from spades_env.cards import NUM_CARDS
from spades_env.engine.kernel import kernel, lowest_bit
from spades_env.engine.state import StateArray
from spades_env.engine.step import is_legal_action, legal_parts
from spades_env.envs.players import choose
from spades_env.view import empty_views, views_to_act


@kernel
def make_legal(states: StateArray, actions: IndexArray) -> int:
    """Replace every illegal one of `actions`, int64 (n,), by the lowest legal id; how many."""
    illegal = 0
    for i in range(states.shape[0]):
        if not is_legal_action(states[i], int(actions[i])):
            illegal += 1
            cards, calls = legal_parts(states[i])
            actions[i] = lowest_bit(cards) if cards else NUM_CARDS + lowest_bit(calls)
    return illegal


def chosen(run: Run, states: StateArray) -> tuple[IndexArray, int]:
    """Return (her actions in `states`, int64 (n,); how many were illegal and have been replaced)."""
    views, keys = empty_views(len(states)), np.empty(len(states), np.uint64)
    views_to_act(states, views)
    decision_keys(states, keys)
    parts = []
    for first in range(0, len(states), run.batch_size):
        rows = slice(first, first + run.batch_size)
        parts.append(choose(run.player, views[rows].copy(), keys[rows].copy()))
        run.share(min(1.0, (first + run.batch_size) / len(states)))
    actions = np.concatenate(parts)
    return actions, make_legal(states, actions)

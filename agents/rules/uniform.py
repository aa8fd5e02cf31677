"""`random`: uniform over the legal actions of every phase, bids included."""

from __future__ import annotations

import numpy as np

from agents.base import ActionArray, FloatArray, KeyArray, check_views
from agents.rules.chances import mixed_chances
from spades_env.engine.kernel import kernel
from spades_env.engine.state import StateArray
from spades_env.engine.step import random_action


@kernel
def random_moves(views: StateArray, keys: KeyArray, out: ActionArray) -> None:
    """A uniformly random legal action for each of `views`; all arrays have shape (n,)."""
    for i in range(views.shape[0]):
        out[i] = random_action(views[i]["known"], keys[i], 0)


class RandomAgent:
    """Any legal action with the same probability."""

    name = "random"

    def act(self, views: StateArray, keys: KeyArray) -> ActionArray:
        """Return actions, int16 of shape (n,), for `views` (VIEW) and `keys` (uint64), both of shape (n,)."""
        check_views(views, keys)
        out = np.empty(views.shape[0], np.int16)
        random_moves(views, keys, out)
        return out

    def chances(self, views: StateArray) -> FloatArray:
        """Return the chance of every action, see `agents.base.KnownPolicy`."""
        n = views.shape[0]
        return mixed_chances(views, np.zeros(n, np.int16), np.ones(n))

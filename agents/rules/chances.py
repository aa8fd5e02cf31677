"""The chances of agents that follow a rule and now and then take any legal action instead."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from agents.base import ActionArray, FloatArray
from spades_env.actions import NUM_ACTIONS
from spades_env.engine.state import StateArray
from spades_env.view import write_view_masks


def mixed_chances(views: StateArray, actions: ActionArray, slips: npt.NDArray[np.float64]) -> FloatArray:
    """Return the chances, float64 (n, 73), of who takes any legal action with chance `slips[k]`, else `actions[k]`.

    `views`: VIEW, of the seat to act; all have shape (n,).
    """
    masks = np.empty((views.shape[0], NUM_ACTIONS), np.int8)
    write_view_masks(views, masks)
    chances: FloatArray = slips[:, None] * masks / masks.sum(axis=1, keepdims=True)
    chances[np.arange(views.shape[0]), actions] += 1.0 - slips
    return chances

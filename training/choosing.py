"""A choice of the learner's policy at every waiting game: judged by the network, drawn by key, now and then forced.

The same here and in rollout actors: what is chosen is a function of weights, observations and keys.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor

from agents.learned.sampling import sample_rows, uniforms
from spades_env.actions import NIL
from training.config import TrainingConfig
from training.sections import ExploreConfig

FORCED_DRAW = 12
"""Which number of a decision's stream decides whether nil is forced."""

Forward = Callable[[Tensor, Tensor], tuple[Tensor, Tensor]]
"""(uint8 observations (m, n_inputs), bool masks (m, 73)) to (masked logits (m, 73), values (m,))."""
Explore = Callable[[npt.NDArray[np.int64], npt.NDArray[np.bool_], npt.NDArray[np.uint64]], npt.NDArray[np.bool_]]
"""(actions, masks, keys): replaces some of the actions; which."""


class Drawn(NamedTuple):
    """Choices in m games."""

    actions: npt.NDArray[np.int64]
    """(m,)"""
    log_probs: npt.NDArray[np.float32]
    """(m,), of the actions under the policy that drew them"""
    explored: npt.NDArray[np.bool_]
    """(m,): the action was forced to explore"""


def judge(
    forward: Forward,
    observations: npt.NDArray[np.uint8],
    masks: npt.NDArray[np.bool_],
    device: torch.device,
) -> tuple[Tensor, npt.NDArray[np.float32]]:
    """Log-probabilities (m, 73) and values (m,) of the positions, on the CPU."""
    with torch.inference_mode():
        logits, values = forward(torch.from_numpy(observations).to(device), torch.from_numpy(masks).to(device))
        return torch.log_softmax(logits, dim=1).cpu(), values.cpu().numpy()


def draw(log_probs: Tensor, masks: npt.NDArray[np.bool_], keys: npt.NDArray[np.uint64], explore: Explore) -> Drawn:
    """Draw an action for every row of `log_probs`, (m, 73), with its key, and let `explore` replace some."""
    actions = np.empty(len(keys), np.int64)
    sample_rows(log_probs.exp().numpy(), keys, actions)
    explored = explore(actions, masks, keys)
    chosen = log_probs.gather(1, torch.from_numpy(actions)[:, None]).squeeze(1).numpy()
    return Drawn(actions, chosen, explored)


def explorer(config: TrainingConfig, progress: float) -> Explore:
    """How a run as in `config` explores once a share `progress` of its deals has been learned from."""
    if config.nils is not None:
        force = config.nils.force
        return lambda actions, masks, keys: force_nils(force, actions, masks, keys)
    return lambda actions, masks, keys: try_nils(config.explore, progress, actions, masks, keys)


def try_nils(
    explore: ExploreConfig,
    progress: float,
    actions: npt.NDArray[np.int64],
    masks: npt.NDArray[np.bool_],
    keys: npt.NDArray[np.uint64],
) -> npt.NDArray[np.bool_]:
    """Replace some bids of 1 in `actions` by nil (see `ExploreConfig`); which were replaced."""
    chance = explore.nil * max(0.0, 1 - progress / explore.until)
    weak = (actions == NIL + 1) & masks[:, NIL]
    if chance <= 0 or not weak.any():
        return np.zeros(len(keys), np.bool_)
    luck = np.empty(len(keys), np.float64)
    uniforms(keys, 1, luck)
    explored = weak & (luck < chance)
    actions[explored] = NIL
    return np.asarray(explored)


def force_nils(
    force: float,
    actions: npt.NDArray[np.int64],
    masks: npt.NDArray[np.bool_],
    keys: npt.NDArray[np.uint64],
) -> npt.NDArray[np.bool_]:
    """Replace bids in `actions` by nil with the chance `force` (see `NilsConfig`); which were replaced."""
    luck = np.empty(len(keys), np.float64)
    uniforms(keys, FORCED_DRAW, luck)
    forced = masks[:, NIL] & (luck < force)
    actions[forced] = NIL
    return np.asarray(forced)

"""DealBuffer: whole deals as one column per (game, seat), in the layout of sb3-contrib's rollout buffer.

Slot k of a column is the seat's k-th real choice of the deal; columns are as long as their seat had choices. What
happened between two choices of a seat belongs to the earlier one, and the deal's reward to her last.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import torch
from gymnasium import spaces
from sb3_contrib.common.maskable.buffers import MaskableRolloutBuffer
from torch import Tensor

Rows = npt.NDArray[np.int64]
FEWEST_FITTED = 100
"""Choices below which no fit is made; with three numbers to fit, its error is then a few percent of the variance."""


class Choices(NamedTuple):
    """Decisions of a minibatch; B rows on the learner's device."""

    observations: Tensor
    """uint8 (B, n_inputs)"""
    masks: Tensor
    """bool (B, 73)"""
    actions: Tensor
    """int64 (B,)"""
    old_log_prob: Tensor
    """float32 (B,)"""
    advantages: Tensor
    """float32 (B,), normalised for bids and plays apart"""
    returns: Tensor
    """float32 (B,)"""
    is_bid: Tensor
    """bool (B,)"""
    explored: Tensor
    """bool (B,): the action was forced to explore, not drawn from the policy"""
    weights: Tensor
    """float32 (B,): 1 / the chance with which the choice was taken into the pass"""


class DealBuffer(MaskableRolloutBuffer):
    """Arrays of shape (slots, columns, ...); `counts` says how many slots of each column are filled."""

    def __init__(
        self,
        buffer_size: int,
        observation_space: spaces.Space[Any],
        action_space: spaces.Space[Any],
        device: torch.device | str = "auto",
        gae_lambda: float = 0.95,
        gamma: float = 1.0,
        n_envs: int = 1,
    ) -> None:
        if gamma != 1.0:
            raise ValueError(f"gamma is {gamma}; allowed: 1, a deal is an episode of fixed length")
        super().__init__(buffer_size, observation_space, action_space, device, gae_lambda, gamma, n_envs)

    def reset(self) -> None:
        """Forget all choices. Arrays are made once; what lies beyond `counts` is old and never read."""
        if not hasattr(self, "counts"):
            shape = (self.buffer_size, self.n_envs)
            self.observations = np.zeros((*shape, *self.obs_shape), np.uint8)
            self.action_masks = np.zeros((*shape, int(self.action_space.n)), np.bool_)
            self.actions = np.zeros(shape, np.int64)
            self.log_probs = np.zeros(shape, np.float32)
            self.values = np.zeros(shape, np.float32)
            self.advantages = np.zeros(shape, np.float32)
            self.returns = np.zeros(shape, np.float32)
            self.is_bid = np.zeros(shape, np.bool_)
            self.explored = np.zeros(shape, np.bool_)
        self.counts: Rows = np.zeros(self.n_envs, np.int64)
        self.pos = 0
        self.full = False

    def add_choices(
        self,
        columns: Rows,
        observations: npt.NDArray[np.uint8],
        masks: npt.NDArray[np.bool_],
        actions: Rows,
        log_probs: npt.NDArray[np.float32],
        values: npt.NDArray[np.float32],
        is_bid: npt.NDArray[np.bool_],
        explored: npt.NDArray[np.bool_],
    ) -> None:
        """Append one choice to each of `columns` (all different)."""
        slots = self.counts[columns]
        where = (slots, columns)
        self.observations[where] = observations
        self.action_masks[where] = masks
        self.actions[where] = actions
        self.log_probs[where] = log_probs
        self.values[where] = values
        self.is_bid[where] = is_bid
        self.explored[where] = explored
        self.counts[columns] += 1

    def finish_deals(self, rewards: npt.NDArray[np.float32], luck: npt.NDArray[np.float32] | None = None) -> None:
        """Advantages by GAE along each column; `rewards` (columns,) come with the last choice of each.

        With gamma 1: delta_k = V_(k+1) - V_k (the reward in place of V after the last choice),
        A_k = delta_k + lambda A_(k+1), return_k = A_k + V_k (Schulman et al. 2016, eq. 16). No bootstrap.
        `luck` (columns,), what other plays of the same deal brought, takes its part out of the advantages.
        """
        following = rewards.astype(np.float32)
        advantage = np.zeros(self.n_envs, np.float32)
        for slot in range(self.buffer_size - 1, -1, -1):
            filled = slot < self.counts
            delta = following - self.values[slot]
            advantage = np.where(filled, delta + self.gae_lambda * advantage, 0).astype(np.float32)
            self.advantages[slot] = advantage
            self.returns[slot] = advantage + self.values[slot]
            following = np.where(filled, self.values[slot], following)
        if luck is not None:
            self._take_out(luck)
        self.full = True

    def _take_out(self, luck: npt.NDArray[np.float32]) -> None:
        """Subtract from each slot's advantages what their least-squares fit on `luck` and the values explains.

        Neither depends on what was chosen in the slot, so the policy gradient keeps its mean: a control variate.
        """
        for slot in range(self.buffer_size):
            filled = np.flatnonzero(slot < self.counts)
            if len(filled) < FEWEST_FITTED:
                continue
            known = np.stack([luck[filled], self.values[slot, filled], np.ones(len(filled))], axis=1)
            fit, *_ = np.linalg.lstsq(known, self.advantages[slot, filled].astype(np.float64), rcond=None)
            self.advantages[slot, filled] -= (known @ fit).astype(np.float32)

    def rows(self) -> Rows:
        """Indices of all choices in the flattened arrays, in slot order."""
        filled = np.arange(self.buffer_size)[:, None] < self.counts[None, :]
        return np.flatnonzero(filled)

    def normalised_advantages(self, rows: Rows) -> npt.NDArray[np.float32]:
        """Advantages of `rows` to mean 0 and deviation 1, for bids and plays apart; forced explorations aside."""
        advantages = self.advantages.reshape(-1)[rows].copy()
        bids, explored = self.is_bid.reshape(-1)[rows], self.explored.reshape(-1)[rows]
        for group in (bids, ~bids):
            own = advantages[group & ~explored]
            if len(own) > 1:
                advantages[group] = (advantages[group] - own.mean()) / (own.std() + 1e-8)
        return advantages

    def minibatches(
        self, size: int, rng: np.random.Generator, sure: float = 1.0, sure_share: float = 1.0
    ) -> Iterator[Choices]:
        """The choices once in random order, `size` at a time; the last minibatch takes what is left.

        Cards that the policy played with a probability above `sure` teach next to nothing: each comes with chance
        `sure_share` only, and with its inverse as weight, which leaves all expectations as they are.
        """
        if not self.full:
            raise RuntimeError("finish_deals must be called before minibatches")
        rows = self.rows()
        advantages = self.normalised_advantages(rows)
        shares = self._shares(rows, sure, sure_share)
        order = rng.permutation(len(rows))
        order = order[rng.random(len(rows)) < shares[order]]
        for start in range(0, len(order), size):
            chosen = order[start : start + size]
            yield self._choices(rows[chosen], advantages[chosen], np.float32(1) / shares[chosen])

    def _shares(self, rows: Rows, sure: float, sure_share: float) -> npt.NDArray[np.float32]:
        """The chance with which each of `rows` comes; 1 for bids and forced explorations."""
        forgone = (self.log_probs.reshape(-1)[rows] > np.log(sure)) & ~self.is_bid.reshape(-1)[rows]
        return np.where(forgone & ~self.explored.reshape(-1)[rows], sure_share, 1).astype(np.float32)

    def _choices(self, rows: Rows, advantages: npt.NDArray[np.float32], weights: npt.NDArray[np.float32]) -> Choices:
        def take(array: npt.NDArray[Any]) -> Tensor:
            flat = array.reshape(self.buffer_size * self.n_envs, *array.shape[2:])
            return torch.from_numpy(flat[rows]).to(self.device)

        return Choices(
            take(self.observations),
            take(self.action_masks),
            take(self.actions),
            take(self.log_probs),
            torch.from_numpy(advantages).to(self.device),
            take(self.returns),
            take(self.is_bid),
            take(self.explored),
            torch.from_numpy(weights).to(self.device),
        )

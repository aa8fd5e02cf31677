"""Distiller: expert iteration's learning half. The policy learns soft targets made of what a search says (labels.py).

Target of a decision: softmax(value / temperature) over the actions the search compared; of the value head: the worth of
the best action. Each pass sees every decision once, under a random renaming of the side suits.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import torch
from stable_baselines3.common.buffers import RolloutBuffer
from stable_baselines3.common.callbacks import BaseCallback
from stable_baselines3.common.vec_env import VecEnv
from torch import Tensor

from spades_env.observation.symmetry import ACTION_PERMUTATIONS, FLAT_PERMUTATIONS, symmetries
from training.config import TrainingConfig
from training.labels import read_labels
from training.losses import masked_mean
from training.selfplay import SelfPlayPPO, TrainingDiverged


class Distiller(SelfPlayPPO):
    """Learns from labels in memory; `num_timesteps` counts decisions, passes over the same one included."""

    def __init__(self, config: TrainingConfig, **kwargs: Any) -> None:
        super().__init__(config, **kwargs)
        assert config.distill is not None
        rules = config.rule_set()
        self.labels = read_labels(config.distill.labels, rules, Path(config.distill.folder))
        self.renamings = symmetries(rules)
        self._batch: npt.NDArray[np.int64] = np.zeros(0, np.int64)

    def collect_rollouts(
        self,
        env: VecEnv,
        callback: BaseCallback,
        rollout_buffer: RolloutBuffer,
        n_rollout_steps: int,
        use_masking: bool = True,
    ) -> bool:
        """Choose the decisions of the next gradient steps; they are a function of the seed and the number so far."""
        callback.on_rollout_start()
        callback.update_locals(locals())
        if not callback.on_step():
            return False
        size = min(self.config.ppo.games * self.config.ppo.minibatch, len(self.labels))
        number, start = divmod(self.num_timesteps, len(self.labels))
        order = np.random.default_rng([self.config.seed, number]).permutation(len(self.labels))
        self._batch = order[start : start + size]
        self.num_timesteps += len(self._batch)
        self.decisions_made = self.choices_made = self.num_timesteps
        callback.on_rollout_end()
        return True

    def train(self) -> None:
        """One pass over the decisions chosen."""
        self.policy.set_training_mode(True)
        self._update_learning_rate(self.policy.optimizer)
        rng = np.random.default_rng([self.config.seed, self.num_timesteps, 1])
        size = self.config.ppo.minibatch
        with self.timed("network"):
            for start in range(0, len(self._batch), size):
                rows = self._batch[start : start + size]
                parts = self._step(rows, int(rng.choice(self.renamings)))
        self._n_updates += 1
        for name, value in parts.items():
            self.logger.record(f"train/{name}", float(value))

    def _step(self, rows: npt.NDArray[np.int64], renaming: int) -> dict[str, Tensor]:
        n_inputs = self.observation_space.shape[0]
        columns, actions = FLAT_PERMUTATIONS[renaming, :n_inputs], ACTION_PERMUTATIONS[renaming]
        observations = torch.from_numpy(self.labels.observations[rows][:, columns]).to(self.device)
        masks = torch.from_numpy(self.labels.masks[rows][:, actions]).to(self.device)
        worth = torch.from_numpy(self.labels.values[rows][:, actions].astype(np.float32)).to(self.device)
        is_bid = torch.from_numpy(self.labels.is_bid[rows]).to(self.device)
        total, parts = self._distill_loss(observations, masks, worth, is_bid)
        if not torch.isfinite(total):
            raise TrainingDiverged(f"the loss is {float(total.detach())} after {self.num_timesteps} decisions")
        self.policy.optimizer.zero_grad()
        total.backward()
        torch.nn.utils.clip_grad_norm_(self.policy.parameters(), self.config.ppo.max_grad_norm)
        self.policy.optimizer.step()
        return parts

    def _distill_loss(
        self, observations: Tensor, masks: Tensor, worth: Tensor, is_bid: Tensor
    ) -> tuple[Tensor, dict[str, Tensor]]:
        assert self.config.distill is not None
        logits, values = self.policy.logits_and_values(observations, masks)
        compared = ~torch.isnan(worth)
        low = torch.finfo(torch.float32).min
        target = torch.softmax(torch.where(compared, worth / self.config.distill.temperature, low), dim=1)
        log_probs = torch.log_softmax(logits.masked_fill(~compared, low), dim=1)
        cross = -(target * torch.where(compared, log_probs, 0.0)).sum(1)
        # What the search left out is an equal of what it compared, or hopeless: its share is kept small.
        outside = torch.where(masks & ~compared, torch.softmax(logits, dim=1), 0.0).sum(1)
        best = torch.where(compared, worth, low).max(1)
        weights = torch.where(is_bid, self.config.ppo.bid_weight, 1.0)
        value_error = ((values - best.values / 100) ** 2 * weights).mean()
        total = (weights * (cross + outside)).mean() + self.config.ppo.value_weight * value_error
        chosen = torch.where(compared, logits, low).argmax(1, keepdim=True)
        regret = best.values - worth.gather(1, chosen).squeeze(1)
        return total, {
            "cross_entropy": cross.mean().detach(),
            "value_error": value_error.detach(),
            "regret_bid": masked_mean(regret, is_bid),
            "regret_play": masked_mean(regret, ~is_bid),
        }

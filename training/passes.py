"""PassLearner: what learners from decisions in memory have in common. A pass sees each of them once, in a new order."""

from __future__ import annotations

from abc import abstractmethod
from typing import Any

import numpy as np
import numpy.typing as npt
import torch
from stable_baselines3.common.buffers import RolloutBuffer
from stable_baselines3.common.callbacks import BaseCallback
from stable_baselines3.common.utils import update_learning_rate
from stable_baselines3.common.vec_env import VecEnv
from torch import Tensor

from spades_env.observation.symmetry import symmetries
from training.config import TrainingConfig
from training.selfplay import SelfPlayPPO, TrainingDiverged

Rows = npt.NDArray[np.int64]


class PassLearner(SelfPlayPPO):
    """Learns from decisions in memory; `num_timesteps` counts them, passes over the same one included.

    Which decisions come next is a function of the seed and the number so far. Each minibatch is seen under a random
    renaming of the side suits.
    """

    def __init__(self, config: TrainingConfig, **kwargs: Any) -> None:
        super().__init__(config, **kwargs)
        self.renamings = symmetries(config.rule_set())
        self._batch: Rows = np.zeros(0, np.int64)

    @property
    @abstractmethod
    def decisions(self) -> int:
        """Number of the decisions to learn from."""

    @abstractmethod
    def _step(self, rows: Rows, renaming: int) -> dict[str, Tensor]:
        """A gradient step on these decisions, renamed; parts of the loss for the log."""

    def _rate(self) -> float:
        """Learning rate of the next steps."""
        return float(self.lr_schedule(self._current_progress_remaining))

    def collect_rollouts(
        self,
        env: VecEnv,
        callback: BaseCallback,
        rollout_buffer: RolloutBuffer,
        n_rollout_steps: int,
        use_masking: bool = True,
    ) -> bool:
        """Choose the decisions of the next gradient steps."""
        callback.on_rollout_start()
        callback.update_locals(locals())
        if not callback.on_step():
            return False
        size = min(self.config.ppo.games * self.config.ppo.minibatch, self.decisions)
        number, start = divmod(self.num_timesteps, self.decisions)
        order = np.random.default_rng([self.config.seed, number]).permutation(self.decisions)
        self._batch = order[start : start + size]
        self.num_timesteps += len(self._batch)
        self.decisions_made = self.choices_made = self.num_timesteps
        callback.on_rollout_end()
        return True

    def train(self) -> None:
        """One pass over the decisions chosen."""
        self.policy.set_training_mode(True)
        rate = self._rate()
        update_learning_rate(self.policy.optimizer, rate)
        self.logger.record("train/learning_rate", rate)
        rng = np.random.default_rng([self.config.seed, self.num_timesteps, 1])
        size = self.config.ppo.minibatch
        with self.timed("network"):
            for start in range(0, len(self._batch), size):
                rows = self._batch[start : start + size]
                parts = self._step(rows, int(rng.choice(self.renamings)))
        self._n_updates += 1
        for name, value in parts.items():
            self.logger.record(f"train/{name}", float(value))

    def _descend(self, total: Tensor) -> None:
        """A step down the gradient of `total`."""
        if not torch.isfinite(total):
            raise TrainingDiverged(f"the loss is {float(total.detach())} after {self.num_timesteps} decisions")
        self.policy.optimizer.zero_grad()
        torch.autograd.backward(total)
        torch.nn.utils.clip_grad_norm_(self.policy.parameters(), self.config.ppo.max_grad_norm)
        self.policy.optimizer.step()

"""NilLearner: a head on a finished policy's trunk that says, at a bid, how likely a nil would be made.

The policy plays all seats; now and then nil is bid in place of her own bid, so that hands are seen on which she would
not dare. Learned are the outcomes of all nils, by logistic regression on the trunk's features.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import torch
from torch.nn import functional

from spades_env.actions import NIL
from training.selfplay import SelfPlayPPO, TrainingDiverged


class NilLearner(SelfPlayPPO):
    """Learns the nil head alone; the other weights get no gradient and stay as they are, to the bit."""

    def train(self) -> None:
        """`epochs` passes over the nils of the last collection."""
        self.policy.set_training_mode(True)
        self._update_learning_rate(self.policy.optimizer)
        observations, made = self._nils()
        rng = np.random.default_rng([self.config.seed, self.num_timesteps])
        with self.timed("network"):
            for _ in range(self.n_epochs):
                order = rng.permutation(len(made))
                for start in range(0, len(made), self.config.ppo.minibatch):
                    rows = order[start : start + self.config.ppo.minibatch]
                    error = self._learn(observations[rows], made[rows])
        self._n_updates += self.n_epochs
        if len(made):
            self.logger.record("train/nil_cross_entropy", error)
            self.logger.record("train/nil_made", float(made.mean()))

    def _nils(self) -> tuple[npt.NDArray[np.uint8], npt.NDArray[np.float32]]:
        """Observation at each nil of the last collection, uint8 (n, n_inputs), and 1 if it was made, else 0."""
        buffer = self.rollout_buffer
        bid_nil = buffer.is_bid & (buffer.actions == NIL) & (np.arange(buffer.buffer_size)[:, None] < buffer.counts)
        slots, columns = np.nonzero(bid_nil)
        tricks = self.env.states["tricks"][:, : self.env.rules.players].reshape(-1)
        return buffer.observations[slots, columns], (tricks[columns] == 0).astype(np.float32)

    def _learn(self, observations: npt.NDArray[np.uint8], made: npt.NDArray[np.float32]) -> float:
        logits = self.policy.nil_logits(torch.from_numpy(observations).to(self.device))
        error = functional.binary_cross_entropy_with_logits(logits, torch.from_numpy(made).to(self.device))
        value = float(error.detach())
        if not np.isfinite(value):
            raise TrainingDiverged(f"the loss is {value} after {self.num_timesteps} deals")
        self.policy.optimizer.zero_grad()
        torch.autograd.backward(error)
        self.policy.optimizer.step()
        return value

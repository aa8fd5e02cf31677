"""Distiller: expert iteration's learning half. The policy learns soft targets made of what a search says (labels.py).

Target of a decision: softmax(value / temperature) over the actions the search compared; of the value head: the worth of
the best action. Each pass sees every decision once, under a random renaming of the side suits.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor

from spades_env.observation.symmetry import ACTION_PERMUTATIONS, FLAT_PERMUTATIONS
from training.config import TrainingConfig
from training.labels import read_labels
from training.losses import masked_mean
from training.passes import PassLearner, Rows


class Distiller(PassLearner):
    """Learns from labels in memory."""

    def __init__(self, config: TrainingConfig, **kwargs: Any) -> None:
        super().__init__(config, **kwargs)
        assert config.distill is not None
        self.labels = read_labels(config.distill.labels, config.rule_set(), Path(config.distill.folder))

    @property
    def decisions(self) -> int:
        """Number of the decisions to learn from."""
        return len(self.labels)

    def _step(self, rows: Rows, renaming: int) -> dict[str, Tensor]:
        n_inputs = self.observation_space.shape[0]
        columns, actions = FLAT_PERMUTATIONS[renaming, :n_inputs], ACTION_PERMUTATIONS[renaming]
        observations = torch.from_numpy(self.labels.observations[rows][:, columns]).to(self.device)
        masks = torch.from_numpy(self.labels.masks[rows][:, actions]).to(self.device)
        worth = torch.from_numpy(self.labels.values[rows][:, actions].astype(np.float32)).to(self.device)
        is_bid = torch.from_numpy(self.labels.is_bid[rows]).to(self.device)
        total, parts = self._distill_loss(observations, masks, worth, is_bid)
        self._descend(total)
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

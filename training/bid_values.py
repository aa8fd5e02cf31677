"""BidLearner: what each bid is worth to a policy, learned from forced bids (bid_labels.py), then better bids.

First the values: a regression on what the seat sees, by least squares on the differences between the bids of one
decision, in which the luck that they share cancels. One deal's difference is still mostly luck, so nothing is learned
from a single one. Then the bids: the policy's are moved to old policy x exp(value / temperature), which of all policies
has the best value less temperature x its divergence from the old one.

Only the 14 rows of the action head that bid are moved. The trunk and the other rows stay as they are, to the bit, and
with them every other choice.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any, Final

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional

from agents.learned.forward import LOWEST
from agents.learned.network import Trunk
from agents.learned.weights import NIL_HEAD, Description, Tensors
from spades_env.actions import FIRST_BID
from spades_env.engine.batch import default_bag_price
from spades_env.observation.symmetry import FLAT_PERMUTATIONS
from training.bid_labels import BIDS, BidLabels, BidTask, make_bid_shards, read_bid_labels
from training.bid_report import findings
from training.config import TrainingConfig
from training.passes import PassLearner, Rows
from training.sections import BidValuesConfig
from training.shards import LabelError, ShowShards

BID_ROWS: Final = slice(FIRST_BID, FIRST_BID + BIDS)
"""Of the action head."""
SCALE: Final = 100
"""Points that are 1 in the learned values, as in the value head."""
BATCH: Final = 8192
"""Decisions judged at a time where nothing is learned."""


class BidValues(nn.Module):
    """Values of bids, up to a constant of each decision, as a linear function of a trunk's features.

    `trunk`: features of its own, which are learned, too; None: those of the policy.
    """

    def __init__(self, width: int, trunk: Trunk | None) -> None:
        super().__init__()
        self.trunk = trunk
        self.head = nn.Linear(width, BIDS)
        nn.init.zeros_(self.head.weight)
        nn.init.zeros_(self.head.bias)


class BidLearner(PassLearner):
    """Learns values in the first `fit` of the run and moves the bids in the rest."""

    def __init__(self, config: TrainingConfig, labels: BidLabels, start: Tensors, **kwargs: Any) -> None:
        """`start`: weights of the policy that made the labels."""
        super().__init__(config, nil_head=f"{NIL_HEAD}.weight" in start, **kwargs)
        assert config.bid_values is not None
        self.settings: BidValuesConfig = config.bid_values
        self.labels = labels
        # Every place in the order of bidding on both sides: they follow each other from deal to deal.
        held = labels.deals // self.env.rules.players % self.settings.held_out == 0
        self.learned, self.held = np.flatnonzero(~held), np.flatnonzero(held)
        if not len(self.learned) or not len(self.held):
            raise LabelError(
                f"bid_values.held_out is {self.settings.held_out}; allowed with {len(labels)} labelled decisions: what "
                "leaves some on both sides"
            )
        self.policy.begin_with(start)
        self.values = BidValues(self.policy.hidden[-1], self._own_trunk(start)).to(self.device)
        # As a part of the policy it comes into checkpoints; policy files are made of the policy's own parts.
        self.policy.add_module("bid_values", self.values)
        weights = [*self.values.parameters(), *self.policy.action_net.parameters()]
        # No decay of weights: a row without a gradient must not move.
        self.policy.optimizer = torch.optim.Adam(weights, eps=1e-5)

    def _own_trunk(self, start: Tensors) -> Trunk | None:
        if not self.settings.own_trunk:
            return None
        inputs = self.observation_space.shape[0]
        trunk = Trunk(inputs, self.policy.hidden, self.policy.precision)
        prefix = "trunk."
        weights = {name: torch.from_numpy(array) for name, array in start.items() if name.startswith(prefix)}
        trunk.load_state_dict({name.removeprefix(prefix): tensor for name, tensor in weights.items()})
        return trunk

    @property
    def decisions(self) -> int:
        """Number of the decisions to learn from; the others are held out."""
        return len(self.learned)

    @property
    def _fit_until(self) -> float:
        return self.settings.fit * self.config.deals

    @property
    def _begun(self) -> int:
        """Decisions before the batch that is learned from now."""
        return self.num_timesteps - len(self._batch)

    def _rate(self) -> float:
        """The learning rate falls twice, over the part that learns values and over the one that moves the bids."""
        fitted = self._begun - self._fit_until
        left = -fitted / self._fit_until if fitted < 0 else 1 - fitted / (self.config.deals - self._fit_until)
        return float(self.lr_schedule(max(0.0, left)))

    def train(self) -> None:
        """One pass over the decisions chosen, and what it came to on those held out."""
        super().train()
        for name, value in self.findings().items():
            self.logger.record(f"bid_values/{name}", value)

    def _step(self, rows: Rows, renaming: int) -> dict[str, Tensor]:
        chosen = self.learned[rows]
        columns = FLAT_PERMUTATIONS[renaming, : self.observation_space.shape[0]]
        # Bids keep their names under any renaming of suits.
        observations = torch.from_numpy(self.labels.observations[chosen][:, columns]).to(self.device)
        if self._begun < self._fit_until:
            loss = self._value_error(observations, torch.from_numpy(self.labels.values[chosen]).to(self.device))
            name = "value_error"
        else:
            loss = self._distance(observations, chosen)
            name = "cross_entropy"
        self._descend(loss)
        return {name: loss.detach()}

    def _value_error(self, observations: Tensor, points: Tensor) -> Tensor:
        """Mean squared error of the differences between the bids tried; `points`, (B, 14), are NaN for the others."""
        tried = ~torch.isnan(points)
        wanted = centred(torch.where(tried, points, 0.0) / SCALE, tried)
        error = centred(self._bid_values(observations), tried) - wanted
        return error.square().sum() / tried.sum()

    def _distance(self, observations: Tensor, chosen: Rows) -> Tensor:
        """Cross-entropy of the policy's bids to those wanted."""
        old = torch.from_numpy(self.labels.logits[chosen]).to(self.device)
        tried = torch.from_numpy(self.labels.tried[chosen]).to(self.device)
        with torch.no_grad():
            target = moved(old, SCALE * self._bid_values(observations), tried, self.settings.temperature)
        log_probs = torch.log_softmax(self._bid_logits(observations, old > LOWEST), dim=1)
        return -(target * torch.where(target > 0, log_probs, 0.0)).sum(1).mean()

    def _bid_values(self, observations: Tensor) -> Tensor:
        """(B, 14), hundreds of points, up to a constant of each row."""
        features = self._features(observations) if self.values.trunk is None else self.values.trunk(observations)
        found: Tensor = self.values.head(features)
        return found

    def _bid_logits(self, observations: Tensor, legal: Tensor) -> Tensor:
        """Logits of the policy's bids, (B, 14), LOWEST where illegal; no gradient reaches more than their rows."""
        head = self.policy.action_net
        logits = functional.linear(self._features(observations), head.weight[BID_ROWS], head.bias[BID_ROWS])
        return logits.masked_fill(~legal, LOWEST)

    def _features(self, observations: Tensor) -> Tensor:
        with torch.no_grad():
            features: Tensor = self.policy.features_extractor(observations)
        return features

    @torch.no_grad()
    def findings(self) -> dict[str, float]:
        """What has been learned so far, measured on the decisions held out (`bid_report.findings`)."""
        values, logits = [], []
        for start in range(0, len(self.held), BATCH):
            rows = self.held[start : start + BATCH]
            observations = torch.from_numpy(self.labels.observations[rows]).to(self.device)
            legal = torch.from_numpy(self.labels.logits[rows] > LOWEST).to(self.device)
            values.append(SCALE * self._bid_values(observations).cpu().numpy())
            logits.append(self._bid_logits(observations, legal).cpu().numpy())
        return findings(self.labels, self.held, np.concatenate(values), np.concatenate(logits))


def centred(values: Tensor, tried: Tensor) -> Tensor:
    """`values`, (B, 14), less their mean over the bids tried in the row; 0 elsewhere."""
    mean = torch.where(tried, values, 0.0).sum(1, keepdim=True) / tried.sum(1, keepdim=True)
    return torch.where(tried, values - mean, 0.0)


def moved(old: Tensor, points: Tensor, tried: Tensor, temperature: float) -> Tensor:
    """Chances of bids, (B, 14): old x exp(points / temperature) among those tried, as before for those not tried.

    `old`: logits, LOWEST where illegal, which counts as not tried.
    """
    before = torch.softmax(old, dim=1)
    share = torch.where(tried, before, 0.0).sum(1, keepdim=True)
    among = torch.softmax((old + points / temperature).masked_fill(~tried, LOWEST), dim=1)
    return torch.where(tried, share * among, before)


def bid_learner(
    config: TrainingConfig, start: tuple[Tensors, Description], show: ShowShards | None = None
) -> BidLearner:
    """The learner of a run, once the labels that are missing are made."""
    assert config.bid_values is not None
    settings, rules = config.bid_values, config.rule_set()
    bag_price = default_bag_price(rules) if config.bag_price is None else config.bag_price
    tensors, description = start
    task = BidTask(settings.labels, rules, bag_price, tensors, description.knows_match)
    make_bid_shards(task, Path(settings.folder), show=show)
    return BidLearner(config, read_bid_labels(task, Path(settings.folder)), tensors)

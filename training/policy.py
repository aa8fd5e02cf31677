"""SeatPolicy: sb3-contrib's maskable actor-critic policy over the shared trunk of `agents.learned.network`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch
from gymnasium import spaces
from sb3_contrib.common.maskable.policies import MaskableActorCriticPolicy
from stable_baselines3.common.torch_layers import BaseFeaturesExtractor
from stable_baselines3.common.type_aliases import Schedule
from torch import Tensor, nn

from agents.learned.network import PolicyNetwork, Trunk, mask_logits
from agents.learned.weights import Tensors


class TrunkExtractor(BaseFeaturesExtractor):
    """The trunk as stable-baselines3 wants it: shared by policy and value head."""

    def __init__(self, observation_space: spaces.Box, hidden: Sequence[int], precision: str) -> None:
        super().__init__(observation_space, hidden[-1])
        self.trunk = Trunk(observation_space.shape[0], hidden, precision)

    def forward(self, observations: Tensor) -> Tensor:
        """uint8 (or the same numbers in float) (B, n_inputs) to float32 (B, hidden[-1])."""
        out: Tensor = self.trunk(observations)
        return out


class SeatPolicy(MaskableActorCriticPolicy):
    """Linear policy and value heads on one trunk."""

    def __init__(
        self,
        observation_space: spaces.Space[Any],
        action_space: spaces.Space[Any],
        lr_schedule: Schedule,
        *,
        hidden: Sequence[int] = (256, 256),
        precision: str = "float32",
        nil_head: bool = False,
        averaged: bool = False,
        **kwargs: Any,
    ) -> None:
        self.has_nil_head = nil_head
        self.averaged = averaged
        self.hidden = tuple(hidden)
        self.precision = precision
        super().__init__(
            observation_space,
            action_space,
            lr_schedule,
            net_arch={"pi": [], "vf": []},
            features_extractor_class=TrunkExtractor,
            features_extractor_kwargs={"hidden": list(hidden), "precision": precision},
            normalize_images=False,
            **kwargs,
        )

    def _build(self, lr_schedule: Schedule) -> None:
        """Make the heads, then the optimizer of all weights; called by stable-baselines3."""
        self.nil_net = nn.Linear(self.features_dim, 1) if self.has_nil_head else None
        super()._build(lr_schedule)
        # Made last, so that the optimizer does not take its weights for its own.
        self.average = self.network().requires_grad_(False) if self.averaged else None

    def logits_and_values(self, observations: Tensor, masks: Tensor) -> tuple[Tensor, Tensor]:
        """(masked logits (B, 73), values (B,)) of uint8 observations and bool masks, without copies to float."""
        features = self.features_extractor(observations)
        return mask_logits(self.action_net(features), masks), self.value_net(features).squeeze(-1)

    def nil_logits(self, observations: Tensor) -> Tensor:
        """Logit of the chance that a nil would be made, (B,), of uint8 observations; no gradient reaches the trunk."""
        assert self.nil_net is not None
        with torch.no_grad():
            features = self.features_extractor(observations)
        logits: Tensor = self.nil_net(features)
        return logits.squeeze(-1)

    def average_log_probs(self, observations: Tensor, masks: Tensor) -> Tensor | None:
        """Log-probabilities (B, 73) of the averaged policy, without gradient; None if there is none."""
        if self.average is None:
            return None
        with torch.no_grad():
            logits, _ = self.average(observations, masks)
            return torch.log_softmax(logits, dim=1)

    def move_average(self, rate: float) -> None:
        """Move the averaged weights by `rate` of the way to the current ones."""
        if self.average is None:
            return
        current = self.network().state_dict()
        with torch.no_grad():
            for name, tensor in self.average.state_dict().items():
                tensor.lerp_(current[name].to(tensor.device), rate)

    def begin_with(self, tensors: Tensors) -> None:
        """Take the weights of a policy of the same shape."""
        network = self.network()
        network.take(tensors)
        extractor = self.features_extractor
        assert isinstance(extractor, TrunkExtractor)
        extractor.trunk.load_state_dict(network.trunk.state_dict())
        self.action_net.load_state_dict(network.action_head.state_dict())
        self.value_net.load_state_dict(network.value_head.state_dict())
        if self.nil_net is not None and network.nil_head is not None:
            self.nil_net.load_state_dict(network.nil_head.state_dict())
        self.move_average(1.0)

    def playing_weights(self) -> Tensors:
        """A copy of the weights that choices and values depend on, named as in a policy file."""
        extractor = self.features_extractor
        assert isinstance(extractor, TrunkExtractor)
        parts = {"trunk": extractor.trunk, "action_head": self.action_net, "value_head": self.value_net}
        return {
            f"{part}.{name}": tensor.detach().cpu().numpy().copy()
            for part, module in parts.items()
            for name, tensor in module.state_dict().items()
        }

    def network(self) -> PolicyNetwork:
        """A copy of the weights as the network that agents play with."""
        extractor = self.features_extractor
        assert isinstance(extractor, TrunkExtractor)
        copy = PolicyNetwork(extractor.trunk.n_inputs, self.hidden, self.precision, nil_head=self.has_nil_head)
        copy.trunk.load_state_dict(extractor.trunk.state_dict())
        copy.action_head.load_state_dict(self.action_net.state_dict())
        copy.value_head.load_state_dict(self.value_net.state_dict())
        if copy.nil_head is not None and self.nil_net is not None:
            copy.nil_head.load_state_dict(self.nil_net.state_dict())
        return copy.to(torch.device("cpu"))

"""The policy network in torch, to train: a trunk that policy and value share, fed with the bytes of an observation."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

import torch
from torch import Tensor, nn
from torch.nn import functional

from agents.learned.weights import NIL_HEAD, PRECISIONS, Tensors
from spades_env.actions import NUM_ACTIONS
from spades_env.observation.blocks import FLAT_SCALES


def has_fast_bfloat16() -> bool:
    """Whether this CPU multiplies bfloat16 in hardware; elsewhere it is slower than float32."""
    capabilities: dict[str, object] = getattr(torch.cpu, "get_capabilities", dict)()
    return bool(capabilities.get("avx512_bf16") or capabilities.get("amx_bf16"))


class Trunk(nn.Module):
    """Linear-ReLU layers over the first `n_inputs` bytes of an observation; float32 (B, hidden[-1]) comes out.

    Weights are float32; with precision "bfloat16" the products are computed in bfloat16 (bytes are exact in it).
    """

    scales: Tensor

    def __init__(self, n_inputs: int, hidden: Sequence[int], precision: str = "float32") -> None:
        super().__init__()
        if precision not in PRECISIONS:
            raise ValueError(f"precision is {precision!r}; allowed: {', '.join(PRECISIONS)}")
        sizes = [n_inputs, *hidden]
        self.n_inputs = n_inputs
        self.hidden = tuple(hidden)
        self.layers = nn.ModuleList(nn.Linear(a, b) for a, b in pairwise(sizes))
        self.dtype = torch.bfloat16 if precision == "bfloat16" else torch.float32
        self.register_buffer("scales", torch.from_numpy(FLAT_SCALES[:n_inputs].copy()), persistent=False)
        for layer in self.linear_layers():
            nn.init.orthogonal_(layer.weight, 2**0.5)
            nn.init.zeros_(layer.bias)

    def linear_layers(self) -> list[nn.Linear]:
        """The layers in order."""
        return [layer for layer in self.layers if isinstance(layer, nn.Linear)]

    def forward(self, observations: Tensor) -> Tensor:
        """`observations`: uint8 (B, at least n_inputs)."""
        x = observations[:, : self.n_inputs].to(self.dtype)
        for k, layer in enumerate(self.linear_layers()):
            # Scaling the first weights instead of the input keeps the input exact and costs nothing per row.
            weight = layer.weight * self.scales if k == 0 else layer.weight
            x = torch.relu(functional.linear(x, weight.to(self.dtype), layer.bias.to(self.dtype)))
        return x.float()


class PolicyNetwork(nn.Module):
    """Trunk, one masked head over all 73 actions, a value head, and maybe one for the chance of making a nil."""

    def __init__(
        self, n_inputs: int, hidden: Sequence[int], precision: str = "float32", *, nil_head: bool = False
    ) -> None:
        super().__init__()
        self.trunk = Trunk(n_inputs, hidden, precision)
        self.action_head = nn.Linear(hidden[-1], NUM_ACTIONS)
        self.value_head = nn.Linear(hidden[-1], 1)
        self.nil_head = nn.Linear(hidden[-1], 1) if nil_head else None

    def forward(self, observations: Tensor, masks: Tensor) -> tuple[Tensor, Tensor]:
        """(masked logits float32 (B, 73), values float32 (B,)); `masks` are bool (B, 73), True = legal."""
        features = self.trunk(observations)
        return mask_logits(self.action_head(features), masks), self.value_head(features).squeeze(-1)

    def tensors(self) -> Tensors:
        """The weights as a policy file holds them."""
        return {name: tensor.detach().cpu().numpy().copy() for name, tensor in self.state_dict().items()}

    def take(self, tensors: Tensors) -> None:
        """Set the weights to those of a policy of the same shape; a nil head only where both have one."""
        own = self.state_dict()
        given = {name: torch.from_numpy(tensor) for name, tensor in tensors.items() if name in own}
        own_head = {name: tensor for name, tensor in own.items() if name.startswith(f"{NIL_HEAD}.")}
        self.load_state_dict(own_head | given)


def mask_logits(logits: Tensor, masks: Tensor) -> Tensor:
    """`logits` with illegal actions at the lowest float, so that their probability is exactly 0."""
    return logits.masked_fill(~masks, torch.finfo(logits.dtype).min)

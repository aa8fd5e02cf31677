"""The policy network at play, as a kernel: no torch, a few microseconds a decision, the same bytes in any batch.

The products run over the rows of the weights whose input is not 0: of the 902 bytes of an observation some hundred and
thirty are set, and a ReLU leaves about half of the next layer. Each output is a sum in the order of the inputs, one row
at a time, so neither batch nor vector width changes a bit of it.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from agents.learned.weights import NIL_HEAD
from spades_env.actions import NUM_ACTIONS
from spades_env.engine.kernel import kernel
from spades_env.engine.state import StateArray
from spades_env.engine.step import legal_parts, write_action_mask
from spades_env.observation.blocks import FLAT_SCALES, FLAT_SIZE
from spades_env.observation.flat import encode_flat

Floats = npt.NDArray[np.float32]
OUTPUTS = NUM_ACTIONS + 1
"""Logits of all actions, then the value; a net with a nil head has the logit of making a nil after them."""
LOWEST = float(np.finfo(np.float32).min)
"""Logit of an illegal action."""


class Net(NamedTuple):
    """Weights of a policy as kernels want them.

    `sizes`: int64, inputs, widths of the hidden layers, outputs. `weights`: float32, layer after layer, each with a
    row for every input. `biases`: float32, layer after layer. `knows_match`: whether it has learned at scores other
    than 0:0; one that has not is shown 0:0, since what it would make of others is chance. `max_deals`: that of the
    rules it learned under, 0: none; it is shown that one, for the same reason.
    """

    sizes: npt.NDArray[np.int64]
    weights: Floats
    biases: Floats
    knows_match: bool
    max_deals: int


def make_net(
    tensors: Mapping[str, npt.NDArray[Any]], n_inputs: int, knows_match: bool = False, max_deals: int = 0
) -> Net:
    """The net of a policy file's `tensors`, named as in `agents.learned.weights`; the scales of bytes go into it."""
    depth = sum(name.startswith("trunk.") for name in tensors) // 2
    layers = [(tensors[f"trunk.layers.{k}.weight"], tensors[f"trunk.layers.{k}.bias"]) for k in range(depth)]
    layers[0] = layers[0][0] * FLAT_SCALES[:n_inputs], layers[0][1]
    heads = [head for head in ("action_head", "value_head", NIL_HEAD) if f"{head}.weight" in tensors]
    weight, bias = (np.concatenate([tensors[f"{head}.{kind}"] for head in heads]) for kind in ("weight", "bias"))
    layers.append((weight, bias))
    return Net(
        np.array([n_inputs, *(len(bias) for _, bias in layers)], np.int64),
        np.concatenate([weight.T.astype(np.float32).reshape(-1) for weight, _ in layers]),
        np.concatenate([bias.astype(np.float32) for _, bias in layers]),
        knows_match,
        max_deals,
    )


@kernel
def add_scaled(out: Floats, scale: np.float32, row: Floats) -> None:
    """out[j] += scale * row[j] for every j of `row`."""
    for j in range(row.shape[0]):
        out[j] += scale * row[j]


@kernel
def observe(net: Net, view: np.void, observation: npt.NDArray[np.uint8]) -> None:
    """Write what the net sees of `view`, which is changed to what the net has learned of."""
    known = view["known"]
    known["rules"]["max_deals"] = net.max_deals
    if not net.knows_match:
        known["scores"][:] = 0
        known["bags"][:] = 0
        known["deal"] = 0
    encode_flat(view, observation)


@kernel
def run_net(net: Net, observation: npt.NDArray[np.uint8], rows: Floats) -> int:
    """Run the net on one observation; `rows`: float32 (2, widest layer). Which of the rows holds the outputs."""
    layers = net.sizes.shape[0] - 1
    start, bias = 0, 0
    for layer in range(layers):
        n, width = net.sizes[layer], net.sizes[layer + 1]
        out, source = rows[layer & 1], rows[1 - (layer & 1)]
        for j in range(width):
            out[j] = net.biases[bias + j]
        for i in range(n):
            x = np.float32(observation[i]) if layer == 0 else np.float32(source[i])
            if x != 0:
                add_scaled(out, x, net.weights[start + i * width : start + (i + 1) * width])
        if layer < layers - 1:
            for j in range(width):
                out[j] = max(out[j], np.float32(0))
        start += n * width
        bias += width
    return (layers - 1) & 1


@kernel
def write_outputs(net: Net, views: StateArray, out: Floats) -> None:
    """Fill out, float32 (n, outputs), for `views`, dtype VIEW: logits, LOWEST where illegal, and the other heads.

    The views are changed, see `observe`.
    """
    observation = np.zeros(FLAT_SIZE, np.uint8)
    mask = np.zeros(NUM_ACTIONS, np.int8)
    rows = np.zeros((2, net.sizes.max()), np.float32)
    for k in range(views.shape[0]):
        cards, calls = legal_parts(views[k]["known"])
        observe(net, views[k], observation)
        where = run_net(net, observation, rows)
        write_action_mask(cards, calls, mask)
        for action in range(NUM_ACTIONS):
            out[k, action] = rows[where, action] if mask[action] else np.float32(LOWEST)
        for head in range(NUM_ACTIONS, out.shape[1]):
            out[k, head] = rows[where, head]

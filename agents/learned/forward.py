"""The policy network at play, as a kernel: no torch, a few microseconds a decision, the same bytes in any batch.

Several nets may be asked together, and each about a view under several names of the side suits, which are
interchangeable (spades_env/observation/symmetry.py). The mean of the answers counts: what one net has learned by
chance, or has not learned to be equal, goes down in it.

The products run over the rows of the weights whose input is not 0: of the 902 bytes of an observation some hundred and
thirty are set, and a ReLU leaves about half of the next layer. Each output is a sum in the order of the inputs, one row
at a time, so neither batch nor vector width changes a bit of it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
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
from spades_env.observation.symmetry import ACTION_MAPS, FLAT_PERMUTATIONS

Floats = npt.NDArray[np.float32]
OUTPUTS = NUM_ACTIONS + 1
"""Logits of all actions, then the value; a net with a nil head has the logit of making a nil after them."""
LOWEST = float(np.finfo(np.float32).min)
"""Logit of an illegal action."""


class Net(NamedTuple):
    """Weights of one or several nets of the same form, its members, as kernels want them.

    `sizes`: int64, inputs, widths of the hidden layers, outputs. `weights`: float32 (members, n), layer after layer,
    each with a row for every input. `biases`: float32 (members, n), layer after layer. `knows_match`: whether it has
    learned at scores other than 0:0; one that has not is shown 0:0, since what it would make of others is chance.
    `max_deals`: that of the rules it learned under, 0: none; it is shown that one, for the same reason. `columns`,
    int64 (names, inputs), and `actions`, int64 (names, 73): under each of the names of the suits that it is asked,
    where each byte of an observation goes and what each action is called.
    """

    sizes: npt.NDArray[np.int64]
    weights: Floats
    biases: Floats
    knows_match: bool
    max_deals: int
    columns: npt.NDArray[np.int64]
    actions: npt.NDArray[np.int64]


class Scratch(NamedTuple):
    """What a net is run on: `observation`, uint8 (FLAT_SIZE,); `rows`, float32 (2, widest layer); and its answer.

    `outputs`: float32 (outputs,), logits of all actions and the other heads.
    """

    observation: npt.NDArray[np.uint8]
    rows: Floats
    outputs: Floats


def new_scratch(net: Net) -> Scratch:
    """Memory for one thread that runs `net`."""
    return Scratch(
        np.zeros(FLAT_SIZE, np.uint8),
        np.zeros((2, net.sizes.max()), np.float32),
        np.zeros(net.sizes[-1], np.float32),
    )


def make_net(
    members: Sequence[Mapping[str, npt.NDArray[Any]]],
    n_inputs: int,
    *,
    knows_match: bool = False,
    max_deals: int = 0,
    renamings: Sequence[int] = (0,),
) -> Net:
    """The net of the tensors of one or several policy files, named as in `agents.learned.weights`.

    The scales of bytes go into it. `renamings`: numbers of SUIT_PERMUTATIONS, the names of the suits under which it is
    asked. ValueError: members have other layers or heads.
    """
    layers = [_layers(tensors, n_inputs) for tensors in members]
    sizes = [[n_inputs, *(len(bias) for _, bias in own)] for own in layers]
    if any(other != sizes[0] for other in sizes):
        raise ValueError(f"policies asked together have layers of {sizes}; allowed: all the same")
    return Net(
        np.array(sizes[0], np.int64),
        np.stack([np.concatenate([weight.T.reshape(-1) for weight, _ in own]) for own in layers]).astype(np.float32),
        np.stack([np.concatenate([bias for _, bias in own]) for own in layers]).astype(np.float32),
        knows_match,
        max_deals,
        np.argsort(FLAT_PERMUTATIONS[list(renamings), :n_inputs], axis=1),
        ACTION_MAPS[list(renamings)],
    )


def _layers(tensors: Mapping[str, npt.NDArray[Any]], n_inputs: int) -> list[tuple[npt.NDArray[Any], npt.NDArray[Any]]]:
    """Weight (outputs, inputs) and bias of every layer, the heads together as the last one."""
    depth = sum(name.startswith("trunk.") for name in tensors) // 2
    layers = [(tensors[f"trunk.layers.{k}.weight"], tensors[f"trunk.layers.{k}.bias"]) for k in range(depth)]
    layers[0] = layers[0][0] * FLAT_SCALES[:n_inputs], layers[0][1]
    heads = [head for head in ("action_head", "value_head", NIL_HEAD) if f"{head}.weight" in tensors]
    weight, bias = (np.concatenate([tensors[f"{head}.{kind}"] for head in heads]) for kind in ("weight", "bias"))
    return [*layers, (weight, bias)]


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
def run_member(net: Net, member: int, columns: npt.NDArray[np.int64], scratch: Scratch) -> int:
    """Run one of the nets on `scratch.observation`. Which of `scratch.rows` holds the outputs.

    `columns`: int64 (inputs,), where each byte of the observation goes.
    """
    observation, rows = scratch.observation, scratch.rows
    weights, biases = net.weights[member], net.biases[member]
    layers = net.sizes.shape[0] - 1
    start, bias = 0, 0
    for layer in range(layers):
        n, width = net.sizes[layer], net.sizes[layer + 1]
        out, source = rows[layer & 1], rows[1 - (layer & 1)]
        for j in range(width):
            out[j] = biases[bias + j]
        for i in range(n):
            x = np.float32(observation[i]) if layer == 0 else np.float32(source[i])
            if x != 0:
                at = start + (columns[i] if layer == 0 else i) * width
                add_scaled(out, x, weights[at : at + width])
        if layer < layers - 1:
            for j in range(width):
                out[j] = max(out[j], np.float32(0))
        start += n * width
        bias += width
    return (layers - 1) & 1


@kernel
def ask(net: Net, view: np.void, scratch: Scratch) -> None:
    """Fill `scratch.outputs` with what the net says of `view`: the mean over its members and its names of the suits.

    The view is changed, see `observe`.
    """
    observe(net, view, scratch.observation)
    outputs = scratch.outputs
    outputs[:] = 0
    members, names = net.weights.shape[0], net.columns.shape[0]
    for member in range(members):
        for k in range(names):
            row = scratch.rows[run_member(net, member, net.columns[k], scratch)]
            for action in range(NUM_ACTIONS):
                outputs[action] += row[net.actions[k, action]]
            for head in range(NUM_ACTIONS, outputs.shape[0]):
                outputs[head] += row[head]
    for j in range(outputs.shape[0]):
        outputs[j] /= np.float32(members * names)


@kernel
def write_outputs(net: Net, views: StateArray, scratch: Scratch, out: Floats) -> None:
    """Fill out, float32 (n, outputs), for `views`, dtype VIEW: logits, LOWEST where illegal, and the other heads.

    The views are changed, see `observe`.
    """
    mask = np.zeros(NUM_ACTIONS, np.int8)
    for k in range(views.shape[0]):
        cards, calls = legal_parts(views[k]["known"])
        write_action_mask(cards, calls, mask)
        ask(net, views[k], scratch)
        out[k] = scratch.outputs
        for action in range(NUM_ACTIONS):
            if not mask[action]:
                out[k, action] = np.float32(LOWEST)

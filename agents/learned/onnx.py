"""Policies as ONNX models, for runtimes of other languages. Needs the extra `onnx`."""

from __future__ import annotations

import itertools
from typing import Final

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

from agents.learned.forward import OUTPUTS, Net
from spades_env.actions import NUM_ACTIONS

OPSET: Final = 17
INPUT, LOGITS, VALUE, NIL = "observation", "logits", "value", "nil"


def onnx_model(net: Net, name: str = "spades_env.policy") -> onnx.ModelProto:
    """The net as a model with fixed meaning: uint8 (n, inputs) in, float32 (n, 73) and (n, 1) out.

    `observation`: the first bytes of the flat observation, as many as the net takes, unscaled. `logits`: of every
    action, not masked: set those of illegal actions to the lowest number. `value`: points / 100 to the mover's team,
    or of a net that knows matches the change of equity, in the unit of its training (docs/training.md).
    `nil`, of a net with a nil head: the logit of the chance that a nil would be made, float32 (n, 1). Of several
    members and names of the suits they are the means, as at play.

    The metadata say what a table has to show it: `knows_match` "true", or "false" for scores, bags and the number of
    the deal at 0; `max_deals` (0: none) is that of the rules it takes the observation to be of.
    """
    sizes = [int(size) for size in net.sizes]
    nodes = [helper.make_node("Cast", [INPUT], ["bytes"], to=TensorProto.FLOAT)]
    weights = [each for member in range(len(net.weights)) for each in _weights(net, member)]
    answers = []
    for k, (columns, actions) in enumerate(zip(net.columns, net.actions, strict=True)):
        heads = np.concatenate([actions, np.arange(NUM_ACTIONS, sizes[-1])])
        weights += [numpy_helper.from_array(np.argsort(columns), f"columns_{k}")]
        weights += [numpy_helper.from_array(heads, f"heads_{k}")]
        nodes.append(helper.make_node("Gather", ["bytes", f"columns_{k}"], [f"bytes_{k}"], axis=1))
        for member in range(len(net.weights)):
            answers.append(f"answer_{member}_{k}")
            nodes += _layers(len(sizes) - 1, member, k, answers[-1])
    nodes.append(helper.make_node("Mean", answers, ["outputs"]))
    parts = {LOGITS: NUM_ACTIONS, VALUE: 1} | ({NIL: 1} if sizes[-1] > OUTPUTS else {})
    weights.append(numpy_helper.from_array(np.array([*parts.values()], np.int64), "parts"))
    nodes.append(helper.make_node("Split", ["outputs", "parts"], [*parts], axis=1))
    graph = helper.make_graph(
        nodes,
        name,
        [helper.make_tensor_value_info(INPUT, TensorProto.UINT8, ["n", sizes[0]])],
        [helper.make_tensor_value_info(part, TensorProto.FLOAT, ["n", width]) for part, width in parts.items()],
        weights,
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", OPSET)], producer_name="spades_env")
    helper.set_model_props(model, {"knows_match": str(net.knows_match).lower(), "max_deals": str(net.max_deals)})
    model.ir_version = 9  # readable by runtimes from 2023 on
    onnx.checker.check_model(model)
    return model


def _weights(net: Net, member: int) -> list[onnx.TensorProto]:
    """Weights and biases of one of the nets, layer after layer."""
    found, start, bias = [], 0, 0
    for k, (n, width) in enumerate(itertools.pairwise(map(int, net.sizes))):
        weight = net.weights[member, start : start + n * width].reshape(n, width)
        found.append(numpy_helper.from_array(np.ascontiguousarray(weight), f"weight_{member}_{k}"))
        found.append(numpy_helper.from_array(net.biases[member, bias : bias + width].copy(), f"bias_{member}_{k}"))
        start += n * width
        bias += width
    return found


def _layers(depth: int, member: int, name: int, answer: str) -> list[onnx.NodeProto]:
    """The nodes of one of the nets, asked under one of the names of the suits; `answer` in the names of the table."""
    nodes, source = [], f"bytes_{name}"
    for k in range(depth):
        out = f"sum_{member}_{name}_{k}"
        nodes.append(helper.make_node("Gemm", [source, f"weight_{member}_{k}", f"bias_{member}_{k}"], [out]))
        source = out
        if k < depth - 1:
            source = f"layer_{member}_{name}_{k}"
            nodes.append(helper.make_node("Relu", [out], [source]))
    return [*nodes, helper.make_node("Gather", [source, f"heads_{name}"], [answer], axis=1)]

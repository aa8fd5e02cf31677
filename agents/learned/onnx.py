"""Policies as ONNX models, for runtimes of other languages. Needs the extra `onnx`."""

from __future__ import annotations

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
    `nil`, of a net with a nil head: the logit of the chance that a nil would be made, float32 (n, 1).

    The metadata say what a table has to show it: `knows_match` "true", or "false" for scores, bags and the number of
    the deal at 0; `max_deals` (0: none) is that of the rules it takes the observation to be of.
    """
    sizes = [int(size) for size in net.sizes]
    nodes, weights = [helper.make_node("Cast", [INPUT], ["layer_0"], to=TensorProto.FLOAT)], []
    start, bias = 0, 0
    for k in range(len(sizes) - 1):
        n, width = sizes[k], sizes[k + 1]
        weight = net.weights[start : start + n * width].reshape(n, width)
        weights.append(numpy_helper.from_array(np.ascontiguousarray(weight), f"weight_{k}"))
        weights.append(numpy_helper.from_array(np.ascontiguousarray(net.biases[bias : bias + width]), f"bias_{k}"))
        last = k == len(sizes) - 2
        out = "outputs" if last else f"sum_{k}"
        nodes.append(helper.make_node("Gemm", [f"layer_{k}", f"weight_{k}", f"bias_{k}"], [out]))
        if not last:
            nodes.append(helper.make_node("Relu", [out], [f"layer_{k + 1}"]))
        start += n * width
        bias += width
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

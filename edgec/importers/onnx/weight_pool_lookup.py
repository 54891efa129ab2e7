"""Finds the look-ups of pooled weights in a model, before constant folding computes them away.

A pooled model holds a table of vectors and, for each layer, indices into it; ``Gather`` looks the
vectors up and a few operators bring them into the shape of a weight (`onnx_export_pool` says what
edgec itself writes).  Whatever these operators are, as long as they only move elements, add a
few of them up or scale them, the look-up is left to the handlers, which keep the indices
(`weight_pools`).
"""

from __future__ import annotations

import onnx_ir as ir

_TABLES = (ir.DataType.INT8, ir.DataType.FLOAT)
ON_THE_WAY = frozenset(
    {
        "Cast",
        "DequantizeLinear",
        "Flatten",
        "Identity",
        "Mul",
        "ReduceSum",
        "Reshape",
        "Slice",
        "Squeeze",
        "Transpose",
        "Unsqueeze",
    }
)
"""Operators that may stand between a look-up and the weights."""
_READERS = {"Conv": (1,), "Gemm": (0, 1), "MatMul": (0, 1)}
"""The input at which an operator takes weights."""
_MAX_STEPS = 64
"""Most nodes between a look-up and the weights that are followed."""


def is_weight_lookup(node: ir.Node) -> bool:
    """Whether a node with constant inputs gathers rows of a table that become weights alone."""
    if node.op_type != "Gather" or node.domain not in ("", "ai.onnx") or len(node.inputs) != 2:
        return False
    table = node.inputs[0]
    if table is None or table.const_value is None or table.const_value.dtype not in _TABLES:
        return False
    if len(table.const_value.shape) != 2 or node.attributes.get_int("axis", 0) not in (0, -2):
        return False
    return _becomes_weights(node.outputs[0])


def _becomes_weights(value: ir.Value) -> bool:
    waiting, seen = [value], 0
    while waiting:
        current = waiting.pop()
        uses = current.uses()
        seen += len(uses)
        if not uses or current.is_graph_output() or seen > _MAX_STEPS:
            return False
        for node, index in uses:
            if index in _READERS.get(node.op_type, ()):
                continue
            if node.op_type not in ON_THE_WAY or not (index == 0 or node.op_type == "Mul"):
                return False
            waiting.append(node.outputs[0])
    return True

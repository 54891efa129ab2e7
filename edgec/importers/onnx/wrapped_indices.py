"""Indices that may count from the end of a table: what Keras puts before each Embedding.

``Where(ids < 0, ids + rows, ids)`` is what ONNX's Gather does of itself, so it goes.  (On the
target indices are at least 0, as of every Gather of rows.)
"""

from __future__ import annotations

import numpy as np
import onnx_ir as ir
from onnx_ir import convenience

_WHOLE = (ir.DataType.INT32, ir.DataType.INT64)


def drop_wrapping(graph: ir.Graph) -> None:
    """Let every Gather read the indices as they were before they were counted from the end."""
    for node in graph:
        ids = _wrapped(node)
        if ids is not None:
            convenience.replace_all_uses_with(node.outputs[0], ids)


def _wrapped(node: ir.Node) -> ir.Value | None:
    """The indices that a Where counts from the end where they are negative; None for any other."""
    if node.op_type != "Where" or len(node.inputs) != 3 or node.outputs[0].is_graph_output():
        return None
    condition, counted, ids = node.inputs
    if ids is None or ids.dtype not in _WHOLE or not _chooses_rows(node.outputs[0]):
        return None
    negative, added = _operands(condition, "Less"), _operands(counted, "Add")
    if negative is None or added is None or negative[0] is not ids or added[0] is not ids:
        return None
    return ids if negative[1] == 0 and added[1] > 0 else None


def _chooses_rows(value: ir.Value) -> bool:
    """Whether a value is nothing but the indices of Gathers."""
    return all(use.node.op_type == "Gather" and use.idx == 1 for use in value.uses())


def _operands(value: ir.Value | None, op: str) -> tuple[ir.Value, int] | None:
    """What an operator works on and the number beside it; None for any other operator."""
    made = value.producer() if value is not None else None
    if made is None or made.op_type != op:
        return None
    x, number = made.inputs
    tensor = convenience.get_const_tensor(number) if number is not None else None
    if x is None or tensor is None or tensor.size != 1:
        return None
    return x, int(np.asarray(tensor.numpy()).reshape(-1)[0])

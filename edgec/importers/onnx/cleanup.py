"""Clean-up of exported graphs, by onnx-ir and onnxscript.

Functions are inlined, whatever is constant is computed (the shape arithmetic of PyTorch's exporters
among it), identities and inference-time dropouts vanish, equal nodes become one.  None of the
fusions of onnxscript's optimizer run: these are edgec's own passes, and they must see quantization.

Models of float16 and bfloat16 as models of float32.

Every number of these types is a float32 number, so a widened model means the same, up to the
rounding of its sums.  What libraries cannot infer or compute in 16 bits (bfloat16 constants, nodes
that mix both precisions) thereby stops being in the way.

Fold the wrapping of negative indices that Keras puts before each Embedding.

``Where(ids < 0, ids + rows, ids)`` is what ONNX's Gather does of itself, so it goes.  (On the
target indices are at least 0, as of every Gather of rows.)
"""

from __future__ import annotations

import logging
import math
from collections.abc import Iterator
from contextlib import contextmanager

import numpy as np
import onnx
import onnx_ir as ir
from onnx import TensorProto, numpy_helper
from onnx_ir import convenience
from onnx_ir.passes import common
from onnxscript.optimizer import fold_constants_ir

from edgec.importers.common.boundary import library_call
from edgec.importers.onnx.walk import all_nodes, all_tensors
from edgec.importers.onnx.weight_pool_lookup import is_weight_lookup

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
    """First operand of an operator and the number that is its second; None for others."""
    made = value.producer() if value is not None else None
    if made is None or made.op_type != op:
        return None
    x, number = made.inputs
    tensor = convenience.get_const_tensor(number) if number is not None else None
    if x is None or tensor is None or tensor.size != 1:
        return None
    return x, int(np.asarray(tensor.numpy()).reshape(-1)[0])


MAX_FOLDED_ELEMENTS = 1 << 24
"""Largest tensor that folding may create; a graph could ask for any size in a few bytes."""
MAX_FOLDED_TOTAL = 1 << 26
"""Most elements that folding may create altogether."""

_LIBRARIES = ("onnxscript", "onnx_ir")

_KEPT = frozenset(
    {
        # Weights that a DequantizeLinear reads stay integer.
        "DequantizeLinear",
        "DynamicQuantizeLinear",
        # Not known at compile time.
        "RandomNormal",
        "RandomNormalLike",
        "RandomUniform",
        "RandomUniformLike",
        "Bernoulli",
        "Multinomial",
        # Would evaluate a body.
        "If",
        "Loop",
        "Scan",
        "SequenceMap",
    }
)


def clean(model: onnx.ModelProto) -> ir.Model:
    """The model with static shapes inferred and constants folded.

    Args:
        model: screened, with static input shapes.

    Raises:
        ImportModelError: a library refuses the model.
    """
    with library_call("the model cannot be simplified"), _quiet_libraries():
        graph_model = ir.from_proto(model)
        common.InlinePass()(graph_model)
        fold_constants_ir(
            graph_model,
            onnx_shape_inference=True,
            input_size_limit=MAX_FOLDED_ELEMENTS,
            output_size_limit=MAX_FOLDED_ELEMENTS,
            should_fold=_FoldBudget().may_fold,
        )
        drop_wrapping(graph_model.graph)
        for tidy in (
            common.RemoveUnusedNodesPass(),
            common.LiftConstantsToInitializersPass(lift_all_constants=True, size_limit=0),
            common.IdentityEliminationPass(),
            common.CommonSubexpressionEliminationPass(),
            common.RemoveUnusedNodesPass(),
        ):
            tidy(graph_model)
    return graph_model


@contextmanager
def _quiet_libraries() -> Iterator[None]:
    """Keep warnings of the libraries off the user's terminal.

    They say which nodes could not be computed; those that matter are named by the translation.
    """
    loggers = [logging.getLogger(name) for name in _LIBRARIES]
    levels = [logger.level for logger in loggers]
    for logger in loggers:
        logger.setLevel(logging.ERROR)
    try:
        yield
    finally:
        for logger, level in zip(loggers, levels, strict=True):
            logger.setLevel(level)


class _FoldBudget:
    """Decides which nodes of constant inputs are evaluated: those of known, bounded output."""

    def __init__(self) -> None:
        self._left = MAX_FOLDED_TOTAL

    def may_fold(self, node: ir.Node) -> bool:
        """True when a node may be evaluated; its output then counts against the budget."""
        if node.op_type in _KEPT or len(node.outputs) != 1 or is_weight_lookup(node):
            return False
        shape = static_shape(node.outputs[0])
        if shape is None or math.prod(shape) > min(MAX_FOLDED_ELEMENTS, self._left):
            return False
        self._left -= math.prod(shape)
        return True


def static_shape(value: ir.Value) -> tuple[int, ...] | None:
    """The inferred shape of a value; None where a dimension is unknown."""
    if value.shape is None or not value.shape.is_static():
        return None
    return tuple(value.shape.numpy())


_HALVES = (TensorProto.FLOAT16, TensorProto.BFLOAT16)
_TYPE_ATTRIBUTES = ("to", "dtype", "output_dtype")
"""Attributes that name an element type."""


def widen(model: onnx.ModelProto) -> None:
    """Turn all tensors, inputs, outputs and casts of 16-bit floats into float32, in place.

    Raises:
        ImportModelError: a tensor cannot be read.
    """
    for tensor, _ in all_tensors(model):
        if tensor.data_type in _HALVES:
            _widen_tensor(tensor)
    for node in all_nodes(model):
        for attribute in node.attribute:
            if attribute.name in _TYPE_ATTRIBUTES and attribute.i in _HALVES:
                attribute.i = TensorProto.FLOAT
    for info in (*model.graph.input, *model.graph.output):
        kind = info.type.tensor_type
        if kind.elem_type in _HALVES:
            kind.elem_type = TensorProto.FLOAT


def _widen_tensor(tensor: onnx.TensorProto) -> None:
    with library_call("a tensor cannot be read"):
        wide = numpy_helper.to_array(tensor).astype("float32")
        tensor.CopyFrom(numpy_helper.from_array(wide, tensor.name))

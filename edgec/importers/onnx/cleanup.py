"""Clean-up of exported graphs, by onnx-ir and onnxscript.

Functions are inlined, whatever is constant is computed (the shape arithmetic of PyTorch's exporters
among it), identities and inference-time dropouts vanish, equal nodes become one.  None of the
fusions of onnxscript's optimizer run: these are edgec's own passes, and they must see quantization.

Models of float16 and bfloat16 as models of float32.

Every number of these types is a float32 number, so a widened model means the same, up to the
rounding of its sums.  What libraries cannot infer or compute in 16 bits (bfloat16 constants, nodes
that mix both precisions) thereby stops being in the way.

Fold the wrapping of negative indices that Keras puts before each Embedding.

``Where(ids < 0, ids + rows, ids)`` is what ONNX's Gather does of itself, so it goes, however it is
written.  (On the target indices are at least 0, as of every Gather of rows.)
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
_WHOLE_TYPES = {TensorProto.INT32, TensorProto.INT64}


def drop_wrapping(graph: ir.Graph) -> None:
    """Let every Gather read the indices as they were before they were counted from the end."""
    for node in graph:
        ids = _wrapped(node)
        if ids is not None:
            convenience.replace_all_uses_with(node.outputs[0], ids)


def _wrapped(node: ir.Node) -> ir.Value | None:
    """The indices that a node counts from the end where they are negative; None for any other."""
    y = node.outputs[0] if node.outputs else None
    if y is None or y.is_graph_output() or not y.uses() or not _chooses_rows(y):
        return None
    found = _chosen(node) if node.op_type == "Where" else _added(node)
    return found if found is not None and found.dtype in _WHOLE else None


def _chosen(node: ir.Node) -> ir.Value | None:
    """The ids of ``Where(ids < 0, ids + rows, ids)``, or of the same with the condition negated."""
    if len(node.inputs) != 3:
        return None
    condition, a, b = node.inputs
    negated = _input_of(condition, "Not")
    if negated is not None:
        condition, a, b = negated, b, a
    for ids, counted, below in ((b, a, True), (a, b, False)):
        if ids is not None and _plus_rows(counted, ids) and _is_sign(condition, ids, below):
            return ids
    return None


def _added(node: ir.Node) -> ir.Value | None:
    """The ids of ``ids + rows * (ids < 0)``, or of a choice of two that tf2onnx writes as a sum."""
    if node.op_type != "Add" or len(node.inputs) != 2:
        return None
    for ids, other in (node.inputs, node.inputs[::-1]):
        found = _summed(ids, other)
        if found is not None:
            return found
        product = _pair(other, "Mul")
        if ids is None or product is None or product[1] <= 0:
            continue
        condition = _input_of(product[0], "Cast")
        if condition is not None and _is_sign(condition, ids, True):
            return ids
    return None


def _summed(first: ir.Value | None, second: ir.Value | None) -> ir.Value | None:
    """The ids of ``(ids + rows) * (ids < 0) + ids * (ids >= 0)``."""
    for counted, below in _factors(first):
        for ids, above in _factors(second):
            negated = _input_of(above, "Not")
            if negated is not None and _is_sign(negated, ids, True) and _plus_rows(counted, ids):
                return ids if _is_sign(below, ids, True) else None
    return None


def _factors(value: ir.Value | None) -> list[tuple[ir.Value, ir.Value]]:
    """The factors of a product, and the truth values that are the other factor."""
    made = value.producer() if value is not None else None
    if made is None or made.op_type != "Mul" or len(made.inputs) != 2:
        return []
    pairs = [(x, _input_of(other, "Cast")) for x, other in (made.inputs, made.inputs[::-1])]
    return [(x, truth) for x, truth in pairs if x is not None and truth is not None]


def _plus_rows(value: ir.Value | None, ids: ir.Value) -> bool:
    added = _pair(value, "Add")
    return added is not None and added[0] is ids and added[1] > 0


def _is_sign(value: ir.Value | None, ids: ir.Value, below: bool) -> bool:
    """Whether a value says of ids that they are negative (`below`), or that they are not."""
    made = value.producer() if value is not None else None
    if made is None or len(made.inputs) != 2:
        return False
    x, number = (each if each is ids else _uncast(each) for each in made.inputs)
    turned = x is not ids
    if turned:
        x, number = number, x
    least = _number(number)
    op = _TURNED.get(made.op_type) if turned else made.op_type
    says = {("Less", 0): True, ("LessOrEqual", -1): True, ("GreaterOrEqual", 0): False}
    says["Greater", -1] = False
    return x is ids and least is not None and says.get((op or "", least)) is below


_TURNED = {
    "Less": "Greater",
    "Greater": "Less",
    "LessOrEqual": "GreaterOrEqual",
    "GreaterOrEqual": "LessOrEqual",
}
"""The relation of b to a, by that of a to b."""


def _chooses_rows(value: ir.Value) -> bool:
    """Whether a value, moved or as another whole type, is nothing but the indices of Gathers."""
    for use in value.uses():
        moves = use.node.op_type in ("Cast", "Reshape", "Unsqueeze", "Squeeze") and use.idx == 0
        if moves and use.node.outputs[0].dtype in _WHOLE:
            if use.node.outputs[0].is_graph_output() or not _chooses_rows(use.node.outputs[0]):
                return False
        elif use.node.op_type != "Gather" or use.idx != 1:
            return False
    return True


def _input_of(value: ir.Value | None, op: str) -> ir.Value | None:
    """The operand of an operator of one; None for other values."""
    made = value.producer() if value is not None else None
    return made.inputs[0] if made is not None and made.op_type == op and made.inputs else None


def _uncast(value: ir.Value | None) -> ir.Value | None:
    """A value before it was cast to real numbers, in which it is compared alike."""
    inner = _input_of(value, "Cast")
    return value if inner is None else inner


def _pair(value: ir.Value | None, op: str) -> tuple[ir.Value, int] | None:
    """Operand of an operator of two, and the number that is the other; None for other values."""
    made = value.producer() if value is not None else None
    if made is None or made.op_type != op or len(made.inputs) != 2:
        return None
    for x, other in (made.inputs, made.inputs[::-1]):
        number = _number(other)
        if x is not None and number is not None:
            return x, number
    return None


def _number(value: ir.Value | None) -> int | None:
    """The only element of a constant, if it is a whole number."""
    tensor = convenience.get_const_tensor(value) if value is not None else None
    if tensor is None or tensor.size != 1 or tensor.dtype not in (*_WHOLE, ir.DataType.FLOAT):
        return None
    number = np.asarray(tensor.numpy()).reshape(-1)[0]
    return int(number) if np.isfinite(number) and number == int(number) else None


def whole_inputs(model: onnx.ModelProto) -> None:
    """Make inputs of real numbers whole ones, in place, where only a Cast to these reads them.

    Keras feeds token ids as float32 and casts them before an Embedding.
    """
    graph = model.graph
    outputs = {info.name for info in graph.output}
    for info in graph.input:
        readers = [node for node in all_nodes(model) if info.name in node.input]
        to = {a.i for node in readers for a in node.attribute if a.name == "to"}
        casts = all(node.op_type == "Cast" for node in readers)
        if not readers or not casts or len(to) != 1 or not to <= _WHOLE_TYPES:
            continue
        kind = info.type.tensor_type
        if kind.elem_type == TensorProto.FLOAT and info.name not in outputs:
            kind.elem_type = to.pop()


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

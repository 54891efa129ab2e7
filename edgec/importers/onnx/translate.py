"""Walks a cleaned-up ONNX graph and translates node by node, noting what cannot be."""

from __future__ import annotations

from collections import ChainMap
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from types import MappingProxyType

import numpy as np
import onnx_ir as ir

from edgec.base.dtypes import Array, DType
from edgec.base.errors import ImportModelError
from edgec.base.names import shown
from edgec.importers.common.attempt import TranslatedNode, attempt
from edgec.importers.common.boundary import library_call
from edgec.importers.common.builder import SourceNode
from edgec.importers.common.tensors import Gathered, Tensor, UnsupportedError
from edgec.importers.common.turned import Turned, as_value
from edgec.importers.onnx.bodies import WITH_BODIES, body_model, of_turns
from edgec.importers.onnx.cleanup import static_shape
from edgec.importers.onnx.evaluation import of_constants, of_numbers
from edgec.importers.onnx.node import Context, OnnxNode
from edgec.importers.onnx.obstacles import obstacle
from edgec.importers.onnx.op_quant import FEW_BITS
from edgec.importers.onnx.op_select import KEEP_SCORES
from edgec.importers.onnx.registry import NO_HANDLERS, Handler, find_handler
from edgec.importers.onnx.screen import SchemaChecker
from edgec.importers.onnx.weight_pool_lookup import ON_THE_WAY
from edgec.ir.graph import Constant, Value

_FLOATS = (ir.DataType.FLOAT, ir.DataType.DOUBLE)  # `widen` leaves no others
_DTYPES: Mapping[ir.DataType, DType] = MappingProxyType(
    {
        **dict.fromkeys(_FLOATS, DType.FLOAT32),
        # Two and four bits fit in eight; only constants may have them.
        **dict.fromkeys((ir.DataType.INT8, ir.DataType.INT4, ir.DataType.INT2), DType.INT8),
        **dict.fromkeys((ir.DataType.UINT8, ir.DataType.UINT4, ir.DataType.UINT2), DType.UINT8),
        ir.DataType.INT16: DType.INT16,
        ir.DataType.UINT16: DType.UINT16,
        ir.DataType.INT32: DType.INT32,
        ir.DataType.UINT32: DType.UINT32,
        ir.DataType.INT64: DType.INT64,
        ir.DataType.BOOL: DType.BOOL,
    }
)
_INPUT_DTYPES = (
    *(DType.FLOAT32, DType.INT8, DType.UINT8, DType.INT16),
    *(DType.INT32, DType.INT64, DType.BOOL),
)
_AS_INT32 = (DType.INT64, DType.BOOL)
"""Token ids and masks; they are int32 on the target."""


@dataclass(frozen=True, slots=True)
class Translation:
    """A walked model: the graph as far as it could be built, and the verdict of every node."""

    context: Context
    nodes: tuple[TranslatedNode, ...]


def translate(
    model: ir.Model, name: str, handlers: Mapping[str, Handler] = NO_HANDLERS
) -> Translation:
    """Translate every node of a cleaned-up model.

    Args:
        model: from `cleanup.clean`.
        name: name of the new graph.
        handlers: handlers of further operators, by ONNX name.

    Raises:
        ImportModelError: an input, a weight or the shapes of a node are impossible.
    """
    graph = model.graph
    with library_call("the model cannot be read"):
        names = {
            value.name or "" for node in graph for value in (*node.outputs, *node.inputs) if value
        }
        names |= {value.name or "" for value in (*graph.inputs, *graph.initializers.values())}
    context = Context(name, frozenset(names - {""}))
    _add_inputs(context, graph)
    _check_outputs(graph)
    opset = model.opset_imports.get("", model.opset_imports.get("ai.onnx", 0))
    found = _Graphs(context, (opset, model.ir_version), handlers)
    context.translate = found.body
    found.graph(graph)
    return Translation(context, tuple(found.nodes))


class _Graphs:
    """Translates the graph of a model, and the bodies of its nodes.

    Attributes:
        nodes: the verdict of every node so far.
    """

    def __init__(
        self, context: Context, versions: tuple[int, int], handlers: Mapping[str, Handler]
    ) -> None:
        self._context, self._versions, self._handlers = context, versions, handlers
        self._check = SchemaChecker(*versions)
        self.nodes: list[TranslatedNode] = []

    def graph(self, graph: ir.Graph) -> None:
        """Translate all nodes of a cleaned-up graph."""
        context = self._context
        _add_constants(context, graph)
        for node in graph:
            view = OnnxNode(node, self._versions[0], context.tensors)
            handle = partial(_handle, context, view, node, self._check, self._handlers)
            self.nodes.append(attempt(context, _source(node, view), handle))

    def body(
        self, graph: ir.Graph, prefix: str, inputs: Sequence[Tensor]
    ) -> tuple[Tensor | None, ...]:
        """Translate a body; see `context.Translate`."""
        context = self._context
        body = body_model(graph, prefix, inputs, context.tensors, self._versions)
        cleaned = body.model.graph
        values = (*cleaned.inputs, *cleaned.initializers.values())
        names = {value.name or "" for node in cleaned for value in node.outputs}
        context.reserve({value.name or "" for value in values} | names - {""})
        context.tensors.update(zip(body.inputs, inputs, strict=True))
        self.graph(cleaned)
        return tuple(context.tensors.get(name) for name in body.outputs)


def _add_inputs(context: Context, graph: ir.Graph) -> None:
    for value in graph.inputs:
        dtype = _DTYPES.get(value.dtype) if value.dtype is not None else None
        if dtype not in _INPUT_DTYPES or value.dtype in FEW_BITS:
            raise ImportModelError(
                f"the input has elements of type {_type_name(value.dtype)}",
                where=shown(value.name or ""),
                hint="inputs must be float32, int8, uint8 or int16 with their quantization known, "
                "or integers or booleans that choose rows or keys",
            )
        dtype = DType.INT32 if dtype in _AS_INT32 else dtype
        name = value.name or ""
        context.tensors[name] = Value(name, static_shape(value) or (), dtype)
        context.builder.value(Value(name, static_shape(value) or (), dtype))
        context.builder.inputs.append(name)


def _check_outputs(graph: ir.Graph) -> None:
    for value in graph.outputs:
        if value.dtype is ir.DataType.UINT16:
            raise ImportModelError(
                "the output has unsigned codes of 16 bits",
                where=shown(value.name or ""),
                hint="let the model end with the DequantizeLinear of this output",
            )


def _add_constants(context: Context, graph: ir.Graph) -> None:
    for value in graph.initializers.values():
        name = value.name or ""
        if value.const_value is None or not (value.uses() or value.is_graph_output()):
            continue
        if name in context.tensors:  # known to what is around a body
            continue
        dtype = _DTYPES.get(value.const_value.dtype)
        if value.const_value.dtype is ir.DataType.STRING and _are_labels(value):
            continue
        if dtype is None:
            raise ImportModelError(
                f"the tensor has elements of type {_type_name(value.const_value.dtype)}",
                where=shown(name),
                hint=f"if these are labels of a classifier, {KEEP_SCORES}",
            )
        with library_call("a tensor cannot be read"):
            array = value.const_value.numpy()
        context.tensors[name] = Constant(name, _converted(array, dtype))


def _are_labels(texts: ir.Value) -> bool:
    """Whether texts are only chosen from, by the number of a class."""
    readers = {node.op_type for node, _ in texts.uses()}
    return readers == {"ArrayFeatureExtractor"} and not texts.is_graph_output()


def _type_name(dtype: ir.DataType | None) -> str:
    return dtype.name.lower() if dtype is not None else "unknown"


def _converted(array: Array, dtype: DType) -> Array:
    # float64 may overflow; the finite check at the end of the import names the tensor.
    with np.errstate(over="ignore", invalid="ignore"):
        return np.asarray(array).astype(dtype.numpy)


def _source(node: ir.Node, view: OnnxNode) -> SourceNode:
    first = static_shape(node.outputs[0]) if node.outputs else None
    inputs = tuple(value.name or "" for value in node.inputs if value is not None)
    # The others are scales and zero points.
    weights = inputs[:1] if view.op in ("QuantizeLinear", "DequantizeLinear") else inputs
    return SourceNode(view.name, view.op, inputs, weights, view.outputs, _declared(node), first)


def _declared(node: ir.Node) -> tuple[Value, ...]:
    """The outputs of a node with the shapes that ONNX infers, if any."""
    found = []
    for value in node.outputs:
        shape = static_shape(value)
        dtype = _DTYPES.get(value.dtype) if value.dtype is not None else None
        dtype = DType.INT32 if dtype in _AS_INT32 else dtype
        if value.name and shape is not None and dtype is not None:
            found.append(Value(value.name, shape, dtype))
    return tuple(found)


def _handle(
    context: Context,
    view: OnnxNode,
    node: ir.Node,
    check: SchemaChecker,
    handlers: Mapping[str, Handler],
) -> Tensor | tuple[Tensor, ...]:
    handler = find_handler(view.op, node.domain, handlers)
    numbers = of_numbers(context, node) if node.domain in ("", "ai.onnx") else None
    if numbers is not None:
        return numbers
    if handler is None:
        found = obstacle(view.op, node.domain)
        raise UnsupportedError(found.reason, found.remedy)
    if node.domain in ("", "ai.onnx") and node.op_type not in WITH_BODIES:
        check(node)
    found_of_turns = of_turns(context, view, node)
    if found_of_turns is not None:
        return found_of_turns
    try:
        return handler(context, _readable(context, view, node))
    except UnsupportedError as error:
        known = of_constants(context, node) if node.domain in ("", "ai.onnx") else None
        if known is not None:
            return known
        if _moves_pooled_weights(context, node):
            # One error, not one for each node that the weights pass on their way.
            raise ImportModelError(error.reason, hint=error.remedy) from error
        raise


def _readable(context: Context, view: OnnxNode, node: ir.Node) -> OnnxNode:
    """The node with constants of all turns as parts of tensors; the bodies of loops take both."""
    names = {value.name or "" for value in node.inputs if value is not None}
    found = {name: context.tensors[name] for name in names & context.tensors.keys()}
    turned = {name: x for name, x in found.items() if isinstance(x, Turned)}
    if not turned:
        return view
    bodies = node.op_type in WITH_BODIES
    parts = {} if bodies else {name: as_value(context, x) for name, x in turned.items()}
    return OnnxNode(node, view.opset, ChainMap(parts, context.tensors), turned)


def _moves_pooled_weights(context: Context, node: ir.Node) -> bool:
    names = [value.name or "" for value in node.inputs if value is not None]
    looked_up = any(isinstance(context.tensors.get(name), Gathered) for name in names)
    return looked_up and node.op_type in ON_THE_WAY

"""Checks of a parsed model that come before any library may work on it.

They protect what follows: claimed sizes are compared with the data that is there before anything
is allocated, and the nodes are known to form a graph.

Checks nodes against ONNX's operator schemas, so that handlers meet attributes as specified.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Iterator, Mapping
from graphlib import CycleError, TopologicalSorter
from types import MappingProxyType
from typing import Any

import onnx
import onnx_ir as ir
from onnx import TensorProto

from edgec.base.errors import ImportModelError
from edgec.base.limits import MAX_ELEMENTS, MAX_ENDS, MAX_LOOP_DEPTH, MAX_NODES
from edgec.base.names import node_label, shown
from edgec.importers.common.boundary import library_call
from edgec.importers.onnx.walk import all_nodes, all_tensors, graph_nodes, subgraphs

MIN_OPSET, MAX_OPSET = 7, 28

_BITS: Mapping[int, int] = MappingProxyType(
    {
        TensorProto.FLOAT: 32,
        TensorProto.DOUBLE: 64,
        TensorProto.FLOAT16: 16,
        TensorProto.BFLOAT16: 16,
        TensorProto.INT8: 8,
        TensorProto.UINT8: 8,
        TensorProto.INT16: 16,
        TensorProto.UINT16: 16,
        TensorProto.INT32: 32,
        TensorProto.UINT32: 32,
        TensorProto.INT64: 64,
        TensorProto.UINT64: 64,
        TensorProto.BOOL: 8,
        TensorProto.INT4: 4,
        TensorProto.UINT4: 4,
        # onnx has names for these from 1.20 on.
        ir.DataType.INT2.value: 2,
        ir.DataType.UINT2.value: 2,
    }
)
_STORAGE: Mapping[int, str] = MappingProxyType(
    {
        TensorProto.FLOAT: "float_data",
        TensorProto.DOUBLE: "double_data",
        TensorProto.INT64: "int64_data",
        TensorProto.UINT32: "uint64_data",
        TensorProto.UINT64: "uint64_data",
    }
)
"""Typed field of each element type; all others are in int32_data."""
_FIELDS = (
    *("raw_data", "float_data", "double_data", "int32_data", "int64_data", "uint64_data"),
    "string_data",
)
"""All fields that hold elements."""
_BYTE, _SIGN = 8, 1 << 7
_MAY_BE_INFINITE = (
    *("min", "max", "value", "value_float", "value_floats"),
    "replaced_value_float",
)
"""Bounds of Clip, padding before a maximum, constants, what an Imputer replaces."""


_TERM = r"[A-Za-z]*(?:\.\.\.[A-Za-z]*)?"
EQUATION = re.compile(rf"{_TERM}(?:,{_TERM})*(?:->{_TERM})?")
"""Pattern of an Einsum's equation, without spaces."""


def screen(model: onnx.ModelProto) -> None:
    """Check versions, names, order and tensor sizes; puts the nodes into topological order.

    Raises:
        ImportModelError: the first rule that the model breaks.
    """
    _check_opset(model)
    if not model.graph.node:
        raise ImportModelError("the model has no nodes", hint="export the network itself")
    if model.graph.sparse_initializer:
        raise ImportModelError(
            "the model has sparse initializers", hint="export the weights as dense tensors"
        )
    _check_counts(model.graph)
    for tensor, owner in all_tensors(model):
        _check_tensor(tensor, shown(owner))
    for node in all_nodes(model):
        _check_numbers(node)
        _check_equation(node)
    for node in graph_nodes(model.graph):
        _check_values(node)
    _check_graph(model.graph, frozenset(), 0)


def _check_counts(graph: onnx.GraphProto) -> None:
    for what, count, most in (
        ("operators", sum(1 for _ in graph_nodes(graph)), MAX_NODES),
        ("inputs", len(graph.input) - len(graph.initializer), MAX_ENDS),
        ("outputs", len(graph.output), MAX_ENDS),
    ):
        if count > most:
            raise ImportModelError(
                f"the model has {count:,} {what}; the limit is {most:,}", hint="see docs/limits.md"
            )


def check_text(model: onnx.ModelProto) -> None:
    """Refuse names that are not UTF-8; protobuf hands these out as bytes."""
    texts: list[object] = [o.domain for o in model.opset_import]
    texts += [info.name for infos in (model.graph.input, model.graph.output) for info in infos]
    texts += [function.name for function in model.functions]
    for node in all_nodes(model):
        texts += [node.name, node.op_type, node.domain, *node.input, *node.output]
        texts += [text for a in node.attribute for text in (a.name, a.ref_attr_name)]
    for tensor, _ in all_tensors(model):
        texts.append(tensor.name)
        texts += [text for entry in tensor.external_data for text in (entry.key, entry.value)]
    if not all(isinstance(text, str) for text in texts):
        raise ImportModelError("a name in the model is not text", hint="the file is damaged")


def _check_opset(model: onnx.ModelProto) -> None:
    versions = {o.version for o in model.opset_import if o.domain in ("", "ai.onnx")}
    if len(versions) != 1:
        raise ImportModelError(
            "the model does not say which version of the ONNX operators it uses",
            hint=f"export it again with an opset from 13 to {MAX_OPSET}",
        )
    (version,) = versions
    if not MIN_OPSET <= version <= MAX_OPSET:
        raise ImportModelError(
            f"opset {version} is not supported, only {MIN_OPSET} to {MAX_OPSET}",
            hint="export it again with opset 17, or use onnx.version_converter",
        )


def _check_values(node: onnx.NodeProto) -> None:
    """Refuse attributes that name a parameter of a function, outside of any function."""
    first = node.output[0] if node.output else ""
    for attribute in node.attribute:
        if attribute.ref_attr_name:
            raise ImportModelError(
                f"attribute {shown(attribute.name)} has no value: it refers to "
                f"{shown(attribute.ref_attr_name)}, which only a function can have",
                where=shown(node_label(node.name, node.op_type, first)),
                hint="the file is damaged; export the model again",
            )


def _check_numbers(node: onnx.NodeProto) -> None:
    """Refuse attributes that are no finite number, where only a finite one has a meaning."""
    first = node.output[0] if node.output else ""
    for attribute in node.attribute:
        finite = all(math.isfinite(f) for f in (attribute.f, *attribute.floats))
        if not finite and attribute.name not in _MAY_BE_INFINITE:
            raise ImportModelError(
                f"attribute {shown(attribute.name)} is not a finite number",
                where=shown(node_label(node.name, node.op_type, first)),
            )


def _check_equation(node: onnx.NodeProto) -> None:
    """Refuse Einsums of which onnx's shape inference makes no end: of "i.j" it searches dots."""
    texts = [a.s.decode(errors="replace") for a in node.attribute if a.name == "equation"]
    if node.op_type != "Einsum" or not texts:
        return
    dots = "." in texts[0].replace("...", "")
    if dots or EQUATION.fullmatch(texts[0].replace(" ", "")) is None:
        raise ImportModelError(
            f"the equation {shown(texts[0])!r} is none",
            where=shown(node_label(node.name, node.op_type, node.output[0] if node.output else "")),
            hint="correct the model",
        )


def _check_tensor(tensor: onnx.TensorProto, where: str) -> None:
    """Compare the claimed shape of a tensor with the data that it holds."""
    if any(dim < 0 for dim in tensor.dims):
        raise ImportModelError("the tensor has a negative dimension", where=where)
    elements = math.prod(tensor.dims)
    if elements > MAX_ELEMENTS:
        raise ImportModelError(
            f"the tensor has {elements} elements, the limit is 2^31 - 1", where=where
        )
    bits = _BITS.get(tensor.data_type)
    if bits is None:
        if tensor.data_type in TensorProto.DataType.values() and tensor.data_type:
            return  # e.g. strings: legal in ONNX, refused where a node uses them
        raise ImportModelError(f"unknown element type {tensor.data_type}", where=where)
    field = _STORAGE.get(tensor.data_type, "int32_data")
    if tensor.HasField("raw_data"):
        found, needed = len(tensor.raw_data), (elements * bits + 7) // 8
    else:
        found = len(getattr(tensor, field))
        # An entry holds a whole byte of the types of fewer bits.
        needed = (elements * bits + 7) // 8 if bits < _BYTE else elements
    _check_storage(tensor, field, bits, where)
    if found != needed:
        unit = "bytes" if tensor.HasField("raw_data") else "entries"
        raise ImportModelError(
            f"the tensor of shape {list(tensor.dims)} needs {needed} {unit} of data, has {found}",
            where=where,
            hint="the file is damaged or was cut short",
        )


def _check_storage(tensor: onnx.TensorProto, field: str, bits: int, where: str) -> None:
    """Refuse a tensor that is stored in two ways, and packed entries that are no bytes."""
    filled = [name for name in _FIELDS if name != "raw_data" and len(getattr(tensor, name))]
    if tensor.HasField("raw_data"):
        filled.append("raw_data")
    if len(filled) > 1:
        raise ImportModelError(
            f"the tensor has its data in {' and in '.join(filled)}",
            where=where,
            hint="the file is damaged; export the model again",
        )
    packed = bits < _BYTE and not tensor.HasField("raw_data")
    if packed and any(not -_SIGN <= entry < 2 * _SIGN for entry in getattr(tensor, field)):
        raise ImportModelError(
            f"an entry of the tensor is no byte, which {_BYTE // bits} elements of {bits} bits are",
            where=where,
            hint=f"pack {_BYTE // bits} elements to an entry, the first one in the lowest bits",
        )


def _check_graph(graph: onnx.GraphProto, around: frozenset[str], depth: int) -> None:
    """Check names and order of a graph and of the bodies in it.

    Args:
        graph: its nodes are put into topological order.
        around: names that a body may read from what is around it.
        depth: bodies around it.
    """
    if depth > MAX_LOOP_DEPTH:
        raise ImportModelError(
            f"more than {MAX_LOOP_DEPTH} bodies of nodes lie within one another",
            hint="see docs/limits.md",
        )
    _check_names(graph)
    _sort_nodes(graph, around)
    known = around | {info.name for info in graph.input}
    known |= {tensor.name for tensor in graph.initializer}
    known |= {name for node in graph.node for name in node.output}
    for node in graph.node:
        for body in subgraphs(node):
            if body.sparse_initializer:
                raise ImportModelError(
                    "a body has sparse initializers", hint="store them as dense tensors"
                )
            _check_graph(body, known, depth + 1)


def _check_names(graph: onnx.GraphProto) -> None:
    _check_unique((n.name for n in graph.node if n.name), "two nodes are named")
    _check_unique((o for n in graph.node for o in n.output if o), "two nodes compute")
    _check_unique((i.name for i in graph.input), "two inputs are named")
    _check_unique((i.name for i in graph.initializer), "two initializers are named")
    _check_unique((o.name for o in graph.output), "listed twice as an output:")
    given = {i.name for i in graph.input} | {i.name for i in graph.initializer}
    for node in graph.node:
        for output in node.output:
            if output in given:
                raise ImportModelError(
                    f"{shown(output)!r} is given and computed by a node at the same time"
                )


def _reads(node: onnx.NodeProto) -> Iterator[str]:
    """Names that a node reads, in its bodies too."""
    yield from node.input
    for body in subgraphs(node):
        own = {info.name for info in body.input} | {tensor.name for tensor in body.initializer}
        own |= {name for inner in body.node for name in inner.output}
        read = (name for inner in body.node for name in _reads(inner))
        yield from (name for name in (*read, *(o.name for o in body.output)) if name not in own)


def _check_unique(names: Iterable[str], what: str) -> None:
    seen: set[str] = set()
    for name in names:
        if name in seen:
            raise ImportModelError(
                f"{what} {shown(name)!r}", hint="names must be unique; export the model again"
            )
        seen.add(name)


def _sort_nodes(graph: onnx.GraphProto, around: frozenset[str]) -> None:
    """Put the nodes into topological order, if they are not; ImportModelError on a cycle."""
    given = {"", *(i.name for i in graph.input), *(i.name for i in graph.initializer), *around}
    producer = {out: i for i, node in enumerate(graph.node) for out in node.output if out}
    read = [list(_reads(node)) for node in graph.node]
    for name in [each for names in read for each in names] + [o.name for o in graph.output]:
        if name not in given and name not in producer:
            raise ImportModelError(f"nothing computes the tensor {shown(name)!r}")
    needs = {
        i: sorted({producer[name] for name in names if name in producer})
        for i, names in enumerate(read)
    }
    if all(before < i for i, befores in needs.items() for before in befores):
        return
    try:
        order = list(TopologicalSorter(needs).static_order())
    except CycleError as error:
        names = [graph.node[i].name or graph.node[i].op_type for i in error.args[1][:4]]
        raise ImportModelError(
            f"the nodes form a cycle: {' <- '.join(shown(n) for n in names)}"
        ) from error
    nodes = [graph.node[i] for i in order]
    copies = [onnx.NodeProto.FromString(node.SerializeToString()) for node in nodes]
    del graph.node[:]
    graph.node.extend(copies)


_LATER = ("QuantizeLinear", "DequantizeLinear", "GroupNormalization")
_LATER_OPSET = 21
"""The later opset of these only adds to earlier ones, and files of earlier ones hold the additions
(axes of channels, 16 and 4 bits), as onnxruntime reads them; of GroupNormalization the earlier one
is deprecated, though it runs."""


class SchemaChecker:
    """Checks the nodes of one model.

    Only nodes that edgec translates are checked, one by one: the check of whole models also refuses
    what nobody relies on, such as outputs without a shape or a newer IR version.
    """

    def __init__(self, opset: int, ir_version: int) -> None:
        self._plain, self._later = (
            _context(version, ir_version) for version in (opset, max(opset, _LATER_OPSET))
        )

    def __call__(self, node: ir.Node) -> None:
        """Check one node.

        Raises:
            ImportModelError: a wrong number of inputs, or an attribute unknown, missing or of
                another type.
        """
        with library_call("the node breaks the rules of ONNX"):
            proto = ir.serde.serialize_node(node)
            proto.domain = ""
            later = node.op_type in _LATER
            onnx.checker.check_node(proto, self._later if later else self._plain)


def _context(opset: int, ir_version: int) -> Any:
    context = onnx.checker.C.CheckerContext()
    context.ir_version = min(ir_version, onnx.IR_VERSION)
    context.opset_imports = {"": opset}
    return context

"""Bodies of Scan, Loop and If: each is cleaned like a model of its own, then translated in place.

Names in a body get the name of its node in front, so that all tensors of a file have one space of
names, and a body finds the tensors around it there.

Nodes that read the number of the turn: computed at import, or a choice of what a turn reads.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import onnx
import onnx_ir as ir
from onnx import helper, numpy_helper

from edgec.base.dtypes import Array, DType
from edgec.importers.common.attributes import normal_axis
from edgec.importers.common.boundary import library_call
from edgec.importers.common.gathered import range_of, take
from edgec.importers.common.tensors import Tensor, UnsupportedError
from edgec.importers.common.turned import Turned, part_of_turn
from edgec.importers.onnx.cleanup import clean
from edgec.importers.onnx.evaluation import evaluated_in_turns, is_plain, tensors_read
from edgec.importers.onnx.node import Context, OnnxNode
from edgec.importers.onnx.walk import subgraphs
from edgec.ir.graph import Constant, Value
from edgec.ir.turns import Loop, contains


@dataclass(frozen=True, slots=True, eq=False)
class BodyModel:
    """A body as a model.

    Attributes:
        model: cleaned; its names are those of the file's one space of names.
        inputs: names of the inputs of the body.
        outputs: names of its outputs.
    """

    model: ir.Model
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]


def body_model(
    body: ir.Graph,
    prefix: str,
    inputs: Sequence[Tensor],
    around: Mapping[str, Tensor],
    versions: tuple[int, int],
) -> BodyModel:
    """Make a model of the body of a Loop or Scan: shapes inferred and constants folded.

    Args:
        body: attribute of a node of a cleaned model.
        prefix: for the names in it.
        inputs: what its inputs are; what is known of constants is folded.
        around: tensors that it may read beside them.
        versions: numbers of the version of ONNX's operators, and of that of the file format.

    Raises:
        ImportModelError: a library refuses the body.
    """
    with library_call("the body of a loop cannot be read"):
        types = types_around(body)
        proto = onnx.GraphProto.FromString(ir.serde.serialize_graph(body).SerializeToString())
    _rename(proto, prefix, {})
    names = tuple(info.name for info in proto.input)
    declared = {info.name: info.type.tensor_type.elem_type for info in proto.input}
    del proto.input[:], proto.value_info[:]
    for name, tensor in zip(names, inputs, strict=True):
        _give(proto, name, tensor, declared[name])
    for name in dict.fromkeys(_read_from_around(proto, frozenset())):
        if name in around and name not in names:
            known = types.get(name)
            _give(proto, name, around[name], int(known) if known is not None else 0)
    for number, info in enumerate(proto.output):
        # Of two outputs that are the same tensor, cleaning would keep one.
        own = f"{prefix}output{number}"
        proto.node.append(helper.make_node("Identity", [info.name], [own]))
        info.name = own
        info.type.tensor_type.ClearField("shape")
    opset, ir_version = versions
    model = helper.make_model(
        proto, opset_imports=[helper.make_opsetid("", opset)], ir_version=ir_version
    )
    cleaned = clean(model)
    return BodyModel(cleaned, names, tuple(value.name or "" for value in cleaned.graph.outputs))


def types_around(body: ir.Graph) -> dict[str | None, ir.DataType | None]:
    """Types of what nodes of a body read, as far as the file tells, by name."""
    return {value.name: value.dtype for value in _values_around(body)}


def _values_around(body: ir.Graph) -> Iterator[ir.Value]:
    """Values that nodes of a body, or of bodies in it, read."""
    for node in body.all_nodes():
        yield from (value for value in node.inputs if value is not None)
    yield from body.outputs


def _give(graph: onnx.GraphProto, name: str, tensor: Tensor, declared: int) -> None:
    """Add an input for a tensor, or an initializer for a plain constant."""
    if is_plain(tensor):
        graph.initializer.append(numpy_helper.from_array(_of_type(tensor.array, declared), name))
        return
    kind = declared or _ONNX_TYPES.get(tensor.dtype, onnx.TensorProto.FLOAT)
    graph.input.append(helper.make_tensor_value_info(name, kind, tensor.shape))


_ONNX_TYPES = {
    DType.FLOAT32: onnx.TensorProto.FLOAT,
    DType.INT32: onnx.TensorProto.INT64,
    DType.INT64: onnx.TensorProto.INT64,
    DType.INT8: onnx.TensorProto.INT8,
    DType.UINT8: onnx.TensorProto.UINT8,
    DType.BOOL: onnx.TensorProto.BOOL,
}


def _of_type(array: Array, declared: int) -> Array:
    return array.astype(helper.tensor_dtype_to_np_dtype(declared)) if declared else array


def _rename(graph: onnx.GraphProto, prefix: str, known: Mapping[str, str]) -> None:
    """Put the prefix before all names that a graph defines."""
    own = [info.name for info in graph.input]
    own += [tensor.name for tensor in graph.initializer]
    own += [name for node in graph.node for name in node.output if name]
    names = {**known, **{name: f"{prefix}{name}" for name in own}}
    for info in (*graph.input, *graph.output):
        info.name = names.get(info.name, info.name)
    for tensor in graph.initializer:
        tensor.name = names[tensor.name]
    for node in graph.node:
        node.name = f"{prefix}{node.name}" if node.name else ""
        node.input[:] = [names.get(name, name) for name in node.input]
        node.output[:] = [names.get(name, name) for name in node.output]
        for inner in subgraphs(node):
            _rename(inner, prefix, names)


def _read_from_around(graph: onnx.GraphProto, known: frozenset[str]) -> Iterator[str]:
    """Names that a graph reads and does not define."""
    own = {info.name for info in graph.input} | {tensor.name for tensor in graph.initializer}
    own |= {name for node in graph.node for name in node.output}
    inside = known | own | {""}
    for node in graph.node:
        yield from (name for name in node.input if name not in inside)
        for inner in subgraphs(node):
            yield from _read_from_around(inner, inside)
    yield from (info.name for info in graph.output if info.name not in inside)


def known_value(tensor: Tensor) -> Array | None:
    """The array of a constant that is the same in all turns."""
    if isinstance(tensor, Value | Turned):
        return None
    return tensor.array


WITH_BODIES = ("If", "Loop", "Scan")
"""Operators whose attributes are graphs that read what is around them."""


def of_turns(ctx: Context, view: OnnxNode, node: ir.Node) -> Tensor | tuple[Tensor, ...] | None:
    """Results of a node that reads constants of all turns; None for any other node.

    Raises:
        UnsupportedError: there is no such form of it.
    """
    read = tensors_read(ctx, node)
    found = [x for x in read.values() if isinstance(x, Turned)]
    if not found or node.op_type in WITH_BODIES:
        return None
    if all(isinstance(x, Constant) and x.quant is None for x in read.values()):
        return evaluated_in_turns(node, read, _innermost(found))
    chosen = _CHOOSERS.get(node.op_type)
    return chosen(ctx, view) if chosen is not None else None


def _innermost(found: list[Turned]) -> Loop:
    loop = found[0].loop
    for x in found:
        if not contains(loop, x.loop):
            if not contains(x.loop, loop):
                raise UnsupportedError("it reads numbers of turns of two loops", "use one of them")
            continue
        loop = x.loop
    if any(x.loop != loop for x in found):
        raise UnsupportedError("it reads numbers of turns of two loops", "use one of them")
    return loop


def _gather(ctx: Context, node: OnnxNode) -> Tensor | None:
    """Positions that move on from turn to turn: a part of the tensor for each turn."""
    x, indices = node.any_tensor(0), node.any_tensor(1)
    if not isinstance(indices, Turned) or not isinstance(x, Value):
        return None
    axis = normal_axis(node.integer("axis", 0), len(x.shape))
    flat = indices.turns.reshape(len(indices.turns), -1).astype(np.int64)
    flat = np.where(flat < 0, flat + x.shape[axis], flat)
    if not (np.diff(flat, axis=1) == 1).all():
        raise UnsupportedError(
            "its indices are not next to one another in a turn", "read one position, or a range"
        )
    y = part_of_turn(ctx, x, indices.loop, axis, flat[:, 0], flat.shape[1])
    shape = (*x.shape[:axis], *indices.turns.shape[1:], *x.shape[axis + 1 :])
    return ctx.reshape(y, shape)


def _slice(ctx: Context, node: OnnxNode) -> Tensor | None:
    """Bounds that move on from turn to turn: a part of the tensor for each turn."""
    x = node.any_tensor(0)
    bounds = [node.any_tensor(i) if node.has(i) else None for i in range(1, 5)]
    loops = [b.loop for b in bounds if isinstance(b, Turned)]
    if not isinstance(x, Value) or not loops:
        return None
    rows = [_rows(b, loops[0]) if b is not None else None for b in bounds]
    starts, ends, axes, steps = rows
    if starts is None or ends is None:
        raise UnsupportedError("starts and ends do not belong together", "correct the model")
    for number in range(starts.shape[1]):
        axis = normal_axis(int(axes[0, number]) if axes is not None else number, len(x.shape))
        step = int(steps[0, number]) if steps is not None else 1
        pairs = zip(starts[:, number], ends[:, number], strict=True)
        found = [range_of(x.shape[axis], int(start), int(end), step) for start, end in pairs]
        if len(set(found)) == 1:
            cut = take(ctx, x, {axis: found[0]})
        elif len({size for _, _, size in found}) > 1 or step != 1 or found[0][2] < 1:
            raise UnsupportedError(
                "the part that it reads has another size from turn to turn", "read one size"
            )
        else:
            first = np.asarray([start for start, _, _ in found])
            cut = part_of_turn(ctx, x, loops[0], axis, first, found[0][2])
        assert isinstance(cut, Value)
        x = cut
    return x


def _rows(bound: Tensor, loop: Loop) -> Array:
    """A bound in all turns; int [count, axes]."""
    if isinstance(bound, Value):
        raise UnsupportedError("its bounds are computed at run time", "use constant ones")
    if isinstance(bound, Turned):
        return bound.turns.reshape(len(bound.turns), -1)
    return np.broadcast_to(bound.array.reshape(1, -1), (loop.count, bound.array.size))


_CHOOSERS = {"Gather": _gather, "Slice": _slice}

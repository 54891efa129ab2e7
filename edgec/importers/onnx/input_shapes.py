"""Fixes the shapes of the graph inputs before anything else is inferred from them.

Variable dimension of a model's inputs, and the shapes of the inputs for one length.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import onnx
from onnx import numpy_helper

from edgec.base.dtypes import Array
from edgec.base.errors import ConfigError, ImportModelError
from edgec.base.names import shown
from edgec.base.options import MaxLength
from edgec.importers.common.boundary import library_call
from edgec.importers.common.input_shapes import Dims, resolve_shapes

_MOST_BATCHES = 4
"""Most batches that are tried."""


def fix_input_shapes(
    model: onnx.ModelProto, shapes: Mapping[str, Sequence[int]], traced: int | None = None
) -> None:
    """Give every graph input a static shape, in place; drop all other, now stale, shapes.

    Initializers listed among the inputs (IR version 3) stop being inputs.  Where one sample is
    taken of a batch that the model fixes, shapes that a Reshape states lose that batch.

    Args:
        model: the model.
        shapes: shapes of inputs, by name.
        traced: the batch that the model was traced with, though its inputs leave it open.

    Raises:
        ConfigError: `shapes` names no input or contradicts the model.
        ImportModelError: an input is no tensor, or of a batch above 1, or leaves dimensions open.
    """
    graph = model.graph
    declared = declared_inputs(model)
    for index in reversed(range(len(graph.input))):
        if graph.input[index].name not in declared:
            del graph.input[index]
    fixed = resolve_shapes(declared, shapes, recurrent_batches(graph))
    for info in graph.input:
        _set_dims(info, fixed[info.name])
    batches = _batches(declared, fixed) if traced is None else frozenset((traced,))
    _reshape_samples(graph, batches)
    del graph.value_info[:]
    for info in graph.output:
        info.type.tensor_type.ClearField("shape")


def traced_batches(model: onnx.ModelProto) -> tuple[int, ...]:
    """Batches above 1 that Reshapes may have written down, though an input leaves it open."""
    firsts = [dims[0] for dims in declared_inputs(model).values() if dims]
    if all(isinstance(first, int) for first in firsts):
        return ()
    stored = _stored(model.graph)
    found = [
        int(shape[0])
        for node in model.graph.node
        if (shape := _stated(node, stored)) is not None and shape[0] > 1
    ]
    return tuple(dict.fromkeys(found))[:_MOST_BATCHES]


def _batches(
    declared: Mapping[str, Dims | None], fixed: Mapping[str, tuple[int, ...]]
) -> frozenset[int]:
    """The batches above 1 that a model fixes and of which one sample is taken."""
    firsts = ((dims[0], fixed[name][0]) for name, dims in declared.items() if dims)
    return frozenset(old for old, new in firsts if isinstance(old, int) and old > 1 == new)


def _reshape_samples(graph: onnx.GraphProto, batches: frozenset[int]) -> None:
    """Let a Reshape to a batch that is taken apart make one sample: tracing writes the batch down.

    Of the samples [4, ...] of the file, ``Reshape(x, [4, -1])`` keeps the first axis.
    """
    stored = _stored(graph) if batches else {}
    for node in graph.node if batches else ():
        shape = _stated(node, stored)
        if shape is not None and int(shape[0]) in batches:
            shape[0] = 1
            name = f"{stored[node.input[1]].name or node.input[1]}/one"
            if name not in stored:
                stored[name] = numpy_helper.from_array(shape, name)
                graph.initializer.append(stored[name])
            node.input[1] = name


_RECURRENT = ("LSTM", "GRU", "RNN", "DynamicQuantizeLSTM")
_OF_STEPS = (0, 5, 6)
"""Inputs of these operators that have the batch on their second axis: sequence and states."""
_PASSES_ON = ("Identity", "Cast", "Slice", "Split")


def recurrent_batches(graph: onnx.GraphProto) -> dict[str, int]:
    """The batch axis of inputs that recurrent operators read as sequences or as initial states."""
    found: dict[str, int] = {}
    for node in reversed(graph.node):
        if node.op_type in _RECURRENT:
            layout = sum(a.i for a in node.attribute if a.name == "layout")
            read = (node.input[i] for i in _OF_STEPS if i < len(node.input))
            found |= dict.fromkeys(read, 0 if layout else 1)
        elif node.op_type in _PASSES_ON:
            axis = next((found[name] for name in node.output if name in found), None)
            if axis is not None:
                found[node.input[0]] = axis
    inputs = {info.name for info in graph.input}
    return {name: axis for name, axis in found.items() if name in inputs}


def _stored(graph: onnx.GraphProto) -> dict[str, onnx.TensorProto]:
    """Everything that a graph stores, initializers and Constant nodes, by name."""
    stored = {tensor.name: tensor for tensor in graph.initializer}
    for node in graph.node:
        if node.op_type == "Constant":
            stored.update((node.output[0], a.t) for a in node.attribute if a.name == "value")
    return stored


def _stated(node: onnx.NodeProto, stored: Mapping[str, onnx.TensorProto]) -> Array | None:
    """The shape of two axes or more that a Reshape has as a constant; None of other nodes."""
    tensor = stored.get(node.input[1]) if node.op_type == "Reshape" else None
    if tensor is None or tensor.data_type != onnx.TensorProto.INT64:
        return None
    with library_call("a tensor cannot be read"):
        shape = numpy_helper.to_array(tensor).copy()
    return shape if shape.ndim == 1 and shape.size > 1 else None


def declared_inputs(model: onnx.ModelProto) -> dict[str, Dims | None]:
    """Shapes that the model declares for its inputs, initializers apart.

    Raises:
        ImportModelError: an input is no tensor.
    """
    stored = {tensor.name for tensor in model.graph.initializer}
    return {info.name: _declared(info) for info in model.graph.input if info.name not in stored}


def _declared(info: onnx.ValueInfoProto) -> Dims | None:
    if not info.type.HasField("tensor_type"):
        raise ImportModelError(
            "the input is no tensor", where=shown(info.name), hint="export it with tensor inputs"
        )
    tensor = info.type.tensor_type
    if not tensor.HasField("shape"):
        return None
    # Some exporters write -1 where a dimension is open.
    return tuple(
        d.dim_value if d.HasField("dim_value") and d.dim_value >= 0 else d.dim_param or None
        for d in tensor.shape.dim
    )


def _set_dims(info: onnx.ValueInfoProto, dims: tuple[int, ...]) -> None:
    tensor = info.type.tensor_type
    tensor.ClearField("shape")
    # A scalar has a shape without dimensions; touching `shape` makes it present.
    tensor.shape.SetInParent()
    for dim in dims:
        tensor.shape.dim.add().dim_value = dim


_OPTION = "--max-length"
_EXPORT_HINT = "export it with a dynamic axis for the tokens, e.g. dynamic_axes={'ids': {1: 'seq'}}"


def shapes_at(
    model: onnx.ModelProto, option: MaxLength, shapes: Mapping[str, tuple[int, ...]], length: int
) -> dict[str, tuple[int, ...]]:
    """Shapes of the inputs of a model when its variable dimension has one length.

    Args:
        model: the model.
        option: the dimension and its maximum.
        shapes: shapes that the user gave, of the longest run.
        length: length of the variable dimension.

    Returns:
        `shapes`, and the shape of each input that has the dimension.

    Raises:
        ConfigError: the model has no such dimension, or several and none is named, or `shapes`
            say something else.
    """
    graph = model.graph
    stored = {tensor.name for tensor in graph.initializer}
    batches = recurrent_batches(graph)
    open_dims = {
        info.name: _open_dims(info, batches.get(info.name, 0))
        for info in graph.input
        if info.name not in stored and info.type.HasField("tensor_type")
    }
    symbol = _symbol(open_dims, option)
    found = dict(shapes)
    for info in graph.input:
        axes = [axis for axis, name in open_dims.get(info.name, {}).items() if name == symbol]
        if axes:
            given = shapes.get(info.name)
            longest = _longest(info, axes, option, given, batches.get(info.name, 0))
            found[info.name] = tuple(
                length if axis in axes else size for axis, size in enumerate(longest)
            )
    return found


def _open_dims(info: onnx.ValueInfoProto, batch: int) -> dict[int, str]:
    """Names of the open dimensions of an input ("" without a name), but for the batch."""
    dims = enumerate(_declared(info) or ())
    return {axis: dim or "" for axis, dim in dims if axis != batch and not isinstance(dim, int)}


def _symbol(open_dims: Mapping[str, Mapping[int, str]], option: MaxLength) -> str:
    symbols = list(dict.fromkeys(name for dims in open_dims.values() for name in dims.values()))
    known = ", ".join(shown(name) or "(one without a name)" for name in symbols)
    if not symbols:
        raise ConfigError(
            "the model's inputs have no dynamic dimension besides the batch",
            where=_OPTION,
            hint=_EXPORT_HINT,
        )
    if option.name and option.name not in symbols:
        raise ConfigError(
            f"no input has a dimension {shown(option.name)!r}",
            where=_OPTION,
            hint=f"dynamic dimensions: {known}",
        )
    if not option.name and len(symbols) > 1:
        example = f"{_OPTION} {shown(symbols[0])}={option.maximum}"
        raise ConfigError(
            f"the model has several dynamic dimensions: {known}",
            where=_OPTION,
            hint=f"name the one of the tokens, e.g. {example}, and fix the others with --shape",
        )
    return option.name or symbols[0]


def _longest(
    info: onnx.ValueInfoProto,
    axes: list[int],
    option: MaxLength,
    given: tuple[int, ...] | None,
    batch: int,
) -> tuple[int, ...]:
    """The shape of an input in the longest run."""
    dims = _declared(info) or ()
    if given is None:
        sizes = [dim if isinstance(dim, int) else 0 for dim in dims]
        sizes[batch] = sizes[batch] or 1
        for axis in axes:
            sizes[axis] = option.maximum
        given = tuple(sizes)
    if 0 in given:
        text = ",".join(str(size or 32) for size in given)
        raise ConfigError(
            f"input {shown(info.name)} has another dynamic dimension",
            where=_OPTION,
            hint=f"give its shape in the longest run: --shape {shown(info.name)}={text}",
        )
    if len(given) != len(dims) or any(given[axis] != option.maximum for axis in axes):
        raise ConfigError(
            f"shape {'x'.join(map(str, given))} has not the maximum length {option.maximum} "
            f"on axis {axes[0]}",
            where=f"--shape {shown(info.name)}",
        )
    return given

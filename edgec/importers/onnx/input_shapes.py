"""Fixes the shapes of the graph inputs before anything else is inferred from them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import onnx

from edgec.base.errors import ImportModelError
from edgec.base.names import shown
from edgec.importers.common.input_shapes import Dims, resolve_shapes


def fix_input_shapes(model: onnx.ModelProto, shapes: Mapping[str, Sequence[int]]) -> None:
    """Give every graph input a static shape, in place; drop all other, now stale, shapes.

    Initializers listed among the inputs (IR version 3) stop being inputs.

    Raises:
        ConfigError: `shapes` names no input or contradicts the model.
        ImportModelError: an input is no tensor, or of a batch above 1, or leaves dimensions open.
    """
    graph = model.graph
    stored = {tensor.name for tensor in graph.initializer}
    for index in reversed(range(len(graph.input))):
        if graph.input[index].name in stored:
            del graph.input[index]
    fixed = resolve_shapes({info.name: _declared(info) for info in graph.input}, shapes)
    for info in graph.input:
        _set_dims(info, fixed[info.name])
    del graph.value_info[:]
    for info in graph.output:
        info.type.tensor_type.ClearField("shape")


def _declared(info: onnx.ValueInfoProto) -> Dims | None:
    if not info.type.HasField("tensor_type"):
        raise ImportModelError(
            "the input is no tensor", where=shown(info.name), hint="export it with tensor inputs"
        )
    tensor = info.type.tensor_type
    if not tensor.HasField("shape"):
        return None
    return tuple(d.dim_value if d.HasField("dim_value") else None for d in tensor.shape.dim)


def _set_dims(info: onnx.ValueInfoProto, dims: tuple[int, ...]) -> None:
    tensor = info.type.tensor_type
    tensor.ClearField("shape")
    # A scalar has a shape without dimensions; touching `shape` makes it present.
    tensor.shape.SetInParent()
    for dim in dims:
        tensor.shape.dim.add().dim_value = dim

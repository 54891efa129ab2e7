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
    declared = declared_inputs(model)
    for index in reversed(range(len(graph.input))):
        if graph.input[index].name not in declared:
            del graph.input[index]
    fixed = resolve_shapes(declared, shapes)
    for info in graph.input:
        _set_dims(info, fixed[info.name])
    del graph.value_info[:]
    for info in graph.output:
        info.type.tensor_type.ClearField("shape")


def declared_inputs(model: onnx.ModelProto) -> dict[str, Dims | None]:
    """What the model says of the shapes of its inputs, initializers apart.

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
    return tuple(
        d.dim_value if d.HasField("dim_value") else d.dim_param or None for d in tensor.shape.dim
    )


def _set_dims(info: onnx.ValueInfoProto, dims: tuple[int, ...]) -> None:
    tensor = info.type.tensor_type
    tensor.ClearField("shape")
    # A scalar has a shape without dimensions; touching `shape` makes it present.
    tensor.shape.SetInParent()
    for dim in dims:
        tensor.shape.dim.add().dim_value = dim

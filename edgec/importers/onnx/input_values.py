"""Inputs of an ONNX model that the user fixes to numbers."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path

import numpy as np
import onnx
from onnx import helper, numpy_helper

from edgec.base.options import StatePairs
from edgec.importers.common.boundary import library_call
from edgec.importers.common.input_shapes import NO_SHAPES, resolve_shapes
from edgec.importers.common.input_values import NO_VALUES, Values, check_fixed, fixed_value
from edgec.importers.common.states import BY_NAMES, paired_names
from edgec.importers.onnx.input_shapes import declared_inputs, recurrent_batches
from edgec.importers.onnx.load import load_model
from edgec.ir.metadata import STATE_KEY

Shapes = Mapping[str, tuple[int, ...]]


def load_fixed(
    path: Path,
    values: Values = NO_VALUES,
    shapes: Shapes = NO_SHAPES,
    state: StatePairs = BY_NAMES,
) -> tuple[onnx.ModelProto, Shapes]:
    """The model of a file, with initializers for inputs that the user fixes.

    Args:
        path: the file.
        values: numbers by input.
        shapes: shapes that the user gives, also of inputs that are fixed.
        state: inputs and outputs that are kept from run to run.

    Returns:
        The model and the shapes of the inputs that it still has.

    Raises:
        ImportModelError: the file is no sound model, or the shape of a fixed input is not known.
        ConfigError: a value or a shape does not fit the model.
    """
    model = load_model(path)
    if not values:
        return model, shapes
    graph = model.graph
    # An input with a default value is one as well if it is given another.
    for tensor in [each for each in graph.initializer if each.name in values]:
        graph.initializer.remove(tensor)
    declared = declared_inputs(model)
    asked = said_by_file(model, state)
    kept = _pairs_by_name(graph) if asked.automatic else asked.pairs
    check_fixed(values, list(declared), kept)
    given = {name: shape for name, shape in shapes.items() if name in values}
    fixed = resolve_shapes(
        {name: declared[name] for name in values}, given, recurrent_batches(graph)
    )
    for info in [each for each in graph.input if each.name in values]:
        array = fixed_value(info.name, _dtype(info), fixed[info.name], values[info.name])
        graph.input.remove(info)
        graph.initializer.append(numpy_helper.from_array(array, info.name))
    return model, {name: shape for name, shape in shapes.items() if name not in values}


def _pairs_by_name(graph: onnx.GraphProto) -> dict[str, str]:
    """Output by input where names say so, and types and the dimensions that are fixed agree."""
    inputs = {info.name: info.type.tensor_type for info in graph.input}
    outputs = {info.name: info.type.tensor_type for info in graph.output}
    pairs = paired_names(inputs, outputs)
    return {a: b for a, b in pairs.items() if _agree(inputs[a], outputs[b])}


def _agree(before: onnx.TypeProto.Tensor, after: onnx.TypeProto.Tensor) -> bool:
    if not before.elem_type == after.elem_type == onnx.TensorProto.FLOAT:
        return False
    if not after.HasField("shape"):
        return True
    first, last = ([dim.dim_value for dim in each.shape.dim] for each in (before, after))
    return len(first) == len(last) and all(
        not a or not b or a == b for a, b in zip(first, last, strict=True)
    )


def _dtype(info: onnx.ValueInfoProto) -> np.dtype[np.generic]:
    with library_call("the type of an input cannot be read"):
        return np.dtype(helper.tensor_dtype_to_np_dtype(info.type.tensor_type.elem_type))


def said_by_file(model: onnx.ModelProto, state: StatePairs) -> StatePairs:
    """The pairs that edgec has written into a file, unless the user gives others."""
    texts = [prop.value for prop in model.metadata_props if prop.key == STATE_KEY]
    if not texts or not state.automatic:
        return state
    with library_call("the state of the model cannot be read"):
        pairs = json.loads(texts[0])
        return StatePairs({str(a): str(b) for a, b in pairs.items()}, automatic=False)

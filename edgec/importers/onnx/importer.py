"""ONNX in: from a file to a REAL graph."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import numpy as np
import onnx

from edgec.base.errors import ImportModelError, UnsupportedModelError
from edgec.base.names import shown
from edgec.importers.onnx.cleanup import clean
from edgec.importers.onnx.context import Context
from edgec.importers.onnx.input_shapes import NO_SHAPES, fix_input_shapes
from edgec.importers.onnx.load import load_model
from edgec.importers.onnx.pins import spread_pins
from edgec.importers.onnx.registry import NO_HANDLERS, Handler
from edgec.importers.onnx.translate import Translation, translate
from edgec.ir import ops
from edgec.ir.graph import Constant, Graph, Value


def import_model(
    path: Path,
    shapes: Mapping[str, tuple[int, ...]] = NO_SHAPES,
    handlers: Mapping[str, Handler] = NO_HANDLERS,
) -> Graph:
    """Read an ONNX model into a graph of the REAL stage.

    Args:
        path: the model; its external data must lie in the same folder.
        shapes: input name to shape, for inputs with open dimensions other than the batch, or to
            set the batch of a model that fixes it.
        handlers: what imports further operators, by ONNX name (`registry.HANDLERS` has edgec's).

    Returns:
        The graph, unoptimised, with transposes around spatial operators (see `ir.ops`).

    Raises:
        UnsupportedModelError: nodes that cannot be compiled, all of them.
        ImportModelError: the file is no sound model.
        ConfigError: `shapes` does not fit the model.
    """
    return finish(translated(load_model(path), path.stem, shapes, handlers))


def translated(
    model: onnx.ModelProto,
    name: str,
    shapes: Mapping[str, tuple[int, ...]],
    handlers: Mapping[str, Handler] = NO_HANDLERS,
) -> Translation:
    """The translation of a loaded model, unsupported nodes and all; `model` is changed."""
    fix_input_shapes(model, shapes)
    outputs = [info.name for info in model.graph.output]
    cleaned = clean(model)
    translation = translate(cleaned, name, handlers)
    translation.context.builder.outputs.extend(outputs)
    # Of two outputs that are the same tensor, cleaning keeps one.
    tensors = translation.context.tensors
    for output, kept in zip(outputs, cleaned.graph.outputs, strict=True):
        if output not in tensors and kept.name in tensors:
            tensors[output] = tensors[kept.name]
    return translation


def finish(translation: Translation) -> Graph:
    """The graph of a translation.

    Raises:
        UnsupportedModelError: it has unsupported nodes.
        ImportModelError: an output is constant, a weight not finite, codes without meaning.
    """
    if translation.problems:
        raise UnsupportedModelError(translation.problems)
    context = translation.context
    _bind_outputs(context)
    spread_pins(context.builder, context.pins)
    graph = context.builder.build()
    for constant in graph.constants.values():
        _check_constant(constant)
    return graph


def _bind_outputs(context: Context) -> None:
    """Give every graph output a value of its own name."""
    builder = context.builder
    for index, name in enumerate(builder.outputs):
        tensor = context.tensors.get(name)
        if not isinstance(tensor, Value):
            raise ImportModelError(
                "the output does not depend on any input",
                where=shown(name),
                hint="remove it from the model's outputs",
            )
        if tensor.name != name:
            # An operator that vanished: a reshape to the same shape costs nothing on the target.
            attrs = ops.Reshape(tensor.shape)
            builder.value(Value(name, tensor.shape, tensor.dtype))
            builder.node(name, attrs, (tensor.name,), (name,))
        builder.outputs[index] = name


def _check_constant(constant: Constant) -> None:
    where = shown(constant.name)
    if constant.array.dtype.kind == "f" and not bool(np.isfinite(constant.array).all()):
        raise ImportModelError(
            "the weight holds NaN or infinite numbers",
            where=where,
            hint="the training may have diverged; export a sound checkpoint",
        )
    if constant.quant is None and constant.array.dtype != np.float32:
        raise ImportModelError(
            f"the operand holds {constant.array.dtype} numbers", where=where, hint="use floats"
        )

"""ONNX in: from a file to a REAL graph."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import onnx

from edgec.importers.common.finish import finish
from edgec.importers.common.input_shapes import NO_SHAPES
from edgec.importers.onnx.cleanup import clean
from edgec.importers.onnx.expansion import expand
from edgec.importers.onnx.input_shapes import fix_input_shapes
from edgec.importers.onnx.load import load_model
from edgec.importers.onnx.nbits import NBITS
from edgec.importers.onnx.qonnx import QONNX
from edgec.importers.onnx.qoperator import QOPERATORS
from edgec.importers.onnx.registry import NO_HANDLERS, Handler
from edgec.importers.onnx.translate import Translation, translate
from edgec.importers.onnx.widen import widen
from edgec.ir.graph import Graph


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
    translation = translated(load_model(path), path.stem, shapes, handlers)
    return finish(translation.context, translation.nodes)


def translated(
    model: onnx.ModelProto,
    name: str,
    shapes: Mapping[str, tuple[int, ...]],
    handlers: Mapping[str, Handler] = NO_HANDLERS,
) -> Translation:
    """The translation of a loaded model, unsupported nodes and all; `model` is changed."""
    fix_input_shapes(model, shapes)
    widen(model)
    expand(model, {**QOPERATORS, **QONNX, **NBITS})
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

"""TensorFlow Lite in: from a file to a REAL graph."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from pathlib import Path

from edgec.base.names import shown
from edgec.importers.common.attempt import TranslatedNode, attempt
from edgec.importers.common.builder import SourceNode
from edgec.importers.common.finish import finish
from edgec.importers.common.input_shapes import NO_SHAPES, resolve_shapes
from edgec.importers.common.summary import ModelSummary, summarize
from edgec.importers.common.tensors import Tensor, UnsupportedError
from edgec.importers.tflite.context import Context, value_dtype
from edgec.importers.tflite.file import FileModel, FileOperator, FileTensor
from edgec.importers.tflite.load import load_file
from edgec.importers.tflite.macs import macs
from edgec.importers.tflite.node import TfliteNode
from edgec.importers.tflite.registry import HANDLERS, obstacle
from edgec.ir.graph import Graph, Value

Translation = tuple[Context, tuple[TranslatedNode, ...]]
_PARAMETERS = ("FLOAT32", "FLOAT16", "FLOAT64", "INT8", "UINT8", "INT4")


def import_model(path: Path, shapes: Mapping[str, tuple[int, ...]] = NO_SHAPES) -> Graph:
    """Read a TensorFlow Lite model into a graph of the REAL stage.

    Args:
        path: the model.
        shapes: input name to shape, for inputs with open dimensions other than the batch.

    Returns:
        The graph, unoptimised; of an integer file with Q/DQ nodes around every operator.

    Raises:
        UnsupportedModelError: operators that cannot be compiled, all of them.
        ImportModelError: the file is no sound model.
        ConfigError: `shapes` does not fit the model.
    """
    return finish(*_translated(load_file(path), path.stem, shapes))


def inspect_model(path: Path, shapes: Mapping[str, tuple[int, ...]] = NO_SHAPES) -> ModelSummary:
    """Read a model and describe every operator of it.

    Args:
        path: a TensorFlow Lite file.
        shapes: shapes of inputs, as for `import_model`.

    Raises:
        ImportModelError: the file is no sound model.
        ConfigError: `shapes` does not fit the model.
    """
    context, nodes = _translated(load_file(path), path.stem, shapes)
    return summarize(context, nodes, path.stem, ("TensorFlow Lite", 0), macs)


def _translated(model: FileModel, name: str, shapes: Mapping[str, tuple[int, ...]]) -> Translation:
    """The translation of a loaded model, unsupported operators and all."""
    context = Context(name, model.tensors)
    declared = {model.tensors[n].name: model.tensors[n].dims for n in model.inputs}
    fixed = resolve_shapes(declared, shapes)
    for number in model.inputs:
        context.add_input(number, fixed[model.tensors[number].name])
    context.builder.outputs.extend(model.tensors[number].name for number in model.outputs)
    nodes = tuple(_attempt(context, operator) for operator in model.operators)
    return context, nodes


def _attempt(context: Context, operator: FileOperator) -> TranslatedNode:
    node = TfliteNode(operator, context)
    return attempt(context, _source(context, operator), partial(_handle, context, node, operator))


def _handle(context: Context, node: TfliteNode, operator: FileOperator) -> tuple[Tensor, ...]:
    entry = HANDLERS.get(operator.op)
    if entry is None:
        found = obstacle(operator.op)
        raise UnsupportedError(found.reason, found.remedy)
    if entry.options:
        node.expect(entry.options)
    result = entry.handler(context, node)
    tensors = result if isinstance(result, tuple) else (result,)
    if len(tensors) != len(operator.outputs):
        raise UnsupportedError(f"it has {len(operator.outputs)} outputs", "convert it again")
    return tuple(
        context.stored(tensor, number)
        for tensor, number in zip(tensors, operator.outputs, strict=True)
    )


def _source(context: Context, operator: FileOperator) -> SourceNode:
    tensors = [context.file[number] for number in operator.inputs if number >= 0]
    outputs = [context.file[number] for number in operator.outputs]
    return SourceNode(
        name=outputs[0].name,
        op=shown(operator.op),
        inputs=tuple(tensor.name for tensor in tensors),
        weights=tuple(t.name for t in tensors if t.type in _PARAMETERS or len(t.scales)),
        outputs=tuple(tensor.name for tensor in outputs),
        declared=_declared(outputs),
        shape=outputs[0].shape,
    )


def _declared(outputs: list[FileTensor]) -> tuple[Value, ...]:
    """The outputs of an operator as the file declares them, as far as edgec has such tensors."""
    found = []
    for tensor in outputs:
        try:
            found.append(Value(tensor.name, tensor.shape, value_dtype(tensor)))
        except UnsupportedError:
            continue
    return tuple(found)

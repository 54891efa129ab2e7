"""TensorFlow Lite in: from a file to a REAL graph."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path

from edgec.base.errors import ImportModelError
from edgec.base.names import shown
from edgec.base.rounding import Rounding
from edgec.importers.common.attempt import TranslatedNode, attempt
from edgec.importers.common.builder import SourceNode
from edgec.importers.common.finish import finish
from edgec.importers.common.input_shapes import NO_SHAPES, resolve_shapes
from edgec.importers.common.summary import ModelSummary, summarize
from edgec.importers.common.tensors import Tensor, UnsupportedError
from edgec.importers.tflite.context import Context, code_params, value_dtype
from edgec.importers.tflite.facts import facts_of, macs
from edgec.importers.tflite.load import load_file
from edgec.importers.tflite.load_tensor import FileModel, FileOperator, FileTensor
from edgec.importers.tflite.node import TfliteNode
from edgec.importers.tflite.op_recurrent import batches
from edgec.importers.tflite.op_shape import computed
from edgec.importers.tflite.op_variables import update_variables
from edgec.importers.tflite.registry import HANDLERS, obstacle
from edgec.importers.tflite.turns import of_turns
from edgec.importers.tflite.wrapping import without_wrapping
from edgec.ir import ops
from edgec.ir.graph import Graph, Node, Value

Translation = tuple[Context, tuple[TranslatedNode, ...]]
_PARAMETERS = ("FLOAT32", "FLOAT16", "FLOAT64", "INT8", "UINT8", "INT4")


def import_model(
    path: Path, shapes: Mapping[str, tuple[int, ...]] = NO_SHAPES, *, keeps_state: bool = True
) -> Graph:
    """Read a TensorFlow Lite model into a graph of the REAL stage.

    Args:
        path: the model.
        shapes: input name to shape, for inputs with open dimensions other than the batch.
        keeps_state: variable tensors are kept from run to run; else each run begins with zeros.

    Returns:
        The graph, unoptimised; of an integer file with Q/DQ nodes around every operator, and with
        the rounding of TensorFlow Lite Micro.

    Raises:
        UnsupportedModelError: operators that cannot be compiled, all of them.
        ImportModelError: the file is no sound model.
        ConfigError: `shapes` does not fit the model.
    """
    graph = finish(*_translated(load_file(path), path.stem, shapes, keeps_state=keeps_state))
    if any(_rounds_codes(graph, node) for node in graph.nodes):
        return graph.replace(rounding=Rounding.TFLM)
    return graph


def _rounds_codes(graph: Graph, node: Node) -> bool:
    """Whether a node makes codes of numbers, or compares numbers that codes stand for."""
    if not isinstance(node.attrs, ops.Compare):
        return isinstance(node.attrs, ops.QuantizeLinear)
    producers = (graph.producers.get(name) for name in node.inputs)
    return any(made and isinstance(made.attrs, ops.DequantizeLinear) for made in producers)


def inspect_model(path: Path, shapes: Mapping[str, tuple[int, ...]] = NO_SHAPES) -> ModelSummary:
    """Read a model and describe every operator of it.

    Args:
        path: a TensorFlow Lite file.
        shapes: shapes of inputs, as for `import_model`.

    Raises:
        ImportModelError: the file is no sound model.
        ConfigError: `shapes` does not fit the model.
    """
    model = load_file(path)
    context, nodes = _translated(model, path.stem, shapes)
    summary = summarize(context, nodes, path.stem, ("TensorFlow Lite", 0), macs)
    return replace(summary, facts=facts_of(model))


def _translated(
    model: FileModel,
    name: str,
    shapes: Mapping[str, tuple[int, ...]],
    *,
    keeps_state: bool = True,
) -> Translation:
    """The translation of a loaded model, unsupported operators and all."""
    context = Context(name, model, keeps_state=keeps_state)
    declared = {model.tensors[n].name: model.tensors[n].dims for n in model.inputs}
    fixed = resolve_shapes(declared, shapes, batches(model))
    for number in model.inputs:
        context.add_input(number, fixed[model.tensors[number].name])
    context.builder.outputs.extend(model.tensors[number].name for number in model.outputs)
    nodes: list[TranslatedNode] = []

    def translate(operators: Sequence[FileOperator]) -> None:
        for each in operators:
            nodes.append(attempt(context, _source(context, each), partial(_handle, context, each)))

    context.apply, context.translate = partial(_apply, context), translate
    translate(without_wrapping(model))
    update_variables(context)
    return context, tuple(nodes)


def _handle(context: Context, operator: FileOperator) -> tuple[Tensor, ...]:
    known = of_turns(context, operator, context.apply)
    return context.apply(operator) if known is None else known


def _apply(context: Context, operator: FileOperator) -> tuple[Tensor, ...]:
    node = TfliteNode(operator, context)
    known = computed(node)
    if known is not None:
        return (known,)
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
        tensor
        if entry.packs_signs and context.file[number].type == "INT32"
        else context.stored(tensor, number)
        for tensor, number in zip(tensors, operator.outputs, strict=True)
    )


def _source(context: Context, operator: FileOperator) -> SourceNode:
    tensors = [context.file[number] for number in operator.inputs if number >= 0]
    outputs = [context.file[number] for number in operator.outputs]
    named = outputs[0] if outputs else tensors[-1] if tensors else None
    return SourceNode(
        name=named.name if named else operator.op,
        op=shown(operator.op),
        inputs=tuple(tensor.name for tensor in tensors),
        weights=tuple(t.name for t in tensors if t.type in _PARAMETERS or len(t.scales)),
        outputs=tuple(tensor.name for tensor in outputs),
        declared=_declared(outputs),
        shape=named.shape if named else None,
    )


def _declared(outputs: list[FileTensor]) -> tuple[Value, ...]:
    """The outputs of an operator as the file declares them, as far as edgec has such tensors."""
    found = []
    for tensor in outputs:
        try:
            quant = code_params(tensor, tensor.shape)
            found.append(Value(tensor.name, tensor.shape, value_dtype(tensor), quant))
        except (UnsupportedError, ImportModelError):
            continue
    return tuple(found)

"""ONNX in: from a file to a REAL graph.

Summary of an ONNX model for `edgec inspect`.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path

import numpy as np
import onnx
from onnx import numpy_helper

from edgec.base.dtypes import Array
from edgec.base.errors import ImportModelError
from edgec.base.options import StatePairs
from edgec.importers.common.attempt import problems
from edgec.importers.common.boundary import library_call
from edgec.importers.common.finish import finish
from edgec.importers.common.input_shapes import NO_SHAPES
from edgec.importers.common.input_values import NO_VALUES, Values, fixed_text
from edgec.importers.common.states import BY_NAMES, paired_names, with_state
from edgec.importers.common.summary import ModelSummary, Shape, summarize
from edgec.importers.onnx import nchwc
from edgec.importers.onnx.cleanup import clean, whole_inputs, widen
from edgec.importers.onnx.expansion import expand
from edgec.importers.onnx.fused_attention import TRANSFORMERS
from edgec.importers.onnx.fused_nodes import FUSED
from edgec.importers.onnx.input_shapes import fix_input_shapes, traced_batches
from edgec.importers.onnx.input_values import load_fixed, said_by_file
from edgec.importers.onnx.nbits import NBITS
from edgec.importers.onnx.quantized_formats import QONNX, QOPERATORS
from edgec.importers.onnx.registry import NO_HANDLERS, Handler
from edgec.importers.onnx.translate import Translation, translate
from edgec.importers.onnx.truncation import TRUNCATION
from edgec.ir.graph import Graph
from edgec.ir.metadata import record_note

RULES = {**QOPERATORS, **QONNX, **NBITS, **FUSED, **TRANSFORMERS}
"""The rules by which nodes are written as others before any other step, by domain and operator."""


def import_model(
    path: Path,
    shapes: Mapping[str, tuple[int, ...]] = NO_SHAPES,
    handlers: Mapping[str, Handler] = NO_HANDLERS,
    state: StatePairs = BY_NAMES,
    values: Values = NO_VALUES,
) -> Graph:
    """Read an ONNX model into a graph of the REAL stage.

    Args:
        path: the model; its external data must lie in the same folder.
        shapes: input name to shape, for inputs with open dimensions other than the batch, or to
            set the batch of a model that fixes it.
        handlers: what imports further operators, by ONNX name (`registry.HANDLERS` has edgec's).
        state: inputs and outputs that are kept from run to run.
        values: numbers that inputs are fixed to, by name.

    Returns:
        The graph, unoptimised, with transposes around spatial operators (see `ir.ops`).

    Raises:
        UnsupportedModelError: nodes that cannot be compiled, all of them.
        ImportModelError: the file is no sound model.
        ConfigError: `shapes`, `state` or `values` do not fit the model.
    """
    model, shapes = load_fixed(path, values, shapes, state)
    state = said_by_file(model, state)
    resets = _defaults(model, state)
    translation = translated(model, path.stem, shapes, handlers)
    if values:
        record_note(translation.context.builder.metadata, "values", fixed_text(values))
    return with_state(finish(translation.context, translation.nodes), state, resets)


def _defaults(model: onnx.ModelProto, state: StatePairs) -> dict[str, Array]:
    """Numbers that a file stores for inputs which are state: those after a reset; taken out."""
    graph = model.graph
    inputs = [info.name for info in graph.input]
    outputs = [info.name for info in graph.output]
    pairs = paired_names(inputs, outputs) if state.automatic else state.pairs
    stored = [tensor for tensor in graph.initializer if tensor.name in pairs.keys() & set(inputs)]
    with library_call("a tensor cannot be read"):
        found = {tensor.name: np.asarray(numpy_helper.to_array(tensor)) for tensor in stored}
    for tensor in stored:
        graph.initializer.remove(tensor)
    return found


def translated(
    model: onnx.ModelProto,
    name: str,
    shapes: Mapping[str, tuple[int, ...]],
    handlers: Mapping[str, Handler] = NO_HANDLERS,
) -> Translation:
    """The translation of a loaded model, unsupported nodes and all; `model` is changed.

    A file may leave the batch of its inputs open and have Reshapes to the batch that it was traced
    with.  Where one sample fits nowhere, it is read as one sample of that batch.
    """
    batches = traced_batches(model)
    original = model.SerializeToString() if batches else b""
    try:
        found = _of_samples(model, name, shapes, handlers, None)
    except ImportModelError as error:
        again = _of_batch(original, batches, name, shapes, handlers)
        if again is None:
            raise error from None
        return again
    if not problems(found.nodes):
        return found
    return _of_batch(original, batches, name, shapes, handlers) or found


def _of_batch(
    original: bytes,
    batches: Sequence[int],
    name: str,
    shapes: Mapping[str, tuple[int, ...]],
    handlers: Mapping[str, Handler],
) -> Translation | None:
    """The translation by the first batch that it can be compiled with."""
    for batch in batches:
        model = onnx.ModelProto.FromString(original)
        with suppress(ImportModelError):
            found = _of_samples(model, name, shapes, handlers, batch)
            if not problems(found.nodes):
                return found
    return None


def _of_samples(
    model: onnx.ModelProto,
    name: str,
    shapes: Mapping[str, tuple[int, ...]],
    handlers: Mapping[str, Handler],
    traced: int | None,
) -> Translation:
    fix_input_shapes(model, shapes, traced)
    widen(model)
    whole_inputs(model)
    expand(model, {**RULES, **nchwc.rules(model)})
    expand(model, TRUNCATION)
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


def inspect_model(
    path: Path,
    shapes: Mapping[str, tuple[int, ...]] = NO_SHAPES,
    state: StatePairs = BY_NAMES,
    values: Values = NO_VALUES,
) -> ModelSummary:
    """Read a model and describe every node of it.

    Args:
        path: an ONNX file.
        shapes, state, values: as for `import_model`.

    Raises:
        ImportModelError: the file is no sound model.
        ConfigError: `shapes`, `state` or `values` do not fit the model.
    """
    model, shapes = load_fixed(path, values, shapes, state)
    opset = max(o.version for o in model.opset_import if o.domain in ("", "ai.onnx"))
    translation = translated(model, path.stem, shapes)
    return summarize(translation.context, translation.nodes, path.stem, ("ONNX", opset), _macs)


def _macs(op: str, inputs: tuple[Shape, ...], outputs: tuple[Shape, ...]) -> int:
    """Multiply-accumulates of a node of ONNX's layouts."""
    if len(inputs) < 2 or not outputs:
        return 0
    x, weight, y = inputs[0], inputs[1], outputs[0]
    if x is None or weight is None or y is None:
        return 0
    match op:
        case "Conv":
            return math.prod(y) * math.prod(weight[1:])
        case "ConvTranspose":
            return math.prod(x) * math.prod(weight[1:])
        case "MatMul" if x:
            return math.prod(y) * x[-1]
        case "Gemm" if len(x) == 2:
            # Whether or not x is transposed.
            return math.prod(x) * math.prod(y[1:])
        case "LSTM" | "GRU" | "RNN" if len(x) == 3 and len(inputs) > 2 and inputs[2] is not None:
            # Steps and batch, in either order.
            return x[0] * x[1] * (math.prod(weight) + math.prod(inputs[2]))
        case _:
            return 0

"""What an ONNX model consists of, for `edgec inspect`."""

from __future__ import annotations

import math
from collections.abc import Mapping
from pathlib import Path

from edgec.importers.common.input_shapes import NO_SHAPES
from edgec.importers.common.summary import ModelSummary, Shape, summarize
from edgec.importers.onnx.importer import translated
from edgec.importers.onnx.load import load_model


def inspect_model(path: Path, shapes: Mapping[str, tuple[int, ...]] = NO_SHAPES) -> ModelSummary:
    """Read a model and describe every node of it.

    Args:
        path: an ONNX file.
        shapes: shapes of inputs, as for `import_model`.

    Raises:
        ImportModelError: the file is no sound model.
        ConfigError: `shapes` does not fit the model.
    """
    model = load_model(path)
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
        case _:
            return 0

"""What a model file computes, the same on every processor where it is quantized."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from edgec.base.dtypes import Array
from edgec.floatrun.activations import activations
from edgec.floatrun.executor import is_quantized
from edgec.floatrun.float_model import FloatModel
from edgec.importers.onnx.importer import import_model


def outputs_of(path: Path, x: Array) -> Array:
    """The only output [N, ...] for samples [N, ...] of the only input.

    onnxruntime runs float models; a quantized one is executed in float64, because onnxruntime's own
    int8 kernels saturate on processors without VNNI.
    """
    graph = import_model(path)
    (name,), (output,) = graph.inputs, graph.outputs
    if not is_quantized(graph):
        return FloatModel(path).run({name: x})[output]
    found = [batch[output] for _, batch in activations(graph, [output], {name: x})]
    return np.concatenate(found).reshape(len(x), *graph.shape(output)[1:])

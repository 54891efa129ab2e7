"""Integer forms of the layers of `shapes.py` with the roundings of TensorFlow Lite files."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import numpy as np

from edgec.base.dtypes import Array, DType
from edgec.base.fixedpoint import INT16_MIN
from edgec.base.options import IntegerOptions
from edgec.base.rounding import Rounding
from edgec.base.tflite_arithmetic import quantized_factor, reduced_factor
from edgec.ir import qops
from edgec.ir.graph import Graph, Node
from edgec.workflow.integer import IntegerModel, quantized_model, real_model


def rounded_twice(
    path: Path, samples: Mapping[str, Array], options: IntegerOptions
) -> IntegerModel:
    """With the rounding that files with int8 activations have."""
    real = real_model(path, samples, options)
    graph = real.graph.replace(rounding=Rounding.TFLM)
    return quantized_model(replace(real, graph=graph), options)


def sixteen_by_eight(
    path: Path, samples: Mapping[str, Array], options: IntegerOptions
) -> IntegerModel:
    """With the form of files with int16 activations, where layers with weights read and give int16.

    Codes and weights stay; a multiplier loses the bits after its first fifteen.
    """
    model = quantized_model(real_model(path, samples, options), options)
    graph = model.integer
    for node in graph.nodes:
        graph = _rounded_once(graph, node)
    return replace(model, integer=graph)


def _rounded_once(graph: Graph, node: Node) -> Graph:
    attrs = node.attrs
    if not isinstance(attrs, qops.QConv | qops.QGemm) or graph.dtype(node.first) is DType.INT8:
        return graph
    form = attrs.output
    if not isinstance(form, qops.Requant31) or form.dtype is DType.INT8:
        return graph
    multiplier = graph.constants[attrs.Inputs.of(node.inputs).multiplier]
    factors = [quantized_factor(float(m) * 2.0**-form.shift) for m in multiplier.array]
    numbers = [reduced_factor(*factor) for factor in factors]
    own = replace(multiplier, array=np.array([m for m, _ in numbers], np.int16))
    low = INT16_MIN if form.low < 0 else form.low
    once = qops.Once15(tuple(shift for _, shift in numbers), low, form.high)
    changed = replace(node, attrs=replace(attrs, output=once, reach=1 << 15))
    nodes = tuple(changed if each is node else each for each in graph.nodes)
    return graph.replace(nodes=nodes).with_constant(own)

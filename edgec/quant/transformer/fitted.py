"""Weights by what they do to the outputs, for networks most of whose tensors have int16 codes.

The layers read what the layers before them give, with their integer weights, in real numbers: the
codes of int16 tensors are as good as that.  So weights and biases are chosen as in a convolutional
network whose tensors have int16 codes (`cnn.fit_weights`).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import numpy as np

from edgec.base.dtypes import Array, DType
from edgec.base.options import Effort, Precision, QuantSettings
from edgec.ir import ops
from edgec.ir.graph import Graph
from edgec.ir.graph_builder import GraphBuilder
from edgec.ir.qparams import QuantParams
from edgec.quant.cnn.fit_weights import effort_in_force, fitted
from edgec.quant.common.params import LEAST_SCALE
from edgec.quant.common.progress import Progress
from edgec.quant.common.report import WeightsReport
from edgec.quant.common.weights import quantize_layers
from edgec.quant.transformer.samples import Seen

_FEW_CODES = 16
"""Codes of int8 that span less than the largest number, wherever scales leave it room."""


def with_fitted_weights(
    graph: Graph,
    seen: Mapping[str, Seen],
    codes: Mapping[str, QuantParams],
    data: Mapping[str, Array],
    settings: QuantSettings,
    progress: Progress | None = None,
) -> tuple[Graph, Effort | None, WeightsReport | None]:
    """The graph with integer weights, and with biases that take up their mean errors.

    Args:
        graph: REAL stage.
        seen: samples of every value.
        codes: int8 parameters of the values that have codes.
        data: from `checked_calibration`.
        settings: the effort that is asked for, and whether biases are corrected.
        progress: told after each layer.

    Returns:
        The graph in the REAL stage, weights pinned to integer codes; what was tried for them, and
        what they gained.
    """
    effort = effort_in_force(graph, settings, len(next(iter(data.values()))))
    if not settings.bias_correction:
        return graph, effort, None
    fine = {name: _fine(found, codes.get(name)) for name, found in seen.items()}
    values = {n: replace(v, quant=fine.get(n)) for n, v in graph.values.items()}
    nearest, _ = quantize_layers(graph.replace(values=values))
    wide = replace(settings, precision=Precision.INT16)
    found, report = fitted(graph, nearest, data, wide, effort, progress)
    return _with_layers(graph, found), effort, report


def _fine(seen: Seen, codes: QuantParams | None) -> QuantParams:
    """Steps of an input in which a layer's bias is whole, without a loss that counts."""
    # A tensor that is next to nothing has steps far above its range (`scales.least`).
    least = LEAST_SCALE if codes is None else max(codes.scale) * _FEW_CODES
    scale = max(seen.range.magnitude, least) / 2.0**15
    return QuantParams.per_tensor(scale, 0, DType.INT16)


def _with_layers(graph: Graph, found: Graph) -> Graph:
    """The graph with the weights of another one, and with its biases as real numbers."""
    builder = GraphBuilder.of(graph)
    layers = {node.name: node for node in found.nodes}
    for node in graph.nodes:
        if not isinstance(node.attrs, ops.Weighted):
            continue
        if graph.constants[ops.layer_inputs(node).w].quant is not None:
            continue  # the model's own integers, or those of a pool
        own = ops.layer_inputs(layers[node.name])
        weight = found.constants[own.w]
        w = builder.constant(f"{node.name}_codes", weight.array, weight.quant)
        b = None
        if own.b is not None:
            real = found.constants[own.b].real64().astype(np.float32)
            b = builder.constant(f"{node.name}_corrected", real)
        inputs = ops.Weighted.Inputs(ops.layer_inputs(node).x, w, b).names()
        builder.put(replace(node, inputs=inputs))
    return builder.build()

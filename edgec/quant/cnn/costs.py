"""Where accuracy goes: the tensors and weights that add most noise at the outputs, and why."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from edgec.base.dtypes import Array
from edgec.ir import ops
from edgec.ir.fusion import fused_clip
from edgec.ir.graph import Graph, Node
from edgec.ir.qparams import QuantParams
from edgec.ir.real import RealOperator
from edgec.quant.cnn.bias_correct import layer_output
from edgec.quant.common.output_noise import OutputNoise, trial_samples
from edgec.quant.common.report import LayerCost

_SHOWN = 3
_CLIPPED = 0.001
"""Share of values beyond the codes from which clipping is named as the cause."""
_FEW_LEVELS = 4.0
"""Steps below which the spread of a tensor leaves few codes for most of its values."""


def layer_costs(graph: Graph, annotated: Graph, data: Mapping[str, Array]) -> tuple[LayerCost, ...]:
    """The worst causes of noise at the outputs, each measured alone in an exact network.

    Args:
        graph: REAL stage.
        annotated: ANNOTATED stage, with values of the same names.
        data: graph input name to float32 [N, ...]; a few samples are used.

    Returns:
        At most three, the worst first; none for a network too large to try.
    """
    count = trial_samples(graph, len(next(iter(data.values()))))
    if not count:
        return ()
    noise = OutputNoise(graph, {name: array[:count] for name, array in data.items()})
    found = []
    for node in graph.nodes:
        name, quant = node.output, annotated.values[node.output].quant
        if isinstance(node.attrs, ops.Weighted):
            coded = layer_output(annotated, node.name, noise.value(node.first))
            found.append((noise.of(name, coded), name, "weights"))
        if quant is not None and _rounds(annotated, node):
            coded = quant.dequantize64(quant.quantize(noise.value(name)))
            found.append((noise.of(name, coded), name, _why(noise.value(name), quant)))
    total = sum(each for each, _, _ in found)
    worst = sorted(found, key=lambda row: -row[0])[:_SHOWN]
    return tuple(LayerCost(name, each / total, why) for each, name, why in worst if each > 0.0)


def _rounds(annotated: Graph, node: Node) -> bool:
    """Whether codes of another kind come of a node: it is no mere move, nor part of a Clip."""
    attrs = node.attrs_as(RealOperator)
    return fused_clip(annotated, node) is None and not attrs.moves_codes


def _why(values: Array, quant: QuantParams) -> str:
    steps = values / quant.tensor_scale + quant.tensor_zero_point
    limits = np.iinfo(quant.dtype.numpy)
    beyond = (steps < limits.min - 0.5) | (steps > limits.max + 0.5)
    if float(beyond.mean()) > _CLIPPED:
        return "clipped"
    return "few levels" if float(steps.std()) < _FEW_LEVELS else "range"

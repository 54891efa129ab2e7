"""Where accuracy goes: what each layer adds to the noise at the outputs, and why.

A layer has two causes of noise: the codes of the tensor that it computes, and those of its weights.
Each is tried alone in a network that is exact otherwise (`common.output_noise`), with the codes
that firmware will have, int16 ones among them.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import numpy as np

from edgec.base.dtypes import Array
from edgec.ir import ops
from edgec.ir.fusion import fused_clip, fused_producer
from edgec.ir.graph import Graph, Node
from edgec.ir.real import RealOperator
from edgec.quant.cnn.bias_correct import layer_output
from edgec.quant.common.causes import cause_of_codes
from edgec.quant.common.output_noise import OutputNoise, judged, trial_samples
from edgec.quant.common.report import Cause, LayerLoss

_ROWS_OF_A_MEAN = 8
"""The mean of fewer rows takes too much of their noise with it."""


def layer_losses(
    real: Graph, annotated: Graph, integer: Graph, data: Mapping[str, Array]
) -> tuple[LayerLoss, ...]:
    """What inputs and layers add to the noise at the outputs.

    Args:
        real: REAL stage, with the channels and values of the annotated graph.
        annotated: ANNOTATED stage: the integer weights.
        integer: INTEGER stage: the codes of tensors.
        data: graph input name to float32 [N, ...]; a few samples are used.

    Returns:
        One for each tensor that gets codes of its own, in graph order; none for a network that is
        too large to try.
    """
    real = real.replace(outputs=judged(real), output_layouts={}).pruned()
    parts = list(_parts(real, annotated))
    tried = [p.layer.output for p in parts if p.layer is not None] + [p.value for p in parts]
    count = trial_samples(real, tried, len(next(iter(data.values()))))
    if not count:
        return ()
    noise = OutputNoise(real, {name: array[:count] for name, array in data.items()})
    return tuple(_loss(noise, part, annotated, integer) for part in parts)


@dataclass(frozen=True, slots=True)
class _Part:
    """What rounds once: a tensor, and the layer whose sums it holds.

    Attributes:
        value: the tensor, after the Clip that is part of its layer.
        layer: the layer with weights that edgec rounds; None: it has none.
        sources: the nodes of the model's file.
    """

    value: str
    layer: Node | None
    sources: tuple[str, ...]


def _parts(real: Graph, annotated: Graph) -> Iterator[_Part]:
    for name in annotated.inputs:
        if annotated.values[name].quant is not None:
            yield _Part(name, None, ())
    for node in annotated.nodes:
        if node.output not in real.producers:
            continue
        absorbed = fused_clip(annotated, node) is not None
        moves = node.attrs_as(RealOperator).moves_codes
        if absorbed or moves or annotated.values[node.output].quant is None:
            continue
        layer = fused_producer(annotated, node) or node
        weighted = isinstance(layer.attrs, ops.Weighted) and _is_rounded(real, layer)
        sources = tuple(dict.fromkeys((*layer.sources, *node.sources)))
        yield _Part(node.output, layer if weighted else None, sources)


def _is_rounded(real: Graph, layer: Node) -> bool:
    """Whether edgec, and not the model's file, rounds the weights of a layer."""
    weight = real.constants.get(ops.layer_inputs(real.producers[layer.output]).w)
    return weight is not None and weight.quant is None


def _loss(noise: OutputNoise, part: _Part, annotated: Graph, integer: Graph) -> LayerLoss:
    weights = 0.0
    if part.layer is not None:
        sums = layer_output(annotated, part.layer.name, noise.value(part.layer.first))
        weights = noise.of(part.layer.output, _centred(noise.value(part.layer.output), sums))
    values = noise.value(part.value)
    quant = (integer if part.value in integer.values else annotated).quant(part.value)
    coded = quant.dequantize64(quant.quantize(values))
    codes = noise.of(part.value, coded)
    why, detail = (Cause.WEIGHTS, "") if weights > codes else cause_of_codes(values, quant)
    return LayerLoss(part.value, part.sources, weights, codes, why, detail)


def _centred(exact: Array, rounded: Array) -> Array:
    """Sums of rounded weights without the mean error of each channel, float64 [S, ..., C].

    Corrected biases take out what the codes of inputs shift it by, too, so that with exact inputs
    they would seem to be noise.
    """
    error = rounded - exact
    rows = error.reshape(-1, error.shape[-1])
    mean = rows.mean(axis=0) if len(rows) >= _ROWS_OF_A_MEAN else 0.0
    return np.asarray(exact + error - mean)

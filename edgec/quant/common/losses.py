"""Loss of accuracy by layer: the noise that each layer of an integer graph adds at the outputs.

Layers are run one by one (`alone`).  What a layer adds is carried to the outputs by a network that
is exact otherwise (`output_noise`).  The part of it that the codes of its tensor explain is told
from the rest, which comes from its integer weights, its arithmetic and the forms of its inputs.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from edgec.base.dtypes import Array
from edgec.ir.graph import Graph
from edgec.ir.qparams import QuantParams
from edgec.quant.common.alone import Alone, run_alone, tried_nodes
from edgec.quant.common.output_noise import (
    OutputNoise,
    cause_of_codes,
    energy,
    judged,
    trial_samples,
)
from edgec.quant.common.report import Cause, LayerLoss

_ROWS_OF_A_MEAN = 8
"""The mean of fewer rows takes too much of their noise with it."""
_CODES_MATTER = 0.5
"""Share of a layer's noise below which the codes of its tensor are not the cause."""


def layer_losses(
    real: Graph, integer: Graph, data: Mapping[str, Array], *, corrected: bool
) -> tuple[LayerLoss, ...]:
    """Noise that inputs and layers of an integer graph add at the outputs.

    Args:
        real: REAL stage, with values of the same names, or those that a value is a form of.
        integer: INTEGER stage.
        data: graph input name to real or whole numbers [N, ...]; a few samples are used.
        corrected: whether biases take up mean errors.

    Returns:
        One for each input and layer that adds noise, in graph order; none for a network that is too
        large to try.
    """
    judging = real.replace(outputs=judged(real), output_layouts={}).pruned()
    tried = [name for _, name in tried_nodes(judging, integer).values()]
    names = [name for name in (*integer.inputs, *tried) if name in judging.values]
    count = trial_samples(judging, names, len(next(iter(data.values()))))
    if not count:
        return ()
    few = {name: array[:count] for name, array in data.items()}
    # Tensors after the judged ones, such as probabilities, change none of them.
    noise = OutputNoise(judging, few)
    inputs = [_input_loss(noise, integer, name) for name in integer.inputs]
    known = {name: noise.value(name) for name in judging.values}
    layers = [
        _layer_loss(noise, each, integer.quant(each.node.output), corrected=corrected)
        for each in run_alone(judging, integer, known, few)
        if each.error.any()
    ]
    return tuple(loss for loss in (*inputs, *layers) if loss is not None and loss.noise > 0.0)


def _input_loss(noise: OutputNoise, integer: Graph, name: str) -> LayerLoss | None:
    """Loss by the codes of an input; None for whole numbers."""
    quant = integer.values[name].quant
    if quant is None:
        return None
    values = noise.value(name)
    found = noise.of(name, quant.dequantize64(quant.quantize(values)))
    why, detail = cause_of_codes(values, quant)
    return LayerLoss(name, (), 0.0, found, why, detail)


def _layer_loss(
    noise: OutputNoise, alone: Alone, quant: QuantParams, *, corrected: bool
) -> LayerLoss:
    """Loss of a layer: its noise at the outputs, divided as its energy at its own tensor is."""
    values = noise.value(alone.real)
    # Infinity, that a Pad put there, has no error.
    finite = np.isfinite(values)
    rounding = np.where(finite, alone.coded - values, 0.0)
    error = np.where(finite, alone.error, 0.0)
    if alone.weighted and corrected:
        error = _centred(error, rounding)
    found = noise.of(alone.real, values + error)
    whole = energy(error[finite])
    share = min(energy(rounding[finite]) / whole, 1.0) if whole > 0.0 else 1.0
    why, detail = Cause.RANGE, ""
    if share < _CODES_MATTER:
        why = Cause.WEIGHTS if alone.weighted else Cause.ARITHMETIC
    elif quant.axis is None:  # channels with a scale each leave no cause but their steps
        why, detail = cause_of_codes(values, quant)
    rest = (1.0 - share) * found
    return LayerLoss(alone.node.output, alone.node.sources, rest, share * found, why, detail)


def _centred(error: Array, rounding: Array) -> Array:
    """An error without the mean, by channel, of what the codes do not explain; [S, ..., C].

    Corrected biases take out what the codes of inputs shift it by, too, so that with exact inputs
    they would seem to be noise.
    """
    rest = (error - rounding).reshape(-1, error.shape[-1])
    return np.asarray(error - rest.mean(axis=0)) if len(rest) >= _ROWS_OF_A_MEAN else error

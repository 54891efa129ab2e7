"""Layers with weights of which inputs or outputs are int16, at the edges of the NEON kernels."""

from __future__ import annotations

from dataclasses import replace
from itertools import cycle

import numpy as np
from depthwise_cases import WEIGHTS, Case
from random_transformer import Layer

from edgec.base.dtypes import DType
from edgec.ir import Graph, QuantParams, qops

WIDE, NARROW = DType.INT16, DType.INT8
KINDS = ((WIDE, WIDE), (WIDE, NARROW), (NARROW, WIDE))
"""Element types of inputs and outputs."""
FORMS = ("even", "all", "relu", "once")
"""Bounds of outputs of int16 by one multiplier of 31 bits, and the form Once15."""
_DENSE = ((3, 3), (1, 1), (3, 1), (1, 5), (4, 2), (1, 1))
_DEPTHWISE = ((3, 3), (1, 5), (5, 1), (1, 1), (2, 3), (9, 8))
_CHANNELS = (1, 2, 3, 4, 8, 12, 16, 20, 32, 41)
_FILTERS = (1, 3, 7, 8, 9, 13, 16, 17, 24, 25, 33)


def dense_layers(seed: int, count: int) -> Graph:
    """Convolutions of one group and matrix products of any geometry."""
    rng, layer = np.random.default_rng(seed), Layer(seed)
    kinds, forms = cycle(KINDS), cycle(FORMS)
    for number in range(count):
        filters = int(rng.choice(_FILTERS))
        kind, form = next(kinds), next(forms) if number % len(KINDS) == 0 else "even"
        _add(layer, _case(rng, _DENSE, _CHANNELS), filters, kind, form)
    for rows, depth, units in ((1, 64, 16), (1, 37, 9), (1, 3, 1), (9, 48, 20), (4, 64, 8)):
        for kind in KINDS:
            _product(layer, (rows, depth, units), kind)
    return layer.builder.build()


def depthwise_layers(seed: int, count: int) -> Graph:
    """Depthwise convolutions of any geometry."""
    rng, layer = np.random.default_rng(seed), Layer(seed)
    kinds, forms = cycle(KINDS), cycle(FORMS)
    for number in range(count):
        form = next(forms) if number % len(KINDS) == 0 else "even"
        _add(layer, _case(rng, _DEPTHWISE, _CHANNELS[1:]), None, next(kinds), form)
    return layer.builder.build()


def _case(
    rng: np.random.Generator, kernels: tuple[tuple[int, int], ...], channels: tuple[int, ...]
) -> Case:
    kernel = kernels[rng.integers(len(kernels))]
    dilations = tuple(int(n) for n in np.maximum(rng.integers(0, 3, 2), 1))
    pads = tuple(int(n) for n in rng.integers(0, 3, 4) * rng.integers(0, 2))
    reach = [(taps - 1) * step + 1 for taps, step in zip(kernel, dilations, strict=True)]
    sizes = [max(n - a - b, 1) for n, a, b in zip(reach, pads[:2], pads[2:], strict=True)]
    height, width = (size + int(rng.integers(0, 10)) for size in sizes)
    strides = int(rng.integers(1, 3)), int(rng.integers(1, 3))
    where = strides, (pads[0], pads[1], pads[2], pads[3])
    return Case(
        *(height, width, int(rng.choice(channels)), *where),
        shift=int(rng.choice([31, 36, 44])),
        kernel=kernel,
        dilations=(dilations[0], dilations[1]),
    )


def _add(
    layer: Layer, case: Case, filters: int | None, kind: tuple[DType, DType], form: str
) -> None:
    x = layer.input(1, case.height, case.width, case.channels, dtype=kind[0])
    group, depth = (case.channels, 1) if filters is None else (1, case.channels)
    weights = layer.rng.choice(WEIGHTS, (filters or case.channels, *case.kernel, depth))
    output, numbers = _end(layer, len(weights), weights[0].size, kind, form, case.shift)
    attrs = qops.QConv(case.strides, case.pads, case.dilations, group, output)
    y = layer.node(attrs, [x, layer.array(weights.astype(np.int8)), *numbers], kind[1])
    _with_codes(layer, y, output)


def _product(layer: Layer, sizes: tuple[int, int, int], kind: tuple[DType, DType]) -> None:
    rows, depth, units = sizes
    x = layer.input(1, rows, depth, dtype=kind[0])
    weights = layer.rng.choice(WEIGHTS, (units, depth)).astype(np.int8)
    output, numbers = _end(layer, units, depth, kind, "even", 36)
    y = layer.node(qops.QGemm(output), [x, layer.array(weights), *numbers], kind[1])
    _with_codes(layer, y, output)


def _end(
    layer: Layer, units: int, depth: int, kind: tuple[DType, DType], form: str, shift: int
) -> tuple[qops.Requantization, list[str]]:
    """The form in which a layer ends, and bias and multipliers.

    Sums reach the bounds of outputs, and go beyond them here and there.
    """
    wide = kind[1] is WIDE
    reach = (2**15 if kind[0] is WIDE else 2**7) * 60 * depth**0.5
    scale = (2**15 if wide else 2**7) / reach * layer.rng.uniform(0.5, 3, units)
    bias = layer.constant(-int(reach), int(reach), units, dtype=np.int32)
    if form == "once" and kind == (WIDE, WIDE):
        shifts = 14 - np.floor(np.log2(scale)).astype(int)
        multipliers = np.clip(np.round(scale * 2.0**shifts), 1, 2**15 - 1).astype(np.int16)
        output = qops.Once15(tuple(map(int, shifts)), -32768, 32767)
        return output, [bias, layer.array(multipliers)]
    least = int(np.ceil(np.log2(scale.max())))
    shift = min(shift, 30 - least)
    multipliers = np.round(scale * 2.0**shift).astype(np.int32)
    low = {"even": -32767, "all": -32768, "relu": 0}.get(form, -32767)
    if wide:
        return qops.Requant31(shift, 0, low, 32767, WIDE), [bias, layer.array(multipliers)]
    zero_point = layer.pick([0, -128, 7])
    low = layer.pick([-128, -50])
    output = qops.Requant31(shift, zero_point, low, 127, NARROW)
    return output, [bias, layer.array(multipliers)]


def _with_codes(layer: Layer, y: str, output: qops.Requantization) -> None:
    value = layer.builder.values[y]
    zero_point = getattr(output, "zero_point", 0)
    quant = QuantParams.per_tensor(0.05, zero_point, output.dtype)
    layer.builder.value(replace(value, quant=quant))

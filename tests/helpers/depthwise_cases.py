"""Graphs of depthwise convolutions, as the kernels for cores with DSP meet them."""

from dataclasses import dataclass, replace

import numpy as np
from random_transformer import Layer

from edgec.base.dtypes import DType
from edgec.ir import Graph, QuantParams, qops
from edgec.ir.shapes import window_out

BOARDS = {"m4": "nucleo_l4r5zi", "m7": "nucleo_h7a3zi_q", "m33": "nucleo_u575zi_q"}
INT8 = (-128, 127)
WEIGHTS = (-127, 127, -128, 5, 0, 60)
"""Weights that reach the ends of int8."""


@dataclass(frozen=True)
class Case:
    """Sizes, strides (down, right), padding (top, left, bottom, right), bounds of outputs.

    `offsets`: in the form `Offset31`; `twice`: in the form `TwoRoundings31`; `wide`: int16.
    `multiplier`: filters of a channel.
    """

    height: int
    width: int
    channels: int = 4
    strides: tuple[int, int] = (1, 1)
    pads: tuple[int, int, int, int] = (1, 1, 1, 1)
    bounds: tuple[int, int] = INT8
    shift: int = 32
    offsets: bool = False
    kernel: tuple[int, int] = (3, 3)
    dilations: tuple[int, int] = (1, 1)
    twice: bool = False
    wide: bool = False
    once: bool = False
    multiplier: int = 1


def graph_of(seed: int, cases: tuple[Case, ...]) -> Graph:
    """A graph of independent layers, with weights and inputs that reach the ends of int8."""
    layer = Layer(seed)
    for case in cases:
        add_layer(layer, case)
    return layer.builder.build()


def add_layer(
    layer: Layer, case: Case, filters: int | None = None, values: tuple[int, ...] = WEIGHTS
) -> None:
    """One layer; `filters`: of a convolution of one group, None: it is depthwise; `values`: of
    weights.
    """
    dtype = DType.INT16 if case.wide else DType.INT8
    x = layer.input(1, case.height, case.width, case.channels, dtype=dtype)
    group, depth = (case.channels, 1) if filters is None else (1, case.channels)
    units = case.channels * case.multiplier if filters is None else filters
    weights = layer.rng.choice(values, (units, *case.kernel, depth))
    multipliers = layer.rng.uniform(0.4, 1, units) / 40 * 2.0**case.shift
    sign = layer.pick([1, -1])
    zero_point = 0 if case.wide else layer.pick([0, -128, 7])
    if case.twice:
        sign, multipliers = 1, layer.rng.integers(1 << 30, 1 << 31, units)
    inputs = [
        x,
        layer.array(weights.astype(np.int8)),
        layer.constant(-9000, 9000, units, dtype=np.int32),
        layer.array((multipliers * sign).astype(np.int32)),
    ]
    form: qops.Requant31 | qops.Offset31 | qops.TwoRoundings31 | qops.Once15
    form = qops.Requant31(case.shift, zero_point, *case.bounds, dtype)
    if case.offsets:
        left = case.shift - 32
        offsets = (zero_point << left) + layer.rng.integers(0, 1 << left, units)
        form = qops.Offset31(left, tuple(map(int, offsets)), *case.bounds)
    if case.twice:
        shifts = -layer.rng.integers(5, 10, units)
        form = qops.TwoRoundings31(tuple(map(int, shifts)), zero_point, *case.bounds)
    if case.once:
        inputs[3] = layer.array(layer.rng.integers(1 << 14, 1 << 15, units).astype(np.int16))
        form = qops.Once15(
            tuple(map(int, case.shift - layer.rng.integers(0, 4, units))), *case.bounds
        )
    conv = qops.QConv(case.strides, case.pads, case.dilations, group, form)
    if case.once:
        conv = replace(conv, reach=1 << 15)
    y = layer.node(conv, inputs, dtype)
    value = layer.builder.values[y]
    if not case.wide:
        layer.builder.value(replace(value, quant=QuantParams.per_tensor(0.05, zero_point)))
    sizes = (case.height, case.width), case.kernel, case.strides, case.dilations
    pads = case.pads[:2], case.pads[2:]
    assert value.shape[1:3] == tuple(window_out(*each) for each in zip(*sizes, *pads, strict=True))

"""Graphs of matrix products and convolutions of one group that end in 31-bit multipliers."""

from dataclasses import dataclass, replace

import numpy as np
from random_transformer import Layer

from edgec.base.dtypes import DType
from edgec.base.fixedpoint import INT32_MAX
from edgec.ir import Graph, QuantParams, qops

INT8 = (-128, 127)


@dataclass(frozen=True)
class Case:
    """A product of `rows` rows, or a convolution of [rows, rows + 1, depth] for a kernel.

    Attributes:
        bounds: of the output.
        shift: of the multipliers.
        fuses: outputs are stored from registers.
        runs: rows of a window are widened where they lie.
        width: columns of the image; 0: one more than rows.
    """

    rows: int
    depth: int
    units: int
    bounds: tuple[int, int] = INT8
    shift: int = 32
    residual: bool = False
    fuses: bool = True
    kernel: int = 0
    stride: int = 1
    pad: int = 0
    dilation: int = 1
    runs: bool = False
    width: int = 0


def graph_of(seed: int, cases: tuple[Case, ...]) -> Graph:
    """A layer for each case, with numbers by the seed."""
    layer = Layer(seed)
    for case in cases:
        _add(layer, case)
    return layer.builder.build()


def _add(layer: Layer, case: Case) -> None:
    image = (1, case.rows, case.width or case.rows + 1, case.depth)
    x = layer.input(*(image if case.kernel else (1, case.rows, case.depth)))
    taps = (case.kernel, case.kernel) if case.kernel else ()
    weights = layer.rng.choice([-127, 127, -128, 5, 0, 60], (case.units, *taps, case.depth))
    depth = case.depth * max(case.kernel, 1) ** 2
    factor = 1 / (12 * round(depth**0.5))
    multipliers = layer.rng.uniform(0.4, 1, case.units) * factor * 2.0**case.shift
    inputs = [
        x,
        layer.array(weights.astype(np.int8)),
        layer.constant(-9000, 9000, case.units, dtype=np.int32),
        layer.array((np.minimum(multipliers, INT32_MAX) * layer.pick([1, -1])).astype(np.int32)),
    ]
    t_zero_point = layer.pick([0, -128, 7])
    form = qops.Requant31(case.shift, t_zero_point, *case.bounds)
    if not case.kernel:
        y = layer.node(qops.QGemm(form), inputs, DType.INT8)
        _set_zero_point(layer, y, t_zero_point)
        return
    addition = qops.AddParams(t_zero_point, 3, 900, 700, 10, -5) if case.residual else None
    attrs = qops.QConv(
        *((case.stride,) * 2, (case.pad,) * 4, (case.dilation,) * 2, 1),
        *(form, addition),
    )
    if case.residual:
        reach = 2 * case.pad - case.dilation * (case.kernel - 1) - 1
        sides = [(n + reach) // case.stride + 1 for n in image[1:3]]
        inputs.append(layer.input(1, *sides, case.units))
        _set_zero_point(layer, inputs[-1], 3)
    y = layer.node(attrs, inputs, DType.INT8)
    _set_zero_point(layer, y, -5 if case.residual else t_zero_point)


def _set_zero_point(layer: Layer, name: str, zero_point: int) -> None:
    value = layer.builder.values[name]
    layer.builder.value(replace(value, quant=QuantParams.per_tensor(0.05, zero_point)))

"""Oracle = generated C for products of one row without SIMD: rows of int8, and of int16."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from emulated import check_emulated, need_emulator
from parity import check_host, compiled, samples_of
from random_transformer import Layer
from targets import by_precedence

from edgec.base.dtypes import DType
from edgec.ir import Graph, QuantParams, qops
from edgec.kernels.m0.dense_1x4_s8_m0 import Dense1x4M0
from edgec.kernels.m0.dense_1x4_s16_m0 import Dense1x4S16M0
from edgec.kernels.select import select_kernels
from edgec.target.board import load_board
from edgec.target.target import Target

BOARDS = {"m0plus": "nucleo_g0b1re", "m3": "nucleo_f207zg"}

CASES = tuple((depth, units) for depth in (1, 2, 3, 4, 5, 8, 31, 640) for units in (1, 3, 4, 37))
"""Depth and units."""


KERNELS = {DType.INT8: Dense1x4M0, DType.INT16: Dense1x4S16M0}
"""By the type of rows."""


def graph_of(seed: int, x: DType) -> Graph:
    layer = Layer(seed)
    for depth, units in CASES:
        _add(layer, depth, units, x, layer.pick(list(KERNELS)))
    return layer.builder.build()


def _add(layer: Layer, depth: int, units: int, dtype: DType, out: DType) -> None:
    x = layer.input(1, depth, dtype=dtype)
    extreme = layer.rng.choice(np.array([-128, 127]), (units, depth))
    some = layer.rng.integers(-128, 128, (units, depth))
    weights = layer.pick([extreme, some, np.full((units, depth), -128)])
    if dtype is DType.INT16 and depth > 500:
        weights = weights // 2  # so that sums fit 32 bits
    shift = layer.pick([28, 32, 33, 38])
    zero_point = 0 if out is DType.INT16 else layer.pick([0, -128, 127, 9])
    factors = layer.rng.uniform(0.2, 1, units) / (70 * depth**0.5) * 2.0 ** min(shift, 37)
    # A sum of int16 is 256 times as large, and so are the codes of an output.
    factors *= 256.0 ** ((out is DType.INT16) - (dtype is DType.INT16))
    factors = np.minimum(factors, 2.0**30)
    inputs = [
        x,
        layer.array(weights.astype(np.int8)),
        layer.constant(-9000, 9000, units, dtype=np.int32),
        layer.array(factors.astype(np.int32)),
    ]
    bounds = layer.pick([(-128, 127), (-128, 100), (-5, 127)])
    form = qops.Requant31(shift, zero_point, *bounds, out)
    y = layer.node(qops.QGemm(form), inputs, out)
    value = layer.builder.values[y]
    layer.builder.value(replace(value, quant=QuantParams.per_tensor(0.05, zero_point, out)))


@pytest.mark.parametrize("x", KERNELS)
def test_the_cases_get_this_kernel(x: DType):
    for board in BOARDS.values():
        choices = select_kernels(graph_of(1, x), by_precedence(Target.of(load_board(board))))
        assert all(isinstance(choice.spec, KERNELS[x]) for choice in choices)


@pytest.mark.few_cases(1)
@pytest.mark.parametrize("x", KERNELS)
@pytest.mark.parametrize("core", BOARDS)
def test_on_the_host(core: str, x: DType, tmp_path: Path):
    check_host(graph_of(2, x), tmp_path, board=BOARDS[core])


@pytest.mark.few_cases(1)
@pytest.mark.parametrize("x", KERNELS)
@pytest.mark.parametrize("core", BOARDS)
def test_on_an_emulated_core(core: str, x: DType, tmp_path: Path):
    need_emulator(BOARDS[core])
    graph = graph_of(3, x)
    program = compiled(graph, tmp_path / "library", board=BOARDS[core])
    samples = [samples_of(graph)[i] for i in (0, 2, 4)]
    check_emulated(BOARDS[core], tmp_path / "library", program, samples, tmp_path / "project")

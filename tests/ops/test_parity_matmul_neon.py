"""Oracle = generated C of products of two activations with NEON, under QEMU, A64 and Armv7-A."""

from __future__ import annotations

import itertools
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from cross import MACHINES, check_cross
from parity import samples_of
from random_transformer import Layer, matmul
from targets import bare_target

from edgec.base.dtypes import DType
from edgec.ir import Graph, QuantParams, qops
from edgec.kernels.neon.matmul import MatMulNeon
from edgec.kernels.select import select_kernels
from edgec.target.cores import Core

_NARROW, _WIDE = DType.INT8, DType.INT16
_REACH = 1 << 10
_SIZES = ((4, 9, 5), (7, 16, 8), (33, 12, 33), (5, 1, 3), (6, 600, 31), (2, 8, 16), (12, 21, 12))
"""Rows, products of a sum, columns; of the fifth one columns go by blocks."""


def _form(a: DType, b: DType, depth: int, number: int) -> qops.Requant31 | qops.TwoRoundings31:
    y = (_NARROW, _WIDE)[number % 2]
    zero_point = 5 if y is _NARROW else 0
    low, high = (-127, 127) if y is _NARROW else (-32767, 32767)
    bits = 8 * (a.size_bytes + b.size_bytes) - 16 + int(np.log2(depth)) // 2
    if y is _NARROW:
        bits += 6
    match number % 3:
        case 0:
            return qops.Requant31(bits + 33, zero_point, low, high, y)
        case 1:
            return qops.Requant31(26, zero_point, low, high, y)
        case _:
            return qops.TwoRoundings31((-bits - 2,), zero_point, low, high, y)


def _operand(layer: Layer, dtype: DType, *shape: int) -> str:
    """An input; of int16 its codes are scaled down, so that 32 bits hold any sum of products."""
    x = layer.input(*shape, dtype=dtype)
    if dtype is _NARROW:
        return x
    form = qops.Requant31(36, 0, 1 - _REACH, _REACH - 1, _WIDE)
    return layer.node(qops.QRescale(form, (1 << 31) - 1), [x], _WIDE)


def graph_of(seed: int) -> Graph:
    """All types, all ways in which matrices lie, the forms of 16 and of 31 bits."""
    layer = Layer(seed)
    for _ in range(6):
        matmul(layer)
    types = tuple(itertools.product((_NARROW, _WIDE), repeat=2))
    for number, (rows, depth, columns) in enumerate(_SIZES):
        for turn, (a_type, b_type) in enumerate(types):
            turned_a, turned_b = (number + turn) % 2 > 0, (number + turn) // 2 % 2 > 0
            a = _operand(layer, a_type, 2, *((depth, rows) if turned_a else (rows, depth)))
            b = _operand(layer, b_type, 1, *((columns, depth) if turned_b else (depth, columns)))
            form = _form(a_type, b_type, depth, number + turn)
            short = isinstance(form, qops.Requant31) and form.shift < 32
            multiplier = (1 << 11) + 123 if short else (1 << 30) + 12345
            reaches = tuple(256 if t is _NARROW else _REACH for t in (a_type, b_type))
            attrs = qops.QMatMul(form, multiplier, 0, turned_a, turned_b, *reaches)
            y = layer.node(attrs, [a, b], form.dtype)
            # The number of the form is the zero point.
            quant = QuantParams.per_tensor(0.05, form.zero_point, form.dtype)
            layer.builder.value(replace(layer.builder.values[y], quant=quant))
    return layer.builder.build()


def _specs(graph: Graph, core: Core) -> list[MatMulNeon]:
    choices = select_kernels(graph, bare_target(core))
    return [choice.spec for choice in choices if isinstance(choice.spec, MatMulNeon)]


@pytest.mark.few_cases(1)
@pytest.mark.parametrize("machine", MACHINES)
@pytest.mark.parametrize("seed", [1, pytest.param(2, marks=pytest.mark.slow)])
def test_on_an_emulated_core(seed: int, machine: str, tmp_path: Path) -> None:
    graph = graph_of(seed)
    check_cross(MACHINES[machine], graph, samples_of(graph), tmp_path)


def test_types_layouts_forms_and_edges_are_reached() -> None:
    found = _specs(graph_of(1), Core.CORTEX_A53)
    assert {(spec.a, spec.b) for spec in found} == set(
        itertools.product((_NARROW, _WIDE), repeat=2)
    )
    assert {(spec.a_strides[1] == 1, spec.b_strides[0] == 1) for spec in found} == set(
        itertools.product((True, False), repeat=2)
    )
    assert {type(spec.output) for spec in found} == {
        *(qops.Requant31, qops.TwoRoundings31, qops.Rescale16x15)
    }
    assert any(spec.block < spec.columns for spec in found)
    assert {0, 1} <= {spec.rows % 4 for spec in found}
    assert {0, 1} <= {spec.depth % 4 for spec in found}
    assert {0, 1, 3} <= {spec.columns % 8 for spec in found}


def test_one_row_by_columns_in_order_and_sums_of_64_bits_are_left_to_others() -> None:
    layer = Layer(1)
    row, columns = layer.input(1, 1, 32), layer.input(1, 9, 32)
    form = qops.Requant31(40, 0, -127, 127)
    for turned in (True, False):
        b = columns if turned else layer.input(1, 32, 9)
        layer.node(qops.QMatMul(form, 1 << 30, 0, False, turned), [row, b], _NARROW)
    wide = [layer.input(1, 5, 8, dtype=_WIDE), layer.input(1, 8, 5, dtype=_WIDE)]
    once = qops.Once15((46,), -32768, 32767)
    layer.node(qops.QMatMul(once, 32767, 0, False, False, 1 << 15, 1 << 15), wide, _WIDE)
    choices = select_kernels(layer.builder.build(), bare_target(Core.CORTEX_A53))
    assert [choice.spec.family for choice in choices] == ["matmul", "matmul_neon", "matmul"]

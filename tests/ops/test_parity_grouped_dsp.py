"""Oracle = C on this computer = emulated cores for convolutions of several groups, by pairs."""

from dataclasses import replace
from pathlib import Path

import pytest
from depthwise_cases import BOARDS
from emulated import check_emulated, need_emulator
from exact_chain import ENDS, Exact
from parity import check_host, compiled, samples_of

from edgec.base.dtypes import DType
from edgec.ir import Graph, qops
from edgec.kernels.dsp.dense_2x2_s16_dsp import Dense2x2
from edgec.lower import Program

SHAPES = (
    *((7, 6, 8, 16, (3, 3), (1, 1), 4), (5, 5, 16, 6, (1, 1), (1, 1), 2)),
    *((9, 1, 12, 9, (5, 1), (2, 1), 3), (6, 7, 6, 10, (2, 3), (2, 2), 2)),
)
"""Rows, columns, channels, filters, kernel, strides, groups; odd numbers of filters and pixels."""


def graph_of(seed: int) -> Graph:
    """Layers with padding, in all ends of int8; those with a residual are plain C."""
    net = Exact(seed)
    for number, (rows, columns, channels, filters, kernel, strides, group) in enumerate(SHAPES):
        x = net.input(1, rows, columns, channels)
        pads = tuple(size // 2 for size in (*kernel, *kernel))
        form, numbers = net.exact(ENDS[number % 3], filters, *kernel, channels // group)
        conv = qops.QConv(strides, pads, (1, 1), group, form)
        y = net.put(conv, [x, *numbers], getattr(form, "zero_point", 3))
        shape = net.builder.values[y].shape
        numbers[2] = net.constant(1 << 29, 1 << 30, filters, dtype="int32")
        plain = replace(conv, output=qops.Requant31(39, 5))
        other = net.put(plain, [x, *numbers], 5)
        residual = net.input(*shape)
        zero = net.builder.values[residual].quant.tensor_zero_point
        added = qops.AddParams(5, zero, 1 << 10, 1 << 10, 11, 5)
        joined = net.put(replace(plain, residual=added), [x, *numbers, residual], 5)
        wide = net.input(1, rows, columns, channels, dtype=DType.INT16)
        narrow = replace(plain, output=qops.Requant31(45, 5), reach=1 << 15)
        net.builder.outputs += [y, other, joined, net.put(narrow, [wide, *numbers], 5)]
    return net.builder.build()


def specs_of(program: Program) -> list[Dense2x2]:
    specs = [kernel.spec for kernel in program.kernels]
    return [spec for spec in specs if isinstance(spec, Dense2x2)]


def test_on_the_host(tmp_path: Path):
    found = specs_of(check_host(graph_of(1), tmp_path, board=BOARDS["m4"]))
    assert {spec.end for spec in found} >= {"requant31", *ENDS[:1]}
    assert {spec.typed is None for spec in found} == {True, False}
    assert {spec.group for spec in found} == {2, 3, 4}
    assert {spec.group_filters % 2 for spec in found} == {0, 1}


@pytest.mark.parametrize("core", BOARDS)
def test_on_an_emulated_core(core: str, tmp_path: Path):
    need_emulator(BOARDS[core])
    graph = graph_of(2)
    program = compiled(graph, tmp_path / "library", board=BOARDS[core])
    assert specs_of(program)
    samples = [samples_of(graph)[i] for i in (0, 2, 4)]
    check_emulated(BOARDS[core], tmp_path / "library", program, samples, tmp_path / "project")

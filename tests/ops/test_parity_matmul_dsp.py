"""Oracle = C on this computer = emulated cores for products of two activations, by pairs."""

from pathlib import Path

import numpy as np
import pytest
from depthwise_cases import BOARDS
from emulated import check_emulated, need_emulator
from parity import check_host, compiled, samples_of
from random_transformer import Layer, matmul

from edgec.base.dtypes import DType
from edgec.ir import Graph, qops
from edgec.kernels.dsp.matmul_dsp import MatMulDsp
from edgec.lower import Program

SIZES = ((4, 9, 5), (7, 16, 8), (33, 12, 33), (5, 1, 3), (6, 200, 31))
"""Rows, products of a sum, columns; of the last one columns go by blocks."""
WIDE = ((DType.INT16, DType.INT8), (DType.INT8, DType.INT16), (DType.INT16, DType.INT16))


def graph_of(seed: int) -> Graph:
    """Products of all types: of 16 by 15 bits, of one multiplier, and sums of 64 bits."""
    layer = Layer(seed)
    for _ in range(6):
        matmul(layer)
    for number, (rows, depth, columns) in enumerate(SIZES):
        turned = number % 2 > 0
        for a_type, b_type in ((DType.INT8, DType.INT8), *WIDE):
            once = a_type is b_type is DType.INT16
            a = layer.input(2, rows, depth, dtype=a_type)
            b = layer.input(1, *((columns, depth) if turned else (depth, columns)), dtype=b_type)
            if once:
                form = qops.Once15((46,), -32768, 32767)
                attrs = qops.QMatMul(form, 32767, 0, False, turned, 1 << 15, 1 << 15)
            else:
                bits = 8 * (a_type.size_bytes + b_type.size_bytes)
                shift = bits - 16 + 33 + int(np.log2(depth)) // 2
                form = qops.Requant31(shift, 0, -32767, 32767, DType.INT16)
                reaches = tuple(256 if t is DType.INT8 else 1 << 13 for t in (a_type, b_type))
                attrs = qops.QMatMul(form, 1 << 30, 0, False, turned, *reaches)
            layer.node(attrs, [a, b], DType.INT16)
    return layer.builder.build()


def specs_of(program: Program) -> list[MatMulDsp]:
    specs = [kernel.spec for kernel in program.kernels]
    return [spec for spec in specs if isinstance(spec, MatMulDsp)]


def test_on_the_host(tmp_path: Path):
    found = specs_of(check_host(graph_of(1), tmp_path, board=BOARDS["m4"]))
    assert {(spec.a, spec.b) for spec in found} == {(DType.INT8, DType.INT8), *WIDE}
    assert {spec.sum_type for spec in found} == {"int32_t", "int64_t"}
    assert any(spec.block < spec.columns for spec in found)
    assert {spec.columns % 2 for spec in found} == {spec.rows % 2 for spec in found} == {0, 1}


@pytest.mark.parametrize("core", BOARDS)
def test_on_an_emulated_core(core: str, tmp_path: Path):
    need_emulator(BOARDS[core])
    graph = graph_of(2)
    program = compiled(graph, tmp_path / "library", board=BOARDS[core])
    assert len(specs_of(program)) > len(SIZES)
    samples = [samples_of(graph)[i] for i in (0, 2, 4)]
    check_emulated(BOARDS[core], tmp_path / "library", program, samples, tmp_path / "project")

"""Kernels of a transformer's operators: the choice, the arguments, and what may overlap."""

from pathlib import Path

import numpy as np
import pytest
from kernel_records import distances
from lower_samples import BOARD, DSP_BOARD, lowered
from random_transformer import OPERATORS, STREAM, Layer, operators
from test_lower_overlap import _run_tight

from edgec.base.dtypes import DType
from edgec.base.errors import LoweringError
from edgec.ir import Graph, qops
from edgec.kernels.common.code_range import is_symmetric
from edgec.kernels.common.constants import ConstantPool
from edgec.kernels.dsp.attention import AttentionDsp
from edgec.kernels.dsp.dense_1x4_dsp import Dense1x4
from edgec.kernels.dsp.dense_4x2_s8_dsp.spec import Dense4x2
from edgec.kernels.generic.gemm import Gemm
from edgec.kernels.select import select_kernels
from edgec.kernels.transformer.attention import Attention


def gemm(symmetric: bool, depth: int = 32, pre_shift: int = 3, rows: int = 5) -> Graph:
    layer = Layer(1)
    x = layer.input(1, rows, depth)
    if symmetric:
        x = layer.symmetric(x)
    numbers = np.full(6, 1000, np.int32), np.full(6, 20000, np.int16)
    constants = [layer.constant(-127, 127, 6, depth), *map(layer.array, numbers)]
    attrs = qops.QGemm(qops.Rescale16x15(pre_shift, 15, -127, 127), raw=True)
    layer.node(attrs, [x, *constants], DType.INT8)
    return layer.builder.build()


def attention(width: int = 8, tokens: int = 6, masked: bool = False) -> Graph:
    layer = Layer(1)
    x = layer.symmetric(layer.input(1, tokens, 6 * width))
    heads = layer.array(np.array([[1000, 1000, 2**29, 8]] * 2, np.int32))
    attrs = qops.QAttention(2, width, width, 0, 2 * width, 4 * width, 15)
    mask = [layer.input(1, tokens, dtype=DType.INT32)] if masked else []
    layer.node(attrs, [x, x, x, heads, *mask], DType.INT8)
    return layer.builder.build()


def chosen(graph: Graph, board: object) -> type:
    return type(select_kernels(graph, board)[-1].spec)


def test_products_of_several_rows_get_the_fast_kernel() -> None:
    assert chosen(gemm(symmetric=True), BOARD) is Gemm
    assert chosen(gemm(symmetric=True), DSP_BOARD) is Dense4x2
    assert chosen(gemm(symmetric=False), DSP_BOARD) is Dense4x2
    assert chosen(gemm(symmetric=True, depth=30), DSP_BOARD) is Dense4x2
    assert chosen(gemm(symmetric=True, rows=1), DSP_BOARD) is Dense1x4


def test_attention_of_four_queries_at_a_time_needs_whole_words_and_no_mask() -> None:
    assert chosen(attention(), BOARD) is Attention
    assert chosen(attention(), DSP_BOARD) is AttentionDsp
    assert chosen(attention(width=6), DSP_BOARD) is Attention
    assert chosen(attention(tokens=1), DSP_BOARD) is Attention
    assert chosen(attention(masked=True), DSP_BOARD) is Attention


def test_the_lowest_code_is_followed_through_movers() -> None:
    graph = attention()
    (lut, node) = graph.nodes
    assert is_symmetric(graph, lut.output)
    assert is_symmetric(graph, node.output)
    assert not is_symmetric(graph, graph.inputs[0])


def test_the_half_step_of_the_first_shift_is_in_the_bias() -> None:
    for pre_shift, expected in ((0, 1000), (1, 1001), (5, 1016)):
        graph = gemm(symmetric=True, pre_shift=pre_shift)
        pool = ConstantPool()
        choice = select_kernels(graph, BOARD)[-1]
        (params,) = choice.family.arguments(graph, choice.node, choice.spec, pool)
        assert (pool.constants[params.bias.index].array == expected).all()


def test_a_mask_that_broadcasts_in_between_is_refused() -> None:
    layer = Layer(1)
    x = layer.input(2, 3, 4, 8)
    heads = layer.array(np.array([[1000, 1000, 2**29, 8]], np.int32))
    mask = layer.input(1, 3, 4, dtype=DType.INT32)
    attrs = qops.QAttention(1, 8, 8, 0, 0, 0, 15)
    layer.node(attrs, [x, x, x, heads, mask], DType.INT8)
    with pytest.raises(LoweringError, match="mask of 12 entries"):
        select_kernels(layer.builder.build(), BOARD)


def test_stream_operators_work_in_place() -> None:
    layer = Layer(1)
    a, b = (layer.input(4, 6, dtype=DType.INT16) for _ in range(2))
    layer.node(qops.QAdd(qops.CodeSum.of_stream(DType.INT16)), [a, b], DType.INT16)
    narrowing = qops.QRescale(qops.Rescale16x15(2, 15, -127, 127), 20000)
    layer.node(narrowing, [a], DType.INT8)
    widening = qops.QRescale(qops.Rescale16x15(0, 5, -32768, 32767, DType.INT16), 20000)
    layer.node(widening, [layer.input(4, 6)], DType.INT16)
    found = [distances(choice.spec) for choice in select_kernels(layer.builder.build(), BOARD)]
    assert found == [(0, 0), (0,), (23,)]
    assert STREAM.dtype is DType.INT16


@pytest.mark.few_cases(3)
@pytest.mark.parametrize("name", ["gemm", "depthwise", "conv", "norm", "mul", "rescale"])
def test_running_at_the_least_distance_changes_nothing(name: str, tmp_path: Path) -> None:
    assert name in OPERATORS
    for board in (BOARD, DSP_BOARD):
        graph = operators(4, [name], 6)
        _run_tight(graph, select_kernels(graph, board), tmp_path)


@pytest.mark.parametrize("name", ["norm", "rescale", "add_wide_stream", "gemm"])
def test_names_of_functions_say_int16_where_they_read_or_write_it(name: str) -> None:
    assert name in OPERATORS, sorted(OPERATORS)
    done = lowered(operators(4, [name], 6))
    for choice in done.choices:
        names = (*choice.node.inputs, choice.node.output)
        wide = any(
            done.graph.values[value].dtype is DType.INT16
            for value in names
            if value in done.graph.values
        )
        kernel = next(kernel for kernel in done.program.kernels if kernel.spec == choice.spec)
        assert ("_s16_" in kernel.name) == wide

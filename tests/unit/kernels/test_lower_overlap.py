"""The distances between outputs and inputs: against the spelled-out order, and in running C."""

import dataclasses
from collections.abc import Mapping
from pathlib import Path

import numpy as np
import pytest
from access_order import events_of, least_distance
from golden_kernels.common import DILATED, VALID, WINDOW
from hypothesis import HealthCheck, given, seed, settings
from kernel_records import distances, family_of
from lower_samples import BOARD, DSP_BOARD, SMALL_BOARD, NetBuilder
from pooled_graphs import dense_4x2_operators, dense_configs, dsp_configs, pooled_operators
from random_graphs import adversarial_inputs, single_ops
from random_ops import OPS

from edgec.base.dtypes import DType
from edgec.codegen import emit_library
from edgec.interp import run_graph
from edgec.ir import Graph
from edgec.kernels.buffers import buffers_of
from edgec.kernels.common.form_ends import TypedEnd
from edgec.kernels.dsp.depthwise_s8_dsp import DepthwiseDsp
from edgec.kernels.family import KernelSpec, operands
from edgec.kernels.generic.arg_max import ArgMax
from edgec.kernels.generic.conv2d import Conv2D
from edgec.kernels.generic.conv_transpose import ConvTranspose
from edgec.kernels.generic.depthwise import Depthwise
from edgec.kernels.generic.gemm import Gemm
from edgec.kernels.generic.log_softmax import LogSoftmax
from edgec.kernels.generic.matmul import MatMul
from edgec.kernels.generic.resize_linear import ResizeLinear
from edgec.kernels.generic.resize_nearest import ResizeNearest
from edgec.kernels.generic.softmax import Softmax
from edgec.kernels.generic.top_k import TopK
from edgec.kernels.generic.tree_ensemble import TreeEnsemble
from edgec.kernels.m0.dense_5x2_s8_m0.spec import Dense5x2
from edgec.kernels.packed.filters.spec import PackedFilters
from edgec.kernels.select import KernelChoice, select_kernels
from edgec.kernels.weightpool.decode import PooledDecode
from edgec.kernels.weightpool.decode_dsp import PooledDecodeDsp
from edgec.lower import lower
from edgec.memory import MemoryPlan, Slot
from edgec.sim.host import HostModel

_IN_PLACE = (LogSoftmax, Softmax)
_NEVER = (MatMul, TopK, ResizeNearest, ResizeLinear)
_SPATIAL = sorted(set(OPS) - {"reshape"})


@pytest.mark.few_cases(10)
@pytest.mark.parametrize("op", _SPATIAL)
def test_distance_is_the_least_of_the_spelled_out_order(op: str) -> None:
    @seed(3)
    @settings(max_examples=12, deadline=None, database=None)
    @given(single_ops(op, count=4))
    def check(graph: Graph) -> None:
        for board in (BOARD, DSP_BOARD, SMALL_BOARD):
            for choice in select_kernels(graph, board):
                _check_against_order(graph, choice)

    check()


@pytest.mark.parametrize("x", [DType.INT8, DType.INT16])
@pytest.mark.parametrize("y", [DType.INT8, DType.INT16])
def test_distances_of_elements_of_two_bytes(x: DType, y: DType) -> None:
    """Layers with weights that read or give int16, whatever the channels on either side."""
    typed = TypedEnd(x, y)
    for window in (WINDOW, VALID, DILATED):
        for channels in (2, 8, 40):
            specs = [
                Conv2D(window, channels, 2, 32, typed=typed),
                Gemm(6, window.channels, channels, 32, typed=typed),
                Depthwise(window, channels // 2, 32, typed=typed),
                ConvTranspose(window, channels, 1, 32, typed=typed),
                ConvTranspose(window, channels, 2, 32, typed=typed),
                ArgMax(3, channels, 5, False, dtype=x),
            ]
            for spec in specs:
                assert distances(spec) == (least_distance(events_of(spec, 0)),), spec


def _check_against_order(graph: Graph, choice: KernelChoice) -> None:
    found, names = distances(choice.spec), operands(choice.node)
    assert len(found) == len(names)
    if isinstance(choice.spec, _IN_PLACE):
        assert found[0] == 0
    elif isinstance(choice.spec, TreeEnsemble):
        # All of x is read before any output is written; the other operands are constants.
        assert found == (0, None, None, None, None)
    elif family_of(choice.spec).in_place(choice.spec):
        assert found == (None,)
    elif isinstance(choice.spec, _NEVER):
        assert set(found) == {None}
    else:
        for operand, distance in enumerate(found):
            if distance is None and names[operand] in graph.constants:
                continue
            if operand == 1 and getattr(choice.spec, "table", None) is not None:
                assert distance is None  # a constant
            elif (_reads_again, _adds_anywhere)[operand > 0](choice.spec):
                assert distance is None
            elif operand == 1 and getattr(choice.spec, "residual_shift", None) is not None:
                assert distance == 0
            else:
                assert distance == least_distance(events_of(choice.spec, operand))


def _reads_again(spec: KernelSpec) -> bool:
    """Outputs are written before other parts of the kernel read the whole input once more."""
    if isinstance(spec, PackedFilters):
        return spec.has_batches
    if isinstance(spec, DepthwiseDsp):
        return spec.filters > 1
    decodes = isinstance(spec, PooledDecode | PooledDecodeDsp)
    return decodes and spec.batch < spec.out_channels


def _adds_anywhere(spec: KernelSpec) -> bool:
    """The residual is not read in the order of memory."""
    has_residual = getattr(spec, "residual_shift", None) is not None
    return has_residual and (isinstance(spec, PooledDecodeDsp) or _reads_again(spec))


@pytest.mark.few_cases(5)
@pytest.mark.parametrize("op", _SPATIAL)
def test_running_at_the_least_distance_changes_nothing(op: str, tmp_path: Path) -> None:
    @seed(5)
    @settings(
        max_examples=2,
        deadline=None,
        database=None,
        suppress_health_check=[HealthCheck.function_scoped_fixture],
    )
    @given(single_ops(op, count=6))
    def check(graph: Graph) -> None:
        for board in (BOARD, DSP_BOARD):
            if choices := select_kernels(graph, board):
                _run_tight(graph, choices, tmp_path)

    check()


def _run_tight(graph: Graph, choices: tuple[KernelChoice, ...], folder: Path) -> None:
    program = lower(graph, choices, _tight_plan(graph, choices))
    emit_library(program, folder / program.digest)
    model = HostModel(folder / program.digest, folder / "build", flags=("-O0",))
    for inputs in adversarial_inputs(graph, np.random.default_rng(0))[2:5]:
        expected = run_graph(graph, inputs)
        steps = model.trace([inputs[name] for name in graph.inputs])
        for choice, output in zip(choices, steps, strict=True):
            assert output == expected[choice.node.output].tobytes(), choice.spec


def _tight_plan(graph: Graph, choices: tuple[KernelChoice, ...]) -> MemoryPlan:
    """Every first operand exactly at its distance behind the output, however unaligned."""
    buffers, _, _ = buffers_of(graph, choices)
    behind: dict[str, tuple[str, int]] = {}
    for choice in choices:
        name, distance = operands(choice.node)[0], distances(choice.spec)[0]
        if name in graph.inputs and distance is not None:
            behind[name] = (choice.node.output, distance)
    return _stacked(buffers, behind)


def _stacked(buffers: tuple, behind: Mapping[str, tuple[str, int]]) -> MemoryPlan:
    sizes = {buffer.name: buffer.size_bytes for buffer in buffers}
    slots: dict[str, Slot] = {}
    top = 0
    for name, size in sizes.items():
        if name in behind:
            continue
        slots[name] = Slot(top, size, 0, len(buffers))
        ends = [top + size]
        for other, (output, distance) in behind.items():
            if output == name:
                slots[other] = Slot(top + distance, sizes[other], 0, len(buffers))
                ends.append(top + distance + sizes[other])
        top = -(-max(ends) // 8) * 8
    return MemoryPlan(slots, top, top)


def test_pointwise_with_fewer_filters_needs_a_block_less_than_a_pixel() -> None:
    assert distances(Gemm(rows=25, depth=16, units=8, shift=32)) == (4,)


def test_pointwise_with_more_filters_needs_the_growth() -> None:
    assert distances(Gemm(rows=25, depth=8, units=16, shift=32)) == (24 * 8 + 12,)


def test_same_size_convolution_keeps_a_row_and_a_pixel() -> None:
    net = NetBuilder()
    x = net.input("x", 1, 10, 10, 4)
    graph = net.build(net.conv(x, "y", (1, 10, 10, 4), kernel=3, pad=1))
    (choice,) = select_kernels(graph, BOARD)
    assert distances(choice.spec) == ((10 + 1) * 4,)


@pytest.mark.parametrize(("height", "width"), [(1, 5), (2, 3), (4, 4), (3, 7), (2, 4)])
def test_five_rows_at_a_time_end_with_two_blocks_of_three(
    height: int, width: int, tmp_path: Path
) -> None:
    net = NetBuilder()
    x = net.input("x", 1, height, width, 16)
    graph = net.build(net.conv(x, "y", (1, height, width, 4), kernel=3, pad=1))
    choices = select_kernels(graph, SMALL_BOARD)
    assert isinstance(choices[0].spec, Dense5x2)
    _check_against_order(graph, choices[0])
    _run_tight(graph, choices, tmp_path)


@pytest.mark.parametrize("filters", [1, 2])
def test_channels_of_several_filters_take_no_place_of_the_image(filters: int) -> None:
    net = NetBuilder()
    x = net.input("x", 1, 9, 8, 4)
    shape = (1, 9, 8, 4 * filters)
    graph = net.build(net.conv(x, "y", shape, kernel=5, pad=2, group=4))
    (choice,) = select_kernels(graph, DSP_BOARD)
    assert isinstance(choice.spec, DepthwiseDsp)
    _check_against_order(graph, choice)
    assert (distances(choice.spec) == (None,)) == (filters > 1)


def test_residual_may_lie_in_place() -> None:
    spec = Gemm(rows=4, depth=8, units=8, shift=32)
    assert distances(dataclasses.replace(spec, residual_shift=10)) == (4, 0)


def test_pooled_kernels_overlap_like_the_plain_ones() -> None:
    graph = pooled_operators(seed=5, each=12)
    for choice in select_kernels(graph, BOARD, dense_configs(graph)):
        _check_against_order(graph, choice)
    graph = dense_4x2_operators(seed=5, each=12)
    for choice in select_kernels(graph, BOARD, dsp_configs(graph)):
        _check_against_order(graph, choice)

"""Which kernel a node gets, and the errors of nodes that get none."""

import dataclasses

import numpy as np
import pytest
from lower_samples import BOARD, NetBuilder, small_net

from edgec.base.errors import LoweringError
from edgec.ir import ops, qops
from edgec.ir.graph import Graph
from edgec.kernels.common.window import Window
from edgec.kernels.family import KernelSpec
from edgec.kernels.generic.conv2d import Conv2D
from edgec.kernels.generic.depthwise import Depthwise
from edgec.kernels.generic.gemm import Gemm
from edgec.kernels.select import select_kernels


def _only(graph: Graph) -> KernelSpec:
    (choice,) = select_kernels(graph, BOARD)
    return choice.spec


def test_families_of_a_small_network() -> None:
    families = [choice.spec.family for choice in select_kernels(small_net(), BOARD)]
    assert families == [
        "conv2d",
        "depthwise",
        "gemm",
        "conv2d",
        "elementwise",
        "reduce",
        "gemm",
        "softmax",
    ]


def test_pointwise_convolution_is_a_matrix_product() -> None:
    net = NetBuilder()
    graph = net.build(net.conv(net.input("x", 1, 5, 3, 8), "y", (1, 5, 3, 6)))
    assert _only(graph) == Gemm(rows=15, depth=8, units=6, shift=32)


def test_whole_image_convolution_is_a_matrix_product() -> None:
    net = NetBuilder()
    graph = net.build(net.conv(net.input("x", 1, 3, 3, 8), "y", (1, 1, 1, 6), kernel=3))
    assert _only(graph) == Gemm(rows=1, depth=72, units=6, shift=32)


def test_strided_pointwise_convolution_gathers() -> None:
    net = NetBuilder()
    x = net.input("x", 1, 6, 6, 8)
    graph = net.build(net.conv(x, "y", (1, 3, 3, 6), stride=2))
    spec = _only(graph)
    assert isinstance(spec, Conv2D)
    assert spec.scratch_bytes == 8


def test_one_channel_image_is_no_depthwise_convolution() -> None:
    net = NetBuilder()
    x = net.input("x", 1, 6, 6, 1)
    assert isinstance(_only(net.build(net.conv(x, "y", (1, 6, 6, 8), 3, pad=1))), Conv2D)


def test_depthwise_with_several_filters_a_channel() -> None:
    net = NetBuilder()
    x = net.input("x", 1, 6, 6, 4)
    spec = _only(net.build(net.conv(x, "y", (1, 6, 6, 8), 3, pad=1, group=4)))
    assert isinstance(spec, Depthwise)
    assert (spec.multiplier, spec.out_channels) == (2, 8)


@pytest.mark.parametrize(
    ("units", "block", "rest"), [(8, 4, 0), (10, 4, 2), (7, 4, 3), (3, 3, 0), (1, 1, 0)]
)
def test_filters_are_cut_into_blocks_and_a_rest(units: int, block: int, rest: int) -> None:
    spec = Gemm(rows=1, depth=3, units=units, shift=32)
    assert (spec.block, spec.rest) == (block, rest)


def test_blocks_stay_within_a_group() -> None:
    spec = Conv2D(_square(8, 8, 3), out_channels=10, group=2, shift=32)
    assert (spec.block, spec.rest) == (4, 1)


@pytest.mark.parametrize(
    ("size", "kernel", "multiplier", "unrolled"),
    [
        (8, 3, 1, True),
        (5, 5, 1, True),
        (3, 5, 1, False),  # no window fits into the image
        (8, 7, 1, False),  # too many taps
        (8, 3, 2, False),
    ],
)
def test_depthwise_is_unrolled(size: int, kernel: int, multiplier: int, unrolled: bool) -> None:
    assert Depthwise(_square(size, 6, kernel), multiplier, 32).unrolled is unrolled


def _square(size: int, channels: int, kernel: int) -> Window:
    pad = kernel // 2
    return Window(size, size, channels, size, size, kernel, kernel, 1, 1, pad, pad, 1, 1)


def test_equal_layers_have_equal_specifications() -> None:
    net = NetBuilder()
    x = net.input("x", 1, 4, 4, 8)
    y = net.conv(net.conv(x, "y", (1, 4, 4, 8)), "z", (1, 4, 4, 8))
    first, second = select_kernels(net.build(y), BOARD)
    assert first.spec == second.spec
    assert hash(first.spec) == hash(second.spec)


def test_macs_of_a_convolution() -> None:
    net = NetBuilder()
    x = net.input("x", 1, 6, 6, 4)
    assert _only(net.build(net.conv(x, "y", (1, 6, 6, 8), 3, pad=1))).macs == 36 * 8 * 36


def test_several_images_are_refused() -> None:
    net = NetBuilder()
    x = net.input("x", 2, 4, 4, 8)
    graph = net.build(net.conv(x, "y", (2, 4, 4, 8)))
    with pytest.raises(LoweringError, match=r"y_node: an image of shape \(2, 4, 4, 8\)"):
        select_kernels(graph, BOARD)


def test_real_operator_is_refused() -> None:
    net = NetBuilder()
    graph = net.build(net.node(ops.Clip(0.0, 1.0), [net.input("x", 1, 4)], "y", (1, 4)))
    with pytest.raises(LoweringError, match="no kernel serves the operator Clip"):
        select_kernels(graph, BOARD)


def _window(**changes: int) -> Window:
    plain = Window(5, 6, 4, 5, 6, 3, 3, 1, 1, 1, 1, 1, 1)
    return dataclasses.replace(plain, **changes)


def test_clipping_is_seen_on_either_side() -> None:
    assert _window().rows_clipped
    assert not _window(pad_top=0, out_height=3).rows_clipped
    assert _window(pad_top=0, out_height=4).rows_clipped
    assert not _window(pad_left=0, out_width=4).cols_clipped


def test_runs_need_a_column_inside_the_image() -> None:
    assert _window().columns_are_runs
    assert not _window(pad_left=3).columns_are_runs
    assert not _window(dilation_w=2).columns_are_runs
    assert not _window(out_width=8).columns_are_runs


def test_last_readers_of_a_strided_window() -> None:
    window = Window(4, 1, 1, 2, 1, 1, 1, 2, 1, 0, 0, 1, 1)
    assert np.array_equal(window.last_readers()[:, 0], [0, -1, 1, -1])


def test_constant_operands_have_no_overlap() -> None:
    net = NetBuilder()
    x = net.input("x", 1, 4)
    constant = net.builder.constant("k", net.int8(4), net.quant)
    z = net.zero_point
    attrs = qops.QAdd(qops.AddParams(z, z, 1024, 1024, 11, z))
    (choice,) = select_kernels(net.build(net.node(attrs, [x, constant], "y", (1, 4))), BOARD)
    assert [(overlap.input, overlap.distance_bytes) for overlap in choice.overlaps] == [("x", 0)]


def test_tensor_beyond_32_bits_is_refused_before_any_work() -> None:
    net = NetBuilder()
    x = net.input("x", 1, 1 << 16, 1 << 15, 1)
    shape = (1, 1 << 16, 1 << 15, 1)
    with pytest.raises(LoweringError, match="2147483648 bytes is too large"):
        select_kernels(net.build(net.conv(x, "y", shape)), BOARD)

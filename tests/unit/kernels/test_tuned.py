"""Signatures of layers, and kernels that were measured for them."""

import dataclasses

import pytest
from lower_samples import NetBuilder, small_net
from targets import bare_target

from edgec.base.options import TunedKernels
from edgec.ir.graph import Graph
from edgec.kernels.dsp.dense_1x4_dsp import Dense1x4
from edgec.kernels.dsp.dense_4x2_s8_dsp.spec import Dense4x2, loops
from edgec.kernels.select import kernel_candidates, select_kernels, tuned_count
from edgec.kernels.tuned import signature
from edgec.target.cores import Core
from edgec.target.target import Target

M4 = bare_target(Core.CORTEX_M4)


def tuned(*kernels: tuple[str, str]) -> Target:
    return dataclasses.replace(M4, tuned=TunedKernels("test.toml", tuple(sorted(kernels))))


def pointwise(name: str, channels: int = 48) -> Graph:
    net = NetBuilder(name)
    x = net.input(f"{name}_x", 1, 5, 5, channels)
    return net.build(net.conv(x, f"{name}_y", (1, 5, 5, 8)))


def test_equal_layers_of_other_networks_have_one_signature() -> None:
    one, two, other = pointwise("one"), pointwise("two"), pointwise("one", 44)
    first = signature(one, one.nodes[0])
    assert first == signature(two, two.nodes[0])
    assert first != signature(other, other.nodes[0])
    assert "one" not in first
    assert first.isprintable()


def test_all_layers_of_a_network_have_signatures_that_tell_them_apart() -> None:
    graph = small_net()
    found = [signature(graph, node) for node in graph.nodes]
    assert len(set(found)) == len(found)


def test_a_layer_gets_each_kernel_that_a_file_names() -> None:
    graph = pointwise("net")
    node = graph.nodes[0]
    ways = kernel_candidates(graph, node, M4)
    names = [each.way for each in ways]
    assert len(names) == len(set(names)) > 3
    for each in ways:
        target = tuned((signature(graph, node), each.way))
        (chosen,) = select_kernels(graph, target)
        assert chosen.spec == each.spec
        assert kernel_candidates(graph, node, target)[0].spec == each.spec
        assert tuned_count(graph, (chosen,), target) == 1


def test_a_name_of_no_kernel_changes_nothing() -> None:
    graph = pointwise("net")
    target = tuned((signature(graph, graph.nodes[0]), "no_such_kernel by 3"))
    assert select_kernels(graph, target) == select_kernels(graph, M4)
    assert tuned_count(graph, select_kernels(graph, target), target) == 0


def test_layers_that_a_file_does_not_have_keep_their_kernels() -> None:
    graph = small_net()
    target = tuned((signature(graph, graph.nodes[0]), "conv2d"))
    before, after = select_kernels(graph, M4), select_kernels(graph, target)
    assert after[0].way == "conv2d" != before[0].way
    assert [each.way for each in after[1:]] == [each.way for each in before[1:]]


@pytest.mark.parametrize("words", [1, 4, 9, 13, 19, 36, 64])
def test_loops_of_all_lengths_compute_every_word(words: int) -> None:
    found = loops(words)
    assert len(found) == len(set(found))
    assert all(1 <= turn <= min(words, 16) and turn + words % turn <= 16 for turn in found)


def test_sums_of_another_loop_are_another_function() -> None:
    net = NetBuilder("net")
    x = net.input("x", 1, 1, 36)
    graph = net.build(net.gemm(x, "y", 8))
    ways = (way.spec for way in kernel_candidates(graph, graph.nodes[0], M4))
    sums = [spec.sums for spec in ways if isinstance(spec, Dense1x4 | Dense4x2)]
    assert len(sums) == len(set(sums)) > 1

"""Several images within a network run one after the other, with the codes that they had."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from integer_samples import PAIR, IntegerMaker, assert_same_codes, random_integer_graph
from parity import check_host

from edgec.base.dtypes import DType
from edgec.interp import run_graph, run_stream
from edgec.ir import Graph, qops
from edgec.ir.graph import Value
from edgec.ir.qparams import QuantParams
from edgec.passes.images_in_turns import image_notes, images_in_turns

_WINDOWS = (qops.QConv, qops.QMaxPool, qops.QAveragePool)


def loops_of(graph: Graph) -> list[int]:
    """Turns of the loops of a graph."""
    scopes = dict.fromkeys(graph.scopes.nodes.values())
    return [loop.count for loop in scopes if loop is not None]


def all_have_one_image(graph: Graph) -> bool:
    windows = [node for node in graph.nodes if isinstance(node.attrs, _WINDOWS)]
    return all(graph.shape(node.first)[0] == 1 for node in windows)


@pytest.mark.parametrize("seed", range(60))
def test_random_networks(seed: int) -> None:
    graph = random_integer_graph(seed, images=2 + seed % 3)
    found = images_in_turns(graph)
    assert_same_codes(graph, found)
    assert all_have_one_image(found)
    assert image_notes(graph, found)[0].startswith(f"{2 + seed % 3} images")


@pytest.mark.parametrize("seed", range(60, 66))
def test_random_networks_in_c(seed: int, tmp_path: Path) -> None:
    check_host(images_in_turns(random_integer_graph(seed, images=3)), tmp_path)


def test_one_image_stays_as_it_is() -> None:
    graph = random_integer_graph(1)
    assert images_in_turns(graph) is graph


def test_layers_between_images_share_a_loop() -> None:
    m = IntegerMaker(2)
    x = m.input(4, 6, 6, 3)
    y = m.conv(x, 4)
    z = m.add(y, m.conv(m.lut(y), 4))
    found = images_in_turns(m.graph(m.gemm(m.same(qops.QReshape((4, 4)), m.mean(z)), 5)))
    assert loops_of(found) == [4]
    inside = {node.op for node in found.nodes if found.scopes.nodes[node.name] is not None}
    assert {"QConv", "QAdd", "QLut", "QReduce"} <= inside
    assert "QGemm" not in inside  # a product of all rows at once reads its weights once


def test_what_mixes_images_ends_the_loop() -> None:
    m = IntegerMaker(3)
    x = m.input(2, 5, 5, 3)
    y = m.conv(x, 3)
    swapped = m.same(qops.QSlice((1, 0, 0, 0), (-1, 1, 1, 1), (2, 5, 5, 3)), y)
    graph = m.graph(m.conv(m.add(y, swapped), 2))
    found = images_in_turns(graph)
    assert_same_codes(graph, found)
    assert loops_of(found) == [2, 2]


def test_operands_of_all_images_are_read_in_each_turn() -> None:
    m = IntegerMaker(4)
    x, once = m.input(3, 4, 4, 2), m.input(1, 4, 4, 5, name="once")
    y = m.add(m.conv(x, 5), once)
    shift = m.const(np.arange(5) - 2, "int8", QuantParams.per_tensor(0.5, 1))
    graph = m.graph(m.same(qops.QMaxPool((2, 2), PAIR, (0,) * 4, PAIR), m.mul(y, shift)))
    found = images_in_turns(graph)
    assert_same_codes(graph, found)
    assert (loops_of(found), all_have_one_image(found)) == ([3], True)


def test_a_constant_for_each_image_stays_outside(tmp_path: Path) -> None:
    m = IntegerMaker(5)
    y = m.conv(m.input(2, 4, 4, 3), 3)
    codes = np.arange(96).reshape(2, 4, 4, 3) - 40
    each = m.const(codes, "int8", QuantParams.per_tensor(0.5, 0))
    graph = m.graph(m.conv(m.add(y, each), 2))
    found = images_in_turns(graph)
    assert_same_codes(graph, found)
    assert loops_of(found) == [2, 2]
    check_host(found, tmp_path)


def test_samples_side_by_side_with_several_outputs() -> None:
    """An operator with two outputs, computed for many samples at once."""
    m = IntegerMaker(6)
    x = m.input(1, 9)
    search = qops.QTopK(3, largest=True, indices=True, both=True)
    codes = m.value("codes", (1, 3), 3)
    places = m.builder.value(Value("places", (1, 3), DType.INT32))
    m.builder.node("search", search, (x,), (codes, places), ("search",))
    graph = m.graph(codes, places)
    rng = np.random.default_rng(0)
    samples = [{"x": rng.integers(-128, 128, (1, 9)).astype(np.int8)} for _ in range(5)]
    for sample, found in zip(samples, run_stream(graph, iter(samples)), strict=True):
        alone = run_graph(graph, sample)
        assert all(np.array_equal(found[name], alone[name]) for name in graph.outputs)

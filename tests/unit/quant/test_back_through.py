"""Labels and weights of elements, carried across operators that move them."""

from __future__ import annotations

import numpy as np
import pytest
from movements import MOVEMENTS, SHAPE
from sketch import Sketch

from edgec.base.dtypes import Array
from edgec.floatrun.executor import Executor
from edgec.ir import ops
from edgec.ir.graph import Graph
from edgec.ir.labels import element_labels, keeps_channels, labels_after
from edgec.ir.real import NO_LABEL
from edgec.quant.common.back_through import back_through


def moved(name: str) -> Graph:
    s = Sketch(seed=1)
    return s.graph(MOVEMENTS[name](s, s.input("x", *SHAPE)))


def came_from(graph: Graph) -> Array:
    """For each element of the output the element of x that it holds: by running the network."""
    numbers = 1000.0 + np.arange(np.prod(SHAPE)).reshape(1, *SHAPE)
    (output,) = graph.outputs
    found = Executor(graph, [output]).run({"x": numbers})[output][0]
    return np.where(found >= 1000.0, found - 1000.0, NO_LABEL).round().astype(int)


@pytest.mark.parametrize("name", MOVEMENTS)
def test_labels_go_where_elements_go(name: str) -> None:
    graph = moved(name)
    labels = {"x": element_labels(SHAPE)}
    for node in graph.nodes:
        known = {each: labels[each] for each in node.inputs if each in labels}
        found = labels_after(graph, node, known)
        assert found is not None
        labels[node.output] = found
    (output,) = graph.outputs
    np.testing.assert_array_equal(labels[output], came_from(graph))


@pytest.mark.parametrize("name", MOVEMENTS)
@pytest.mark.parametrize("by_channel", [True, False])
def test_weights_come_back_to_the_elements_that_they_belong_to(name: str, by_channel: bool) -> None:
    graph = moved(name)
    (output,) = graph.outputs
    shape = graph.shape(output)
    given = np.random.default_rng(0).uniform(1, 2, shape[-1:] if by_channel else shape)
    weights = given
    for node in reversed(graph.nodes):
        weights = back_through(
            graph, node, node.first if node.first in graph.values else "x", weights
        )
    origin = came_from(graph).reshape(-1)
    sums = np.zeros(int(np.prod(SHAPE)))
    read = origin != NO_LABEL
    np.add.at(sums, origin[read], np.broadcast_to(given, shape).reshape(-1)[read])
    np.testing.assert_allclose(np.broadcast_to(weights, SHAPE), sums.reshape(SHAPE))


def test_a_pooling_keeps_channels_apart() -> None:
    s = Sketch()
    graph = s.graph(s(ops.MaxPool((2, 2), (2, 2)), s.input("x", *SHAPE)))
    weights = np.arange(8.0)
    np.testing.assert_allclose(back_through(graph, graph.nodes[0], "x", weights), weights / 4)


def test_what_mixes_channels_spreads_their_weight_evenly() -> None:
    """As many channels on both sides say nothing about which is which."""
    s = Sketch()
    x = s.input("x", 1, 5, 4)
    graph = s.graph(s(ops.MatMul(), x, s.normal("w", 1, 4, 4)))
    found = back_through(graph, graph.nodes[0], "x", np.array([4.0, 0.0, 0.0, 0.0]))
    np.testing.assert_allclose(found, np.ones(4))


KEEP = {"slice of rows", "concat of rows", "tile", "squeeze", "transpose of rows"}


@pytest.mark.parametrize("name", [name for name in MOVEMENTS if len(moved(name).nodes) == 1])
def test_channels_are_kept_by_what_leaves_each_in_its_place(name: str) -> None:
    graph = moved(name)
    assert keeps_channels(graph, graph.nodes[0]) == (name in KEEP)

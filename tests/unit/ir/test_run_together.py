"""Samples computed side by side have the codes of samples computed one by one."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from loop_nets import LOOPS, cumulative_sum
from quantized_loops import RECURRENT, Network, recurrent_graph
from random_graphs import adversarial_inputs, grow_network
from random_loops import random_loops
from random_net import Net
from random_ops import OPS
from recurrent_models import recurrent

from edgec.base.dtypes import DType
from edgec.interp import run_graph, run_stream, state_after
from edgec.interp.together import samples_together
from edgec.ir import Graph, qops
from edgec.ir.graph import Value
from edgec.ir.graph_builder import GraphBuilder
from edgec.ir.qparams import QuantParams


def net_of(op: str, seed: int) -> Graph:
    net = Net.seeded(seed)
    shape = net.image_shape() if OPS[op].needs_image or seed % 2 else net.any_shape()
    OPS[op].apply(net, net.input(shape))
    return net.build()


def check(graph: Graph) -> bool:
    """Whether several samples were computed at once; fails where a code differs."""
    samples = adversarial_inputs(graph, np.random.default_rng(0))[:5]
    state: dict[str, np.ndarray] = {}
    found = list(run_stream(graph, iter(samples)))
    assert len(found) == len(samples)
    for sample, together in zip(samples, found, strict=True):
        alone = run_graph(graph, sample, state)
        state = state_after(graph, alone)
        assert list(together) == list(alone)
        for name, codes in alone.items():
            np.testing.assert_array_equal(together[name], codes)
            assert together[name].dtype == codes.dtype
            assert together[name].shape == codes.shape
            assert not together[name].flags.writeable
    return samples_together(graph) > 1


@pytest.mark.parametrize("op", OPS)
def test_every_operator_alone(op: str) -> None:
    for seed in range(12):
        check(net_of(op, seed))


def test_networks() -> None:
    assert sum(check(grow_network(Net.seeded(seed), 4)) for seed in range(60)) > 1


def of_one(attrs: object, shapes: list[tuple[int, ...]], y: tuple[int, ...]) -> Graph:
    builder = GraphBuilder("one")
    quant = QuantParams.per_tensor(1.0, 0)
    names = [
        builder.value(Value(f"x{i}", shape, DType.INT8, quant)) for i, shape in enumerate(shapes)
    ]
    builder.inputs = names
    builder.outputs = [builder.value(Value("y", y, DType.INT8, quant))]
    builder.node("node", attrs, names, ["y"])
    return builder.build()


@pytest.mark.parametrize(
    "graph",
    [
        of_one(qops.QTranspose((1, 0, 2)), [(1, 1, 3)], (1, 1, 3)),
        of_one(qops.QConcat(0), [(1, 3), (1, 3)], (2, 3)),
        of_one(qops.QReshape((3, 1)), [(1, 3)], (3, 1)),
        of_one(qops.QSlice((0, 1), (1, 1), (1, 2)), [(1, 3)], (1, 2)),
    ],
)
def test_operators_with_the_first_axis_keep_samples_apart(graph: Graph) -> None:
    assert check(graph)


@pytest.mark.parametrize("name", RECURRENT)
def test_recurrent_networks(name: str) -> None:
    graph = recurrent_graph(name)
    assert check(graph) is not graph.has_state


def test_a_small_network_runs_many_samples_at_once() -> None:
    graph = of_one(qops.QConcat(-1), [(1, 3), (1, 4)], (1, 7))
    assert samples_together(graph) > 8
    assert check(graph)


@pytest.mark.parametrize("op", ["GRU", "LSTM", "RNN"])
@pytest.mark.parametrize("direction", ["forward", "reverse", "bidirectional"])
def test_both_directions(op: str, direction: str, tmp_path: Path) -> None:
    proto = recurrent(op, steps=5, gain=0.4, direction=direction)
    assert check(Network(proto, tmp_path).integer)


@pytest.mark.parametrize("name", LOOPS)
def test_loops(name: str) -> None:
    assert check(LOOPS[name]())


def test_random_loops() -> None:
    graphs = [graph for seed in range(80) if (graph := random_loops(seed)) is not None]
    assert sum(check(graph) for graph in graphs) > 10


def test_values_of_a_loop_count_once_a_turn() -> None:
    few, many = (samples_together(cumulative_sum(turns, 64)) for turns in (40, 4000))
    assert few > 8 > many >= 1

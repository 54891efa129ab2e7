"""A walk over a network that changes: bit for bit what running it from its inputs on gives."""

from dataclasses import replace

import numpy as np
import pytest
from pooled_models import small_network

from edgec.base.dtypes import Array
from edgec.floatrun import activations as walk_module
from edgec.floatrun.activations import Walk, activations
from edgec.ir import Graph, Value, ops
from edgec.ir.graph_builder import GraphBuilder

DATA = {"x": np.random.default_rng(5).normal(size=(19, 8, 8, 3)).astype(np.float32)}


def with_other_weights(graph: Graph, name: str, seed: int) -> Graph:
    """The graph with other weights in the layer that computes a value."""
    builder = GraphBuilder.of(graph)
    node = graph.producers[name]
    weight = graph.constants[ops.layer_inputs(node).w]
    noise = np.random.default_rng(seed).normal(size=weight.shape).astype(np.float32)
    other = builder.constant(weight.name, weight.array + noise, keep_name=True)
    changed = replace(ops.layer_inputs(node), w=other)
    builder.put(replace(node, inputs=changed.names()))
    return builder.build()


def walked(walk: Walk, graph: Graph, names: list[str], place: int) -> dict[str, Array]:
    parts = list(walk.activations(graph, names, place))
    return {name: np.concatenate([part[name] for part in parts]) for name in names}


@pytest.mark.parametrize("most_bytes", [walk_module._MOST_BYTES, 0])
def test_a_walk_over_layers_that_change(most_bytes: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(walk_module, "_MOST_BYTES", most_bytes)
    graph = small_network()
    walk = Walk(graph, DATA)
    for place, node in enumerate(graph.nodes):
        if not isinstance(node.attrs, ops.Conv | ops.Gemm):
            continue
        names = [node.first, node.output, *(["first_relu"] if node.output == "second" else [])]
        found = walked(walk, graph, names, place)
        wanted = [batch for _, batch in activations(graph, names, DATA)]
        for name in names:
            whole = np.concatenate([batch[name] for batch in wanted])
            np.testing.assert_array_equal(found[name], whole, strict=True)
        graph = with_other_weights(graph, node.output, place)
        walk.forget(graph, node.output)


def test_nodes_run_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """What is known is an input of what runs next."""
    ran: list[str] = []
    executor = walk_module.Executor

    def seen(graph: Graph, names: tuple[str, ...]) -> object:
        ran.extend(node.output for node in graph.pruned().nodes)
        return executor(graph, names)

    graph = small_network()
    walk = Walk(graph, DATA)
    monkeypatch.setattr(walk_module, "Executor", seen)
    for place, node in enumerate(graph.nodes):
        walked(walk, graph, [node.output], place)
    assert ran == [node.output for node in graph.nodes]


def test_branches_that_join_again_and_again() -> None:
    """Each value is forgotten once, not once for each of the 2**40 paths to it."""
    builder = GraphBuilder("branches")
    builder.inputs.append(builder.value(Value("x", (1, 4))))
    last = "x"
    for number in range(40):
        name = builder.value(Value(f"sum{number}", (1, 4)))
        builder.node(f"node{number}", ops.Add(), [last, last], [name], [name])
        last = name
    builder.outputs.append(last)
    graph = builder.build()
    inputs = {"x": np.ones((3, 1, 4), np.float32)}
    walk = Walk(graph, inputs)
    (batch,) = walk.activations(graph, ["sum0", last], 1)
    np.testing.assert_array_equal(batch[last], np.full((3, 1, 4), 2.0**40, np.float32))
    walk.forget(graph, "sum0")
    assert walk._known.keys() == inputs.keys()

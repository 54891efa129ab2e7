"""run_graph itself: names, dtypes, batches, and what it refuses."""

import numpy as np
import pytest
from random_graphs import adversarial_inputs, grow_network
from random_net import Net

from edgec.base.dtypes import DType
from edgec.base.errors import InternalError
from edgec.interp import run_graph, run_graph_batch
from edgec.ir import Graph, QuantParams, Value, ops, qops
from edgec.ir.graph_builder import GraphBuilder

QUANT = QuantParams.per_tensor(0.1, 3)


def conv_graph(
    layers: int = 1, channels: int = 4, size: int = 5, bias: int = 0, weight: int | None = None
) -> Graph:
    """x [1, size, size, channels] through some 3x3 convolutions."""
    rng = np.random.default_rng(0)
    builder = GraphBuilder("convs")
    shape = (1, size, size, channels)
    name = builder.value(Value("x", shape, DType.INT8, QUANT))
    builder.inputs = [name]
    for index in range(layers):
        weights = rng.integers(-127, 128, (channels, 3, 3, channels)).astype(np.int8)
        if weight is not None:
            weights = np.full_like(weights, weight)
        inputs = [
            name,
            builder.constant("weight", weights),
            builder.constant("bias", np.full(channels, bias, np.int32)),
            builder.constant("multiplier", np.full(channels, 2**21, np.int32)),
        ]
        name = builder.value(Value(f"y{index}", shape, DType.INT8, QUANT))
        attrs = qops.QConv((1, 1), (1, 1, 1, 1), (1, 1), 1, qops.Requant31(32, 3))
        builder.node(f"conv{index}", attrs, inputs, [name])
    builder.outputs = [name]
    return builder.build()


def codes(graph: Graph, count: int = 1) -> np.ndarray:
    shape = (count, *graph.shape("x")[1:])
    return np.random.default_rng(1).integers(-128, 128, shape).astype(np.int8)


def test_gives_every_value_read_only_and_in_its_dtype():
    graph = grow_network(Net.seeded(11), nodes=12)
    inputs = adversarial_inputs(graph, np.random.default_rng(0))[4]
    values = run_graph(graph, inputs)
    assert set(values) == set(graph.values)
    for name, array in values.items():
        assert array.shape == graph.shape(name)
        assert DType.of(array) is graph.values[name].dtype
        assert not array.flags.writeable
    for name in graph.inputs:
        assert np.array_equal(values[name], inputs[name])


def test_batch_is_sample_after_sample():
    graph = conv_graph(layers=2)
    x = codes(graph, 3)
    together = run_graph_batch(graph, {"x": x})["y1"]
    assert together.shape == (3, 5, 5, 4)
    for index in range(3):
        alone = run_graph(graph, {"x": x[index : index + 1]})["y1"]
        assert np.array_equal(together[index : index + 1], alone)


@pytest.mark.parametrize(
    ("x", "what"),
    [
        (np.zeros((1, 5, 5, 3), np.int8), r"expected int8 \[1, 5, 5, 4\]"),
        (np.zeros((1, 5, 5, 4), np.int16), "int16"),
    ],
)
def test_refuses_codes_that_do_not_fit(x: np.ndarray, what: str):
    with pytest.raises(InternalError, match=what):
        run_graph(conv_graph(), {"x": x})


def test_refuses_a_missing_input():
    with pytest.raises(InternalError, match="no codes"):
        run_graph(conv_graph(), {})


def test_refuses_real_operators():
    graph = conv_graph()
    builder = GraphBuilder.of(graph)
    real = ops.Conv(pads=(1, 1, 1, 1))
    builder.put(type(graph.nodes[0])("conv0", real, graph.nodes[0].inputs, graph.nodes[0].outputs))
    with pytest.raises(InternalError, match="Conv where IntegerOperator belongs"):
        run_graph(builder.build(), {"x": codes(graph)})


def test_a_broken_promise_of_the_quantizer_is_an_error_with_the_nodes_name():
    graph = conv_graph(bias=2**31 - 1, weight=127)
    x = np.full((1, 5, 5, 4), 127, np.int8)
    with pytest.raises(InternalError, match="does not fit 32 bits") as caught:
        run_graph(graph, {"x": x})
    assert caught.value.where == "conv0"

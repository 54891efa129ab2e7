"""Channels whose order is free: a network computes the same in any order of them."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from pass_samples import Maker, assert_same_function
from pooled_models import pooled_network, small_network
from random_real_graphs import random_graph

from edgec.base.options import CompileOptions
from edgec.ir import ops
from edgec.ir.graph import Graph
from edgec.ir.graph_builder import GraphBuilder
from edgec.ir.ops import ReduceKind
from edgec.ir.qparams import QuantParams
from edgec.weightpool.channels import free_channels, with_orders
from edgec.workflow.integer import real_model

ROOT = Path(__file__).parents[3]


def shuffled(graph: Graph, seed: int = 0) -> Graph:
    """The network with all free channels in a random order."""
    rng = np.random.default_rng(seed)
    found = free_channels(graph)
    return with_orders(graph, [(each, rng.permutation(each.size)) for each in found])


def moved(before: Graph, after: Graph) -> set[str]:
    return {
        name
        for name, constant in before.constants.items()
        if not np.array_equal(constant.array, after.constants[name].array)
    }


def sizes(graph: Graph) -> list[int]:
    return [each.size for each in free_channels(graph)]


@pytest.mark.few_cases(4)
@pytest.mark.parametrize(
    ("name", "least"),
    [
        ("examples/digits_resnet.onnx", 10),
        ("examples/digits_vit.onnx", 25),
        ("networks/resnet8_cifar10.onnx", 13),
        ("networks/mobilenetv2_cifar10.onnx", 40),
        ("networks/mobilenetv3_cifar10.onnx", 50),
        ("networks/shufflenetv2_cifar10.onnx", 40),
        ("networks/mobilevit_cifar10.onnx", 50),
        ("networks/cct_cifar10.onnx", 50),
        ("networks/unet_shapes.onnx", 9),
        ("networks/detector_shapes.onnx", 45),
    ],
)
def test_networks_compute_the_same_in_any_order(name: str, least: int) -> None:
    graph = real_model(ROOT / name, None, CompileOptions()).graph
    after = shuffled(graph)
    assert len(moved(graph, after)) >= least
    assert_same_function(graph, after)


@pytest.mark.parametrize("seed", range(60))
def test_random_networks_compute_the_same_in_any_order(seed: int) -> None:
    graph = random_graph(seed)
    assert_same_function(graph, shuffled(graph, seed))


def test_residuals_have_one_order_and_ends_hold_theirs() -> None:
    graph = small_network()
    residual, inner, wide = free_channels(graph)
    assert (residual.size, inner.size, wide.size) == (16, 16, 32)
    assert set(residual.axes) == {
        ("first_w", 0),
        ("first_b", 0),
        ("inner_w", -1),
        ("second_w", 0),
        ("second_b", 0),
        ("wide_w", -1),
    }
    assert residual.readers == ("inner_node", "wide_node")
    assert wide.readers == ("scores_node",)
    after = shuffled(graph)
    assert not np.array_equal(after.constants["first_w"].array, graph.constants["first_w"].array)
    assert np.array_equal(after.constants["fc_b"].array, graph.constants["fc_b"].array)


def test_what_has_codes_or_two_readers_stays() -> None:
    graph = small_network()
    builder = GraphBuilder.of(graph)
    builder.value(replace(graph.values["inner"], quant=QuantParams.per_tensor(0.1, 0)))
    assert sizes(builder.build()) == [16, 32]
    assert sizes(graph) == [16, 16, 32]
    assert free_channels(pooled_network(graph)) == ()
    builder = GraphBuilder.of(graph)
    codes = np.ones(graph.shape("inner_w"), np.int8)
    quant = QuantParams((0.1,) * 16, (0,) * 16, axis=0)
    builder.constant("inner_w", codes, quant, keep_name=True)
    assert sizes(builder.build()) == [32]
    builder = GraphBuilder.of(graph)
    node = builder.nodes["inner_node"]
    builder.put(replace(node, inputs=(node.inputs[0], "second_w", node.inputs[2])))
    assert sizes(builder.build()) == [32]


@pytest.mark.parametrize(
    "between",
    [
        ops.Transpose((0, 1, 3, 2)),
        ops.Softmax(),
        ops.Reshape((1, 4, 32, 4)),
        ops.Reduce(ReduceKind.MAX, (3,)),
        ops.Slice((0, 0, 0, 1), (1, 1, 1, 1), (1, 4, 8, 8)),
        ops.Slice((0, 0, 0, 15), (1, 1, 1, -1), (1, 4, 8, 16)),
        ops.Pad(((0, 0), (0, 0), (0, 0), (0, 1))),
        ops.Concat(3),
    ],
    ids=lambda attrs: attrs.op,
)
def test_what_mixes_channels_holds_them(between: ops.Elementwise) -> None:
    m = Maker(0)
    x = m.op(ops.Conv(), m.input(1, 4, 8, 3), m.const(16, 1, 1, 3), m.const(16))
    y = m.op(between, *([x, x] if isinstance(between, ops.Concat) else [x]))
    channels = m.shape(y)[-1]
    graph = m.graph(m.op(ops.Conv(), y, m.const(5, 1, 1, channels), ""))
    assert free_channels(graph) == ()


@pytest.mark.parametrize(
    "between",
    [
        ops.Transpose((0, 2, 1, 3)),
        ops.Reshape((1, 2, 16, 16)),
        ops.Reduce(ReduceKind.MEAN, (2,)),
        ops.Slice((0, 1, 0, 0), (1, 1, 1, 1), (1, 3, 8, 16)),
        ops.Pad(((0, 0), (1, 0), (0, 2), (0, 0))),
        ops.Concat(1),
        ops.PRelu(),
        ops.LayerNormalization(),
        ops.Sub(),
        ops.MatMul(),
    ],
    ids=lambda attrs: attrs.op,
)
def test_what_treats_channels_alike_does_not(between: ops.Elementwise) -> None:
    m = Maker(0)
    x = m.op(ops.Conv(), m.input(1, 4, 8, 3), m.const(16, 1, 1, 3), m.const(16))
    more: dict[type, list[str]] = {
        ops.Concat: [x, m.const(1, 2, 8, 16)],
        ops.PRelu: [m.const(16)],
        ops.LayerNormalization: [m.const(16), m.const(16)],
        ops.Sub: [m.const(8, 16)],
    }
    operands = [x, *more.get(type(between), [])]
    if isinstance(between, ops.MatMul):
        operands = [m.input(1, 4, 6, 8, name="rows"), x]
    y = m.op(between, *operands)
    graph = m.graph(m.op(ops.Conv(), y, m.const(5, 1, 1, 16), ""))
    (found,) = free_channels(graph)
    assert found.size == 16
    after = shuffled(graph)
    assert len(moved(graph, after)) == len(found.axes)
    assert_same_function(graph, after)

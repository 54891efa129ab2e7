"""Integer layers of a quantized transformer against the real functions they stand for."""

from __future__ import annotations

import numpy as np
import pytest
from small_transformers import GELU, SILU, Net, inputs_of

from edgec.base.dtypes import DType
from edgec.base.options import QuantOptions
from edgec.floatrun.codes import unary_function
from edgec.interp import run_graph
from edgec.ir import ops, qops
from edgec.ir.graph import Graph, Node
from edgec.ir.ops import UnaryKind
from edgec.ir.qparams import QuantParams
from edgec.quant.common.params import Range
from edgec.quant.transformer import quantize_transformer
from edgec.quant.transformer.layer_parts import table_domain
from edgec.quant.transformer.samples import collect
from edgec.quant.transformer.weights import Sums, Target, layer_codes


def mlp(act: ops.Unary) -> Graph:
    """A block without attention; x [1, 64, 16]."""
    n = Net("mlp", 5)
    x = n.input("x", 1, 64, 16)
    y = n(act, n.linear(n.norm(x, "n"), 32, "up"), name="act")
    return n.graph(n(ops.Add(), x, n.linear(y, 16, "down"), name="y"))


def accumulators(graph: Graph, node: Node, values: dict[str, np.ndarray]) -> np.ndarray:
    weight, bias = (graph.constants[name].array.astype(np.int64) for name in node.inputs[1:3])
    return np.asarray(values[node.inputs[0]].astype(np.int64) @ weight.T + bias)


def factors(graph: Graph, node: Node) -> np.ndarray:
    output = node.attrs.output
    multiplier = graph.constants[node.inputs[3]].array.astype(np.float64)
    return np.asarray(multiplier * 2.0 ** -(output.pre_shift + output.shift))


@pytest.mark.parametrize(
    "act", [GELU, ops.Unary(UnaryKind.GELU_TANH), SILU], ids=lambda a: a.kind.value
)
def test_fused_tables_stay_near_the_function(act):
    real = mlp(act)
    data = inputs_of(real, 32)
    graph, _ = quantize_transformer(real, data, QuantOptions())
    node = next(n for n in graph.nodes if n.output == "act")
    values = run_graph(graph, {"x": graph.quant("x").quantize(data["x"][:1])})
    seen = collect(real, ["up"], data)["up"].range
    domain = table_domain(act, seen, graph.quant("act"))
    step = (domain.high - domain.low) / (qops.TABLE_SIZE - 1)
    index = accumulators(graph, node, values) * factors(graph, node)
    before = domain.low + (index + qops.TABLE_SIZE // 2) * step
    ideal = unary_function(act)(before)
    found = graph.quant("act").dequantize(values["act"])
    inside = (before > seen.low) & (before < seen.high)
    assert np.abs(found - ideal)[inside].max() <= 0.025
    # An asymmetric output: all 256 codes lie in the function's range.
    assert graph.quant("act").tensor_zero_point < -90


def test_requantization_of_real_layers_stays_within_its_bound():
    rng = np.random.default_rng(6)
    for channels in (1, 16, 64):
        weight = rng.normal(0, 0.1, (channels, 48)) * np.exp(rng.normal(0, 1, (channels, 1)))
        bias = rng.normal(0, 0.2, channels)
        target = Target(np.array([0.03]), np.array([-11.0]), 129.0, slack=0.01)
        codes = layer_codes(weight * 0.02, Sums(bias, target, np.full(48, 7), 128, "layer"))
        x = rng.integers(-128, 128, (500, 48))
        acc = x @ codes.weight.astype(np.int64).T + codes.bias
        ideal = np.clip(acc * codes.scale / 0.03, -128, 127)
        found = np.clip(codes.requant.apply(acc), -128, 127)
        assert np.abs(found - ideal).max() <= 0.51
        # And the accumulator stands for the real product, up to the rounding of weights and bias.
        exact = (x - 7) @ (weight * 0.02).T + bias + target.zero * target.scale
        error = np.abs(acc * codes.scale - exact)
        bound = codes.scale * (0.5 * np.abs(x - 7).sum(1, keepdims=True) + 1)
        assert (error <= bound).all()


def test_dead_channels_and_large_biases():
    weight = np.zeros((3, 8))
    weight[0] = 0.01
    bias = np.array([0.0, 5.0, -1e6])
    target = Target(np.array([0.05]), np.zeros(1), 129.0)
    codes = layer_codes(weight, Sums(bias, target, None, 256, "layer"))
    x = np.zeros((1, 8), np.int64)
    acc = x @ codes.weight.astype(np.int64).T + codes.bias
    assert np.clip(codes.requant.apply(acc), -128, 127).tolist() == [[0, 100, -128]]


def test_flat_ends_of_a_domain_are_left_out():
    y = QuantParams.per_tensor(4 / 255, -125)
    domain = table_domain(GELU, Range(-50.0, 4.0), y)
    assert -4.5 < domain.low < -2.5
    assert 3.9 < domain.high <= 4.0
    assert table_domain(GELU, Range(1.0, 1.0), y) == Range(0.0, 2.0)
    flat = table_domain(ops.Unary(UnaryKind.SIGMOID), Range(20.0, 30.0), y)
    assert flat == Range(20.0, 30.0)


def test_outputs_to_the_stream_are_finer_than_its_step():
    real = mlp(GELU)
    data = inputs_of(real, 32)
    graph, _ = quantize_transformer(real, data, QuantOptions())
    node = next(n for n in graph.nodes if isinstance(n.attrs, qops.QGemm) and n.attrs.residual)
    assert node.attrs.output.dtype is DType.INT16
    values = run_graph(graph, {"x": graph.quant("x").quantize(data["x"][:1])})
    exact = accumulators(graph, node, values) * factors(graph, node) + values[node.inputs[4]]
    bound = 0.5 + 2.0 ** (node.attrs.output.pre_shift - 1) * factors(graph, node).max()
    assert np.abs(values[node.output] - exact).max() <= bound <= 4

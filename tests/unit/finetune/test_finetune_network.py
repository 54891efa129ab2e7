"""The PyTorch network computes what the graph means; rounding and pools what the oracle defines."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import torch
from quant_samples import Sketch

from edgec.base.dtypes import Array
from edgec.base.errors import TrainingError
from edgec.finetune.batches import Moves, moved
from edgec.finetune.layers import Layer
from edgec.finetune.network import Network
from edgec.finetune.options import Augmentation
from edgec.finetune.pooled import MoveLimits
from edgec.finetune.pooled.export import trained
from edgec.finetune.pooled.pools import TrainedPool
from edgec.finetune.ranges import Range
from edgec.floatrun.activations import activations
from edgec.ir import ops
from edgec.ir.graph import Graph
from edgec.ir.ops import PadMode, ReduceKind, UnaryKind
from edgec.ir.qops.operands import Operand
from edgec.ir.qops.pooled import rounded_activations
from edgec.ir.weight_pool import PooledWeights, WeightPool, expand

pytestmark = pytest.mark.torch
SAMPLES = 3


def onnxruntime_output(graph: Graph, x: Array) -> Array:
    (name,) = graph.outputs
    parts = [batch[name] for _, batch in activations(graph, [name], {"x": x})]
    return np.concatenate(parts).reshape(len(x), -1)


def torch_output(graph: Graph, x: Array) -> Array:
    with torch.no_grad():
        return np.asarray(Network(graph).eval()({"x": torch.from_numpy(x)}).numpy())


def images(*shape: int, seed: int = 0) -> Array:
    return np.random.default_rng(seed).normal(size=(SAMPLES, *shape)).astype(np.float32)


def one_operator(attrs: Any) -> Callable[[Sketch, str], str]:
    return lambda s, x: s(attrs, x)


def _conv(s: Sketch, x: str, attrs: ops.Conv, each: int, bias: bool = True) -> str:
    return s(attrs, x, s.normal("w", 8, 3, 2, each), s.normal("b", 8) if bias else "")


OF_PART = {
    UnaryKind.ASIN: ops.Clip(-0.9, 0.9),
    UnaryKind.ACOS: ops.Clip(-0.9, 0.9),
    UnaryKind.ATANH: ops.Clip(-0.9, 0.9),
    UnaryKind.ACOSH: ops.Clip(1.1),
}
"""Functions that are defined on a part of the numbers, and what keeps x there."""
OF_POSITIVE = (
    *(UnaryKind.SQRT, UnaryKind.POW, UnaryKind.RECIPROCAL),
    *(UnaryKind.LOG, UnaryKind.RSQRT),
)
NETWORKS: dict[str, Callable[[Sketch, str], str]] = {
    "conv": lambda s, x: _conv(s, x, ops.Conv((2, 1), (1, 0, 2, 1), (1, 1)), 4),
    "conv_even": lambda s, x: _conv(s, x, ops.Conv((1, 1), (1, 1, 1, 1), (2, 1)), 4, bias=False),
    "depthwise": lambda s, x: _conv(s, x, ops.Conv((1, 1), (1, 0, 1, 1), group=4), 1),
    "gemm": lambda s, x: s(ops.Gemm(), x, s.normal("w", 5, 4), s.normal("b", 5)),
    "gemm_alone": lambda s, x: s(ops.Gemm(), x, s.normal("w", 5, 4), ""),
    "add": lambda s, x: s(ops.Add(), x, s.normal("c", 4)),
    "sub": lambda s, x: s(ops.Sub(), s.normal("c", 1, 6, 1, 1), x),
    "mul": lambda s, x: s(ops.Mul(), x, x),
    "clip": one_operator(ops.Clip(-0.5, 6.0)),
    "prelu": lambda s, x: s(ops.PRelu(), x, s.normal("slope", 4)),
    "inner_softmax": lambda s, x: s(ops.Mul(), s(ops.Softmax(), x), x),
    "max_pool": one_operator(ops.MaxPool((3, 2), (2, 1), (1, 0, 1, 1))),
    "max_pool_dilated": one_operator(ops.MaxPool((2, 2), (1, 1), (0, 0, 0, 0), (2, 2))),
    "average_pool": one_operator(ops.AveragePool((3, 3), (2, 2), (1, 1, 1, 1))),
    "average_pool_all": one_operator(
        ops.AveragePool((3, 3), (2, 2), (1, 0, 1, 1), count_include_pad=True)
    ),
    "mean": one_operator(ops.Reduce(ReduceKind.MEAN, (1, 2), False)),
    "sum": one_operator(ops.Reduce(ReduceKind.SUM, (3,), True)),
    "max": one_operator(ops.Reduce(ReduceKind.MAX, (2,), True)),
    "reshape": one_operator(ops.Reshape((1, 3, 40))),
    "transpose": one_operator(ops.Transpose((0, 3, 1, 2))),
    "slice": one_operator(ops.Slice((0, 5, 1, 0), (1, -2, 1, 3), (1, 3, 4, 2))),
    "concat": lambda s, x: s(ops.Concat(3), x, s.normal("c", 1, 6, 5, 2), x),
    "pad": one_operator(ops.Pad(((0, 0), (1, 2), (0, 1), (1, 0)), PadMode.CONSTANT, 1.5)),
    "pad_edge": one_operator(ops.Pad(((0, 0), (1, 2), (0, 1), (0, 0)), PadMode.EDGE)),
    "pad_reflect": one_operator(ops.Pad(((0, 0), (1, 2), (3, 1), (0, 0)), PadMode.REFLECT)),
    "square": one_operator(ops.Unary(UnaryKind.POW, 2.0)),
    "root": lambda s, x: s(ops.Unary(UnaryKind.SQRT), s(ops.Unary(UnaryKind.ABS), x)),
    "reciprocal": lambda s, x: s(
        ops.Unary(UnaryKind.RECIPROCAL), s(ops.Clip(0.5), s(ops.Unary(UnaryKind.EXP), x))
    ),
    **{
        f"positive {kind.value}": lambda s, x, kind=kind: s(
            ops.Unary(kind), s(ops.Clip(0.5), s(ops.Unary(UnaryKind.EXP), x))
        )
        for kind in (UnaryKind.LOG, UnaryKind.RSQRT)
    },
    **{
        kind.value: lambda s, x, kind=kind, part=part: s(ops.Unary(kind), s(part, x))
        for kind, part in OF_PART.items()
    },
    **{
        kind.value: lambda s, x, kind=kind: s(ops.Unary(kind, 0.2, 0.4), x)
        for kind in UnaryKind
        if kind not in (*OF_POSITIVE, *OF_PART, UnaryKind.NOT, UnaryKind.SIGMOID)
    },
    "inner_sigmoid": lambda s, x: s(ops.Mul(), s(ops.Unary(UnaryKind.SIGMOID), x), x),
}


@pytest.mark.parametrize("name", NETWORKS)
def test_operators_equal_onnxruntime(name: str):
    s = Sketch()
    graph = s.graph(NETWORKS[name](s, s.input("x", 1, 6, 5, 4)))
    x = images(6, 5, 4)
    assert np.allclose(torch_output(graph, x), onnxruntime_output(graph, x), atol=2e-5, rtol=1e-5)


def test_a_last_softmax_is_left_out():
    s = Sketch()
    logits = s(ops.Gemm(), s.input("x", 1, 4), s.normal("w", 3, 4), "")
    graph = s.graph(s(ops.Reshape((1, 3)), s(ops.Softmax(), logits)))
    x = images(4)
    found = torch_output(graph, x)
    shares = np.exp(found) / np.exp(found).sum(1, keepdims=True)
    assert np.allclose(shares, onnxruntime_output(graph, x), atol=1e-6)


@pytest.mark.parametrize(
    ("attrs", "message"),
    [
        (ops.Reshape((8, 15)), "first axis"),
        (ops.Transpose((3, 1, 2, 0)), "first axis"),
        (ops.Reduce(ReduceKind.MEAN, (0, 1), True), "first axis"),
        (ops.ArgMax(1), "ArgMax cannot be fine-tuned"),
        (ops.Unary(UnaryKind.NOT), "not supported in training"),
    ],
)
def test_what_cannot_be_trained_is_named(attrs: object, message: str):
    s = Sketch()
    graph = s.graph(s(ops.Clip(0.0), s(attrs, s.input("x", 1, 6, 5, 4))))
    with pytest.raises(TrainingError, match=message):
        Network(graph)


def test_computed_weights_and_several_outputs_are_refused():
    s = Sketch()
    x = s.input("x", 1, 4)
    product = s(ops.Gemm(), x, s(ops.Mul(), s.normal("a", 3, 4), s.normal("b", 3, 4)), "")
    with pytest.raises(TrainingError, match="computed"):
        Network(s.graph(product))
    with pytest.raises(TrainingError, match="2 outputs"):
        Network(s.graph(x, s(ops.Clip(0.0), x)))


@pytest.mark.parametrize("bits", range(1, 9))
@pytest.mark.parametrize("zero_point", [-128, -7, 60])
def test_rounding_of_activations_is_that_of_the_oracle(bits: int, zero_point: int):
    scale = 0.125
    codes = np.arange(-128, 128, dtype=np.int8)
    measured = Range(float("inf"), signed=zero_point != -128)
    measured.low, measured.high = (scale * (end - zero_point) for end in (-128, 127))
    real = torch.from_numpy((codes.astype(np.float32) - zero_point) * scale)
    expected = rounded_activations(Operand(codes, zero_point), bits) * scale
    assert np.allclose(measured.rounded(real, bits).numpy(), expected, atol=1e-4)


def test_gradients_pass_the_rounding():
    x = torch.linspace(0.1, 0.9, 9, requires_grad=True)
    Range(1.0, signed=False).rounded(x, 2).sum().backward()
    assert torch.equal(x.grad, torch.ones(9))


def test_the_range_of_least_error_leaves_outliers_out():
    measured = Range(float("inf"), signed=False)
    values = torch.cat([torch.rand(10_000), torch.tensor([30.0])])
    for bits, most in ((4, 10.0), (8, 31.0)):
        measured.watch(True)
        measured.clipped(values)
        measured.watch(False, bits)
        assert 0.8 < measured.high < most


@pytest.mark.parametrize(
    ("channels", "terms"), [(16, 1), (13, 1), (5, 1), (13, 2), (16, 3), (5, 4)]
)
def test_pools_choose_the_nearest_vector_and_export_what_they_compute(channels: int, terms: int):
    s = Sketch(seed=3)
    x = s.input("x", 1, 6, 5, channels)
    weight = s.normal("w", 8, 3, 3, channels)
    graph = s.graph(s(ops.Conv((1, 1), (1, 1, 1, 1)), x, weight, s.normal("b", 8)))
    network = Network(graph)
    (layer,) = network.layers.values()
    vectors = np.random.default_rng(1).integers(-15, 16, (16, 8)).astype(np.int8)
    start = np.zeros((8, 3, 3, -(-channels // 8) * terms), np.uint16)
    weights = PooledWeights(WeightPool(vectors), start, terms)
    original = {layer: layer.weight.detach().clone()}
    pool = TrainedPool({layer: weights}, original, trained=True, limits=MoveLimits())
    pool.assign()
    (found,) = pool.found()
    assert found.pooled is not None
    assert np.array_equal(found.pooled.indices, start), "latent weights start in their cells"
    layer.weight.data.normal_(generator=torch.Generator().manual_seed(2))
    pool.assign()
    pool.apply_to_layers()
    exported = trained(graph, network, [pool])
    constant = exported.constants[exported.nodes[0].inputs[1]]
    assert constant.pooled is not None
    assert np.allclose(constant.real(), layer.pooled.detach().numpy(), atol=1e-5)
    assert _squared_error(layer, pool, constant.pooled.indices) <= min(
        _squared_error(layer, pool, np.full_like(constant.pooled.indices, index))
        for index in range(16)
    )


def _squared_error(layer: Layer, pool: TrainedPool, indices: Array) -> float:
    codes, unit = pool.codes()
    weight = layer.weight.detach().numpy()
    found = expand(codes, indices, weight.shape[-1]) * unit
    return float(((found - weight) ** 2).sum())


def test_images_are_shifted_and_mirrored_only():
    x = torch.arange(1.0, 1 + 4 * 5 * 6 * 2).reshape(4, 5, 6, 2)
    generator = torch.Generator().manual_seed(0)
    none = Augmentation(mirror=False, shift=0)
    every = torch.arange(4)
    assert torch.equal(moved(x, every, Moves.drawn(4, none, generator)), x)
    moves = Moves.drawn(4, Augmentation(shift=2), generator)
    found = moved(x, every, moves)
    assert found.shape == x.shape
    for image, before, down, right, mirrored in zip(
        found, x, moves.down - 2, moves.right - 2, moves.mirrored, strict=True
    ):
        source = torch.nn.functional.pad(before.flip(1) if mirrored else before, (0, 0, 2, 2, 2, 2))
        # A mirrored image is shifted first: its columns are those to the right, from the right.
        y, x0 = int(down) + 2, 2 - int(right) if mirrored else int(right) + 2
        assert torch.equal(image, source[y : y + 5, x0 : x0 + 6])
    few = torch.tensor([2, 0])
    assert torch.equal(moved(x, few, moves.of(few)), found[few])
    for before, after in zip(x, found, strict=True):
        kept = set(after.flatten().tolist()) - {0.0}
        assert kept
        assert kept <= set(before.flatten().tolist())

"""Real weights that lie on few steps keep them: exact codes of 2 to 4 bits."""

from __future__ import annotations

import numpy as np
import pytest
from pass_samples import Maker

from edgec.base.options import QuantOptions
from edgec.ir import ops
from edgec.ir.graph import Constant, Graph
from edgec.kernels.packed.codes import code_bits
from edgec.quant.cnn.annotation import annotate
from edgec.quant.cnn.channel_classes import channel_classes
from edgec.quant.common.coarse_weights import coarse_steps
from edgec.quant.common.weights import layer_weights

RNG = np.random.default_rng(5)


def on_steps(low: int, high: int, *shape: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Real weights in float32, their codes and the steps of their rows."""
    codes = RNG.integers(low, high + 1, shape)
    codes.reshape(len(codes), -1)[:, 0] = high
    codes.reshape(len(codes), -1)[:, 1] = 1
    steps = RNG.uniform(0.001, 3.0, shape[0])
    real = codes * steps.reshape(-1, *[1] * (len(shape) - 1))
    return real.astype(np.float32), codes, steps


@pytest.mark.parametrize(("low", "high", "bits"), [(-1, 1, 2), (-3, 3, 3), (-8, 7, 4), (-7, 7, 4)])
@pytest.mark.parametrize("shape", [(16, 32), (8, 3, 3, 16)])
def test_codes_are_exact_and_small(low: int, high: int, bits: int, shape: tuple[int, ...]) -> None:
    real, codes, steps = on_steps(low, high, *shape)
    np.testing.assert_allclose(coarse_steps(real), steps, rtol=1e-4)
    layer = layer_weights(Constant("w", real), None, 0.02, "layer")
    assert np.array_equal(layer.weight, codes)
    assert code_bits(layer.weight) == bits
    np.testing.assert_allclose(layer.scale, steps, rtol=1e-4)


def test_the_least_weight_need_not_be_one_step() -> None:
    codes = RNG.choice([-7, -3, 0, 5], (8, 64))
    codes[:, :3] = -7, -3, 5
    assert coarse_steps(codes * 0.125) == pytest.approx(np.full(8, 0.125))


def test_a_channel_of_zeros_is_on_all_steps() -> None:
    real, codes, _ = on_steps(-1, 1, 16, 32)
    real[3] = 0.0
    steps = coarse_steps(real)
    assert steps is not None
    assert steps[3] == 0.0
    layer = layer_weights(Constant("w", real), Constant("b", np.ones(16, np.float32)), 0.02, "x")
    assert np.array_equal(np.delete(layer.weight, 3, 0), np.delete(codes, 3, 0))
    assert not layer.weight[3].any()


@pytest.mark.parametrize(
    "real",
    [
        RNG.normal(size=(16, 32)),
        RNG.integers(-9, 10, (16, 32)) * 0.1,
        np.zeros((16, 32)),
        RNG.integers(-1, 2, (64, 4)) * 1.0,
        RNG.integers(-1, 2, (2, 32)) * 1.0,
        np.full((16, 32), np.nan),
    ],
    ids=["any", "five bits", "zeros", "short filters", "few weights", "no numbers"],
)
def test_other_weights_have_no_steps(real: np.ndarray) -> None:
    assert coarse_steps(real) is None


def network(weight: np.ndarray) -> Graph:
    """A layer whose channels differ a lot, and one that reads them."""
    m = Maker()
    x = m.input(1, 32)
    first = RNG.normal(size=(32, 32)) * np.geomspace(0.01, 1.0, 32)[:, None]
    y = m.op(ops.Gemm(), x, m.const(array=first.astype(np.float32)))
    return m.graph(m.op(ops.Gemm(), m.op(ops.Clip(0.0), y), m.const(array=weight)))


def test_equal_ranges_of_channels_leave_the_steps() -> None:
    weight, codes, _ = on_steps(-1, 1, 16, 32)
    data = {"x": RNG.normal(size=(64, 32)).astype(np.float32)}
    graph, _ = annotate(network(weight), data, QuantOptions())
    found = graph.constants[ops.layer_inputs(graph.nodes[-1]).w]
    assert np.array_equal(found.array, codes)


def test_only_columns_of_other_weights_are_scaled() -> None:
    weight, _, _ = on_steps(-1, 1, 16, 32)
    assert not channel_classes(network(weight)).classes
    assert channel_classes(network(RNG.normal(size=(16, 32)).astype(np.float32))).classes

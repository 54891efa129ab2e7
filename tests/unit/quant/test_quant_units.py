"""Networks compute alike whatever the unit of their data: amperes or nanoamperes."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache

import numpy as np
import pytest
from sketch import Sketch

from edgec.base.dtypes import Array
from edgec.base.options import CompileOptions, Precision, QuantOptions
from edgec.floatrun.activations import checked_calibration
from edgec.floatrun.executor import Executor
from edgec.interp import run_graph_batch
from edgec.ir import ops
from edgec.ir.ops import UnaryKind
from edgec.passes.base import run_passes
from edgec.passes.pipeline import REAL_PASSES
from edgec.quant.common.quality import sqnr_db
from edgec.quant.entry import quantize

UNITS = (1e-30, 1e-9, 1e30)
CASES = [(p, unit) for p in (Precision.INT8, Precision.INT16) for unit in UNITS]
SLACK_DB = 1.0
"""Scales are float32 numbers: a code here and there differs between units."""


class Net(Sketch):
    """Layers whose names are their stems of constants."""

    def conv(self, x: str, outputs: int, unit: float, name: str, kernel: int = 3) -> str:
        channels = self.builder.values[x].shape[-1]
        scale = (kernel * kernel * channels) ** -0.5
        weight = self.normal(f"{name}_w", outputs, kernel, kernel, channels, scale=scale)
        bias = self.const(f"{name}_b", self.rng.normal(size=outputs) * 0.2 * unit)
        return self(ops.Conv(pads=(kernel // 2,) * 4), x, weight, bias)

    def times(self, x: str, factor: float, name: str) -> str:
        return self(ops.Mul(), x, self.const(name, [factor]))

    def norm(self, x: str, epsilon: float) -> str:
        channels = self.builder.values[x].shape[-1]
        gamma, beta = np.ones(channels), np.zeros(channels)
        norm = ops.LayerNormalization(epsilon=epsilon)
        return self(norm, x, self.const("gamma", gamma), self.const("beta", beta))


def within(n: Net, x: str, unit: float) -> str:
    """All tensors have the unit of the data."""
    a = n(ops.Clip(0.0), n.conv(x, 6, unit, "a"))
    c = n(ops.MaxPool((2, 2), (2, 2)), n(ops.Add(), a, n.conv(a, 6, unit, "b")))
    d = n(ops.Concat(3), c, n(ops.AveragePool((2, 2), (2, 2)), a))
    d = n(ops.PRelu(), d, n.const("slope", np.linspace(-0.5, 0.5, 12)))
    e = n(ops.Reduce(ops.ReduceKind.MEAN, (1, 2), keepdims=False), d)
    return n(ops.Gemm(), e, n.normal("fc", 5, 12, scale=0.3), n.const("fb", np.ones(5) * unit))


def scaled(n: Net, x: str, unit: float) -> str:
    """A constant takes the unit away."""
    y = n(ops.Unary(UnaryKind.SIGMOID), n.conv(n.times(x, 1 / unit, "k"), 6, 1.0, "a"))
    return n.times(n.conv(y, 4, 1.0, "b"), unit, "back")


def weighted(n: Net, x: str, unit: float) -> str:
    """Weights take it away and give it back."""
    w = n.const("w", n.rng.normal(size=(6, 1, 1, 3)) / unit)
    y = n(ops.Unary(UnaryKind.TANH), n(ops.Conv(), x, w, n.normal("wb", 6, scale=0.1)))
    y = n(ops.Conv(), y, n.const("v", n.rng.normal(size=(6, 1, 1, 6)) * unit), "")
    return n(ops.Sub(), y, n(ops.Conv(), x, n.normal("u", 6, 1, 1, 3), ""))


def multiplied(n: Net, x: str, unit: float) -> str:
    """The product of two tensors."""
    a, b = n.conv(x, 4, unit, "a"), n.conv(x, 4, unit, "b")
    return n(ops.Mul(), n.times(a, 1 / unit, "k"), b)


def cancelled(n: Net, x: str, unit: float) -> str:
    """Tensors and a constant of zeros, and one next to nothing beside the others."""
    a = n(ops.Sub(), n.const("zero", [0.0]), n.conv(x, 4, unit, "a"))
    zero = n(ops.Sub(), a, n.times(a, 1.0, "one"))
    dead = n(ops.Conv(), x, n.const("dead", np.zeros((4, 1, 1, 3))), n.const("low", [-unit] * 4))
    zero = n(ops.Add(), zero, n(ops.Clip(0.0), dead))
    return n(ops.Add(), n(ops.Add(), a, zero), n.times(a, 1e-12, "little"))


def normed(n: Net, x: str, unit: float) -> str:
    """A norm after the unit is gone."""
    y = n.norm(n.conv(n.times(x, 1 / unit, "k"), 8, 1.0, "a"), 1e-5)
    y = n(ops.Unary(UnaryKind.GELU), n.conv(y, 8, 1.0, "b", 1))
    return n.times(n.conv(y, 4, 1.0, "c", 1), unit, "back")


def norm_of_unit(n: Net, x: str, unit: float) -> str:
    """A norm of tensors with the unit, for which its epsilon may be everything."""
    y = n.norm(n.conv(x, 8, unit, "a"), 1e-12)
    y = n(ops.Unary(UnaryKind.GELU), n.conv(y, 8, 1.0, "b", 1))
    y = n.times(n.conv(y, 4, 1.0, "c", 1), unit, "back")
    return n(ops.Add(), y, n.conv(x, 4, unit, "d"))


def little_in_stream(n: Net, x: str, unit: float) -> str:
    """A sum before a norm whose second summand is next to nothing, and is read by a layer, too."""
    a = n.conv(n.times(x, 1 / unit, "k"), 8, 1.0, "a")
    y = n(ops.Unary(UnaryKind.GELU), n.conv(n.norm(a, 1e-5), 8, 1.0, "b", 1))
    weight = n.const("little", n.rng.normal(size=(8, 1, 1, 8)) * 1e-13)
    little = n(ops.Conv(), y, weight, "")
    y = n(ops.Gemm(), little, n.normal("c", 8, 8, scale=0.3), "")
    y = n(ops.Add(), n.norm(n(ops.Add(), a, little), 1e-5), y)
    return n.times(n.conv(y, 4, 1.0, "d", 1), unit, "back")


NETWORKS: dict[str, Callable[[Net, str, float], str]] = {
    each.__name__: each
    for each in (
        within,
        scaled,
        weighted,
        multiplied,
        cancelled,
        normed,
        norm_of_unit,
        little_in_stream,
    )
}


def samples(count: int, seed: int, unit: float) -> dict[str, Array]:
    rng = np.random.default_rng(seed)
    return {"x": (rng.normal(size=(count, 6, 6, 3)) * unit).astype(np.float32)}


@cache
def quality(name: str, precision: Precision, unit: float) -> float:
    """Signal to noise on samples that were not calibrated on, in dB."""
    n = Net(name)
    real = n.graph(NETWORKS[name](n, n.input("x", 1, 6, 6, 3), unit))
    real = run_passes(real, REAL_PASSES).graph
    options = CompileOptions(quant=QuantOptions(precision=precision))
    integer = quantize(real, samples(16, 0, unit), options).integer
    fresh, output = samples(4, 1, unit), real.outputs[0]
    found = run_graph_batch(integer, {"x": integer.quant("x").quantize(fresh["x"])})[output]
    wanted = Executor(real, real.outputs).run(checked_calibration(real, fresh))[output]
    given = integer.quant(output).dequantize64(found.reshape(4, *real.shape(output)))
    return sqnr_db(wanted.ravel() / unit, given.ravel() / unit)


@pytest.mark.parametrize(("precision", "unit"), [*CASES, (Precision.AUTO, 1e-9)])
@pytest.mark.parametrize("name", NETWORKS)
def test_a_unit_costs_no_accuracy(name: str, precision: Precision, unit: float):
    assert quality(name, precision, unit) >= quality(name, precision, 1.0) - SLACK_DB

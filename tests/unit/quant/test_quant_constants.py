"""Ranges hold what constants put into tensors, whatever the other operands hold."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from sketch import Sketch

from edgec.base.dtypes import Array, DType
from edgec.base.options import CompileOptions, Precision, QuantOptions
from edgec.floatrun.activations import checked_calibration
from edgec.floatrun.executor import Executor
from edgec.interp import run_graph_batch
from edgec.ir import ops
from edgec.ir.graph import Graph, Value
from edgec.ir.ops import UnaryKind
from edgec.ir.qparams import QuantParams
from edgec.ir.searched import is_searched
from edgec.quant import annotate
from edgec.quant.common.quality import sqnr_db
from edgec.quant.entry import quantize
from edgec.quant.scales.groups import code_groups

SHAPE = (1, 4, 4, 4)
LEAST_DB = 32.0
MANY = [2.0, 0.1, -5.0, 3.0]


def maximum(s: Sketch, x: str) -> str:
    return s(ops.Maximum(), x, s.const("c", [2.0]))


def clipped(s: Sketch, x: str, low: float, high: float) -> str:
    return s(ops.Clip(low, high), x)


JOINED: dict[str, Callable[[Sketch, str], str]] = {
    "max": maximum,
    "max of a constant": lambda s, x: s(ops.Maximum(), s.const("c", [2.0]), x),
    "max by channel": lambda s, x: s(ops.Maximum(), x, s.const("c", MANY)),
    "max without effect": lambda s, x: s(ops.Maximum(), x, s.const("c", [-1e3])),
    "min": lambda s, x: s(ops.Minimum(), x, s.const("c", [-2.0])),
    "min without effect": lambda s, x: s(ops.Minimum(), x, s.const("c", [1e3])),
    "max of min": lambda s, x: s(
        ops.Maximum(), s(ops.Minimum(), x, s.const("c", [-4.0])), s.const("d", [3.0])
    ),
    "max, moved": lambda s, x: s(ops.Reshape((1, 64)), maximum(s, x)),
    "max of a sigmoid": lambda s, x: maximum(s, s(ops.Unary(UnaryKind.SIGMOID), x)),
    "concat": lambda s, x: s(ops.Concat(3), x, s.const("c", np.full((1, 4, 4, 1), 9.0))),
    "concat of a tanh": lambda s, x: s(
        ops.Concat(3), s(ops.Unary(UnaryKind.TANH), x), s.const("c", np.full((1, 4, 4, 1), 9.0))
    ),
    "pad": lambda s, x: s(ops.Pad(((0, 0), (1, 1), (0, 0), (0, 0)), value=9.0), x),
    "clip": lambda s, x: clipped(s, x, 2.0, 3.0),
    "clip below": lambda s, x: clipped(s, x, -3.0, -2.0),
    "add": lambda s, x: s(ops.Add(), x, s.const("c", [50.0, 0.0, 0.0, -10.0])),
    "sub": lambda s, x: s(ops.Sub(), s.const("c", [50.0]), x),
    "mul": lambda s, x: s(ops.Mul(), x, s.const("c", [50.0, 1.0, 0.1, 2.0])),
    "prelu": lambda s, x: s(
        ops.PRelu(), s(ops.Sub(), x, s.const("h", [0.5])), s.const("c", [-8.0, 2.0, 0.5, 9.0])
    ),
}


def begun(name: str, *, searched: bool) -> tuple[Sketch, str]:
    """x in 0..1, and a norm where scales are to be searched."""
    s = Sketch(name)
    x = s.input("x", *SHAPE)
    if searched:
        norm = ops.LayerNormalization(epsilon=1e-5)
        x = s(norm, x, s.const("gamma", np.full(4, 0.3)), s.const("beta", np.full(4, 0.5)))
        x = s(ops.Conv(), x, s.normal("w", 4, 1, 1, 4), "")
    return s, x


def network(name: str, *, searched: bool) -> Graph:
    s, x = begun(name, searched=searched)
    return s.graph(JOINED[name](s, x))


def samples(count: int, seed: int) -> dict[str, Array]:
    rng = np.random.default_rng(seed)
    return {"x": rng.uniform(0, 1, (count, *SHAPE[1:])).astype(np.float32)}


@pytest.mark.parametrize("precision", [Precision.INT8, Precision.INT16])
@pytest.mark.parametrize("searched", [False, True], ids=["observed", "searched"])
@pytest.mark.parametrize("name", JOINED)
def test_an_output_holds_what_its_constants_give(name: str, searched: bool, precision: Precision):
    real = network(name, searched=searched)
    assert is_searched(real) == searched
    options = CompileOptions(quant=QuantOptions(precision=precision))
    integer = quantize(real, samples(32, 0), options).integer
    fresh, output = samples(8, 1), real.outputs[0]
    found = run_graph_batch(integer, {"x": integer.quant("x").quantize(fresh["x"])})[output]
    wanted = Executor(real, real.outputs).run(checked_calibration(real, fresh))[output]
    given = integer.quant(output).dequantize64(found.reshape(8, *real.shape(output)))
    assert sqnr_db(wanted.ravel(), given.ravel()) >= LEAST_DB


@pytest.mark.parametrize("searched", [False, True], ids=["observed", "searched"])
def test_a_number_that_no_sample_chooses_is_in_the_range(searched: bool):
    s, x = begun("where", searched=searched)
    mask = s.input("mask", *SHAPE)
    s.builder.value(Value(mask, SHAPE, DType.INT32))
    y = s(ops.Where(), mask, s.const("c", [7.0]), x)
    real = s.graph(y)
    data = {**samples(16, 0), "mask": np.zeros((16, *SHAPE[1:]), np.int32)}
    options = CompileOptions(quant=QuantOptions())
    quant = quantize(real, data, options).integer.quant(y)
    assert abs(float(quant.dequantize64(quant.quantize(np.array([7.0])))[0]) - 7.0) < 0.1


def test_a_clip_beyond_the_codes_pinned_on_its_input_has_codes_of_its_own():
    s = Sketch()
    x = s.input("x", 1, 4, quant=QuantParams.per_tensor(1 / 255, -128))
    inside, beyond = clipped(s, x, 0.5, 3.0), clipped(s, x, 2.0, 3.0)
    graph = s.graph(inside, beyond)
    groups = {name: group for group in code_groups(graph) for name in group.members}
    assert groups[inside] is groups[x]
    assert groups[beyond].members == (beyond,)
    annotated, _ = annotate(graph, None, QuantOptions())
    quant = annotated.quant(beyond)
    assert quant.dequantize(quant.quantize(np.float32(2.0))) == pytest.approx(2.0, abs=0.01)

"""A Clip may take the place of its layer's output; nobody else's array changes."""

from __future__ import annotations

import numpy as np
import pytest

from edgec.base.dtypes import DType
from edgec.floatrun.executor import Executor
from edgec.floatrun.ops_elementwise import clipped
from edgec.ir import Graph, ops
from edgec.ir.graph import Value
from edgec.ir.graph_builder import GraphBuilder


def layer_and_clip(*, read_twice: bool) -> Graph:
    """A dense layer and a Clip, whose sum is the output where the layer is read twice."""
    builder = GraphBuilder("net")
    for name in ("x", "layer", "clip", "y"):
        builder.value(Value(name, (1, 4), DType.FLOAT32))
    rng = np.random.default_rng(0)
    weight = builder.constant("w", rng.normal(size=(4, 4)).astype(np.float32))
    builder.inputs, builder.outputs = ["x"], ["y"]
    builder.node("layer", ops.Gemm(), ["x", weight], ["layer"])
    builder.node("clip", ops.Clip(-0.5, 0.5), ["layer"], ["clip"])
    other = "layer" if read_twice else "clip"
    builder.node("sum", ops.Add(), ["clip", other], ["y"])
    return builder.build()


@pytest.mark.parametrize("read_twice", [False, True])
@pytest.mark.parametrize("names", [["y"], ["layer", "y"], ["clip", "y"]])
def test_values_are_those_of_a_run_that_keeps_all(names: list[str], *, read_twice: bool) -> None:
    graph = layer_and_clip(read_twice=read_twice)
    x = np.random.default_rng(1).normal(size=(5, 1, 4))
    before = x.copy()
    everything = Executor(graph, [*graph.values]).run({"x": x})
    found = Executor(graph, names).run({"x": x})
    for name in names:
        np.testing.assert_array_equal(found[name], everything[name])
    np.testing.assert_array_equal(x, before)


@pytest.mark.parametrize(("low", "high"), [(0.0, 6.0), (0.0, np.inf), (-np.inf, 2.0), (-1.5, -0.5)])
def test_few_and_many_numbers_are_clipped_alike(low: float, high: float) -> None:
    """There are two ways, by the number of elements; NaN stays in both."""
    values = np.random.default_rng(0).normal(0, 4, 1 << 14)
    values[:4] = np.nan, np.inf, -np.inf, 0.0
    many = clipped(values, low, high)
    few = np.concatenate([clipped(part, low, high) for part in np.split(values, 16)])
    np.testing.assert_array_equal(many, few)
    np.testing.assert_array_equal(many, np.minimum(np.maximum(values, low), high))
    place = values.copy()
    assert clipped(place, low, high, out=place) is place
    np.testing.assert_array_equal(place, many)

"""Decision trees in codes decide as they do on numbers."""

from __future__ import annotations

import numpy as np
import pytest
from sketch import Sketch

from edgec.base.options import CompileOptions
from edgec.exporters.onnx.export import export_real
from edgec.floatrun.executor import Executor
from edgec.floatrun.float_model import FloatModel
from edgec.interp import run_graph_batch
from edgec.ir import ops, qops
from edgec.ir.graph import Graph
from edgec.ir.qparams import QuantParams
from edgec.quant import quantize
from edgec.quant.convert.trees import threshold_codes
from edgec.quant.features import with_feature_scales

RNG = np.random.default_rng(11)
THRESHOLDS = (900.0, 0.25, 700.0, -3.0, 0.125)


def forest(*, scaled: bool = False) -> Graph:
    """Two trees over three features of their own units; x [1, 3]."""
    s = Sketch("forest")
    x = s.input("x", 1, 3)
    features = s(ops.Mul(), x, s.const("factor", np.asarray([2.0, 4.0, 0.5]))) if scaled else x
    units = (2.0, 4.0, 2.0, 0.5, 4.0) if scaled else (1.0,) * 5
    a, b, c, d, e = (float(np.float32(t * unit)) for t, unit in zip(THRESHOLDS, units, strict=True))
    nodes = [
        *[(0, a, 4), (1, b, 2), (-1, 0, 0), (-1, 1, 0), (0, c, 2), (-1, 2, 0), (-1, 3, 0)],
        *[(2, d, 2), (-1, 4, 0), (1, e, 2), (-1, 5, 0), (-1, 0, 0)],
    ]
    leaves = RNG.normal(size=(6, 2)) * [1.0, 3.0]
    parts = [
        s.const("nodes", np.asarray(nodes, np.float64)),
        s.const("roots", np.asarray([0.0, 7.0])),
    ]
    y = s(ops.TreeEnsemble(), features, *parts, s.const("leaves", leaves), s.normal("base", 2))
    return s.graph(y)


def samples(count: int = 400) -> np.ndarray:
    """Values around the thresholds, but none next to one."""
    rows = RNG.normal(size=(count, 3)) * [300.0, 0.5, 4.0] + [800.0, 0.2, -3.0]
    near = [np.abs(rows[:, f] - t) < s for f, t, s in ((0, 900, 2), (0, 700, 2), (1, 0.25, 0.002),
            (1, 0.125, 0.002), (2, -3.0, 0.01))]  # fmt: skip
    return np.asarray(rows[~np.any(near, axis=0)], np.float32)


@pytest.mark.parametrize("scaled", [False, True])
def test_integer_trees_decide_as_float_ones(scaled: bool) -> None:
    graph, x = forest(scaled=scaled), samples()
    wanted = Executor(graph, graph.outputs).run({"x": x})[graph.outputs[0]].reshape(-1, 2)
    steps, data = with_feature_scales(graph, {"x": x}, (-1.0, 1.0))
    assert data is not None
    # Operators on features are part of the thresholds; nobody but trees reads the input.
    assert [node.op for node in steps.nodes] == ["TreeEnsemble"]
    integer = quantize(steps, data, CompileOptions()).integer
    codes = {"x": steps.input_features["x"].quantize(x)}
    name = integer.outputs[0]
    found = integer.quant(name).dequantize(run_graph_batch(integer, codes)[name])
    np.testing.assert_allclose(
        found.reshape(-1, 2), wanted, atol=1.5 * integer.quant(name).scale[0]
    )


def test_codes_of_features_span_the_thresholds() -> None:
    params = with_feature_scales(forest(), None, (-1.0, 1.0))[0].input_features["x"]
    low, high = (params.dequantize(np.full((1, 3), code, np.int8))[0] for code in (-128, 127))
    assert low[0] < 700 < 900 < high[0] and high[0] - low[0] < 220
    assert low[1] < 0.125 < 0.25 < high[1] and high[1] - low[1] < 0.15
    assert low[2] < -3.0 < high[2] and high[2] - low[2] < 0.01


@pytest.mark.parametrize("scale", [0.1, 1.0, 1 / 3, 2.0**-7])
@pytest.mark.parametrize("zero_point", [-128, -3, 0, 127])
def test_codes_of_thresholds_decide_exactly(scale: float, zero_point: int) -> None:
    quant = QuantParams.per_tensor(float(np.float32(scale)), zero_point)
    codes = np.arange(-128, 128)
    reals = (codes - zero_point) * quant.tensor_scale
    thresholds = np.concatenate([reals, reals * 1.001 + 1e-4, [-1e9, 1e9, 1e300, -1e300]])
    found = threshold_codes(thresholds, quant)
    np.testing.assert_array_equal(codes <= found[:, None], reals <= thresholds[:, None])


def test_leaves_that_are_alike_are_stored_once() -> None:
    graph = forest()
    inputs = ops.TreeEnsemble.Inputs.of(graph.nodes[0].inputs)
    same = np.repeat(graph.constants[inputs.leaves].array[:2], 3, axis=0)
    constants = dict(graph.constants)
    constants[inputs.leaves] = type(constants[inputs.leaves])(inputs.leaves, same)
    graph = graph.replace(constants=constants)
    integer = quantize(graph, {"x": samples()}, CompileOptions()).integer
    trees = qops.QTreeEnsemble.Inputs.of(integer.nodes[0].inputs)
    assert integer.constants[trees.leaves].shape == (2, 2)


def test_exported_trees_compute_the_same() -> None:
    graph, x = forest(), samples()
    wanted = Executor(graph, graph.outputs).run({"x": x})[graph.outputs[0]].reshape(-1, 2)
    model = export_real(graph)
    found = np.concatenate(
        [FloatModel(model).run({"x": row[None]})[model.graph.output[0].name] for row in x[:50]]
    )
    np.testing.assert_allclose(found, wanted[:50], rtol=1e-5)

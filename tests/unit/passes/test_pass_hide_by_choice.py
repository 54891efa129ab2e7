"""Rules of `passes.hide_by_choice`, by their numbers."""

from __future__ import annotations

import numpy as np
from import_models import N, imported, model_of

from edgec.base.dtypes import Array
from edgec.floatrun.executor import Executor
from edgec.ir import ops
from edgec.ir.graph import Graph
from edgec.passes.hide_by_choice import hide_by_choice

LOWEST = float(np.finfo(np.float32).min)
HIDDEN = np.where(np.tri(3, dtype=bool), 0.0, -np.inf).astype(np.float32)


def softmax_of(graph: Graph, x: dict[str, Array]) -> Array:
    (y,) = Executor(graph, graph.outputs).run({n: a[None] for n, a in x.items()}).values()
    return y[0]


def changed(tmp_path, nodes, constants, inputs) -> tuple[Graph, list[str]]:
    """The graph after the pass, which computes the same; its operators."""
    model = model_of([*nodes, N("Softmax", ["s"], ["y"])], inputs, constants)
    before = imported(model, tmp_path)
    after = hide_by_choice(before)
    rng = np.random.default_rng(0)
    x = {name: rng.normal(size=shape).astype(np.float32) for name, shape in inputs.items()}
    np.testing.assert_allclose(softmax_of(after, x), softmax_of(before, x), atol=1e-6)
    return after, [node.op for node in after.nodes]


def test_1_constant(tmp_path):
    _, names = changed(tmp_path, [N("Add", ["x", "m"], ["s"])], {"m": HIDDEN}, {"x": (3, 3)})
    assert names == ["Where", "Softmax"]


def test_1_constant_with_other_numbers(tmp_path):
    graph, names = changed(
        tmp_path,
        [N("Add", ["x", "m"], ["s"])],
        {"m": HIDDEN + np.eye(3, dtype=np.float32)},
        {"x": (3, 3)},
    )
    assert names == ["Add", "Where", "Softmax"]
    (added,) = (n for n in graph.nodes if isinstance(n.attrs, ops.Add))
    assert graph.constants[added.inputs[1]].array.max() == 1.0


def test_2_chosen(tmp_path):
    """A mask of the run and a fixed one, added to each other first."""
    nodes = [N("Add", ["z", "m"], ["b"]), N("Add", ["x", "b"], ["s"])]
    graph, names = changed(tmp_path, nodes, {"m": HIDDEN}, {"x": (2, 3, 3), "z": (3, 3)})
    assert names == ["Add", "Where", "Softmax"]
    lowest = [c.array for c in graph.constants.values() if c.array.size == 1]
    assert [float(array) for array in lowest] == [LOWEST]


def test_nothing_of_usual_numbers_changes(tmp_path):
    constants = {"m": np.full((3, 3), -1e4, np.float32)}
    _, names = changed(tmp_path, [N("Add", ["x", "m"], ["s"])], constants, {"x": (3, 3)})
    assert names == ["Add", "Softmax"]

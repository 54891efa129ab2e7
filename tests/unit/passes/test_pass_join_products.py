"""Products of the input and of the hidden state of a cell become one product."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from import_models import imported
from recurrent_models import FEATURES, GATES, UNITS, recurrent

from edgec.floatrun.executor import Executor
from edgec.ir import ops
from edgec.ir.graph import Graph
from edgec.ir.qparams import QuantParams
from edgec.ir.verify import Stage, verify
from edgec.passes.base import run_passes
from edgec.passes.join_products import join_products
from edgec.passes.pipeline import REAL_PASSES


def real(op: str, folder: Path, **attrs: object) -> Graph:
    """A cell as `join_products` gets it."""
    places = [each.name for each in REAL_PASSES]
    first = REAL_PASSES[: places.index("join_products")]
    return run_passes(imported(recurrent(op, **attrs), folder), first).graph


def count(graph: Graph, kind: type) -> int:
    return sum(isinstance(node.attrs, kind) for node in graph.nodes)


@pytest.mark.parametrize("op", GATES)
@pytest.mark.parametrize("after", [0, 1])
def test_each_gate_is_one_product_of_the_same_numbers(op: str, after: int, tmp_path: Path) -> None:
    graph = real(op, tmp_path, **({"linear_before_reset": after} if op == "GRU" else {}))
    joined = join_products(graph)
    verify(joined, Stage.REAL)
    # A product that a GRU's reset gate multiplies stays apart.
    assert count(graph, ops.Gemm) == 2 * GATES[op]
    assert count(joined, ops.Gemm) == GATES[op] + (op == "GRU" and after)
    assert count(joined, ops.Concat) in (1, 2)
    x = np.random.default_rng(0).normal(size=(3, *graph.shape("x"))).astype(np.float32)
    for name in graph.outputs:
        wanted, found = (Executor(each, [name]).run({"x": x})[name] for each in (graph, joined))
        np.testing.assert_allclose(found, wanted, rtol=1e-5, atol=1e-6)


def test_the_input_keeps_codes_of_its_own(tmp_path: Path) -> None:
    joined = join_products(real("LSTM", tmp_path))
    (concat,) = (node for node in joined.nodes if isinstance(node.attrs, ops.Concat))
    (alone,) = (node for node in joined.nodes if isinstance(node.attrs, ops.Conv))
    assert alone.attrs.group == FEATURES
    assert joined.producers[concat.inputs[0]].first == alone.output
    assert joined.shape(concat.output)[-1] == FEATURES + UNITS
    readers = joined.consumers[concat.output]
    assert len(readers) == GATES["LSTM"]


def test_given_codes_and_networks_without_a_past_stay_as_they_are(tmp_path: Path) -> None:
    graph = real("RNN", tmp_path)
    products = [node for node in graph.nodes if isinstance(node.attrs, ops.Gemm)]
    pinned = QuantParams.per_tensor(0.1, 0)
    name = products[0].output
    given = graph.replace(values={**graph.values, name: replace(graph.values[name], quant=pinned)})
    assert join_products(given) is given
    straight = real("RNN", tmp_path, steps=1)
    assert straight.is_straight
    assert join_products(straight) is straight

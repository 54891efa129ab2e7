"""TopK with both outputs is one operator, in the graph and in the program."""

from pathlib import Path

import numpy as np
from integer_samples import IntegerMaker
from parity import check_host

from edgec.base.dtypes import DType
from edgec.interp import run_graph
from edgec.ir import Graph, qops
from edgec.ir.graph import Value
from edgec.passes.merge_top_k import merge_top_k


def searched(second: qops.QTopK) -> Graph:
    """The three largest codes of each row, and what a second search of them gives."""
    m = IntegerMaker(1)
    x = m.input(1, 4, 10)
    codes = m.op(qops.QTopK(3, largest=True, indices=False), x, zero=3)
    m.builder.value(Value("second", (1, 4, 3), DType.INT32))
    m.builder.node("second.node", second, (x,), ("second",), ("second",))
    return m.graph(m.lut(codes), "second")


def test_codes_and_indices_are_one_operator(tmp_path: Path):
    graph = searched(qops.QTopK(3, largest=True, indices=True))
    merged = merge_top_k(graph)
    (node,) = (node for node in merged.nodes if isinstance(node.attrs, qops.QTopK))
    assert (len(node.outputs), node.attrs_as(qops.QTopK).both) == (2, True)
    x = np.random.default_rng(0).integers(-3, 3, (1, 4, 10)).astype(np.int8)
    before, after = (run_graph(each, {"x": x}) for each in (graph, merged))
    assert all(np.array_equal(before[name], after[name]) for name in graph.outputs)
    program = check_host(merged, tmp_path)
    assert sorted(len(step.outputs) for step in program.steps) == [1, 2]


def test_another_search_stays_apart():
    graph = searched(qops.QTopK(3, largest=False, indices=True))
    assert len(merge_top_k(graph).nodes) == len(graph.nodes)

"""Oracle = generated C on random networks; planned arena = one buffer per tensor."""

import tempfile
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from parity import check_host
from random_graphs import networks

from edgec.base.dtypes import DType
from edgec.ir import Graph, QuantParams, Value, qops
from edgec.ir.graph_builder import GraphBuilder

QUICK = settings(
    max_examples=12,
    deadline=None,
    derandomize=True,
    database=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)
THOROUGH = settings(QUICK, max_examples=120)


def check(graph: Graph) -> None:
    with tempfile.TemporaryDirectory() as folder:
        planned = check_host(graph, Path(folder) / "planned")
        apart = check_host(graph, Path(folder) / "apart", one_buffer_per_tensor=True)
    assert planned.arena_bytes <= apart.arena_bytes


@QUICK
@given(graph=networks())
def test_network(graph: Graph):
    check(graph)


def test_the_last_step_does_not_overwrite_an_output_that_it_reads():
    """Found by `test_network_thoroughly`: the tensor is an output only by way of a reshape."""
    builder = GraphBuilder("kept")
    quant = QuantParams.per_tensor(1.0, 0)
    for name, shape in (("x", (2, 1)), ("y", (2, 1)), ("view", (1, 2)), ("z", (2, 1))):
        builder.value(Value(name, shape, DType.INT8, quant))
    tables = [np.roll(np.arange(-128, 128), turn).astype(np.int8) for turn in (1, 2)]
    first, second = (builder.constant("table", table) for table in tables)
    builder.node("first", qops.QLut(), ["x", first], ["y"])
    builder.node("reshape", qops.QReshape((1, 2)), ["y"], ["view"])
    builder.node("second", qops.QLut(), ["y", second], ["z"])
    builder.inputs, builder.outputs = ["x"], ["view", "z"]
    check(builder.build())


@pytest.mark.slow
@THOROUGH
@given(graph=networks(most_nodes=20))
def test_network_thoroughly(graph: Graph):
    check(graph)

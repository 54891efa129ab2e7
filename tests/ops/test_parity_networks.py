"""Oracle = generated C on random networks; planned arena = one buffer per tensor."""

import tempfile
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from parity import check_host
from random_graphs import networks

from edgec.ir import Graph

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


@pytest.mark.slow
@THOROUGH
@given(graph=networks(most_nodes=20))
def test_network_thoroughly(graph: Graph):
    check(graph)

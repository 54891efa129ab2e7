"""Oracle = generated C, operator by operator, every number at its edges."""

import tempfile
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from parity import check_host
from random_graphs import single_ops
from random_ops import OPS

QUICK = settings(
    max_examples=6,
    deadline=None,
    derandomize=True,
    database=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)
THOROUGH = settings(QUICK, max_examples=40)


def check(op: str, data: st.DataObject, count: int) -> None:
    graph = data.draw(single_ops(op, count))
    with tempfile.TemporaryDirectory() as folder:
        check_host(graph, Path(folder))


@pytest.mark.few_cases(8)
@pytest.mark.parametrize("op", OPS)
@QUICK
@given(data=st.data())
def test_single_operator(op: str, data: st.DataObject):
    check(op, data, 12)


@pytest.mark.slow
@pytest.mark.parametrize("op", OPS)
@THOROUGH
@given(data=st.data())
def test_single_operator_thoroughly(op: str, data: st.DataObject):
    check(op, data, 24)

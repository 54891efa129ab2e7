"""ONNX's own node tests through the importer; expected.toml lists what is left out, and why."""

from __future__ import annotations

import tomllib
from pathlib import Path

import pytest
from backend_cases import backend_cases, run_case

from edgec.base.errors import EdgecError

CASES = backend_cases()
_FILE = Path(__file__).with_name("expected.toml")
EXCLUDED = {
    test: entry["reason"]
    for entry in tomllib.loads(_FILE.read_text(encoding="utf-8"))["excluded"]
    for test in entry["tests"]
}


@pytest.mark.parametrize("name", sorted(CASES.keys() - EXCLUDED.keys()))
def test_node(name, tmp_path):
    run_case(CASES[name], tmp_path)


@pytest.mark.parametrize("name", sorted(CASES.keys() & EXCLUDED.keys()))
def test_excluded_node_does_not_pass(name, tmp_path):
    """An exclusion that passes is out of date; one that fails does so with a clear message."""
    with pytest.raises((EdgecError, AssertionError)):
        run_case(CASES[name], tmp_path)


def test_every_exclusion_has_a_reason():
    assert all(len(reason) > 10 for reason in EXCLUDED.values())
    assert len(CASES) > 300

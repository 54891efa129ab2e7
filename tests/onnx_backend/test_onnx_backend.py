"""ONNX's own node tests through the importer; expected.toml lists what is left out, and why."""

from __future__ import annotations

import tomllib
from pathlib import Path

import pytest
from backend_cases import backend_cases, run_case

from edgec.base.errors import ImportModelError

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
def test_excluded_node_is_refused(name, tmp_path):
    """Only a refusal by the importer excuses an exclusion: never wrong numbers, never a pass."""
    with pytest.raises(ImportModelError):
        run_case(CASES[name], tmp_path)


def test_every_exclusion_has_a_reason():
    assert all(len(reason) > 10 for reason in EXCLUDED.values())
    assert len(CASES) > 300

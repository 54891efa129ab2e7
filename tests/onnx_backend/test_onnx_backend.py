"""ONNX's node tests through integers: the stored verdicts hold, and the page says what they say."""

from __future__ import annotations

import logging
import shutil
import zlib
from collections.abc import Iterator
from functools import partial

import pytest
from host_check import host_check
from node_cases import all_cases, operator_of
from operators_page import updated
from places import REPOSITORY
from stored import store, stored
from verdict import MATCH, TRACEBACK, WRONG, verdict

from edgec.quant import entry

PAGE = REPOSITORY / "docs" / "operators.md"
STORED = stored()
_EVERY = 23
"""One test in so many is run by default."""
_HOST_EVERY = 97
SAMPLE = [name for name in sorted(STORED) if zlib.crc32(name.encode()) % _EVERY == 0]
HOST_SAMPLE = [
    name
    for name in sorted(STORED)
    if zlib.crc32(name.encode()) % _HOST_EVERY == 0 and STORED[name].kind == MATCH
]


@pytest.fixture(autouse=True)
def quiet() -> Iterator[None]:
    """Nothing is logged about calibration data that are few and made up."""
    logging.disable(logging.WARNING)
    yield
    logging.disable(logging.NOTSET)


def test_every_node_test_has_a_verdict():
    assert STORED.keys() == all_cases().keys()


def test_none_is_wrong():
    bad = {n: v.text for n, v in STORED.items() if v.kind in (WRONG, TRACEBACK)}
    assert not bad


@pytest.mark.parametrize("name", SAMPLE)
def test_a_sample(name, tmp_path):
    """What is stored holds; an operator that is new may do better."""
    found = verdict(name, tmp_path)
    assert found.kind in (STORED[name].kind, MATCH), found.text


@pytest.mark.parametrize("name", HOST_SAMPLE)
def test_a_sample_on_the_host(name, tmp_path):
    assert verdict(name, tmp_path, partial(host_check, folder=tmp_path)).kind == MATCH


@pytest.mark.slow
def test_all(tmp_path, request):
    """Where integers match, the generated C gives the same ones on this computer."""
    if request.config.getoption("--update-golden"):
        new = {name: verdict(name, tmp_path) for name in sorted(all_cases())}
        store(new)
        PAGE.write_text(updated(PAGE.read_text("utf-8"), new), "utf-8")
        return
    found, operators = {}, set()
    for name in sorted(all_cases()):
        folder = tmp_path / name
        folder.mkdir()
        matches = name in STORED and STORED[name].kind == MATCH
        check = partial(host_check, folder=folder) if matches else None
        with pytest.MonkeyPatch.context() as patch:
            # What fresh samples would do takes longer than all else, and decides no verdict.
            if operator_of(name) in operators:
                patch.setattr(entry, "estimated", lambda *_: None)
            found[name] = verdict(name, folder, check)
        operators.add(operator_of(name))
        shutil.rmtree(folder)
    others = {
        name: v for name, v in found.items() if name not in STORED or v.kind != STORED[name].kind
    }
    assert not others
    assert found.keys() == STORED.keys()


def test_the_page(request):
    """The page is that of the stored verdicts and of the importers."""
    text = PAGE.read_text("utf-8")
    made = updated(text, STORED)
    if request.config.getoption("--update-golden"):
        PAGE.write_text(made, "utf-8")
        return
    assert text == made, "docs/operators.md is out of date: pytest --update-golden"

"""Figures of boards of each kind: limits, choices, refusals, and what pages call them."""

from __future__ import annotations

import io
import json
import math
import sys

import pytest

pytest.importorskip("optuna", reason="the search engine, edgec[explore], is not installed")

from explore_trials import measured, synthetic_task
from page_samples import search, search_on_linux
from rich.console import Console

from edgec.base.errors import ConfigError
from edgec.cli.explore_text import print_front, state_json
from edgec.explore import installed
from edgec.explore.figures import KINDS, LINUX, MICROCONTROLLERS, kind_of, limits_of
from edgec.explore.front import Choice, Point, front_of
from edgec.explore.page import render_explore_html, title_of
from edgec.explore.task import Task
from edgec.target.board import load_board

ON_LINUX, ON_MICROCONTROLLERS = KINDS[LINUX], KINDS[MICROCONTROLLERS]


def board(*names: str) -> str:
    return kind_of([load_board(name) for name in names])


def test_boards_of_one_kind_are_compared():
    assert board("nucleo_f446re", "rpi_pico") == MICROCONTROLLERS
    assert board("raspberry_pi_3", "beaglebone_black") == LINUX
    with pytest.raises(ConfigError, match="rpi_pico is compared by time, and raspberry_pi_3,"):
        board("raspberry_pi_3", "rpi_pico")
    with pytest.raises(ConfigError, match="has no figures that could be compared"):
        board("host")


def test_limits_are_of_the_figures_that_there_are():
    assert limits_of("flash=64K,ram=1m,ms=2.5,drop=0", ON_MICROCONTROLLERS) == {
        "flash": 65536.0,
        "ram": 1048576.0,
        "ms": 2.5,
        "drop": 0.0,
    }
    assert limits_of("mi=0.05, arena=4K,weights=9000", ON_LINUX) == {
        "mi": 0.05,
        "arena": 4096.0,
        "weights": 9000.0,
    }


@pytest.mark.parametrize(
    ("text", "kind", "what"),
    [
        ("", LINUX, "'' is no limit"),
        ("db=30", MICROCONTROLLERS, "'db' is no limit"),
        ("uj=3", MICROCONTROLLERS, "'uj' is no limit"),
        ("mi=3", MICROCONTROLLERS, "a search for microcontrollers has no mi"),
        ("ms=3", LINUX, "a search for boards with Linux has no ms"),
        ("uj=3", LINUX, "a search for boards with Linux has no uj"),
        ("mi=1,mi=2", LINUX, "cannot read 'mi=2'"),
        ("mi=-1", LINUX, "cannot read 'mi=-1'"),
        ("mi=2K", LINUX, "cannot read 'mi=2K'"),
        ("mi=0", LINUX, "'mi=0' limits nothing"),
        ("drop=101", LINUX, "'drop=101' limits nothing"),
    ],
)
def test_other_limits_are_refused(text: str, kind: str, what: str):
    with pytest.raises(ConfigError, match=what):
        limits_of(text, KINDS[kind])


def test_what_is_refused_has_something_in_its_place():
    for name, instead in {"ms": "mi", "flash": "weights", "ram": "arena", "uj": "mi"}.items():
        with pytest.raises(ConfigError) as found:
            ON_LINUX.check_here(name, "--select")
        assert str(found.value.hint).startswith(f"give {instead} (")


def test_a_point_is_chosen_by_instructions():
    points = (
        Point(0, {}, measured(0.0, 2.0, 900.0, 100.0, kind=LINUX)),
        Point(1, {}, measured(1.0, 1.0, 900.0, 100.0, kind=LINUX)),
        Point(2, {}, measured(1.0, 1.5, 900.0, 100.0, kind=LINUX)),
        Point(3, {}, None, "no room"),
    )
    front = front_of(points, {"mi": 3.0})
    assert [each.number for each in front] == [0, 1]
    assert [each.number for each in front_of(points, {"mi": 1.9})] == [1]
    assert Choice.parse("mi<=5 least drop", ON_LINUX).of(front).number == 0
    assert Choice.parse("arena<=1K smallest mi", ON_LINUX).of(front).number == 1
    assert points[0].values == (0.0, 2.0, 900.0, 100.0)
    assert math.isinf(points[3].value("mi"))
    for text in ("ms<=2 smallest mi", "smallest ram", "least uj"):
        with pytest.raises(ConfigError, match="a search for boards with Linux has no"):
            Choice.parse(text, ON_LINUX)
    with pytest.raises(ConfigError, match="a search for microcontrollers has no mi"):
        Choice.parse("smallest mi", ON_MICROCONTROLLERS)


def test_a_page_says_what_was_counted():
    """Of a network without weights, too, whose points all have the least area."""
    state = search_on_linux()
    page = render_explore_html(state)
    assert "millions of instructions" in page
    assert "as good in accuracy, instructions, weights and arena" in page
    assert "<th>M instr.</th><th>weights</th><th>arena</th>" in page
    assert "caches and speculation make time another thing." in page
    assert not any(text in page for text in ("milliseconds", "µJ", "RAM", "nan", "inf B"))
    usual = render_explore_html(search())
    assert "milliseconds" in usual
    assert "as good in accuracy, time, flash and RAM" in usual
    assert "<th>ms</th><th>flash</th><th>RAM</th><th>µJ</th>" in usual
    assert "instructions" not in usual
    assert title_of(state.points[0], state.task).startswith(
        "trial 0: 0.00 points, 1 M instr., weights 0 B, arena 4,000 B; "
    )


def test_tables_and_records_have_the_figures_of_the_kind():
    for state, names, heading in (
        (search(), ["drop", "ms", "flash", "ram", "microjoules"], "µJ"),
        (search_on_linux(), ["drop", "mi", "weights", "arena"], "M instr."),
    ):
        trial = json.loads(json.dumps(state_json(state, None)))["trials"][0]
        assert list(trial["figures"]) == names
        out = Console(file=io.StringIO(), width=120)
        print_front(state, None, "explore.html", out)
        assert heading in out.file.getvalue()


def test_a_task_keeps_its_kind():
    for kind in KINDS:
        task = synthetic_task({}, limits="drop=1", kind=kind)
        assert Task.from_text(task.to_text()).figures is KINDS[kind]
        assert task.bounds == {"drop": 1.0}


def test_a_computer_that_cannot_measure_is_refused(monkeypatch: pytest.MonkeyPatch):
    pi, nucleo = load_board("raspberry_pi_3"), load_board("nucleo_f446re")
    monkeypatch.setattr("edgec.sim.qemu.process.which", lambda _: None)
    monkeypatch.setattr(installed, "runs_natively", lambda _: False)
    with pytest.raises(ConfigError, match="needs qemu-aarch64, which is not on PATH"):
        installed.check_measures(pi)
    installed.check_measures(nucleo)
    monkeypatch.setattr(installed, "runs_natively", lambda _: True)
    installed.check_measures(pi)
    monkeypatch.setitem(sys.modules, "capstone", None)
    for each in (pi, nucleo):
        with pytest.raises(ConfigError, match="trials need capstone, which is not installed"):
            installed.check_measures(each)

"""With --json an error is one JSON object on stdout; docs/exit-codes.md lists every kind."""

import json
import re
from pathlib import Path
from typing import Any

import pytest
from bad_input_support import MLP, Done, edgec, model_of, saved
from onnx import helper

from edgec.base import errors
from edgec.base.errors import BudgetError, BudgetFigure, EdgecError
from edgec.cli.errors import guarded

ROOT = Path(__file__).resolve().parents[2]
Capsys = pytest.CaptureFixture[str]


def the_object(done: Done, kind: str, code: int) -> dict[str, Any]:
    """The error that a command printed; nothing else was printed but what it was doing."""
    found: dict[str, Any] = json.loads(done.out)
    assert "error" not in done.err
    assert (found["kind"], found["exit_code"], done.code) == (kind, code, code)
    assert all(isinstance(found[key], str) for key in ("what", "where", "hint"))
    return found


def test_missing_file_and_unknown_board(capsys: Capsys, tmp_path: Path) -> None:
    absent = tmp_path / "absent.onnx"
    found = the_object(edgec(capsys, "inspect", absent, "--json"), "ImportModelError", 3)
    assert "absent.onnx" in found["where"]
    done = edgec(capsys, "compile", MLP, "--board", "nucleus", "--json")
    assert "nucleo" in the_object(done, "ConfigError", 2)["hint"]


@pytest.mark.parametrize(
    "words",
    [
        ("no-such-command", "--json"),
        ("compile", "--json"),
        ("inspect", MLP, "--json", "--no-such-option"),
        ("evaluate", "dir", "--data", "d.npz", "--limit", "many", "--json"),
    ],
)
def test_usage(capsys: Capsys, words: tuple[object, ...]) -> None:
    assert the_object(edgec(capsys, *words), "UsageError", 2)["what"]


def test_unsupported_nodes_are_listed(capsys: Capsys, tmp_path: Path) -> None:
    nodes = [helper.make_node("Det", ["x"], ["y"], name="det")]
    model = saved(model_of(nodes, input_shape=(1, 4, 4)), tmp_path)
    options = ("--board", "host", "--no-build", "--out", tmp_path / "out", "--json")
    found = the_object(edgec(capsys, "compile", model, *options), "UnsupportedModelError", 3)
    assert [node["name"] for node in found["nodes"]] == ["det"]


def test_budget_has_its_figures(capsys: Capsys) -> None:
    figures = (BudgetFigure("flash_bytes", 2000, 1024), BudgetFigure("time_ms", 3.5, 2.0))

    def fail() -> None:
        raise BudgetError("over budget", figures, where="nucleo")

    code = guarded(fail, json=True)
    found = the_object(Done(code, *capsys.readouterr()), "BudgetError", 11)
    assert found["figures"][0] == {"name": "flash_bytes", "found": 2000, "budget": 1024}


def test_interruption_and_faults_of_edgec(capsys: Capsys) -> None:
    for raised, kind, code in (
        (KeyboardInterrupt(), "InterruptedByUser", 130),
        (RuntimeError("broken"), "InternalError", 70),
        (ImportError("no module"), "InternalError", 70),
        (ImportError("lib.so: failed to map segment from shared object"), "ConfigError", 2),
    ):

        def fail(error: BaseException = raised) -> None:
            raise error

        the_object(Done(guarded(fail, json=True), *capsys.readouterr()), kind, code)


def test_help_and_results_are_as_ever(capsys: Capsys) -> None:
    assert "Usage" in edgec(capsys, "inspect", "--json", "--help").out
    done = edgec(capsys, "inspect", MLP, "--json")
    assert done.code == 0
    assert "kind" not in json.loads(done.out)
    assert edgec(capsys, "--version").code == 0


def test_every_kind_is_documented() -> None:
    text = (ROOT / "docs" / "exit-codes.md").read_text("utf-8")
    rows = {(kind, int(code)) for code, kind in re.findall(r"^\| (\d+) \| `(\w+)` \|", text, re.M)}
    kinds = {
        (name, kind.exit_code)
        for name, kind in vars(errors).items()
        if isinstance(kind, type) and issubclass(kind, EdgecError) and kind is not EdgecError
    }
    assert rows == kinds

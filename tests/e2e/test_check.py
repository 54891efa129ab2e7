"""`edgec check`: committed figures hold, a worse build fails, and the table says where."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest
from bad_input_support import CALIBRATION, MLP, RESNET, TEST_DATA, check_one_message, edgec

Capsys = pytest.CaptureFixture[str]
TOML = """\
model = "net.onnx"
board = "nucleo"
calibration = "calibration.npz"
verify = false

[check]
data = "test.npz"
limit = 100
tolerance = "flash=100,cycles=2%"
"""


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A project for a Nucleo in the current folder."""
    for source, name in ((MLP, "net.onnx"), (CALIBRATION, "calibration.npz")):
        shutil.copy(source, tmp_path / name)
    shutil.copy(TEST_DATA, tmp_path / "test.npz")
    (tmp_path / "edgec.toml").write_text(TOML)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def change(path: Path, **figures: float) -> None:
    data = json.loads(path.read_text())
    data["figures"].update(figures)
    path.write_text(json.dumps(data))


def test_a_worse_build_fails(
    capsys: Capsys, project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    lock = project / "edgec.lock.json"
    monkeypatch.setenv("CI", "1")
    check_one_message(edgec(capsys, "check"), "--update", "edgec.lock.json", code=2)
    monkeypatch.delenv("CI")
    done = edgec(capsys, "check")  # the first time
    assert done.code == 0
    assert "first figures" in done.out
    figures = json.loads(lock.read_text())["figures"]
    report = json.loads((project / "build/net-nucleo_f446re/report.json").read_text())
    assert figures["flash_bytes"] == report["memory"]["flash_bytes"]
    assert figures["macs"] == report["macs"]
    assert figures["accuracy"] > 0.9
    assert 1_000 < figures["cycles"] < 20_000
    done = edgec(capsys, "check", "--markdown", "table.md")
    assert done.code == 0
    assert "nothing is worse" in (project / "table.md").read_text()

    # Another network: more of everything.
    shutil.copy(RESNET, project / "net.onnx")
    done = edgec(capsys, "check", ".", "--markdown", "table.md")
    assert done.code == 12
    assert "error: edgec.lock.json: worse than the committed figures: flash" in done.err
    assert "worse" in done.out
    assert "| cycles |" in (project / "table.md").read_text()
    found = json.loads(edgec(capsys, "check", "edgec.toml", "--json").out)
    assert (found["kind"], found["exit_code"]) == ("RegressionError", 12)
    worse = {each["name"]: each for each in found["figures"]}
    assert {"flash_bytes", "cycles", "macs"} <= set(worse)
    assert worse["macs"]["found"] > worse["macs"]["committed"] == figures["macs"]
    assert json.loads(lock.read_text())["figures"] == figures

    wide = "flash=1000%,ram=1000%,cycles=9999%,db=60"
    done = edgec(capsys, "check", "--tolerance", wide, "--json")
    assert done.code == 0
    states = {each["name"]: each["state"] for each in json.loads(done.out)["changes"]}
    assert states["macs"] == "within"


def test_the_host_has_fewer_figures(capsys: Capsys, project: Path) -> None:
    toml = project / "edgec.toml"
    toml.write_text(TOML.replace("nucleo", "host").split("\n[check]")[0] + "\nbuild = false\n")
    assert edgec(capsys, "check", "--update").code == 0
    lock = project / "edgec.lock.json"
    data = json.loads(lock.read_text())
    assert set(data["figures"]) == {"weight_bytes", "arena_bytes", "macs", "sqnr_db"}
    change(lock, accuracy=0.9)
    done = edgec(capsys, "check")
    assert done.code == 12
    assert "accuracy was 90.00% and is not measured any more" in done.err
    data["board"] = "microbit"
    lock.write_text(json.dumps(data))
    done = edgec(capsys, "check")
    check_one_message(done, "figures are of the board microbit", "--update", code=2)
    assert edgec(capsys, "check", "--update").code == 0
    assert json.loads(lock.read_text())["board"] == "host"


@pytest.mark.parametrize(
    ("old", "new", "where"),
    [
        ("limit = 100", "limits = 100", "edgec.toml: check.limits"),
        ("limit = 100", "limit = 0", "edgec.toml: check.limit"),
        ("limit = 100", "update = true", "edgec.toml: check.update"),
        ("flash=100", "flash=a", "edgec.toml: check.tolerance"),
        ("flash=100", "heap=1", "edgec.toml: check.tolerance"),
        ('data = "test.npz"', "", "edgec.toml: check.limit"),
        ("[check]", "[[check]]", "edgec.toml: check"),
        ('board = "nucleo"', "", "edgec.toml"),
        ('"net.onnx"', '"no.onnx"', "no.onnx"),
    ],
)
def test_mistakes(capsys: Capsys, project: Path, old: str, new: str, where: str) -> None:
    (project / "edgec.toml").write_text(TOML.replace(old, new))
    done = edgec(capsys, "check", "--update")
    check_one_message(done, where)
    assert not (project / "edgec.lock.json").exists()


def test_no_project(capsys: Capsys, tmp_path: Path) -> None:
    check_one_message(edgec(capsys, "check", tmp_path), "edgec.toml", "project file", code=2)

"""Where a front end may be named: the option, a project file, and the model's own file."""

from __future__ import annotations

from pathlib import Path

import onnx
import pytest
from bad_input_support import check_one_message, edgec
from onnx import TensorProto, helper

from edgec.report.model import Report

TEXT = "mfcc:window=320,hop=160,filters=20,coefficients=8,from-hz=100.0,even-area=true"
TABLE = """
[front_end]
name = "mfcc"
window = 320
hop = 160
filters = 20
coefficients = 8
from-hz = 100.0
even-area = true
"""


def saved(folder: Path, said: str = "") -> Path:
    """A network of ten frames of eight features; `said`: its property."""
    ports = [helper.make_tensor_value_info(n, TensorProto.FLOAT, [1, 10, 8]) for n in ("x", "y")]
    graph = helper.make_graph([helper.make_node("Relu", ["x"], ["y"])], "ear", ports[:1], ports[1:])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)])
    if said:
        helper.set_model_props(model, {"edgec.front_end": said})
    path = folder / "ear.onnx"
    onnx.save(model, path)
    return path


def compiled(capsys, *words: object) -> str:
    """The front end of a build for this computer; "" where it has none."""
    done = edgec(capsys, "compile", *words, "--force")
    assert done.code == 0, done.err
    (folder,) = {path.parent for path in Path.cwd().glob("**/report.json")}
    found = Report.read(folder).front_end
    return "" if found is None else found.text


def test_three_sources_are_one(tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    words = (saved(tmp_path), "--board", "host", "--out", tmp_path / "out")
    assert compiled(capsys, *words, "--front-end", TEXT) == TEXT
    saved(tmp_path, TEXT)
    assert compiled(capsys, *words) == TEXT
    assert TEXT in edgec(capsys, "inspect", words[0]).out.replace("\n", "")
    assert compiled(capsys, *words, "--front-end", "none") == ""
    saved(tmp_path, "log-mel")
    file = 'model = "ear.onnx"\nboard = "host"\nout = "out"\n'
    (tmp_path / "edgec.toml").write_text(file + TABLE)
    # The project file is before the model's, the command line before both.
    assert compiled(capsys) == TEXT
    assert compiled(capsys, "--front-end", "log-mel:filters=8") == "log-mel:filters=8"
    (tmp_path / "edgec.toml").write_text(f'{file}front-end = "{TEXT}"\n')
    assert compiled(capsys) == TEXT


@pytest.mark.parametrize(
    ("table", "words"),
    [
        ("[front_end]\nwindow = 320\n", "does not say which front end"),
        ('[front_end]\nname = "mell"\n', "there is no front end 'mell'"),
        ('[front_end]\nname = "mfcc"\nhops = 2\n', "mfcc has no parameter 'hops'"),
        ('[front_end]\nname = "mfcc"\nhop = [2]\n', "hop is list"),
        ('[front_end]\nname = "mfcc"\nhop = 2.5\n', "hop cannot be 2.5"),
        ('[front_end]\nname = "mfcc"\nmel = "bark"\n', "mel cannot be bark"),
        ('front-end = "mfcc"\n[front_end]\nname = "mfcc"\n', "front-end is there as well"),
    ],
)
def test_tables_that_cannot_be(table, words, tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    saved(tmp_path)
    (tmp_path / "edgec.toml").write_text(f'model = "ear.onnx"\nboard = "host"\n{table}')
    done = edgec(capsys, "compile")
    check_one_message(done, words)
    assert "edgec.toml: front_end" in done.err.replace("\n", "")


@pytest.mark.parametrize("said", ["mell", "mfcc:hops=2", "mfcc:", "mfcc:hop=0"])
def test_a_file_whose_front_end_cannot_be(said, tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    words = (saved(tmp_path, said), "--board", "host", "--out", tmp_path / "out")
    check_one_message(edgec(capsys, "compile", *words), "edgec.front_end")
    assert edgec(capsys, "compile", *words, "--front-end", "none").code == 0

"""Names from a model forge nothing: no line of a report, no escape sequence, no direction of text.

One model has hostile names wherever a file can hold one; every output is looked at.
"""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import onnx
import pytest
from bad_input_support import edgec
from onnx import TensorProto, helper, numpy_helper

from edgec.base.names import printable

FORGED = "forged line"
HOSTILE = (
    f"x\n{FORGED}: all is well\r{FORGED}\x85{FORGED}\u2028{FORGED}\x1b[2J\x1b]0;t\x07"
    "\u202e\u2066\u200f\x00*/ // <script>alert(1)</script> [bold]|`$(reboot)` ??/ \\"
)
BAD = {chr(c) for c in (*range(9), *range(11, 32), *range(127, 160))} | set(
    "\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069\u2028\u2029\u061c"
)
"""Control characters but tab and line feed, and marks of direction."""
OWN = ("weights.c", "edgec_")


def hostile(name: str) -> str:
    return f"{name}{HOSTILE}"


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two layers; every name, text and label of the file is hostile."""
    random = np.random.default_rng(0)
    constants = {
        "w": random.normal(size=(8, 6)).astype(np.float32),
        "b": random.normal(size=8).astype(np.float32),
        "v": random.normal(size=(4, 8)).astype(np.float32),
    }
    n = hostile
    nodes = [
        helper.make_node("Gemm", [n("x"), n("w"), n("b")], [n("h")], name=n("fc1"), transB=1),
        helper.make_node("Relu", [n("h")], [n("r")], name=n("relu")),
        helper.make_node("Gemm", [n("r"), n("v")], [n("y")], name=n("fc2"), transB=1),
    ]
    graph = helper.make_graph(
        nodes,
        n("graph"),
        [helper.make_tensor_value_info(n("x"), TensorProto.FLOAT, [1, 6])],
        [helper.make_tensor_value_info(n("y"), TensorProto.FLOAT, [1, 4])],
        [numpy_helper.from_array(array, n(name)) for name, array in constants.items()],
        doc_string=n("doc"),
    )
    made = helper.make_model(
        graph,
        opset_imports=[helper.make_opsetid("", 17)],
        ir_version=8,
        producer_name=n("producer"),
        doc_string=n("doc"),
    )
    helper.set_model_props(made, {"title": n("title"), "author": n("author"), n("key"): n("value")})
    path = tmp_path_factory.mktemp("hostile") / "net.onnx"
    onnx.save(made, path)
    return path


def check_text(text: str, where: str) -> None:
    """Nothing in there does anything but be read, and no line is the model's."""
    assert not BAD & set(text), (where, sorted(BAD & set(text)))
    forged = [line for line in text.splitlines() if line.strip().startswith(FORGED)]
    assert not forged, (where, forged)


def test_every_output(model: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    out, page = tmp_path / "out", tmp_path / "page.html"
    samples = tmp_path / "samples.npz"
    np.savez(samples, x=np.random.default_rng(1).normal(size=(40, 6)).astype(np.float32))
    words = (model, "--board", "mps2_an386", "--calibration", samples, "--out", out)
    done = edgec(capsys, "compile", *words, "--html", page)
    assert done.code == 0, done.err
    shown = {"compile": done.out + done.err, "page": page.read_text("utf-8")}
    assert "<script>alert(1)" not in shown["page"]
    commands = {
        "compile": (*words, "--json"),
        "inspect": (model,),
        "validate": (out, "--html", tmp_path / "v.html"),
        "profile": (out, "--html", tmp_path / "p.html"),
        "run": (out, "--input", samples),
        "compare": (out, out),
        "export": (out, "--as", "c", "--out", tmp_path / "exported"),
        "quantize": (model, "--calibration", samples, "-o", tmp_path / "q.onnx"),
        "compress": (model, "--calibration", samples, "-o", tmp_path / "c.onnx"),
    }
    for name, arguments in commands.items():
        done = edgec(capsys, name, *arguments)
        assert done.code != 70, done.err
        shown[name] = done.out + done.err
        if name != "compress":
            assert done.code == 0, done.err
    json.loads(edgec(capsys, "compile", *words, "--json").out)
    for file in sorted(tmp_path.rglob("*")):
        binary = {".npz", ".onnx", ".elf", ".bin", ".hex", ".entry", ".a", ".o"}
        if file.is_file() and file.suffix not in binary and ".pio" not in file.parts:
            shown[str(file)] = file.read_text("utf-8", "strict")
    assert sum(name.endswith(".html") for name in shown) == 3
    assert {Path(name).suffix for name in shown} >= {".c", ".h", ".md", ".txt", ".json"}
    for where, text in shown.items():
        check_text(text, where)
    report = (out / "report.txt").read_text("utf-8")
    assert "\\x1b[2J" in report
    assert "\\u202e" in report


def test_an_error_that_names_it(model: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    """A message may have several lines; those of a name are told from ours."""
    broken = onnx.load(model)
    broken.graph.node[1].op_type = hostile("Strange")
    onnx.save(broken, tmp_path / "broken.onnx")
    for command in ("inspect", "compile"):
        more = ("--board", "host") if command == "compile" else ()
        done = edgec(capsys, command, tmp_path / "broken.onnx", *more)
        assert done.code != 70
        assert not BAD & set(done.out + done.err)
        assert not any(line.startswith(FORGED) for line in (done.out + done.err).splitlines())


@pytest.mark.parametrize("character", sorted(BAD - {"\n"}))
def test_every_such_character_is_escaped(character: str):
    for lines in (False, True):
        assert printable(f"a{character}b", lines=lines).isprintable()


def test_what_people_write_stays():
    text = "Größe 画像 🎉 naïve – ½"
    assert printable(text) == text
    assert printable("a\nb") == "a\\nb"
    assert printable("a\nb\x1b", lines=True) == "a\nb\\x1b"

"""Names and labels that nobody trusts, in exported libraries: as text, never as code."""

import json
import re
from pathlib import Path

import pytest
import yaml
from bad_input_support import CALIBRATION, MLP, check_one_message, edgec
from exported_library import STRICT, export, need, run

from edgec.cli.app import run_app
from edgec.codegen.cliterals import c_string, harmless_text
from edgec.codegen.formats.registry import FORMATS

Capsys = pytest.CaptureFixture[str]
NAME = "x\"; system('rm') \\ $(shell id) ${ENV{HOME}} %% {{ 7 }} `id` */ <b> & é"
BROKEN_OUT = ('x"', "system(", "$(shell", "${ENV", "{{ 7", "`id`", "*/ evil", '"; evil', "<b>")
"""Parts of these names as they would be outside of quotes and comments."""
LABELS = (
    '"; int evil = 1; //',
    "*/ #error evil /*",
    "back\\slash \\n \\x41 \\",
    "??/ ??' trigraphs",
    "%s%n%d",
    "é ü 猫 \u202e",
    "tab\tbell\aescape\x1b[31m",
    "${ENV{HOME}} $(id) `id`",
    "",
    "7 follows\x01" + "7",
)


@pytest.fixture(scope="module")
def hostile(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The digits MLP under a name made to break out of every language, in a build folder."""
    folder = tmp_path_factory.mktemp("hostile")
    model = folder / f"{NAME.replace('/', ':')}.onnx"
    model.write_bytes(MLP.read_bytes())
    words = ["compile", model, "--board", "host", "--calibration", CALIBRATION]
    words += ["--out", folder / "build", "--no-build", "--no-verify"]
    assert run_app([str(word) for word in words]) == 0
    report = folder / "build" / "report.json"
    data = json.loads(report.read_text())
    # A report that somebody edited: nothing in it may be taken for a name in C.
    data["c_name"] = '"; evil'
    data["digest"] = '*/ evil "'
    for port in (*data["inputs"], *data["outputs"]):
        port["name"] = NAME
    report.write_text(json.dumps(data))
    return folder / "build"


def labels_file(folder: Path) -> Path:
    path = folder / "labels.txt"
    path.write_bytes("\n".join([*LABELS, "", ""]).encode())
    return path


@pytest.mark.parametrize("form", FORMATS)
def test_only_harmless_text_outside_of_the_labels(hostile: Path, form: str, tmp_path: Path):
    need("gcc")
    out = export(hostile, form, tmp_path / "out", "--labels", labels_file(tmp_path))
    headers = out / FORMATS[form].headers
    texts = {path: path.read_text() for path in out.rglob("*") if path.is_file()}
    for path, text in texts.items():
        if path.suffix in (".c", ".h"):
            continue  # comments and strings of C have their own rules: it is compiled below
        assert not any(word in text for word in BROKEN_OUT), path
    for source in out.rglob("*.c"):
        run("gcc", "-std=c11", *STRICT, f"-I{headers}", "-fsyntax-only", source)
    for path, text in texts.items():
        if path.suffix in (".yml", ".yaml"):
            assert isinstance(yaml.safe_load(text), dict)
        if path.suffix == ".json":
            json.loads(text)


def test_labels_arrive_byte_by_byte(hostile: Path, tmp_path: Path):
    need("gcc")
    out = export(hostile, "c", tmp_path / "out", "--labels", labels_file(tmp_path))
    (header,) = (out / "include").glob("*-labels.h")
    prefix = header.name.removesuffix("-labels.h")
    (tmp_path / "main.c").write_text(
        f'#include <stdio.h>\n#include "{header.name}"\n'
        f"int main(void) {{ for (uint32_t i = 0; i < {prefix.upper()}_NUM_LABELS; i++) "
        f"fwrite({prefix}_label(i), 1, __builtin_strlen({prefix}_label(i)) + 1, stdout); }}\n"
    )
    for flags in (("-std=c11",), ("-std=c11", "-trigraphs"), ("-xc++", "-std=c++11")):
        words = (*flags, *STRICT, f"-I{out / 'include'}", tmp_path / "main.c")
        run("gcc", *words, "-o", tmp_path / "labels")
        assert run(tmp_path / "labels").split("\0")[:-1] == list(LABELS)


@pytest.mark.parametrize("text", [NAME, *LABELS, "a\0b", "x" * 500])
def test_text_for_quotes(text: str):
    assert re.fullmatch(r"[A-Za-z0-9 +,\-./:_]{1,60}", harmless_text(text))
    assert re.fullmatch(r'"([^"\\?\n]|\\[0-7]{3})*"', c_string(text))


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"", ("holds no labels",)),
        (b"one\ntwo\n", ("2 labels", "10")),
        (b"\xff\xfe\n" * 10, ("is no text in utf-8",)),
        (b"x" * 300 + b"\n1" * 9, ("label 1 is longer than 200",)),
        (b"a\0b" + b"\n1" * 9, ("label 1 holds a zero byte",)),
    ],
)
def test_labels_that_do_not_fit(compiled_mlp: Path, capsys: Capsys, content, words, tmp_path):
    (tmp_path / "labels.txt").write_bytes(content)
    command = ("export", compiled_mlp, "--as", "c", "-o", tmp_path / "out")
    done = edgec(capsys, *command, "--labels", tmp_path / "labels.txt")
    check_one_message(done, "labels.txt", *words, code=2)
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize("name", ["absent.txt", "."])
def test_no_file_of_labels(compiled_mlp: Path, capsys: Capsys, name: str, tmp_path: Path):
    command = ("export", compiled_mlp, "--as", "c", "-o", tmp_path / "out")
    check_one_message(edgec(capsys, *command, "--labels", tmp_path / name), "cannot be", code=2)

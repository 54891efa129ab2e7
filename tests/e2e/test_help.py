"""`--help`: sections, no broken word, nothing cut; what a shell completes."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest
from bad_input_support import edgec
from typer.main import get_command

from edgec.cli.app import app
from edgec.cli.examples import COMMON, EXAMPLES
from edgec.cli.one_line import ONE_LINE
from edgec.target.board import list_boards

COMMANDS = get_command(app).commands
Capsys = pytest.CaptureFixture[str]


def help_of(capsys: Capsys, monkeypatch: pytest.MonkeyPatch, name: str, width: int) -> str:
    monkeypatch.setenv("COLUMNS", str(width))
    done = edgec(capsys, name, "--help" if name == "boards" else "--help-all")
    assert (done.code, done.err) == (0, "")
    return done.out


def words(text: str) -> str:
    return " ".join(text.split())


@pytest.mark.parametrize("width", [80, 100])
@pytest.mark.parametrize("name", sorted(COMMANDS))
def test_every_option_is_explained_in_whole_words(
    capsys: Capsys, monkeypatch: pytest.MonkeyPatch, name: str, width: int
) -> None:
    text = help_of(capsys, monkeypatch, name, width)
    assert max(map(len, text.splitlines())) <= width
    assert "…" not in text
    flat = words(text)
    for paragraph in (COMMANDS[name].help or "").split("\n\n"):
        assert words(paragraph) in flat
    for parameter in COMMANDS[name].params:
        assert words(parameter.help or "") in flat
        for option in (*parameter.opts, *parameter.secondary_opts):
            assert not option.startswith("-") or option in flat


@pytest.mark.parametrize("name", sorted(COMMANDS))
def test_narrow_terminals(capsys: Capsys, monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    text = help_of(capsys, monkeypatch, name, 40)
    longest = max(len(word) for word in text.split())
    assert max(map(len, text.splitlines())) <= max(40, longest + 4)


ALL = [(name, command) for name, command in COMMANDS.items()]
ALL += [(f"boards {name}", each) for name, each in COMMANDS["boards"].commands.items()]
FREE_OF_LINES = {"verbose", "help", "help_all"}


@pytest.mark.parametrize(("name", "command"), ALL, ids=[name for name, _ in ALL])
def test_help_is_a_screen_with_the_options_that_most_need(
    capsys: Capsys, monkeypatch: pytest.MonkeyPatch, name: str, command: object
) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    text = edgec(capsys, *name.split(), "--help").out
    lines = text.splitlines()
    assert len(lines) <= 24
    assert max(map(len, lines)) <= 80
    if name == "boards":
        return
    parameters = {each.name: each for each in command.params if each.name not in FREE_OF_LINES}
    shown = COMMON.get(name, set(parameters))
    assert shown <= set(parameters)
    assert len(shown) <= 11
    for parameter in parameters.values():
        if parameter.opts[0].startswith("-"):
            starts = tuple(f"{option}{end}" for option in parameter.opts for end in " ,")
            found = any(f"{line.strip()} ".startswith(starts) for line in lines)
            assert found == (parameter.name in shown), parameter.name
    (more,) = [line for line in lines if line.endswith(f"in full: edgec {name} --help-all")]
    hidden = len(parameters) - len(shown)
    count = more.split()[0].replace("One", "1")
    assert count == (str(hidden) if hidden else "All")


def test_lines_of_options_are_used_and_fit() -> None:
    shown = {
        (name, each.name)
        for name, command in ALL
        for each in command.params
        if name not in COMMON or each.name in COMMON[name]
    }
    own = {f"{command} {name}" for command, name in shown}
    others = {name for command, name in shown if f"{command} {name}" not in ONE_LINE}
    for key, line in ONE_LINE.items():
        assert key in own | others, key
        assert len(line) <= 48
        assert not line.endswith(".") or line.endswith(", ...")


@pytest.mark.parametrize(("name", "command"), ALL, ids=[name for name, _ in ALL])
def test_help_ends_with_examples_and_names_no_types(
    capsys: Capsys, monkeypatch: pytest.MonkeyPatch, name: str, command: object
) -> None:
    monkeypatch.setenv("COLUMNS", "100")
    text = edgec(capsys, *name.split(), "--help").out
    examples = text.split("Examples:\n")[1].split()
    assert " ".join(EXAMPLES[name][-1].split()) in " ".join(examples)
    for kind in ("<str>", "<path>", "<int>", "<int range>", "<float>", "<bool>", "<list"):
        assert kind not in text
    options = {each for parameter in command.params for each in parameter.opts}
    for example in EXAMPLES[name]:
        named = {word for word in example.split() if word.startswith("-")}
        assert named <= options


def test_the_first_help_fits_a_screen(capsys: Capsys, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    lines = edgec(capsys, "--help").out.splitlines()
    assert len(lines) <= 24
    assert all(any(line.startswith(f"  {name} ") for line in lines) for name in COMMANDS)


def test_sections_of_compile(capsys: Capsys, monkeypatch: pytest.MonkeyPatch) -> None:
    text = help_of(capsys, monkeypatch, "compile", 80)
    titles = [line for line in text.splitlines() if line.endswith(":") and line[:1].isupper()]
    wanted = ["Input", "Quantization", "Transformers", "Streams", "Weight pools", "Output"]
    assert titles == [f"{title}:" for title in (*wanted, "Other options", "Examples")]
    parts = text.split("\nQuantization:\n")[1].split("\nTransformers:\n")
    assert "--observer" in parts[0]
    assert "--max-length" in parts[1]
    assert "edgec_<model>_run_length." in text


def completed(*line: str) -> set[str]:
    """What bash is told to offer for the last of the words of a command line."""
    program = "import sys; sys.argv[0] = 'edgec'; from edgec.__main__ import main; main()"
    environment = {"_EDGEC_COMPLETE": "complete_bash", "COMP_WORDS": " ".join(("edgec", *line))}
    done = subprocess.run(
        [sys.executable, "-c", program],
        env={**os.environ, **environment, "COMP_CWORD": str(len(line))},
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )
    assert done.stderr == ""
    return set(done.stdout.split())


def test_a_shell_completes_commands_options_and_boards() -> None:
    assert {"compile", "compress", "compare"} <= completed("comp")
    assert completed("compile", "m.onnx", "--max") == {"--max-length", "--max-drop"}
    names = {name for board in list_boards() for name in (board.name, *board.aliases)}
    found = completed("compile", "m.onnx", "--board", "nucl")
    assert found == {name for name in names if name.startswith("nucl")}
    assert completed("compile", "m.onnx", "--observer", "m") == {"minmax", "mse"}


def test_help_waits_for_nothing_heavy() -> None:
    program = (
        "import sys; from edgec.cli.app import run_app; code = run_app(['compile', '--help-all']);"
        "print(*sorted({n.split('.')[0] for n in sys.modules}), file=sys.stderr)"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True, timeout=120
    )
    assert not {"numpy", "onnx", "onnxruntime", "jinja2"} & set(done.stderr.split())

import io
import logging

import pytest
from rich.console import Console

from edgec.base.errors import ConfigError
from edgec.report import console


@pytest.fixture
def terminal(monkeypatch):
    """Both consoles of the program, as if on a terminal, in one stream."""
    stream = io.StringIO()
    shown = Console(file=stream, force_terminal=True, width=100, soft_wrap=True, emoji=False)
    monkeypatch.setattr(console, "out", shown)
    monkeypatch.setattr(console, "err", shown)
    return stream


def test_names_with_colons_are_no_emoji(capsys):
    console.print_json({"a:x:0": ":warning:"})
    console.print_next("edgec", "run", "a:x:b")
    console.print_error(ConfigError("bad :smile:", where=":x:", hint=":fire:"))
    found = capsys.readouterr()
    assert '"a:x:0": ":warning:"' in found.out
    assert "edgec run a:x:b" in found.out
    assert found.err == "error: :x:: bad :smile:\nhint: :fire:\n"


def test_warnings_are_one_line_without_control_characters(capsys):
    console.set_up_logging(verbose=False)
    logging.getLogger("edgec.test").warning("bad %s", "\x1b[31m[red]name" + "x" * 300)
    logging.getLogger("edgec.test").info("detail")
    found = capsys.readouterr()
    assert found.out == ""
    assert found.err == "warning: bad \\x1b[31m[red]name" + "x" * 300 + "\n"


def test_progress_shows_counts_on_a_terminal(terminal):
    with console.progress("evaluating") as advance:
        advance(3, 10)
    with console.status("compiling") as say:
        say("quantizing", 5, 8)
    with console.status("compiling") as say:
        say("quantizing", 5, 8)
        say("writing [C]")
    for text in ("evaluating", "3 of 10", "quantizing", "5 of 8", "writing [C]"):
        assert text in terminal.getvalue()


def test_progress_shows_nothing_in_a_pipe(capsys):
    with console.progress("evaluating") as advance:
        advance(3, 10)
    with console.status("compiling") as say:
        say("quantizing", 5, 8)
    assert capsys.readouterr() == ("", "")

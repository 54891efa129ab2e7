"""What is being done: a bar on a terminal, lines on stderr everywhere else."""

import io
import time

import pytest
from rich.console import Console

from edgec.report import console, progress


@pytest.fixture
def terminal(monkeypatch: pytest.MonkeyPatch) -> io.StringIO:
    """The console of messages, as if on a terminal, in a stream."""
    stream = io.StringIO()
    shown = Console(file=stream, force_terminal=True, width=100, soft_wrap=True, emoji=False)
    monkeypatch.setattr(console, "err", shown)
    return stream


def test_a_bar_with_counts_on_a_terminal(terminal: io.StringIO) -> None:
    with progress.progress("evaluating") as advance:
        advance(3, 10)
    with progress.status("compiling") as say:
        say("quantizing", 5, 8)
    with progress.status("compiling") as say:
        say("quantizing", 5, 8)
        say("writing [C]")
    for text in ("evaluating", "3 of 10", "quantizing", "5 of 8", "writing [C]"):
        assert text in terminal.getvalue()


def test_a_line_a_stage_in_a_pipe(capsys: pytest.CaptureFixture[str]) -> None:
    with progress.status("compiling") as say:
        for done in range(1000):
            say("quantizing", done, 1000)
        say("writing [C]")
        say("quantizing", 1000, 1000)
    assert capsys.readouterr() == ("", "compiling\nquantizing\nwriting [C]\n")


def test_a_long_stage_is_repeated_with_its_count(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(progress, "INTERVAL_S", 0.05)
    with progress.progress("evaluating") as advance:
        advance(3, 10)
        time.sleep(0.5)
    out, err = capsys.readouterr()
    lines = err.splitlines()
    assert out == ""
    assert lines[0] == "evaluating"
    assert "evaluating: 3 of 10 (0 s)" in lines[1:]
    time.sleep(0.15)
    assert capsys.readouterr().err == ""  # it ended with its work


def test_an_error_ends_the_lines(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(ValueError, match="x"), progress.status("compiling"):
        raise ValueError("x")
    assert capsys.readouterr().err == "compiling\n"

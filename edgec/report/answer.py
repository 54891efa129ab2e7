"""The answer of a build in six lines: does it fit, how fast, how accurate, checked, where, next.

Whatever shows a build shows these, from its report alone: after `edgec compile`, from the cache or
not.  `report.text` has everything else.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

from rich.console import Console

from edgec.base.rounding import Rounding
from edgec.base.system import command_line
from edgec.report.console import count, print_labelled, print_prose, safe
from edgec.report.model import CheckReport, Report
from edgec.report.stream_text import stream_lines
from edgec.report.verdict import Verdict, verdict_of

_BAR = 10
"""Characters of a bar."""
PLACES = {"host": "on this computer", "emulator": "in the emulator", "device": "on the board"}
"""Places that run a build, in words."""
_FULL_WIDTH = 8
"""Bits of activations that lose nothing beside int8."""
_MOST_WARNINGS = 4
"""Warnings that are printed whole above the answer."""


def print_answer(
    report: Report,
    folder: Path,
    out: Console,
    *,
    shown: Sequence[str] = (),
    following: Sequence[object] = (),
) -> None:
    """Print warnings and the six lines.

    Args:
        report: what `report.json` of the build says.
        folder: that holds it.
        out: where to print.
        shown: lines on files beside the folder, such as a page.
        following: words of the command that a user is likely to want now; empty: there is none.
    """
    board = report.board
    mhz = f", {board.clock_hz / 1e6:g} MHz" if board.clock_hz else ""
    out.print(f"[bold]{safe(report.model)}[/] on {safe(board.title)} ({board.core.value}{mhz})")
    for line in (*warning_lines(report), *_kept(report), *shown):
        print_prose(line, out)
    for label, text in answer_lines(report, folder):
        print_labelled(label, text, out)
    if following:
        command = safe(command_line(following))
        out.print(f"next:     [bold green]{command}[/]")


def warning_lines(report: Report) -> Iterator[str]:
    """Lines on what is wrong, or was not done; the first ones whole, of the others the number."""
    found = [*report.warnings]
    found += [
        f"firmware.elf ran on this computer by {check.program}, not confined: Bubblewrap "
        "and namespaces both fail here"
        for check in report.checks
        if check.program and check.confined == "none"
    ]
    for text in found[:_MOST_WARNINGS]:
        yield f"[bold yellow]warning:[/] {safe(text)}"
    if len(found) > _MOST_WARNINGS:
        yield f"[bold yellow]warning:[/] {len(found) - _MOST_WARNINGS} more, see report.txt"


def _kept(report: Report) -> Iterator[str]:
    """Lines on what the model keeps from run to run, which nobody may have asked for."""
    if report.state:
        pairs = ", ".join(f"{taken} = {given}" for taken, given in report.state.items())
        yield f"kept from run to run: {safe(pairs)}"
    yield from stream_lines(report)
    if report.tuned is not None:
        yield safe(report.tuned.line)


def answer_lines(report: Report, folder: Path) -> Iterator[tuple[str, str]]:
    """Label and text of each line but the last one, which names the next command.

    Args:
        report: what `report.json` of the build says.
        folder: that holds it.
    """
    yield "fits", _fits(report)
    yield "speed", _speed(report)
    yield "accuracy", _accuracy(report).text
    yield "checked", _checked(report.checks)
    names = ("report.txt", "firmware.elf", "library", "project")
    found = [name for name in names if (folder / name).exists()]
    yield "written", safe(f"{folder}: {', '.join(found)}")


def size_words(size: int) -> str:
    """Bytes as people read them: "640 bytes", "6.7 KB", "512 KB", "8 MB"."""
    if size < 1024:
        return f"{size} bytes"
    unit, number = ("KB", size / 1024) if size < 1 << 20 else ("MB", size / (1 << 20))
    digits = 0 if number == int(number) or number >= 100 else 1
    return f"{number:.{digits}f} {unit}"


def bar(used: int, limit: int) -> str:
    """A bar that shows which part of a limit is used; a little is never nothing."""
    full = min(max(round(_BAR * used / limit), 1 if used else 0), _BAR) if limit else 0
    return "█" * full + "░" * (_BAR - full)


def _fits(report: Report) -> str:
    memory = report.memory
    used = (
        ("flash", memory.flash_bytes, memory.flash_limit_bytes),
        ("RAM", memory.ram_bytes, memory.ram_limit_bytes),
    )
    bars = [
        f"{name} [{_colour(size, limit)}]{bar(size, limit)}[/] "
        f"{size_words(size)} of {size_words(limit)}"
        for name, size, limit in used
        if size is not None and limit is not None
    ]
    if bars:
        return ", ".join(bars) + _in_turns(report)
    weights, arena = size_words(memory.weight_bytes), size_words(memory.arena_bytes)
    need = f"weights {weights}, activations {arena}"
    if memory.flash_limit_bytes is None:
        return f"{need}; {'no limit here' if report.board.is_host else 'Linux has room'}"
    has = size_words(memory.flash_limit_bytes), size_words(memory.ram_limit_bytes or 0)
    return f"{need}; flash {has[0]}, RAM {has[1]}; firmware not built"


def _in_turns(report: Report) -> str:
    """Words on layers that run in turns so that it fits."""
    found = report.rows
    if found is None:
        return ""
    chosen, whole = found.front[found.chosen], found.front[-1]
    words = []
    if found.input_rows:
        times = f", {found.input_passes} times" if found.input_passes > 1 else ""
        words.append(f"the image comes {found.input_rows} rows a run{times}")
    elif chosen.layers:
        words.append(f"{chosen.layers} layers a few rows at a time")
    if chosen.patches > 1:
        words[-1] += f" in {chosen.patches} patches"
        words += [f"{chosen.macs / whole.macs - 1:.0%} more multiplications"] if whole.macs else []
    if chosen.groups > 1:
        words.append(f"a layer in {chosen.groups} groups of channels")
    if words and not found.input_rows:
        words.append(f"else {size_words(whole.arena_bytes)} arena")
    return f"; {', '.join(words)}" if words else ""


def _colour(used: int, limit: int) -> str:
    return "green" if used <= 0.8 * limit else "yellow"


def _speed(report: Report) -> str:
    found, board = report.speed, report.board
    work = f"{count(report.macs)} multiplications a run"
    if found is None or not board.clock_hz:
        return f"{work}; no estimate of the time for this board"
    seconds = found.cycles / board.clock_hz
    if not found.whole:
        return f"more than {time_words(seconds)} a run (rough; edgec profile measures it)"
    return f"about {time_words(seconds)} a run, {rate_words(seconds)} (estimate)"


def time_words(seconds: float) -> str:
    """A time with three digits: "1.46 ms", "12.3 ms", "1.50 s", "29.5 us"."""
    unit, value = ("s", seconds) if seconds >= 1 else ("ms", seconds * 1e3)
    if value < 0.1:
        unit, value = "µs", seconds * 1e6
    return f"{value:.{max(3 - len(str(int(value))), 0)}f} {unit}"


def rate_words(seconds: float) -> str:
    """Rate of something that takes so long: "680 a second", "12 a minute"."""
    if seconds >= 1:
        return f"{60 / seconds:.0f} a minute"
    rate = 1 / seconds
    digits = max(len(str(int(rate))) - 2, 0)
    return f"{count(round(rate, -digits))} a second"


def _accuracy(report: Report) -> Verdict:
    """Accuracy in words."""
    if report.calibration.source == "none":
        return _beside_file(report)
    bits = min((layer.activation_bits for layer in report.pooled), default=_FULL_WIDTH)
    if bits < _FULL_WIDTH:
        cut = f"{len(report.pooled)} layers see {bits} bits of their inputs"
        return Verdict("unknown", f"{cut}; edgec evaluate measures what that costs")
    names = {tensor.name for tensor in report.outputs}
    known = [(each.name in names, each.sqnr_db) for each in report.layers]
    own = [decibels for is_output, decibels in known if is_output and decibels is not None]
    others = [decibels for _, decibels in known if decibels is not None]
    measured = min(own) if own else others[-1] if others else None
    return verdict_of(report.calibration.source, report.decisions, report.estimate, measured)


def _beside_file(report: Report) -> Verdict:
    """The outputs beside those of the quantized file.

    They were executed in exact arithmetic, of which TensorFlow Lite's rounding is some steps away.
    """
    found = report.qdq_file
    if found is None:
        return Verdict("as the file", "it was quantized before")
    if not found.differing:
        return Verdict("as the file", "equal outputs")
    steps = "one step" if found.worst.largest_gap == 1 else f"{found.worst.largest_gap} steps"
    differ = f"{found.differing:.2%} of outputs differ"
    if found.rounding == Rounding.TFLM.value:
        return Verdict("as TFLM", f"beside exact arithmetic {differ}, by at most {steps}")
    return Verdict("as the file", f"{differ}, by at most {steps} of the last digit")


def _checked(checks: Sequence[CheckReport]) -> str:
    done = [check for check in checks if not check.skipped]
    texts = [PLACES.get(check.what, f"on {check.what}") for check in done]
    missing = [f"not {PLACES[c.what]}: {c.skipped}" for c in checks if c.skipped]
    if not done:
        return f"[yellow]{safe('; '.join(missing) or 'no (--no-verify)')}[/]"
    steps, decimals = (max(getattr(c, name) for c in done) for name in ("steps", "decimals"))
    what = f"every layer ({steps}) bit for bit" if steps else f"results in all {decimals} decimals"
    found = f"[green]{' and '.join(texts)}[/], {what}"
    return f"{found}; [yellow]{safe('; '.join(missing))}[/]" if missing else found

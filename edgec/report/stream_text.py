"""A network that runs frame by frame, in words: what a run saves beside the whole window."""

from __future__ import annotations

from collections.abc import Iterator

from edgec.report.console import count
from edgec.report.model import Report
from edgec.report.tables import table


def stream_lines(report: Report) -> Iterator[str]:
    """Lines on what a run takes and gives; none for a network that takes its whole window."""
    heard, seen = report.front_end, report.camera
    if seen is not None:
        yield f"front end: {seen.text}; {seen.frame} ({count(seen.frame_bytes)} bytes) a run"
    if heard is not None:
        seconds = 1 / heard.rate
        yield (
            f"front end: {heard.text}; {count(heard.frames)} samples a run "
            f"({1000 * heard.frames * seconds:.0f} ms), a result is about "
            + (
                "all since the reset"
                if heard.steps > 1
                else f"{count(heard.window)} ({heard.window * seconds:.2f} s)"
            )
        )
        yield from _waiting(heard.warm_up)
    found = report.stream
    if found is None:
        return
    each = "a frame" if found.frames == 1 else f"{found.frames} frames"
    less = found.window_macs / max(report.macs, 1)
    yield (
        f"stream: {each} of {found.window} a run, {count(report.macs)} multiplications in place of "
        f"{count(found.window_macs)} ({less:.1f} times fewer), "
        f"{count(report.memory.state_bytes)} bytes of state"
    )
    if heard is None:
        yield from _waiting(found.warm_up)
    if found.delay:
        late = f"{found.delay} frame{'s' if found.delay > 1 else ''}"
        yield f"stream: outputs come {late} late, because layers look ahead"
    if not found.equals_window:
        yield (
            "stream: padding in time reaches the outputs of the whole window; the stream has the "
            "real frames in its place"
        )


def _waiting(warm_up: int) -> Iterator[str]:
    if warm_up:
        runs = "first run" if warm_up == 1 else f"first {count(warm_up)} runs"
        yield f"stream: the {runs} of a stream give no output yet (EDGEC_NOT_YET)"


def stream_table(report: Report) -> object:
    """A run beside one of the whole window; None for a network that takes its whole window."""
    found = report.stream
    if found is None:
        return None
    cycles = None if report.speed is None else report.speed.cycles
    rows = [
        _row("frames", found.frames, found.window),
        _row("multiply-accumulates", report.macs, found.window_macs),
        _row("cycles (estimate)", cycles, found.window_cycles),
        _row("bytes of arena", report.memory.arena_bytes, found.window_arena_bytes),
        _row("bytes of state", report.memory.state_bytes, None),
    ]
    return table("Stream", ("", ">a run", ">whole window", ">times less"), rows)


def _row(name: str, own: int | None, window: int | None) -> tuple[str, str, str, str]:
    less = f"{window / own:.1f}" if own and window else ""
    own_text, window_text = ("" if each is None else count(each) for each in (own, window))
    return (name, own_text, window_text, less)

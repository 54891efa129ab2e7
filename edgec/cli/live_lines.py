"""Lines of results as they come, none wider than the terminal."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from rich.cells import cell_len, set_cell_size

from edgec.report import console

if TYPE_CHECKING:
    from edgec.base.dtypes import Array
    from edgec.profile.live import Cost, WatchSummary
    from edgec.report.heard import Scale

_WIDTH = 80
"""Most columns of a line, and those where no terminal says how many it has."""
_NAME = 12
_BAR, _LEAST_BAR = 48, 8


class LiveLines:
    """Lines with the highest of some scores, as a bar and as a number.

    Args:
        scale: names and range of the scores.
        threshold: the least score of a detection, which is marked; None: nothing is.
    """

    def __init__(self, scale: Scale, threshold: float | None = None) -> None:
        self._scale = scale
        self._threshold = threshold
        self._low, self._high = float("inf"), -float("inf")

    def best(self, scores: Array) -> tuple[float, int]:
        """The highest score and its number; bars show the range of all scores so far."""
        channel = int(scores.argmax())
        score = float(scores[channel])
        self._low, self._high = min(self._low, float(scores.min())), max(self._high, score)
        return score, channel

    def show(self, head: str, best: tuple[float, int], tail: str = "") -> None:
        """Print a line.

        Args:
            head: what stands before the bar.
            best: see `best`.
            tail: what stands at the end, where there is room.
        """
        from edgec.report.heard import bar

        score, channel = best
        is_heard = self._threshold is not None and score >= self._threshold
        names = self._scale.names
        name = f"  {names[channel]}" if is_heard or len(names) > 1 else ""
        if tail:
            name = set_cell_size(name, _NAME + 2)
        text = f"{score:7.3g}{' !' if is_heard else '  '}{_cut(name, _NAME + 2)}"
        room = _width() - cell_len(head) - cell_len(text) - cell_len(tail) - 3
        drawn = "  "
        if room >= _LEAST_BAR:
            drawn = f" │{bar(score, self._scale, self._low, self._high, min(room, _BAR))}│"
        show_line(f"{head}{drawn}{text}", tail)


def show_line(text: str, tail: str = "") -> None:
    """Print a line that ends in `tail` where there is room for it; the text is cut to the width."""
    width = _width()
    whole = f"{text}{tail}" if cell_len(text) + cell_len(tail) <= width else text
    _print(_cut(whole, width).rstrip())


def show_json(data: Any) -> None:
    """Print a line of JSON."""
    _print(json.dumps(data))


def _print(line: str) -> None:
    console.out.print(line, markup=False)
    console.out.file.flush()


def _cut(text: str, width: int) -> str:
    return text if cell_len(text) <= width else set_cell_size(text, width)


def _width() -> int:
    return min(console.out.width, _WIDTH) if console.out.is_terminal else _WIDTH


def values_text(values: Sequence[float]) -> str:
    """Numbers in a line."""
    return " ".join(f"{value:.4g}" for value in values)


def cost_json(cost: Cost | None) -> dict[str, float | None]:
    """Time and energy of a result as plain JSON data; None where nobody knows."""
    if cost is None:
        return {"milliseconds": None, "microjoules": None}
    return {"milliseconds": cost.milliseconds, "microjoules": cost.microjoules}


def cost_text(cost: Cost | None) -> str:
    """Time and energy of a result, in columns."""
    if cost is None:
        return ""
    energy = "" if cost.microjoules is None else f" ≈{_digits(cost.microjoules):>6} µJ"
    return f" {_digits(cost.milliseconds):>6} ms{energy}"


def _digits(number: float) -> str:
    """Three digits or more, without an exponent."""
    decimals = 0 if number >= 100 else 1 if number >= 10 else 2 if number >= 1 else 3
    return f"{number:.{decimals}f}"


def print_summary(found: WatchSummary) -> None:
    """Print how many results were watched, their time and their energy."""
    results = "1 result" if found.results == 1 else f"{found.results:,} results"
    console.out.print(f"\n{results}, on {found.on}")
    if found.milliseconds is None:
        if found.note:
            console.print_labelled("time", f"not known: {console.safe(found.note)}")
        return
    how = "measured by the board" if found.measured else "estimated from the firmware"
    span = ""
    if found.least != found.most:
        span = f" ({_digits(found.least or 0.0)} to {_digits(found.most or 0.0)})"
    console.print_labelled("time", f"{_digits(found.milliseconds)} ms a result{span}, {how}")
    if found.microjoules is None:
        console.print_labelled("power", "not known for this board: its file has no figure")
        return
    duty, power = found.duty, ""
    if duty is not None:
        waits = "waiting included" if duty.waits else "without waiting"
        power = f"; ≈ {_digits(duty.milliwatts)} mW at {duty.runs_per_second:g} a second, {waits}"
    console.print_labelled("energy", f"≈ {_digits(found.microjoules)} µJ a result{power}")
    console.print_labelled("from", f"an estimate, {console.safe(found.figure)}")

"""`edgec compile --fit`: the search before the build, and its figures."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING

from edgec.base.options import FitLimits, option_words
from edgec.cli.compile_request import CompileRequest
from edgec.report import console
from edgec.report.progress import status

if TYPE_CHECKING:
    from collections.abc import Sequence

    from edgec.commands.compile_cached import Built
    from edgec.fit.choice import Fitted


def fitted_request(request: CompileRequest, text: str) -> tuple[CompileRequest, Fitted]:
    """The request with the options that the search found.

    Args:
        request: what the user asked for.
        text: limits as the user wrote them.

    Raises:
        EdgecError: the limits cannot be read, or nothing is within them.
    """
    limits = FitLimits.parse(text)
    request = request.with_kernels()
    from edgec.fit.check import check_fit
    from edgec.target.board import load_board

    board = load_board(request.board)
    check_fit(board, request.options, limits)
    request.check()
    from edgec.fit.search import Search

    with status("fitting") as say:
        search = Search(request.model, board, request.samples, request.options, limits, say)
        found = search.run()
    return replace(request, options=found.options, tune_file=None), found


def print_fitted(fitted: Fitted, built: Built, request: CompileRequest, *, quiet: bool) -> None:
    """Print the choice: predicted beside measured, and the options that give it again.

    Args:
        fitted: the choice.
        built: its build.
        request: the request that gave it.
        quiet: on standard error, since a record goes to standard output.
    """
    out = console.err if quiet else console.out
    from edgec.fit.choice import plain_options

    words = option_words(plain_options(request.options))
    for line in fitted_lines(fitted, built.report.board.clock_hz, words):
        out.print(line, markup=False, highlight=False, soft_wrap=True)


def fitted_lines(fitted: Fitted, clock_hz: int, words: Sequence[str]) -> list[str]:
    """Lines of the choice, 12 or fewer: figures, and options as words."""
    predicted, measured, bounds = fitted.predicted, fitted.measured, fitted.bounds
    rows = [("", "predicted", "measured", "difference", "limit")]
    for name, key, scale, form in (
        ("cycles", "cycles", 1.0, ",.0f"),
        ("ms", "cycles", 1e3 / clock_hz, ",.3f"),
        ("flash", "flash_bytes", 1.0, ",.0f"),
        ("RAM", "ram_bytes", 1.0, ",.0f"),
    ):
        second, most = (getattr(each, key) for each in (measured, bounds))
        limit = format(most * scale, form) if math.isfinite(most) else ""
        first, share = "-", ""
        if predicted is not None:
            number = getattr(predicted, key)
            first, share = format(number * scale, form), f"{number / second - 1:+.1%}"
        rows.append((name, first, format(second * scale, form), share, limit))
    if not math.isnan(measured.noise):
        limit = f"{-10 * math.log10(bounds.noise):.1f}" if math.isfinite(bounds.noise) else ""
        found = measured.decibels
        first = "-" if predicted is None else f"{predicted.decibels:.1f}"
        share = "" if predicted is None else f"{predicted.decibels - found:+.1f}"
        rows.append(("dB", first, f"{found:.1f}", share, limit))
    lines = [f"{r[0]:8}{r[1]:>13}{r[2]:>13}{r[3]:>12}{r[4]:>13}" for r in rows]
    if fitted.drop is not None:
        lines.append(f"decisions that differ from the float network's: {fitted.drop:.2f} points")
    lines.append(
        f"{len(fitted.point.int16)} of {fitted.tensors} tensors int16; "
        f"{fitted.builds} builds on the way"
    )
    import shlex

    said = " ".join(shlex.quote(console.safe(word)) for word in words)
    lines.append(f"the same without --fit: {said}")
    return lines

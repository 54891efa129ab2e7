"""`edgec compile --budget`: refuse firmware that is larger or slower than the user allows."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from edgec.base.errors import BudgetError, BudgetFigure
from edgec.base.options import Budget
from edgec.report.model import Report


def check_budget(folder: Path, budget: Budget | None) -> None:
    """Hold a finished build against the budget.

    Args:
        folder: with `report.json` and the firmware.
        budget: None: nothing is held against it.

    Raises:
        BudgetError: a figure is exceeded; names every one that is.
    """
    if budget is None:
        return
    report = Report.read(folder)
    memory = report.memory
    figures = [
        *_exceeded("flash_bytes", memory.flash_bytes, budget.flash_bytes),
        *_exceeded("ram_bytes", memory.ram_bytes, budget.ram_bytes),
    ]
    excess = [_excess(figure) for figure in figures]
    if budget.time_ms is not None:
        from edgec.profile import profile  # noqa: PLC0415  (takes a while to load)

        found = profile(folder)
        if found.time_ms > budget.time_ms:
            figures.append(BudgetFigure("time_ms", found.time_ms, budget.time_ms))
            excess.append(
                f"time {found.time_ms:,.3f} ms exceeds {budget.time_ms:,g} ms by "
                f"{found.time_ms / budget.time_ms - 1:.1%} "
                f"(estimate: {found.total_cycles:,} cycles at {found.clock_hz / 1e6:g} MHz)"
            )
    if excess:
        raise BudgetError(
            "over budget: " + "; ".join(excess),
            tuple(figures),
            where=report.board.name,
            hint=f"{_smaller(report, figures)}earlier results are as they were; compile without "
            "--budget to look at this one",
        )


def _smaller(report: Report, figures: Sequence[BudgetFigure]) -> str:
    """Words on an option that takes less RAM than rows and patches of the image did."""
    rows = report.rows
    if rows is None or not any(figure.name == "ram_bytes" for figure in figures):
        return ""
    if rows.input_rows:
        return "with more --input-passes patches may take less; "
    images = [tensor for tensor in report.inputs if len(tensor.library_shape) == 4]
    return "--input-rows keeps the image out of RAM; " if len(images) == 1 else ""


_NAMES = {"flash_bytes": "flash", "ram_bytes": "RAM"}


def _exceeded(name: str, used: int | None, limit: int | None) -> list[BudgetFigure]:
    if used is None or limit is None or used <= limit:
        return []
    return [BudgetFigure(name, used, limit)]


def _excess(figure: BudgetFigure) -> str:
    found, budget = figure.found, figure.budget
    return (
        f"{_NAMES[figure.name]} {found:,} bytes exceeds {budget:,} by {found - budget:,} "
        f"({found / budget - 1:.1%})"
    )

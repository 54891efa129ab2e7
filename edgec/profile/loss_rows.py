"""The rows of a page's table of losses: what adds most to the noise at the outputs, and why."""

from __future__ import annotations

from dataclasses import dataclass

from edgec.profile.compile_rows import Cell
from edgec.report.console import shortened
from edgec.report.model import LossReport, Report

_MOST_ROWS = 10
_TITLE_CHARACTERS = 40


@dataclass(frozen=True, slots=True)
class LossRow:
    """What a layer, or the codes of an input, add to the noise at the outputs.

    Attributes:
        where: number of the layer, or "input".
        title: its tensor in one line.
        full_title: the whole name.
        share: part of what all of them add, the bar relative to the worst.
        weights, codes: dB of the worst output with that alone; "" where it adds nothing.
        why: the cause and the figure that shows it.
        advice: what to try.
    """

    where: str
    title: str
    full_title: str
    share: Cell
    weights: str
    codes: str
    why: str
    advice: str


def loss_rows(report: Report) -> tuple[LossRow, ...]:
    """The rows of the largest losses of a build, the worst first."""
    worst = max((loss.share for loss in report.losses), default=1.0)
    return tuple(_row(loss, worst) for loss in report.losses[:_MOST_ROWS])


def _row(loss: LossReport, worst: float) -> LossRow:
    return LossRow(
        where="input" if loss.step is None else str(loss.step),
        title=shortened(loss.tensor, _TITLE_CHARACTERS),
        full_title=loss.tensor,
        share=Cell(f"{loss.share:.1%}", 100 * loss.share / worst),
        weights=_decibels(loss.weights_db),
        codes=_decibels(loss.codes_db),
        why=f"{loss.why}: {loss.detail}" if loss.detail else loss.why,
        advice=loss.advice,
    )


def _decibels(value: float | None) -> str:
    return "" if value is None else f"{value:.1f} dB"

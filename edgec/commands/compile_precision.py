"""Which tensors have int16 codes, for the report of a build."""

from __future__ import annotations

from edgec.quant.common.report import Decisions, PrecisionReport
from edgec.report.model import DecisionsReport, Int16Report, finite


def decisions_report(found: Decisions | None) -> DecisionsReport | None:
    """Equal decisions as the report has them."""
    return None if found is None else DecisionsReport(found.equal, found.samples, found.classes)


def int16_report(found: PrecisionReport | None) -> Int16Report | None:
    """The choice of int16 codes as the report has it; None where none was asked for.

    Args:
        found: what was chosen.
    """
    if found is None:
        return None
    return Int16Report(
        tensors=found.tensors,
        candidates=found.candidates,
        output_db=finite(found.output_db),
        int8_db=finite(found.int8_db),
        int16_db=finite(found.int16_db),
        samples=found.samples,
        held_back=found.held_back,
        arena_bytes=found.arena_bytes,
        int8_arena_bytes=found.int8_arena_bytes,
        left_out=found.left_out,
        slowdown=found.slowdown,
        decisions=decisions_report(found.decisions),
        int8_decisions=decisions_report(found.int8_decisions),
        int16_decisions=decisions_report(found.int16_decisions),
    )

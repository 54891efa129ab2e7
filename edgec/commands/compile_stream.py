"""Facts on a network that runs frame by frame, beside those of its whole window."""

from __future__ import annotations

from edgec.base.errors import InternalError
from edgec.lower.placed import Lowered
from edgec.report.model import SpeedReport, StreamReport
from edgec.workflow.integer import IntegerModel
from edgec.workflow.stream import model_axes


def stream_report(
    model: IntegerModel, whole: Lowered, whole_speed: SpeedReport | None
) -> StreamReport:
    """The facts.

    Args:
        model: that takes a few frames a run.
        whole: the program of the whole window.
        whole_speed: what a run of it takes.
    """
    found = model.stream
    if found is None:
        raise InternalError("a model without a stream", where=model.imported.name)
    return StreamReport(
        window=found.window,
        frames=found.frames,
        warm_up=model.integer.warm_up,
        delay=found.delay,
        equals_window=found.equals_window,
        axes=model_axes(model.integer, found),
        window_macs=whole.program.macs,
        window_cycles=None if whole_speed is None else whole_speed.cycles,
        window_arena_bytes=whole.program.arena_bytes,
    )

"""Where accuracy goes, for the report of a build: losses of layers by the steps of its program."""

from __future__ import annotations

from edgec.lower import Program
from edgec.quant.common.quality import share_db
from edgec.quant.common.report import LayerLoss
from edgec.report.model import LossReport, finite
from edgec.workflow.integer import IntegerModel
from edgec.workflow.quality import advice


def loss_reports(ready: IntegerModel, program: Program) -> tuple[LossReport, ...]:
    """The losses of a model, the worst first.

    Args:
        ready: the integer graph and what led to it.
        program: what the C code was written from.
    """
    found = ready.quantization
    total = sum(loss.noise for loss in found.losses)
    if total <= 0.0:
        return ()
    return tuple(
        LossReport(
            tensor=loss.value,
            step=_step(program, loss),
            share=loss.noise / total,
            weights_db=finite(share_db(loss.weights)),
            codes_db=finite(share_db(loss.codes)),
            why=loss.why.value,
            detail=loss.detail,
            advice=advice(loss, found, ready.settings),
        )
        for loss in sorted(found.losses, key=lambda loss: -loss.noise)
    )


def _step(program: Program, loss: LayerLoss) -> int | None:
    """The step that computes a tensor: by its name, or within a step that does more."""
    for number, step in enumerate(program.steps):
        if step.output.name == loss.value:
            return number
    own = set(loss.sources)
    for number, step in enumerate(program.steps):
        if own & set(step.sources):
            return number
    return None

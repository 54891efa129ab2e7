"""Losses, int16 tensors and placement of weights, for the report of a build."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from edgec.base.options import CompileOptions, Placement
from edgec.base.samples import SampleFile
from edgec.base.samples.images import holds_images
from edgec.codegen.cnames import library_names
from edgec.codegen.library import constant_names
from edgec.codegen.project import RamConstant
from edgec.ir import Graph, Node
from edgec.kernels.generic.columns import Columns
from edgec.lower import Program
from edgec.lower.placed import Lowered
from edgec.lower.program import Step
from edgec.lower.resident import Share
from edgec.quant.common.quality import share_db
from edgec.quant.common.report import Decisions, Estimate, LayerLoss, PrecisionReport
from edgec.report.model import (
    DecisionsReport,
    EstimateReport,
    Int16Report,
    LossReport,
    PlacementReport,
    RamWeightsReport,
    TensorReport,
    finite,
)
from edgec.target.board import Board
from edgec.workflow.integer import Calibration, IntegerModel
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
            advice=advice(loss, ready.integer, found, ready.settings),
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


def decisions_report(found: Decisions | None) -> DecisionsReport | None:
    """Equal decisions as the report has them."""
    return None if found is None else DecisionsReport(found.equal, found.samples, found.classes)


def estimate_report(found: Estimate | None) -> EstimateReport | None:
    """The estimate as the report has it."""
    if found is None:
        return None
    return EstimateReport(
        output_db=finite(found.output_db),
        lower_db=finite(found.lower_db),
        fitted_db=finite(found.fitted_db),
        samples=found.samples,
        few_samples=found.few_samples,
    )


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


_KEPT, _KEPT_FOR_USER = 4, 2
"""One part in this many of the free RAM stays free; more beside a main program of the user."""


def share_of(options: CompileOptions, board: Board) -> Share:
    """RAM that weights may take.

    Without `--placement` they stay in flash, except where tightly coupled memory, which holds
    nothing else than variables and the stack, is left for them.
    """
    coupled = board.memory is not None and any(r.is_tightly_coupled for r in board.memory.used)
    default = Placement.AUTO if coupled else Placement.FLASH
    budget = None if options.budget is None else options.budget.ram_bytes
    kept = _KEPT if options.main is None else _KEPT_FOR_USER
    return Share(options.placement or default, kept, budget)


def placement_report(made: Lowered, share: Share, board: Board) -> PlacementReport | None:
    """Regions of the arena and of weights; None where there is an operating system."""
    if board.is_hosted:
        return None
    places, possible = made.residence, made.possible
    names = constant_names(made.program, library_names(made.program.name))
    sizes = [constant.array.nbytes for constant in made.program.constants]
    return PlacementReport(
        placement=share.placement.value,
        arena_in=places.arena_in,
        weights=tuple(
            RamWeightsReport(
                names[each.constant],
                each.region,
                sizes[each.constant],
                _readers(made.program, each.constant),
            )
            for each in places.constants
        ),
        saved_cycles=round(places.saved_cycles),
        possible_bytes=sum(sizes[each.constant] for each in possible.constants),
        possible_cycles=round(possible.saved_cycles),
    )


def ram_constants(report: PlacementReport | None) -> tuple[RamConstant, ...]:
    """The constants in RAM as the project of the firmware takes them."""
    weights = () if report is None else report.weights
    return tuple(RamConstant(each.symbol, each.region, each.size_bytes) for each in weights)


def _readers(program: Program, constant: int) -> tuple[int, ...]:
    return tuple(n for n, step in enumerate(program.steps) if constant in step.constants)


def with_normalize(
    inputs: tuple[TensorReport, ...], calibration: Calibration
) -> tuple[TensorReport, ...]:
    """The inputs of a report, which remember how images of calibration were normalized.

    Args:
        inputs: those of the model.
        calibration: its calibration data.
    """
    if not isinstance(calibration, SampleFile) or calibration.normalize is None:
        return inputs
    if len(inputs) != 1 or not holds_images(calibration.path):
        return inputs
    return (replace(inputs[0], normalize=calibration.normalize),)


def node_of(graph: Graph, named: Mapping[str, Node], program: Program, step: Step) -> Node | None:
    """The node that a step computes, or some columns of; None of a copy of columns."""
    if isinstance(program.kernels[step.kernel].spec, Columns):
        return None
    return named.get(step.node) or graph.producers.get(step.output.name)

"""`edgec compile --placement`: what weights may have of RAM, and what the report says of it."""

from __future__ import annotations

from edgec.base.effect import Effect, refuse_without_effect
from edgec.base.options import CompileOptions, Placement
from edgec.codegen.cnames import library_names
from edgec.codegen.library import constant_names
from edgec.codegen.project import RamConstant
from edgec.lower import Program
from edgec.lower.placed import Lowered
from edgec.lower.resident import Share
from edgec.report.model import PlacementReport, RamWeightsReport
from edgec.target.board import Board

_KEPT, _KEPT_FOR_USER = 4, 2
"""One part in this many of the free RAM stays free; more beside a main program of the user."""


def check_placement(options: CompileOptions, board: Board) -> None:
    """Refuse a placement where an operating system decides, before any work is done.

    Raises:
        ConfigError: there is one.
    """
    given = options.placement is not None
    why = f"{board.name} has an operating system, which loads all of a program into RAM"
    refuse_without_effect([Effect("--placement", given, not board.is_hosted, why)])


def share_of(options: CompileOptions, board: Board) -> Share:
    """What weights may have of RAM.

    Without `--placement` they stay in flash, except where tightly coupled memory, which holds
    nothing else than variables and the stack, is left for them.
    """
    coupled = board.memory is not None and any(r.is_tightly_coupled for r in board.memory.used)
    default = Placement.AUTO if coupled else Placement.FLASH
    budget = None if options.budget is None else options.budget.ram_bytes
    kept = _KEPT if options.main is None else _KEPT_FOR_USER
    return Share(options.placement or default, kept, budget)


def placement_report(made: Lowered, share: Share, board: Board) -> PlacementReport | None:
    """Where arena and weights lie; None where there is an operating system."""
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

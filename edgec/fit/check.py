"""Refusals of `compile --fit` before the work, and whether tensors can be int16."""

from __future__ import annotations

from dataclasses import replace

from edgec.base.errors import ConfigError
from edgec.base.options import CompileOptions, FitLimits, Precision, Rows
from edgec.fit.program.solve import check_solver
from edgec.quant.effects import quantization_effects
from edgec.target.board import Board
from edgec.workflow.integer import RealModel


def check_fit(board: Board, options: CompileOptions, limits: FitLimits) -> None:
    """Refuse at once what no search can find.

    Raises:
        ConfigError: no solver, a board without cycles, options that the search chooses, or limits
            beyond the board.
    """
    check_solver()
    if board.is_hosted or board.memory is None:
        raise ConfigError(
            "limits are of microcontrollers, whose cycles are known",
            where=f"--fit, {board.name}",
            hint="edgec boards lists them",
        )
    quant = options.quant
    taken = {
        "--precision": quant.precision is not None,
        "--budget": options.budget is not None,
        "--rows": options.rows is not Rows.AUTO,
        "--no-build": not options.build,
        "--max-length": options.max_length is not None,
        "--app": options.app.value != "console",
        "--pool-kernel": bool(options.pool.rules),
    }
    given = next((name for name, is_given in taken.items() if is_given), None)
    if given is not None:
        raise ConfigError(
            f"{given} does not go with --fit, which chooses or needs it", hint="leave it out"
        )
    least = board.memory.stack_bytes
    if limits.ram_bytes is not None and limits.ram_bytes <= least:
        raise ConfigError(
            f"ram={limits.ram_bytes} holds not even the stack of {least} bytes",
            where="--fit",
            hint="give more RAM",
        )


def check_judged(limits: FitLimits, *, is_measured: bool) -> None:
    """Refuse limits of accuracy that nothing can be held against.

    Args:
        limits: those of the user.
        is_measured: whether noise and decisions of choices can be measured.

    Raises:
        ConfigError: they cannot, and there are such limits.
    """
    if is_measured or (limits.target_db is None and limits.drop is None):
        return
    part = "drop=" if limits.drop is not None else "db="
    raise ConfigError(
        f"no samples say what {part} of a choice is, or the model brings all its codes",
        where="--fit",
        hint="give --calibration, or leave it out",
    )


def can_widen(real: RealModel, options: CompileOptions) -> bool:
    """Whether `--precision auto` has an effect on a model.

    Args:
        real: the model with its calibration data.
        options: those of the user.
    """
    quant = replace(options.quant, precision=Precision.AUTO)
    count = len(next(iter(real.calibration.values()))) if real.calibration else 0
    effects = quantization_effects(replace(options, quant=quant), real.graph, count)
    return all(each.holds for each in effects if each.option == "--precision")

"""The network of `compile --fit` with what could be int16, and firmware of one choice."""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from edgec.base.options import CompileOptions, Precision, Progress
from edgec.commands.compile import compile_model
from edgec.fit.check import can_widen
from edgec.fit.choice import Built
from edgec.fit.program.problem import Figures
from edgec.kernels.price import BoardPrices
from edgec.profile import profile
from edgec.quant.precision.goal import Space
from edgec.target.board import Board
from edgec.workflow.integer import Calibration, IntegerModel, RealModel, quantized_model


def with_space(
    real: RealModel, options: CompileOptions, board: Board, progress: Progress, *, drops: bool
) -> tuple[IntegerModel, Space | None]:
    """The model with int8 codes, and the tensors that could have int16 codes.

    Args:
        real: the model with its calibration data.
        options: those of the user.
        board: a microcontroller.
        progress: told what is being done.
        drops: whether decisions are to be counted.

    Returns:
        The model, and the tensors; None where none can have them.
    """
    prices = BoardPrices(board)
    if not can_widen(real, options):
        return quantized_model(real, options, progress, prices), None
    found: list[Space] = []

    def chooser(space: Space) -> Sequence[str]:
        found.append(space)
        return ()

    max_drop = 100.0 if drops else None
    quant = replace(options.quant, precision=Precision.AUTO, max_drop=max_drop)
    options = replace(options, quant=quant)
    return quantized_model(real, options, progress, prices, chooser=chooser), next(
        iter(found), None
    )


def built_choice(
    source: Path,
    board: Board,
    samples: Calibration,
    options: CompileOptions,
    quantized: IntegerModel,
    noise: float,
) -> Built:
    """Build firmware in a folder that is removed, and trace a run.

    Args:
        source: ONNX or TensorFlow Lite file.
        board: a microcontroller.
        samples: calibration data; None: without.
        options: those of the choice.
        quantized: the model that they give.
        noise: share of an output's energy that is noise.

    Raises:
        EdgecError: any of its kinds.
    """
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place, "build")
        made = compile_model(
            source,
            board,
            calibration=samples,
            out=folder,
            options=options,
            quantized=quantized,
            with_stack=False,
        )
        traced = profile(folder)
    memory, placement = made.report.memory, made.report.placement
    return Built(
        Figures(
            float(traced.total_cycles),
            float(memory.flash_bytes or 0),
            float(memory.ram_bytes or 0),
            noise,
        ),
        {layer.name: float(layer.counts.cycles) for layer in traced.layers},
        memory.arena_bytes,
        0 if placement is None else sum(each.size_bytes for each in placement.weights),
    )

"""Firmware of one choice of `compile --fit`: built and traced."""

from __future__ import annotations

import tempfile
from pathlib import Path

from edgec.base.options import CompileOptions
from edgec.commands.compile import compile_model
from edgec.commands.fit_choice import Built
from edgec.fit.problem import Figures
from edgec.profile import profile
from edgec.target.board import Board
from edgec.workflow.integer import Calibration, IntegerModel


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
            source, board, calibration=samples, out=folder, options=options, quantized=quantized
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

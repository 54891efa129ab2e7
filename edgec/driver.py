"""`compile_model`: from a model file to checked firmware, top to bottom, one named step a line."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import edgec
from edgec.board import Board, load_board
from edgec.checks import check_emulator, check_host
from edgec.codegen import FirmwareModel, LibraryNames, emit_library, emit_project, library_names
from edgec.dtypes import Array
from edgec.errors import BuildError
from edgec.fits import Demand, Tensor, check_fits, overflow_error
from edgec.integer import Calibration, IntegerModel, integer_model
from edgec.lower import Program, buffers_of, lower, select_kernels
from edgec.memory import MemoryPlan, check_plan, plan_memory
from edgec.options import CompileOptions
from edgec.output_dir import staged_output
from edgec.report import Report
from edgec.report_build import build_report
from edgec.report_text import write_text
from edgec.session import open_session
from edgec.toolchain import FirmwareFiles, FirmwareOverflow, build_firmware

Progress = Callable[[int, int], None]


@dataclass(frozen=True, slots=True, eq=False)
class CompileResult:
    """A finished compilation.

    Attributes:
        folder: the output folder.
        report: what `report.json` says.
        model: the integer graph and what led to it.
        program: what the C code was written from.
    """

    folder: Path
    report: Report
    model: IntegerModel
    program: Program

    def run(self, x: Array, on: str = "host") -> Array:
        """Outputs of a model with one input and one output, for samples [N, ...].

        Args:
            x: as the ONNX model takes it, with a leading axis of samples.
            on: "host" or "emulator".

        Returns:
            What the ONNX model would give, [N, ...].
        """
        session = open_session(self.folder, on)
        (output,) = session.run({self.report.inputs[0].name: x}).values()
        return output

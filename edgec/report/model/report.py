"""The report of a compilation, and `report.json`, from which `run` and `evaluate` read it."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from pydantic import TypeAdapter, ValidationError

from edgec.base.calls import StepLoop, calls_of
from edgec.base.errors import ConfigError
from edgec.base.given_files import REPORT_JSON, check_build_folder
from edgec.base.options import App, Optimize
from edgec.report.model.accuracy import (
    CalibrationReport,
    DecisionsReport,
    EstimateReport,
    Int16Report,
    LossReport,
)
from edgec.report.model.camera import CameraReport
from edgec.report.model.checks import CheckReport, QdqFileReport, QdqReport
from edgec.report.model.front_end import FrontEndReport
from edgec.report.model.layers import LayerReport, PooledLayerReport
from edgec.report.model.memory import BufferReport, MemoryReport, PlacementReport
from edgec.report.model.rows import RowsReport
from edgec.report.model.speed import SpeedReport, TunedReport
from edgec.report.model.stream import StreamReport
from edgec.report.model.tensors import TensorReport
from edgec.target.board import Board

SCHEMA = 2
_MAX_BYTES = 64 << 20


@dataclass(frozen=True, slots=True)
class Report:
    """Everything about one compilation.

    Attributes:
        pooled: layers with pooled weights, in the program's order.
        runtime_bits: the width of their activations can be lowered while the firmware runs.
        max_length: the longest run; 0 where every run has the same length.
        qdq_file: the comparison with the file itself; None where that rounds no activations, or
            nothing was compared.
        app: the main program of the firmware.
        losses: where accuracy goes, the worst first; none without calibration data, or for a
            network that is too large to try.
        decisions: on calibration samples; None without them, or where no output names a class.
        estimate: what to expect on samples that calibration has not seen; None without the user's
            data, where they are too few to spare some, or where nothing is fitted to them.
        int16: which tensors have int16 codes; None where nothing else than int8 was asked for.
        placement: where arena and weights lie; None under an operating system.
        has_integers: the model's file holds integer weights or rounds between its operators; None
            in reports that do not say so.
        optimize: what library and compiler prefer.
        loops: the steps that are repeated, an outer loop before those within it.
        state: outputs of the model's file that it takes in the next run, by input.
        speed: what a run takes, estimated; None where no core is modelled.
        rows: layers that run in turns of a few rows, and the other ways; None: not looked for.
        stream: how it runs frame by frame; None: it does not.
        front_end: how it takes samples of sound; None: it does not.
        camera: how it takes frames of a camera; None: it does not.
        tuned: layers with kernels that were measured; None: no tune file was given.
    """

    schema: int
    edgec: str
    model: str
    c_name: str
    digest: str
    board: Board
    inputs: tuple[TensorReport, ...]
    outputs: tuple[TensorReport, ...]
    layers: tuple[LayerReport, ...]
    macs: int
    macs_in_file: int
    parameters: int
    memory: MemoryReport
    calibration: CalibrationReport
    checks: tuple[CheckReport, ...]
    qdq_export: QdqReport | None
    notes: tuple[str, ...]
    warnings: tuple[str, ...]
    buffers: tuple[BufferReport, ...] = ()
    pooled: tuple[PooledLayerReport, ...] = ()
    runtime_bits: bool = False
    max_length: int = 0
    qdq_file: QdqFileReport | None = None
    app: App = App.CONSOLE
    losses: tuple[LossReport, ...] = ()
    decisions: DecisionsReport | None = None
    int16: Int16Report | None = None
    estimate: EstimateReport | None = None
    placement: PlacementReport | None = None
    has_integers: bool | None = None
    optimize: Optimize = Optimize.SPEED
    state: Mapping[str, str] = field(default_factory=dict)
    loops: tuple[StepLoop, ...] = ()
    speed: SpeedReport | None = None
    rows: RowsReport | None = None
    stream: StreamReport | None = None
    front_end: FrontEndReport | None = None
    camera: CameraReport | None = None
    tuned: TunedReport | None = None

    @property
    def steps(self) -> StreamReport | FrontEndReport | None:
        """The steps that its samples are brought in; None: a run takes a sample as it is."""
        return self.front_end or self.stream

    @property
    def calls(self) -> tuple[int, ...]:
        """The number of the step of each output that a run writes, in order."""
        outputs = [len(layer.outputs) for layer in self.layers]
        return tuple(call.step for call in calls_of(self.loops, outputs))

    @property
    def by_rows(self) -> bool:
        """Whether several runs take a sample, each the next rows of its image."""
        return any(tensor.runs > 1 for tensor in self.inputs)

    def lost(self, step: int) -> float | None:
        """The share of the noise at the outputs that a layer adds; None where none was tried."""
        own = [loss.share for loss in self.losses if loss.step == step]
        return sum(own) if own else None

    def at_length(self, length: int) -> Report:
        """The report with the layers of a run of `length` tokens.

        Raises:
            ConfigError: no run can have them.
        """
        if not 1 <= length <= self.max_length:
            most = self.max_length
            raise ConfigError(
                f"{length} is no length of this model",
                hint=f"lengths are 1 to {most}" if most else "compile it with --max-length",
            )
        layers = tuple(layer.less(self.max_length - length) for layer in self.layers)
        loops = tuple(loop.less(self.max_length - length) for loop in self.loops)
        return replace(self, layers=layers, loops=loops, macs=sum(layer.macs for layer in layers))

    def to_json(self) -> dict[str, Any]:
        """Plain JSON data."""
        data: dict[str, Any] = _ADAPTER.dump_python(self, mode="json")
        return data

    def write(self, folder: Path) -> None:
        """Write `report.json` into `folder`."""
        text = json.dumps(self.to_json(), indent=1)
        (folder / REPORT_JSON).write_text(text + "\n", "utf-8")

    @classmethod
    def read(cls, folder: Path) -> Report:
        """The report in a build folder.

        Raises:
            ConfigError: there is none, or it is damaged or of another version.
        """
        hint = "DIR is the folder that `edgec compile` wrote; compile again if it is damaged"
        check_build_folder(folder)
        path = folder / REPORT_JSON
        if not path.is_file():
            raise ConfigError(
                "is a bundle of several models, not the build folder of one",
                where=str(folder),
                hint="give one of the build folders that it was made of; edgec flash takes it",
            )
        try:
            if path.stat().st_size > _MAX_BYTES:
                raise ValueError("it is too large")
            data = json.loads(path.read_text("utf-8"))
            return _ADAPTER.validate_python(data)
        except (OSError, ValueError, ValidationError) as error:
            reason = "not the report of this version of edgec"
            raise ConfigError(reason, where=str(path), hint=hint) from error


_ADAPTER: TypeAdapter[Report] = TypeAdapter(Report)

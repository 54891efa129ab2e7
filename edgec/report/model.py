"""`report.json`: all that a compilation found out, as frozen data; `run` and `evaluate` read it.

Data and JSON only; `report.text` renders it for people.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from pydantic import TypeAdapter, ValidationError

from edgec.base.dtypes import DType
from edgec.base.errors import ConfigError
from edgec.base.options import App
from edgec.base.samples import Normalize
from edgec.base.swap import recover
from edgec.ir.qparams import QuantParams
from edgec.target.board import Board

SCHEMA = 2
REPORT_JSON = "report.json"
BUNDLE_JSON = "bundle.json"
"""What a bundle of several builds has instead."""
_MAX_BYTES = 64 << 20


@dataclass(frozen=True, slots=True)
class TensorReport:
    """An input or output: how the model sees it and how the generated library does.

    Attributes:
        name: the model's name for it.
        dtype: what the model takes or gives: "float32", "int8", "uint8" or "int64".
        shape: the model's shape, batch axis included.
        library_shape: shape in the arena; ``library = model.transpose(layout)`` when `layout` is
            not empty.
        library_dtype: "int8", "int16" or "int32".
        scale, zero_point: ``real = scale * (q - zero_point)``; scale 0 for indices (ArgMax), and
            where features have their own.
        feature_scales, feature_zero_points: the same for each feature of the last axis, of an input
            whose features have a scale each; empty: all have `scale` and `zero_point`.
        size_bytes: bytes in the arena.
        length_axis: axis of `shape` whose size goes with the length of a run; sizes here are those
            of the longest.
        normalize: how pixels become its numbers, if the file of the model says that.
        labels: names of the classes that it has scores or numbers for, if the file has them.
    """

    name: str
    dtype: str
    shape: tuple[int, ...]
    library_shape: tuple[int, ...]
    layout: tuple[int, ...]
    library_dtype: str
    scale: float
    zero_point: int
    size_bytes: int
    length_axis: int | None = None
    feature_scales: tuple[float, ...] = ()
    feature_zero_points: tuple[int, ...] = ()
    normalize: Normalize | None = None
    labels: tuple[str, ...] = ()

    @property
    def quant(self) -> QuantParams:
        """What the codes of the library mean."""
        if not self.feature_scales:
            return QuantParams.per_tensor(self.scale, self.zero_point, DType(self.library_dtype))
        axis = len(self.library_shape) - 1
        scales, zero_points = np.asarray(self.feature_scales), np.asarray(self.feature_zero_points)
        return QuantParams.per_feature(scales, zero_points, axis)

    def library_shape_less(self, less: int) -> tuple[int, ...]:
        """The shape in the arena in a run that is shorter than the longest by `less`."""
        if self.length_axis is None:
            return self.library_shape
        axis = self.layout.index(self.length_axis) if self.layout else self.length_axis
        sizes = enumerate(self.library_shape)
        return tuple(size - less if index == axis else size for index, size in sizes)


@dataclass(frozen=True, slots=True)
class GrowthReport:
    """What a step of a shorter run has less than that of the longest, n tokens being missing.

    Attributes:
        output_axis: axis of the output that is shorter by n; None: none is.
        input_row_bytes, output_row_bytes: bytes of a token.
        macs: (a, b): a*n - b*n*n multiply-accumulates less.
    """

    output_axis: int | None
    input_row_bytes: int
    output_row_bytes: int
    macs: tuple[int, int]


@dataclass(frozen=True, slots=True)
class LayerReport:
    """One step of the generated program.

    Attributes:
        name: edgec's name for the step's output; `sources` are the ONNX nodes it stands for.
        kernel: kernel family and variant.
        sqnr_db: signal-to-quantization-noise ratio of its output on calibration samples; None when
            it was not measured.
        input_bytes: bytes of the activations it reads.
        output_bytes: bytes of the tensor it writes.
        growth: how that depends on the length of a run; None: not at all.
        form: name of the form of requantization in which it ends; "" if it has none.
    """

    name: str
    op: str
    sources: tuple[str, ...]
    output_shape: tuple[int, ...]
    macs: int
    weight_bytes: int
    kernel: str
    sqnr_db: float | None
    input_bytes: int = 0
    output_bytes: int = 0
    growth: GrowthReport | None = None
    form: str = ""

    def less(self, tokens: int) -> LayerReport:
        """The step in a run that is shorter than the longest by `tokens`."""
        growth = self.growth
        if growth is None:
            return self
        sizes = enumerate(self.output_shape)
        linear, square = growth.macs
        return replace(
            self,
            output_shape=tuple(s - tokens if i == growth.output_axis else s for i, s in sizes),
            macs=self.macs - linear * tokens + square * tokens * tokens,
            input_bytes=self.input_bytes - growth.input_row_bytes * tokens,
            output_bytes=self.output_bytes - growth.output_row_bytes * tokens,
        )


@dataclass(frozen=True, slots=True)
class BufferReport:
    """A tensor (with its reshaped views) or a step's scratch memory, in the arena.

    Attributes:
        name: edgec's name for it, from the model.
        offset_bytes: from the arena's start.
        first_step, end_step: it lives on steps [first_step, end_step).
    """

    name: str
    offset_bytes: int
    size_bytes: int
    first_step: int
    end_step: int


@dataclass(frozen=True, slots=True)
class MemoryReport:
    """Bytes of flash and RAM.

    Attributes:
        arena_bytes: static arena of all activations and scratch.
        arena_disjoint_bytes: least arena if no tensors could overlap, the largest sum at one step.
        weight_bytes: all constants of the model.
        flash_limit_bytes, ram_limit_bytes: what the board has; None: no limit (host).
        flash_bytes: the image in flash, as long as firmware.bin; None if not built, as the others.
        code_bytes: the flash that is not weights, alignment between sections included.
        ram_bytes: arena + stack + variables.
        stack_bytes: reserved for the stack.
        variable_bytes: variables of the firmware, with and without initial values.
    """

    arena_bytes: int
    arena_disjoint_bytes: int
    weight_bytes: int
    flash_limit_bytes: int | None = None
    ram_limit_bytes: int | None = None
    flash_bytes: int | None = None
    code_bytes: int | None = None
    ram_bytes: int | None = None
    stack_bytes: int | None = None
    variable_bytes: int | None = None


@dataclass(frozen=True, slots=True)
class CalibrationReport:
    """How activation ranges were found.

    Attributes:
        source: "user" (data were given), "none" (all ranges are in the file) or "synthetic".
        samples: number of calibration samples.
        observer: what chose the ranges; None where no observer did: for a transformer, and for a
            model that brings all its ranges.
        equalize, bias_correction: whether they were done.
        percentile: percentage of the values that a range holds; None for observers that keep all.
        residual: element type of a transformer's residual stream; None for other networks.
    """

    source: str
    samples: int
    observer: str | None
    equalize: bool
    bias_correction: bool
    percentile: float | None = None
    residual: str | None = None


@dataclass(frozen=True, slots=True)
class CheckReport:
    """One agreement of generated code with the numpy reference, bit for bit.

    Attributes:
        what: "host" or "emulator".
        samples: inputs that were run.
        steps: intermediate tensors compared for each.
        skipped: why it was not done; empty when it was.
        stack_bytes: most stack that the firmware used; None where it was not measured.
        lengths: the lengths that were run, of a model of variable length.
        decimals: how many of each printed result were compared, in place of tensors; 0: tensors
            were compared.
    """

    what: str
    samples: int
    steps: int
    skipped: str = ""
    stack_bytes: int | None = None
    lengths: tuple[int, ...] = ()
    decimals: int = 0


@dataclass(frozen=True, slots=True)
class PooledLayerReport:
    """How a layer with pooled weights is computed, and why so.

    Attributes:
        layer: name of the layer's output.
        kernel: "responses", "direct", "decode" or "expand".
        builder: how responses are built: "multiply", "bitserial" or "nibble"; "" without any.
        lanes: sums in a 32-bit word.
        chunk_groups: groups of channels whose responses exist at one time; 0 without any.
        scratch_bytes: SRAM of a call: response table, partial sums.
        table_bytes: look-up tables of bit patterns; 0 without any.
        table_place: "flash" or "SRAM"; "" without a table.
        activation_bits: bits that the layer sees of an activation.
        response_shift: bits that a response is rounded by.
        cycles: the planner's estimate; None on the host, whose time is not modelled.
        reason: why this kernel, in words.
    """

    layer: str
    kernel: str
    builder: str
    lanes: int
    chunk_groups: int
    scratch_bytes: int
    table_bytes: int
    table_place: str
    activation_bits: int
    response_shift: int
    cycles: int | None
    reason: str


@dataclass(frozen=True, slots=True)
class QdqReport:
    """Outputs beside those of the QDQ model in real arithmetic (float64), as ONNX defines it.

    They differ where ONNX rounds real numbers, with ties to even, and edgec rescaled integers.

    Attributes:
        samples: inputs that were run.
        differing: share of output elements that differ, 0 to 1.
        largest_gap: largest difference in output steps (LSB).
    """

    samples: int
    differing: float
    largest_gap: int


@dataclass(frozen=True, slots=True)
class TensorGap:
    """How far a tensor is from the same tensor of the file that was compiled.

    Attributes:
        name: the tensor.
        differing: share of its elements that differ, 0 to 1.
        largest_gap: largest difference in its own codes.
    """

    name: str
    differing: float
    largest_gap: int


@dataclass(frozen=True, slots=True)
class QdqFileReport:
    """Outputs beside those of the quantized file that was compiled, executed in float64.

    Attributes:
        samples: inputs that were run.
        differing: share of output elements that differ, 0 to 1.
        worst: the output with the largest difference.
        first: the first tensor on the way that differs; None where none does, or none is found.
    """

    samples: int
    differing: float
    worst: TensorGap
    first: TensorGap | None


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
        return replace(self, layers=layers, macs=sum(layer.macs for layer in layers))

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
        recover(folder)
        path = folder / REPORT_JSON
        if not path.is_file():
            if (folder / BUNDLE_JSON).is_file():
                raise ConfigError(
                    "is a bundle of several models, not the build folder of one",
                    where=str(folder),
                    hint="give one of the build folders that it was made of; edgec flash takes it",
                )
            raise ConfigError(f"holds no {REPORT_JSON}", where=str(folder), hint=hint)
        try:
            if path.stat().st_size > _MAX_BYTES:
                raise ValueError("it is too large")
            data = json.loads(path.read_text("utf-8"))
            return _ADAPTER.validate_python(data)
        except (OSError, ValueError, ValidationError) as error:
            reason = "not the report of this version of edgec"
            raise ConfigError(reason, where=str(path), hint=hint) from error


_ADAPTER: TypeAdapter[Report] = TypeAdapter(Report)

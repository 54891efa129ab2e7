"""`validate`: the same inputs through the float model, the numpy reference and a target.

The target must equal the numpy reference bit for bit, tensor by tensor; how far both are from the
float model is what quantization costs.
"""

from __future__ import annotations

import dataclasses
import zlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from edgec.base.calls import Call, calls_of, loops_around
from edgec.base.dtypes import Array
from edgec.base.errors import ConfigError
from edgec.base.samples import SampleFile, Samples
from edgec.interp import run_stream
from edgec.ir.graph import Graph
from edgec.ir.specialize import specialized
from edgec.report.model import COLLECTS, LayerReport, Report
from edgec.sim.compare import channels_of, codes_of_call
from edgec.workflow.codes import encode
from edgec.workflow.model_samples import steps_of
from edgec.workflow.reference import read_reference
from edgec.workflow.session import Progress, length_of
from edgec.workflow.traced import TracedSample, TracedStep, open_tracer
from edgec.workflow.validation_outputs import (
    OutputValidation,
    ValidationInputs,
    noise_inputs,
    read_inputs,
    validate_outputs,
)

SCHEMA = 1


@dataclass(frozen=True, slots=True)
class LayerValidation:
    """One step of the program.

    Attributes:
        name: edgec's name for its output, untrusted.
        sources: nodes of the file that it stands for, untrusted.
        differing: samples on which its output differs from the reference.
        first_sample, first_call: the first of them, and the call of a run, from 0 on, whose tensor
            is the first that differs then; -1: all are equal.
        first_turns: the turn of each loop around that call, from the outermost on.
        largest_gap: largest difference in codes: on the host of all samples, of firmware on the
            first sample on which it differs; None where its tensor could not be read.
        macs: multiply-accumulates.
        cycles: cycles that the target counted on the first sample; None: it counts none.
        share: its share of all cycles, 0 to 1; None without cycles.
    """

    name: str
    op: str
    sources: tuple[str, ...]
    kernel: str
    differing: int
    largest_gap: int | None
    macs: int
    cycles: int | None = None
    share: float | None = None
    first_sample: int = -1
    first_call: int = -1
    first_turns: tuple[int, ...] = ()

    @property
    def exact(self) -> bool:
        """All its tensors equal the reference."""
        return self.differing == 0

    @property
    def title(self) -> str:
        """The first node of the file that it stands for."""
        return next(iter(self.sources), self.name)

    @property
    def turn_words(self) -> str:
        """The turns in which it first differs; "" outside of loops."""
        turns = ", ".join(str(turn) for turn in self.first_turns)
        return f", first in turn {turns} of sample {self.first_sample}" if turns else ""

    @property
    def cycles_per_mac(self) -> float | None:
        """Cycles per multiply-accumulate; None without cycles, or without any to compute."""
        return self.cycles / self.macs if self.cycles is not None and self.macs else None


@dataclass(frozen=True, slots=True)
class Validation:
    """Result of `validate`.

    Attributes:
        on: "host", "emulator" or "device".
        input: what was run, in words.
        samples: number of samples.
        layers: in order of execution.
        outputs: in the model's order.
        clock_hz: core clock of the board, the unit of cycles.
    """

    schema: int
    model: str
    digest: str
    board: str
    on: str
    input: str
    samples: int
    layers: tuple[LayerValidation, ...]
    outputs: tuple[OutputValidation, ...]
    clock_hz: int

    @property
    def first(self) -> LayerValidation | None:
        """The first layer that differs; later ones may differ because of it."""
        wrong = (layer for layer in self.layers if not layer.exact)
        return min(wrong, key=lambda each: (each.first_sample, each.first_call), default=None)

    @property
    def exact(self) -> bool:
        """Every tensor of every sample equals the reference bit for bit."""
        return self.first is None and all(output.largest_gap == 0 for output in self.outputs)

    @property
    def cycles(self) -> int | None:
        """Cycles of all layers on the first sample; None where the target counts none."""
        found = [layer.cycles for layer in self.layers if layer.cycles is not None]
        return sum(found) if found else None

    def to_json(self) -> dict[str, Any]:
        """Plain JSON data."""
        data = dataclasses.asdict(self)
        for layer, each in zip(self.layers, data["layers"], strict=True):
            each |= {"bit_exact": layer.exact, "cycles_per_mac": layer.cycles_per_mac}
        first = self.first
        return {
            **data,
            "bit_exact": self.exact,
            "first_differing": None if first is None else first.name,
            "cycles": self.cycles,
        }


def validate(
    folder: Path | str,
    data: Samples | None = None,
    on: str = "host",
    limit: int | None = None,
    progress: Progress | None = None,
    port: str | None = None,
) -> Validation:
    """Hold a compiled model against its reference, tensor by tensor.

    Args:
        folder: build folder.
        data: inputs on disk, with labels where there are some; None: pseudo-random ones.
        on: "host", "emulator" or "device".
        limit: use only this many samples, from the start.
        progress: told (samples done, samples).
        port: serial port of the device; None: found by itself.

    Raises:
        ConfigError: no build with a reference, data that do not fit, or an unknown target.
        SimulationError: the target does not run.
    """
    folder = Path(folder)
    report = Report.read(folder)
    graph = read_reference(folder)
    file = None if data is None else SampleFile.of(data)
    given = noise_inputs(report) if file is None else read_inputs(report, file, limit)
    length = length_of(report.inputs, given.samples)
    if length is not None:
        report, graph = report.at_length(length), specialized(graph, length)
    steps = steps_of(report, given.samples)
    codes = [encode(steps.inputs[tensor.name], tensor) for tensor in report.inputs]
    gaps = [
        _Gaps(layer, _collected(report, step, layer)) for step, layer in enumerate(report.layers)
    ]
    wanted: list[list[Array]] = []
    found: list[tuple[Array, ...]] = []
    count = len(codes[0])
    samples = [[array[index] for array in codes] for index in range(count)]
    resets = steps.resets
    oracles = run_stream(graph, (_shaped(graph, sample) for sample in samples), resets)
    with open_tracer(folder, report, on, port, length) as tracer:
        for index, (sample, oracle) in enumerate(zip(samples, oracles, strict=True)):
            if index and resets[index]:
                tracer.reset()
            traced = tracer.trace(sample)
            _add(report, gaps, traced, oracle, (index, partial(tracer.dump, sample)))
            wanted.append([oracle[name].reshape(-1) for name in graph.outputs])
            found.append(traced.outputs)
            if progress is not None:
                progress(index + 1, count)
        cycles = tracer.cycles([array[0] for array in codes])
    outputs = [wanted[row] for row in steps.rows], [found[row] for row in steps.rows]
    return _result(folder, report, given, on, gaps, outputs, cycles)


def _collected(report: Report, step: int, layer: LayerReport) -> int:
    """Turns whose values a step collects in one tensor; 0: it does not."""
    if layer.op != COLLECTS:
        return 0
    return loops_around(report.loops, step)[-1].count


class _Gaps:
    """Differences of one layer so far."""

    def __init__(self, layer: LayerReport, collected: int) -> None:
        self.layer = layer
        self.collected = collected
        self.samples: set[int] = set()
        self.first: tuple[int, int, Call] | None = None
        self.largest: int | None = 0

    def add(
        self,
        step: TracedStep,
        wanted: Array,
        at: tuple[int, int, Call],
        dump: Callable[[], bytes | None],
    ) -> None:
        """Compare what a call wrote.

        Args:
            step: what is known of it.
            wanted: the reference.
            at: the sample, the number of the call in its run, and the call.
            dump: asks for the bytes where firmware said only a CRC.
        """
        expected = wanted.astype(wanted.dtype.newbyteorder("<")).tobytes()
        if (step.size_bytes, step.crc) == (len(expected), zlib.crc32(expected)):
            return
        is_first = not self.samples
        self.samples.add(at[0])
        self.first = self.first or at
        data = step.data
        if data is None:
            if not is_first:  # asking takes a run and, on a serial line, seconds
                return
            data = dump()
        if data is None or len(data) != len(expected) or self.largest is None:
            self.largest = None
            return
        codes = np.frombuffer(data, wanted.dtype.newbyteorder("<")).astype(np.int64)
        gap = int(np.abs(codes - wanted.reshape(-1).astype(np.int64)).max())
        self.largest = max(self.largest, gap)


def _shaped(graph: Graph, sample: Sequence[Array]) -> dict[str, Array]:
    shaped = zip(graph.inputs, sample, strict=True)
    return {name: array.reshape(graph.shape(name)) for name, array in shaped}


def _add(
    report: Report,
    gaps: Sequence[_Gaps],
    traced: TracedSample,
    oracle: Mapping[str, Array],
    source: tuple[int, Callable[[Call], bytes | None]],
) -> None:
    """Compare all calls of a sample; `source`: its number, and what asks for bytes of a call."""
    calls = tuple(calls_of(report.loops, [len(gap.layer.outputs) for gap in gaps]))
    if len(traced.steps) != len(calls):
        raise ConfigError(
            f"{len(traced.steps)} steps ran, the report has {len(calls)}",
            hint="report and firmware are of different builds: compile again",
        )
    sample, dump = source
    for number, (call, step) in enumerate(zip(calls, traced.steps, strict=True)):
        gap = gaps[call.step]
        name, shape = gap.layer.outputs[call.output]
        codes = channels_of(oracle[name], shape, gap.layer.first_channel)
        wanted = codes_of_call(codes, shape, call, gap.collected)
        gap.add(step, wanted, (sample, number, call), partial(dump, call))


def _place(gap: _Gaps) -> dict[str, Any]:
    """Place of the first difference of a layer."""
    if gap.first is None:
        return {}
    sample, number, call = gap.first
    return {"first_sample": sample, "first_call": number, "first_turns": call.turns}


def _result(
    folder: Path,
    report: Report,
    given: ValidationInputs,
    on: str,
    gaps: Sequence[_Gaps],
    outputs: tuple[Sequence[Sequence[Array]], Sequence[Sequence[Array]]],
    cycles: Sequence[int] | None,
) -> Validation:
    total = sum(cycles) if cycles else 0
    counts: Sequence[int | None] = cycles or [None] * len(gaps)
    return Validation(
        schema=SCHEMA,
        model=report.model,
        digest=report.digest,
        board=report.board.name,
        on=on,
        input=given.words,
        samples=given.count,
        layers=tuple(
            LayerValidation(
                name=gap.layer.name,
                op=gap.layer.op,
                sources=gap.layer.sources,
                kernel=gap.layer.kernel,
                differing=len(gap.samples),
                largest_gap=gap.largest,
                macs=gap.layer.macs,
                cycles=count,
                share=count / total if count is not None and total else None,
                **_place(gap),
            )
            for gap, count in zip(gaps, counts, strict=True)
        ),
        outputs=validate_outputs(folder, report, given, *outputs),
        clock_hz=report.board.clock_hz,
    )

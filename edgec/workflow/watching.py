"""A build that is watched: one run after the other, on samples in turn or on noise, without end."""

from __future__ import annotations

import contextlib
import itertools
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from edgec.base.dtypes import Array
from edgec.base.samples import SampleFile, load_samples
from edgec.report.model import Report
from edgec.workflow.codes import decode, encode
from edgec.workflow.live import Live, live_model
from edgec.workflow.model_samples import fitting, stacked, steps_of
from edgec.workflow.session import length_of
from edgec.workflow.validation_outputs import noise

_NOISE_AT_ONCE = 8
_SEED = 20260729


@dataclass(frozen=True, slots=True, eq=False)
class Watched:
    """A result of a build.

    Attributes:
        sample: place of its sample in the data, from 0 on; None: it was noise.
        outputs: by name, as the model gives them, an array for one sample: [1, ...].
        cycles: cycles that the target counted; None: it counts none.
        runs: runs that it took; several for a window of a stream.
    """

    sample: int | None
    outputs: dict[str, Array]
    cycles: int | None
    runs: int = 1


@contextlib.contextmanager
def watching(
    folder: Path, on: str, port: str | None = None, data: SampleFile | None = None
) -> Iterator[Iterator[Watched]]:
    """The results of a build, each computed when it is asked for; they never end.

    Args:
        folder: build folder.
        on: "host", "emulator" or "device".
        port: serial port of the device; None: found by itself.
        data: samples, which come in turn, again and again; None: pseudo-random inputs that reach
            all codes.

    Raises:
        ConfigError: no build, samples that do not fit, or a target that cannot run it.
        SimulationError: the target does not run, or ends.
    """
    report = Report.read(folder)
    batches = _batches(report, data)
    first = next(batches)
    length = length_of(report.inputs, first)
    with live_model(folder, report, on, port, length=length) as model:
        yield _results(report, model, itertools.chain([first], batches), length, data is not None)


def _batches(report: Report, data: SampleFile | None) -> Iterator[Mapping[str, Array]]:
    if data is not None:
        yield from itertools.repeat(fitting(report, lambda specs: load_samples(data, specs)))
    generator = np.random.default_rng(_SEED)
    while True:
        yield {each.name: noise(each, generator, _NOISE_AT_ONCE) for each in report.inputs}


def _results(
    report: Report,
    model: Live,
    batches: Iterator[Mapping[str, Array]],
    length: int | None,
    is_numbered: bool,
) -> Iterator[Watched]:
    less = report.max_length - length if length is not None else 0
    for batch in batches:
        steps = steps_of(report, batch)
        codes = [encode(steps.inputs[tensor.name], tensor) for tensor in report.inputs]
        places = {int(row): place for place, row in enumerate(steps.rows)}
        runs = 0
        for run, begins in enumerate(steps.resets):
            if begins:
                model.reset()
            found = model.run([array[run : run + 1] for array in codes])
            runs += 1
            if run not in places:
                continue
            outputs = {
                tensor.name: decode(stacked(each, tensor, less), tensor)
                for tensor, each in zip(report.outputs, found, strict=True)
            }
            place = places[run] if is_numbered else None
            yield Watched(place, outputs, model.take_cycles(), runs)
            runs = 0

"""Builds with a front end that listen: the outputs of every run, as their sound comes."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from edgec.base.dtypes import Array
from edgec.base.errors import ConfigError, SimulationError
from edgec.base.given_files import check_sample_file
from edgec.base.samples import read_sound, recordings
from edgec.base.samples.request import SensorForm
from edgec.base.samples.sound_faults import sound_faults
from edgec.report.model import FrontEndReport, Report
from edgec.sim.protocol import FirmwareClient
from edgec.workflow.codes import decode
from edgec.workflow.live import Live, live_model
from edgec.workflow.model_samples import stacked
from edgec.workflow.session import Progress, build_on_device

_QUIET_S = 5.0
"""A board that says nothing for so long hears nothing."""
_REMEMBERED_S = 600.0
"""Sound that a board hears again after noise on its line where all of it plays a part."""


@dataclass(frozen=True, slots=True, eq=False)
class Heard:
    """Outputs of some runs, one after the other.

    Attributes:
        times: seconds of sound up to the end of each run, float64 [N].
        outputs: by name, [N, ...].
        cycles: cycles of a run, in the mean; None: the target counts none.
    """

    times: Array
    outputs: dict[str, Array]
    cycles: int | None = None

    @property
    def scores(self) -> Array:
        """All numbers of a run beside each other, float64 [N, C]."""
        flat = [array.reshape(len(self.times), -1) for array in self.outputs.values()]
        return np.concatenate(flat, axis=1).astype(np.float64)


class Timeline:
    """The results of one run after the other, at their times.

    Args:
        report: the report of the build.
        front_end: what the build takes.

    Attributes:
        runs: runs so far.
    """

    def __init__(self, report: Report, front_end: FrontEndReport) -> None:
        self.runs = 0
        self._front_end = front_end
        self._outputs = report.outputs

    @property
    def sizes(self) -> list[int]:
        """Numbers of each output."""
        return [int(np.prod(tensor.library_shape)) for tensor in self._outputs]

    def add(self, codes: Sequence[Array], count: int, cycles: int | None) -> Heard:
        """Results of the next `count` runs, without those of the first ones of a stream.

        Args:
            codes: an array [count, elements] an output.
            count: the runs.
            cycles: cycles of all of them; None: not counted.
        """
        front = self._front_end
        first = min(max(front.warm_up - self.runs, 0), count)
        numbers = self.runs + 1 + np.arange(first, count)
        self.runs += count
        return Heard(
            (numbers * front.frames - front.lead) / front.rate,
            {
                tensor.name: decode(stacked(each[first:], tensor, 0), tensor)
                for tensor, each in zip(self._outputs, codes, strict=True)
            },
            None if cycles is None else cycles // max(count, 1),
        )


class Listener:
    """A stream of sound through a build with a front end.

    Args:
        report: the report of the build.
        front_end: what the build takes.
        model: the build, at the begin of a stream.

    Attributes:
        front_end: what the build takes.
    """

    def __init__(self, report: Report, front_end: FrontEndReport, model: Live) -> None:
        self.front_end = front_end
        self._model = model
        self._waiting = np.zeros(front_end.lead, np.int16)
        self._timeline = Timeline(report, front_end)

    @property
    def interval_s(self) -> float:
        """Seconds from result to result."""
        return self.front_end.frames / self.front_end.rate

    def hear(self, sound: Array, progress: Progress | None = None) -> Heard:
        """The results that more samples give, which may be none.

        Args:
            sound: int16 [L], any number of samples.
            progress: told (runs done, runs).

        Raises:
            SimulationError: a run failed.
        """
        front = self.front_end
        line = np.concatenate([self._waiting, sound])
        count = len(line) // front.frames
        self._waiting = line[count * front.frames :]
        runs = line[: count * front.frames].reshape(count, front.frames)
        codes = self._model.run([runs], progress) if count else self._none()
        return self._timeline.add(codes, count, self._model.take_cycles())

    def hear_all(self, sound: Array, progress: Progress | None = None) -> Heard:
        """The results of a whole recording; one that is too short gets silence at its end."""
        front = self.front_end
        least = (front.warm_up + 1) * front.frames - front.lead
        return self.hear(np.pad(sound, (0, max(least - len(sound), 0))), progress)

    def _none(self) -> list[Array]:
        return [np.zeros((0, size), np.int8) for size in self._timeline.sizes]


def listens(report: Report) -> FrontEndReport:
    """The front end of a build.

    Raises:
        ConfigError: it has none.
    """
    if report.front_end is None:
        raise ConfigError(
            f"{report.model} takes no sound",
            hint="compile it with --front-end (docs/front-ends.md)",
        )
    return report.front_end


def recording(report: Report, path: Path, *, resample: bool = False) -> Array:
    """The samples of a recording for a build with a front end, int16 [L].

    Raises:
        ConfigError: it cannot be read, or does not fit.
    """
    front = listens(report)
    if not front.sensor_axes:
        return read_sound(path, int(front.rate), resample=resample)
    if path.suffix.lower() not in recordings.SUFFIXES:
        hint = "give a .csv file, a line for each time, or raw samples of 16 bits: --input -"
        raise ConfigError("is no recording of a sensor", where=str(path), hint=hint)
    check_sample_file(path)
    return recordings.read_codes(path, SensorForm(front.sensor_axes, front.full_scale))


def faults_of(report: Report, sound: Array) -> tuple[str, ...]:
    """Sentences on what is wrong with a recording, int16 [L], for a build with a front end."""
    front = listens(report)
    is_sound = len(sound) > 0 and not front.sensor_axes
    return sound_faults(sound[None], int(front.rate)) if is_sound else ()


@contextlib.contextmanager
def listening(folder: Path, on: str, port: str | None = None) -> Iterator[Listener]:
    """The model of a build folder at the begin of a stream, on "host", "emulator" or "device".

    Raises:
        ConfigError: the build has no front end, or cannot be run there.
        SimulationError: the firmware does not answer.
    """
    report = Report.read(folder)
    front = listens(report)
    # Older sound plays no part, or next to none, so that a stream may last for days.
    of_noise = int(_REMEMBERED_S * front.rate / front.frames) if front.remembers else 0
    with live_model(folder, report, on, port, keep=max(front.runs, of_noise)) as model:
        yield Listener(report, front, model)


@contextlib.contextmanager
def overhearing(folder: Path, port: str | None = None) -> Iterator[Iterator[Heard]]:
    """The results that the firmware of a build, on the board, gives by itself.

    Raises:
        ConfigError: the build has no front end.
        SimulationError: the board does not answer.
    """
    report = Report.read(folder)
    front = listens(report)
    with build_on_device(folder, report, port) as client:
        yield _overheard(Timeline(report, front), front.warm_up, client)


def _overheard(timeline: Timeline, warm_up: int, client: FirmwareClient) -> Iterator[Heard]:
    """The results that the board's own main program gives, as they come.

    Raises:
        SimulationError: none came for some seconds, or the firmware is gone.
    """
    sizes = timeline.sizes
    last = time.monotonic()
    while True:
        found = client.heard(_QUIET_S)
        if found is not None and len(found[1]) == sum(sizes):
            number, codes = found
            last = time.monotonic()
            timeline.runs = number + warm_up
            parts = np.split(np.array(codes), np.cumsum(sizes)[:-1])
            yield timeline.add([part[None] for part in parts], 1, None)
        elif time.monotonic() - last > _QUIET_S:
            raise SimulationError(
                "the firmware gives no results by itself",
                hint="let its main program hear a microphone (read_microphone in src/main.c of "
                "edgec new --example wakeword), or give sound: --input clip.wav",
            )

"""Sound as it is heard: scores over time of `edgec run`, and live of `edgec watch`."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from edgec.base.errors import ConfigError, Effect, refuse_without_effect
from edgec.cli.live_lines import LiveLines, cost_json, cost_text, show_json
from edgec.cli.options import STDIN
from edgec.report import console
from edgec.report.progress import progress

if TYPE_CHECKING:
    from edgec.base.dtypes import Array
    from edgec.profile.live import Meter
    from edgec.report.model import Report
    from edgec.workflow.listening import Heard, Listener

_MOST_SHOWN = 6
"""Detections of a recording that a screen has room for."""
_LINE_S = 0.25
"""Seconds of sound that a line of the live chart stands for."""
_SLOW_AFTER_S = 2.0


def takes_recording(folder: Path, path: Path | None) -> bool:
    """Whether a build takes a file as one stream: `.wav`, or `.csv` of a sensor."""
    from edgec.report.model import Report

    suffix = "" if path is None else path.suffix.lower()
    if suffix not in (".wav", ".csv"):
        return False
    front = Report.read(folder).front_end
    return front is not None and (suffix == ".csv") == bool(front.sensor_axes)


def hear_file(
    folder: Path,
    path: Path,
    on: str,
    port: str | None,
    threshold: float | None,
    *,
    json: bool,
    resample: bool = False,
) -> Heard:
    """Run a build on a recording and show the result of every run."""
    from edgec.report.heard import Scale, detections, picture
    from edgec.report.model import Report
    from edgec.workflow.listening import faults_of, listening, recording

    report = Report.read(folder)
    sound = recording(report, path, resample=resample)
    for fault in faults_of(report, sound):
        console.err.print(f"[yellow]warning:[/] {fault}")
    with progress("running") as advance, listening(folder, on, port) as listener:
        heard = listener.hear_all(sound, advance)
    if json:
        for at in range(len(heard.times)):
            show_json(_to_json(heard, at))
        return heard
    scale = Scale.of(report.outputs)
    interval = listener.interval_s
    console.out.print(f"{len(heard.times)} results, one every {1000 * interval:g} ms, on {on}")
    for line in picture(heard.times, heard.scores, scale):
        console.out.print(line, markup=False)
    least = scale.threshold if threshold is None else threshold
    if least is None:
        console.out.print("detections need a threshold: --threshold SCORE")
        return heard
    found = detections(heard.times, heard.scores, scale.names, least)
    console.out.print(f"{len(found)} detections, scores of at least {least:g}")
    for each in found[:_MOST_SHOWN]:
        console.out.print(
            f"  {each.start_s:7.2f} s to {each.end_s:.2f} s  {each.best:.3g}  {each.name}",
            markup=False,
        )
    if len(found) > _MOST_SHOWN:
        console.out.print(f"  and {len(found) - _MOST_SHOWN} more; --json has all scores")
    return heard


def heard_live(
    folder: Path,
    report: Report,
    path: Path,
    place: tuple[str, str | None],
    threshold: float | None,
    meter: Meter,
    limit: int | None,
    *,
    json: bool,
    resample: bool = False,
) -> None:
    """Run a build on sound as it comes, and show scores until it ends or the user does.

    Args:
        folder: the build.
        report: its report.
        path: a recording, played in real time; `STDIN`: raw samples of 16 bits.
        place: what runs it, and its serial port.
        threshold: the least score of a detection; None: 0.5 where scores are shares.
        meter: takes note of time and energy.
        limit: end after this many results; None: when the sound ends.
        json: a line of JSON a result in place of the chart.
        resample: bring a recording of another rate to that of the front end.
    """
    from edgec.workflow.listening import listening

    parts = _sound(report, path, resample=resample)
    chart = _Chart(report, threshold, meter, limit, json=json)
    with listening(folder, *place) as listener:
        if place[0] != "device":
            meter.prepare()  # which takes seconds, in which sound would come
        pace = _Pace(listener)
        for part in parts:
            if path != STDIN:
                pace.wait(len(part))
            begin = time.monotonic()
            heard = listener.hear(part)
            busy_s = time.monotonic() - begin
            if not chart.show(heard):
                return
            pace.add(len(part), busy_s)


def overheard(
    folder: Path,
    report: Report,
    on: str,
    port: str | None,
    threshold: float | None,
    meter: Meter,
    limit: int | None,
    *,
    json: bool,
) -> None:
    """Show the scores that the firmware of a board gives by itself, until the user ends it."""
    from edgec.workflow.listening import overhearing

    if on != "device":
        raise ConfigError(
            f"on {on} there is no microphone",
            where="edgec watch",
            hint="give sound, --input clip.wav or --input -, or add --on device",
        )
    chart = _Chart(report, threshold, meter, limit, json=json)
    with overhearing(folder, port) as results:
        for heard in results:
            if not chart.show(heard):
                return


def check_sound(
    path: Path | None,
    normalize: str | None,
    threshold: float | None,
    *,
    heard: bool,
    live: bool,
    resample: bool,
) -> None:
    """Refuse options that mean nothing for sound, or only for it.

    Raises:
        ConfigError: there is one.
    """
    if path == STDIN and not live:
        hint = "edgec watch DIR --input -"
        raise ConfigError("samples from a pipe are heard live", where="--input -", hint=hint)
    only = (
        "only a recording (.wav, or .csv of a sensor) for a build with a front end has detections"
    )
    refuse_without_effect(
        [
            Effect("--threshold", threshold is not None, heard, only),
            Effect("--normalize", normalize is not None, not heard, "a front end takes samples"),
            Effect("--resample", resample, path != STDIN, "a pipe has no rate"),
            Effect("--resample", resample, path is not None, "there are no recordings to resample"),
        ]
    )


def _sound(report: Report, path: Path, *, resample: bool) -> Iterator[Array]:
    """The samples for one run after the other; checked before the first one is asked for."""
    import numpy as np

    from edgec.workflow.listening import listens, recording

    frames = listens(report).frames
    if path != STDIN:
        sound = recording(report, path, resample=resample)
        return (sound[at : at + frames] for at in range(0, len(sound), frames))
    stream = sys.stdin.buffer
    if stream.isatty():
        raise ConfigError(
            "samples come from a pipe, not from a keyboard",
            where="--input -",
            hint="arecord -t raw -f S16_LE -r 16000 -c 1 | edgec watch DIR --input -",
        )
    return (
        np.frombuffer(data[: len(data) // 2 * 2], "<i2").astype(np.int16)
        for data in iter(lambda: stream.read(2 * frames), b"")
    )


def _to_json(heard: Heard, at: int) -> dict[str, object]:
    outputs = {name: array[at].tolist() for name, array in heard.outputs.items()}
    return {"time": round(float(heard.times[at]), 4), "outputs": outputs}


class _Chart:
    """A line for each quarter of a second, with its highest score; or a line of JSON a result."""

    def __init__(
        self,
        report: Report,
        threshold: float | None,
        meter: Meter,
        limit: int | None,
        *,
        json: bool,
    ) -> None:
        from edgec.report.heard import Scale

        scale = Scale.of(report.outputs)
        self._lines = LiveLines(scale, scale.threshold if threshold is None else threshold)
        self._meter, self._limit, self._json = meter, limit, json
        self._best: tuple[float, int] | None = None
        self._line = 0
        self._results = 0

    def show(self, heard: Heard) -> bool:
        """Take results; whether more are wanted."""
        for at in range(len(heard.times)):
            cost = self._meter.add(heard.cycles)
            if self._json:
                show_json({**_to_json(heard, at), **cost_json(cost)})
            else:
                self._add(heard.times[at], heard.scores[at], cost_text(cost))
            self._results += 1
            if self._results == self._limit:
                return False
        return True

    def _add(self, time_s: float, scores: Array, tail: str) -> None:
        """Take the scores of a result."""
        best = self._lines.best(scores)
        if self._best is None or best[0] > self._best[0]:
            self._best = best
        self._line = self._line or int(time_s / _LINE_S) + 1
        if time_s < self._line * _LINE_S:
            return
        self._line = int(time_s / _LINE_S) + 1
        self._lines.show(f"{time_s:8.2f} s", self._best, tail)
        self._best = None


class _Pace:
    """Sound that is not heard before its time, and a word where it is heard too late."""

    def __init__(self, listener: Listener) -> None:
        self._rate = listener.front_end.rate
        self._start = time.monotonic()
        self._samples = 0
        self._busy_s = 0.0
        self._is_said = False

    def wait(self, samples: int) -> None:
        """Wait until that many more samples would have come from a microphone."""
        due = self._start + (self._samples + samples) / self._rate
        time.sleep(max(due - time.monotonic(), 0.0))

    def add(self, samples: int, busy_s: float) -> None:
        """Take note of samples that were heard, and of the seconds that they took."""
        self._samples += samples
        self._busy_s += busy_s
        sound_s = self._samples / self._rate
        if sound_s > _SLOW_AFTER_S and self._busy_s > sound_s and not self._is_said:
            self._is_said = True
            console.err.print(
                f"a second of sound takes {self._busy_s / sound_s:.1f} seconds: scores come late"
            )

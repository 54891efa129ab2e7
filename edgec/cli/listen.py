"""Sound as it is heard: scores over time of `edgec run`, of recordings and live."""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from edgec.base.errors import ConfigError, Effect, refuse_without_effect
from edgec.cli.options import STDIN
from edgec.report import console
from edgec.report.progress import progress

if TYPE_CHECKING:
    from edgec.base.dtypes import Array
    from edgec.report.heard import Scale
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
            _print_line(heard, at)
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


def hear_live(
    folder: Path,
    path: Path,
    on: str,
    port: str | None,
    threshold: float | None,
    *,
    json: bool,
    resample: bool = False,
) -> None:
    """Run a build on sound as it comes, and show scores until it ends or the user does.

    Args:
        folder: the build.
        path: a recording, played in real time; `STDIN`: raw samples of 16 bits.
        on, port: what runs it.
        threshold: the least score of a detection; None: 0.5 where scores are shares.
        json: a line of JSON a result in place of the chart.
        resample: bring a recording of another rate to that of the front end.
    """
    from edgec.report.heard import Scale
    from edgec.report.model import Report
    from edgec.workflow.listening import listening, listens

    report = Report.read(folder)
    listens(report)
    parts = _sound(report, path, resample=resample)
    chart = _Chart(Scale.of(report.outputs), threshold)
    with listening(folder, on, port) as listener:
        pace = _Pace(listener)
        for part in parts:
            if path != STDIN:
                pace.wait(len(part))
            begin = time.monotonic()
            heard = listener.hear(part)
            busy_s = time.monotonic() - begin
            chart.show(heard, json=json)
            pace.add(len(part), busy_s)


def overhear(
    folder: Path, on: str, port: str | None, threshold: float | None, *, json: bool
) -> None:
    """Show the scores that the firmware of a board gives by itself, until the user ends it."""
    from edgec.report.heard import Scale
    from edgec.report.model import Report
    from edgec.workflow.listening import overhearing

    if on != "device":
        raise ConfigError(
            f"on {on} there is no microphone",
            where="--listen",
            hint="give sound, --input clip.wav or --input -, or add --on device",
        )
    chart = _Chart(Scale.of(Report.read(folder).outputs), threshold)
    with overhearing(folder, port) as results:
        for heard in results:
            chart.show(heard, json=json)


def check_sound(
    path: Path | None,
    output: Path | None,
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
        raise ConfigError("samples from a pipe are heard live", where="--input -", hint="--listen")
    only = (
        "only a recording (.wav, or .csv of a sensor) for a build with a front end has detections"
    )
    refuse_without_effect(
        [
            Effect("--threshold", threshold is not None, heard, only),
            Effect("--normalize", normalize is not None, not heard, "a front end takes samples"),
            Effect(
                "--resample", resample, path != STDIN and path is not None, "a pipe has no rate"
            ),
            Effect("--output", output is not None, not live, "live scores are not kept"),
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
            hint="arecord -t raw -f S16_LE -r 16000 -c 1 | edgec run DIR --listen --input -",
        )
    return (
        np.frombuffer(data[: len(data) // 2 * 2], "<i2").astype(np.int16)
        for data in iter(lambda: stream.read(2 * frames), b"")
    )


def _print_line(heard: Heard, at: int) -> None:
    """A result as one line of JSON."""
    outputs = {name: array[at].tolist() for name, array in heard.outputs.items()}
    line = {"time": round(float(heard.times[at]), 4), "outputs": outputs}
    console.out.print(json.dumps(line), markup=False)
    console.out.file.flush()


class _Chart:
    """A line for each quarter of a second, with its highest score."""

    def __init__(self, scale: Scale, threshold: float | None) -> None:
        self._scale = scale
        self._threshold = scale.threshold if threshold is None else threshold
        self._best: tuple[float, int] | None = None
        self._low, self._high = float("inf"), -float("inf")
        self._line = 0

    def show(self, heard: Heard, *, json: bool) -> None:
        """Take results; with `json` each is a line of its own."""
        for at in range(len(heard.times)):
            if json:
                _print_line(heard, at)
            else:
                self._add(heard.times[at], heard.scores[at])

    def _add(self, time_s: float, scores: Array) -> None:
        """Take the scores of a result."""
        from edgec.report.heard import bar

        channel = int(scores.argmax())
        score = float(scores[channel])
        self._low, self._high = min(self._low, float(scores.min())), max(self._high, score)
        if self._best is None or score > self._best[0]:
            self._best = (score, channel)
        self._line = self._line or int(time_s / _LINE_S) + 1
        if time_s < self._line * _LINE_S:
            return
        self._line = int(time_s / _LINE_S) + 1
        score, channel = self._best
        self._best = None
        drawn = bar(score, self._scale, self._low, self._high)
        is_heard = self._threshold is not None and score >= self._threshold
        name = self._scale.names[channel][:12]
        mark = f"  {name}" if is_heard or len(self._scale.names) > 1 else ""
        text = f"{time_s:8.2f} s │{drawn}│{score:7.3g}{' !' if is_heard else '  '}{mark}"
        console.out.print(text.rstrip(), markup=False)
        console.out.file.flush()


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

"""The command `edgec watch`."""

from __future__ import annotations

import itertools
import math
import time
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from edgec.base.errors import ConfigError, Effect, refuse_without_effect
from edgec.base.interrupts import interrupt_answered
from edgec.base.names import printable
from edgec.cli.live_lines import (
    LiveLines,
    cost_json,
    cost_text,
    print_summary,
    show_json,
    show_line,
    values_text,
)
from edgec.cli.options import (
    DATA_FORMATS,
    STDIN,
    Folder,
    Json,
    NormalizeOption,
    On,
    PortOption,
    check_port,
)
from edgec.cli.stream_options import ResampleOption

if TYPE_CHECKING:
    from edgec.base.samples import SampleFile
    from edgec.profile.live import Cost, Meter
    from edgec.report.model import Report, TensorReport
    from edgec.workflow.watching import Watched

_RATE = 2.0
_LEAST_RATE = 1e-5
"""A sample a day."""
_SHOWN_VALUES = 8


def watch(
    folder: Folder,
    input: Annotated[
        Path | None,
        typer.Option(
            "--input",
            help=f"Samples, which come in turn (default: noise): {DATA_FORMATS} Of a build with a "
            "front end a recording in real time, or -: raw 16-bit samples from a pipe (default: "
            "what the board hears by itself).",
        ),
    ] = None,
    normalize: NormalizeOption = None,
    resample: ResampleOption = False,
    on: On = "device",
    port: PortOption = None,
    rate: Annotated[
        float | None,
        typer.Option(help=f"Samples a second (default: {_RATE:g}); recordings have their own."),
    ] = None,
    limit: Annotated[
        int | None, typer.Option(min=1, help="End after LIMIT results (default: at Ctrl-C).")
    ] = None,
    threshold: Annotated[
        float | None,
        typer.Option(
            help="With sound: the least score of a detection (default: 0.5 where scores are 0 to "
            "1).",
        ),
    ] = None,
    json: Json = False,
) -> None:
    """Watch a build at work: outputs as they come, with time and energy, until Ctrl-C.

    Time is what the board's cycle counter says, or an estimate from the firmware where nothing
    counts. Energy and power are estimates from one figure of the board's data sheet. --json prints
    a line for each result, and a last one with the summary.
    """
    from edgec.cli.data import samples_of
    from edgec.cli.listen import check_sound, heard_live, overheard, takes_recording
    from edgec.profile.live import meter_of
    from edgec.report.model import Report
    from edgec.workflow.listening import listens

    check_port(port, on)
    if rate is not None and not (math.isfinite(rate) and rate >= _LEAST_RATE):
        raise ConfigError(
            f"--rate takes samples a second, above 0: at least {_LEAST_RATE:g}",
            hint="--rate 10, --rate 0.1",
        )
    report = Report.read(folder)
    if input == STDIN:
        listens(report)
    front = report.front_end
    is_sound = front is not None and (input in (None, STDIN) or takes_recording(folder, input))
    check_sound(input, normalize, threshold, heard=is_sound, live=True, resample=resample)
    own = "sound has a rate of its own"
    refuse_without_effect([Effect("--rate", rate is not None, not is_sound, own)])
    samples = None if is_sound else samples_of(input, normalize, resample)
    meter = meter_of(folder, report.board, samples if report.max_length else None)
    try:
        if not is_sound:
            _watch_samples(folder, report, (on, port), samples, meter, rate or _RATE, limit, json)
        elif input is None:
            overheard(folder, report, on, port, threshold, meter, limit, json=json)
        else:
            place = (on, port)
            heard_live(
                folder, report, input, place, threshold, meter, limit, json=json, resample=resample
            )
    except KeyboardInterrupt:
        interrupt_answered()  # the way in which watching ends
    heard = front if is_sound else None
    found = meter.summary(on, rate or _RATE if heard is None else heard.rate / heard.frames)
    if json:
        show_json({"summary": found.to_json()})
    else:
        print_summary(found)


def _watch_samples(
    folder: Path,
    report: Report,
    place: tuple[str, str | None],
    samples: SampleFile | None,
    meter: Meter,
    rate: float,
    limit: int | None,
    json: bool,
) -> None:
    """Show the results of samples in turn, or of noise."""
    from edgec.workflow.watching import watching

    lines = _Results(report)
    with watching(folder, *place, samples) as results:
        due: float | None = None
        for number, found in enumerate(itertools.islice(results, limit)):
            cost = meter.add(found.cycles, found.runs)
            if json:
                show_json(_to_json(number, found, cost))
            else:
                lines.show(number, found, cost)
            if number + 1 != limit:
                # What came late is not made up for by what follows.
                now = time.monotonic()
                due = max((now if due is None else due) + 1 / rate, now)
                time.sleep(due - now)


def _to_json(number: int, found: Watched, cost: Cost | None) -> dict[str, object]:
    return {
        "result": number,
        "sample": found.sample,
        "outputs": {name: array[0].tolist() for name, array in found.outputs.items()},
        **cost_json(cost),
    }


class _Results:
    """A line for each result: the decision of a classifier, else the first numbers."""

    def __init__(self, report: Report) -> None:
        from edgec.report.heard import Scale
        from edgec.workflow.evaluation import decision

        self._decides: TensorReport | None = None
        try:
            self._decides = decision(report)
        except ConfigError:
            return  # it has several outputs, or numbers that are no scores
        self._lines = LiveLines(Scale.of([self._decides]))

    def show(self, number: int, found: Watched, cost: Cost | None) -> None:
        place = "" if found.sample is None else f" #{found.sample:<5}"
        head, tail = f"{number:6}{place}", cost_text(cost)
        decides = self._decides
        if decides is None:
            flat = [value for each in found.outputs.values() for value in each.reshape(-1)]
            more = " …" if len(flat) > _SHOWN_VALUES else ""
            show_line(f"{head}  {values_text(flat[:_SHOWN_VALUES])}{more}", tail)
            return
        scores = found.outputs[decides.name].reshape(-1)
        if len(scores) > 1:
            self._lines.show(head, self._lines.best(scores), tail)
            return
        chosen = int(scores[0])
        known = 0 <= chosen < len(decides.labels)
        name = printable(decides.labels[chosen]) if known else str(chosen)
        show_line(f"{head}  class {name}", tail)

"""`compile --html`: one page on a finished build, from its folder and the calibration data."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from edgec.base.errors import ConfigError, EdgecError
from edgec.base.options import Progress, no_progress
from edgec.base.samples import SampleFile
from edgec.profile.compile_html import write_compile_html
from edgec.profile.compile_rows import Tile, Work, next_commands
from edgec.profile.instructions import count_instructions
from edgec.profile.origins import origins_of
from edgec.profile.run import profile
from edgec.report.model import Report
from edgec.workflow.histograms import histograms

_ESTIMATE = "Cycles are an estimate from the firmware: edgec profile has the details."
_COUNT = "Instructions were counted in an emulator; there is no model of the time of this core."


def write_page(
    folder: Path,
    path: Path,
    samples: SampleFile | None = None,
    labelled: Sequence[str] = (),
    progress: Progress = no_progress,
) -> None:
    """Write the page of a build.

    Args:
        folder: build folder.
        path: the .html file.
        samples: calibration data; None: histograms are of pseudo-random inputs.
        labelled: words that name samples with labels in commands; empty: none are known.
        progress: told what is being done.

    Raises:
        ConfigError: no build, samples that do not fit, or the file cannot be written.
    """
    report = Report.read(folder)

    def counted(done: int, total: int) -> None:
        progress("counting codes", done, total)

    found = histograms(folder, samples, counted)
    progress("profiling")
    work = _work(folder, report)
    progress("drawing the page")
    has_cycles = work.unit == "cycles" and bool(work.layers)
    commands = next_commands(folder, report, labelled, has_cycles=has_cycles)
    write_compile_html(path, report, work, found, origins_of(folder, report), commands)


def _work(folder: Path, report: Report) -> Work:
    """Cycles or instructions of the layers, or why there are none."""
    try:
        if report.board.linux is not None:
            return _instructions(folder)
        found = profile(folder)
    except EdgecError as error:
        # Messages about a folder leave out its name.
        why = f"it {error.what}" if isinstance(error, ConfigError) else error.what
        return Work("cycles", (), f"There are no cycles: {why}.")
    per_mac = found.cycles_per_mac
    cycles = found.total_cycles
    tiles = (
        Tile("time", f"{found.time_ms:.2f} ms", f"estimate at {found.clock_mhz:g} MHz"),
        Tile("cycles", f"{cycles:,}", "" if per_mac is None else f"{per_mac:.2f} per MAC"),
    )
    return Work("cycles", tuple(e.counts.cycles for e in found.layers), _ESTIMATE, tiles)


def _instructions(folder: Path) -> Work:
    found = count_instructions(folder)
    layers = tuple(layer.counts.instructions for layer in found.layers)
    tile = Tile("instructions", f"{sum(layers):,}", "of all layers")
    return Work("instructions", layers, _COUNT, (tile,))

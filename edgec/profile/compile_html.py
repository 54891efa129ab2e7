"""The page of `edgec compile --html`: what a build takes, where, and what became of the model."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

from edgec.base.output_file import write_whole
from edgec.codegen.env import html_environment, values
from edgec.profile.charts import arena_chart
from edgec.profile.compile_rows import (
    Cell,
    LayerRow,
    LossRow,
    NextCommand,
    Tile,
    Work,
    layer_rows,
    loss_rows,
)
from edgec.profile.evaluation_html import EvaluationPart, evaluation_part
from edgec.profile.histogram_charts import HistogramChart, histogram_chart
from edgec.profile.html import ProfilePart, profile_part, profile_tiles
from edgec.profile.origins import Origins
from edgec.profile.plot import Plot
from edgec.profile.pooled_rows import PoolsPart, pools_part
from edgec.profile.turns_chart import TurnsChart, turns_charts
from edgec.profile.types import Profile
from edgec.profile.validation_html import ValidationPart, validation_part
from edgec.report.model import MemoryReport, Report
from edgec.report.text import check_words
from edgec.workflow.evaluation import Decisions, Evaluation
from edgec.workflow.histograms import Histograms
from edgec.workflow.validation import Validation


@dataclass(frozen=True, slots=True)
class MemoryBar:
    """One memory of the board: the parts of it that are taken, and all of it.

    Attributes:
        name: "flash" or "RAM".
        words: bytes and share.
        parts: their shares of what the board has; texts name them.
    """

    name: str
    words: str
    parts: tuple[Cell, ...]


@dataclass(frozen=True, slots=True)
class Tab:
    """A part of the page: its anchor, and what leads to it."""

    name: str
    title: str


@dataclass(frozen=True, slots=True)
class More:
    """Results of a profile, a validation and an evaluation of a build; None: not done.

    Attributes:
        profiled: its time.
        validated: its layers beside the reference.
        evaluated: its accuracy, with the decision on each sample.
        last: the accuracy that the last `edgec evaluate` found.
        unmeasured: why samples that were given, or this computer, tell no accuracy, a sentence.
    """

    profiled: Profile | None = None
    validated: Validation | None = None
    evaluated: tuple[Evaluation, Decisions] | None = None
    last: Evaluation | None = None
    unmeasured: str = ""


@dataclass(frozen=True, slots=True)
class CompilePage:
    """Everything that the template shows.

    Attributes:
        report: the build.
        facts: version of edgec, calibration, checks: a line each.
        tiles: the figures at the top.
        memory: flash and RAM; empty where the board has an operating system.
        arena: tensors over time.
        arena_words: what the arena takes and where most of it is in use.
        turns: loops of layers that run in turns of a few rows.
        rows: the layers.
        work: what the column of work counts; None: nothing was counted.
        work_words: where the counts are from, or why there are none.
        losses: what adds most to the noise at the outputs.
        decisions: how often the integers decide as the float model, a sentence.
        charts: histograms of quantized tensors.
        input: what was run for them.
        origins: what became of the nodes of the file.
        commands: what to do now.
        tabs: the parts of the page.
        accuracy, accuracy_words: accuracy on labelled data, or why there is none.
        checks: what was held against the reference, a line each.
        validation: layers beside the reference; None: not asked for.
        profiled, profile_tiles: where the time goes; None: not known, see `work_words`.
        pools: layers with pooled weights; None: there are none.
    """

    template: ClassVar[str] = "profile/compile.html.j2"

    report: Report
    facts: str
    tiles: tuple[Tile, ...]
    memory: tuple[MemoryBar, ...]
    arena: Plot
    arena_words: str
    turns: tuple[TurnsChart, ...]
    rows: tuple[LayerRow, ...]
    work: str | None
    work_words: str
    losses: tuple[LossRow, ...]
    decisions: str
    charts: tuple[HistogramChart, ...]
    input: str
    origins: Origins
    commands: tuple[NextCommand, ...]
    tabs: tuple[Tab, ...]
    accuracy: EvaluationPart | None
    accuracy_words: str
    checks: tuple[str, ...]
    validation: ValidationPart | None
    profiled: ProfilePart | None
    profile_tiles: tuple[Tile, ...]
    pools: PoolsPart | None


_NOTHING = More()


def write_compile_html(
    path: Path,
    report: Report,
    work: Work,
    found: Histograms,
    origins: Origins,
    commands: tuple[NextCommand, ...],
    more: More,
) -> None:
    """Write the page; an earlier file is replaced as a whole or not at all.

    Raises:
        ConfigError: the file cannot be written.
    """
    page = compile_page(report, work, found, origins, commands, more)
    write_whole(path, render_compile_html(page).encode("utf-8", "replace"))


def render_compile_html(page: CompilePage) -> str:
    """The text of a page."""
    return html_environment().get_template(page.template).render(values(page))


def compile_page(
    report: Report,
    work: Work,
    found: Histograms,
    origins: Origins,
    commands: tuple[NextCommand, ...],
    more: More = _NOTHING,
) -> CompilePage:
    """Everything that the page of a build shows.

    Args:
        report: the build.
        work: cycles or instructions of its layers.
        found: its histograms.
        origins: what became of the nodes of the file.
        commands: what to do now.
        more: what else was found out.
    """
    rows = layer_rows(report, work)
    numbers = {layer.name: str(number) for number, layer in enumerate(report.layers)}
    return CompilePage(
        report=report,
        facts=_facts(report),
        tiles=_tiles(report, work),
        memory=_memory_bars(report.memory),
        arena=arena_chart(report.buffers, report.memory.arena_bytes, len(report.layers)),
        arena_words=_arena_words(rows),
        turns=turns_charts(report.loops, report.layers),
        rows=rows,
        work=work.unit if work.layers else None,
        work_words=work.words,
        losses=loss_rows(report),
        decisions=_decisions(report),
        charts=tuple(
            histogram_chart(tensor, numbers.get(tensor.name, "input")) for tensor in found.tensors
        ),
        input=found.input,
        origins=origins,
        commands=commands,
        tabs=_tabs(report),
        accuracy=None if more.evaluated is None else evaluation_part(*more.evaluated),
        accuracy_words=_accuracy_words(more),
        checks=tuple(map(": ".join, map(check_words, report.checks))) or ("Nothing was checked.",),
        validation=None if more.validated is None else validation_part(more.validated),
        profiled=None if more.profiled is None else profile_part(more.profiled),
        profile_tiles=() if more.profiled is None else profile_tiles(more.profiled),
        pools=pools_part(report),
    )


def _tabs(report: Report) -> tuple[Tab, ...]:
    titles = ("Summary", "Memory", "Layers", "Accuracy", "Validation", "Profile")
    pools = ("Pools",) if report.pooled else ()
    return tuple(Tab(f"tab-{title.lower()}", title) for title in (*titles, *pools))


def _accuracy_words(more: More) -> str:
    """The last accuracy that was measured, and why there is none with the samples of this page."""
    last = more.last
    why = more.unmeasured or "edgec report DIR --data FILE shows which classes are taken for which."
    if last is None:
        return f"It was not measured: {why}"
    return (
        f"Of {last.n:,} samples {last.accuracy:.2%} are right on {last.on}, "
        f"{last.float_accuracy:.2%} in float; {last.agreement:.2%} of the decisions are equal. "
        f"{why}"
    )


def _decisions(report: Report) -> str:
    found = report.decisions
    if found is None:
        return ""
    samples = f"{found.equal} of {found.samples} calibration samples"
    if found.classes:
        return f"{samples} are decided as by the float model."
    return f"{samples} have the same largest output as in the float model."


def _facts(report: Report) -> str:
    calibration = report.calibration
    ranges = {
        "user": f"calibrated with {calibration.samples:,} samples",
        "none": "ranges from the model's file",
        "synthetic": "without calibration data: ranges are guesses",
    }
    checks = [check.what for check in report.checks if not check.skipped]
    checked = f"equal to the reference on {' and '.join(checks)}" if checks else "not checked"
    return f"edgec {report.edgec} · {ranges[calibration.source]} · {checked}"


def _tiles(report: Report, work: Work) -> tuple[Tile, ...]:
    memory = report.memory
    tiles = []
    if memory.flash_bytes is not None:
        tiles.append(_used("flash", memory.flash_bytes, memory.flash_limit_bytes))
    if memory.ram_bytes is not None:
        tiles.append(_used("RAM", memory.ram_bytes, memory.ram_limit_bytes))
    saved = f"{memory.arena_disjoint_bytes:,} B without overlaps"
    tiles.append(Tile("arena", f"{memory.arena_bytes:,} B", saved))
    if memory.state_bytes:
        tiles.append(Tile("state", f"{memory.state_bytes:,} B", "kept from run to run"))
    tiles.append(Tile("weights", f"{memory.weight_bytes:,} B", f"{report.parameters:,} parameters"))
    tiles += work.tiles
    removed = report.macs_in_file - report.macs
    detail = f"{removed:,} fewer than in the file" if removed > 0 else "multiply-accumulates"
    tiles.append(Tile("MACs", f"{report.macs:,}", detail))
    qualities = [layer.sqnr_db for layer in report.layers if layer.sqnr_db is not None]
    expected = report.estimate
    if expected is not None and expected.output_db is not None:
        least, few = expected.lower_db, " · few samples" if expected.few_samples else ""
        above = "" if least is None else f", above {least:.1f} dB in nine of ten networks"
        detail = f"expected on other data{above}{few}"
        tiles.append(Tile("SQNR", f"{expected.output_db:.1f} dB", detail))
    elif qualities:
        tiles.append(Tile("SQNR", f"{qualities[-1]:.1f} dB", "of the last layer"))
    return tuple(tiles)


def _used(name: str, taken: int, limit: int | None) -> Tile:
    share = f"{taken / limit:.1%} of {limit:,}" if limit else ""
    return Tile(name, f"{taken:,} B", share)


def _memory_bars(memory: MemoryReport) -> tuple[MemoryBar, ...]:
    flash = (("weights", memory.weight_bytes), ("code", memory.code_bytes))
    ram = (
        ("arena", memory.arena_bytes),
        *((("state", memory.state_bytes),) if memory.state_bytes else ()),
        *((("weights", memory.ram_weight_bytes),) if memory.ram_weight_bytes else ()),
        ("stack", memory.stack_bytes),
        ("variables", memory.variable_bytes),
    )
    bars = []
    for name, limit, parts in (
        ("flash", memory.flash_limit_bytes, flash),
        ("RAM", memory.ram_limit_bytes, ram),
    ):
        known = [(part, taken) for part, taken in parts if taken is not None]
        if limit and len(known) == len(parts):
            total = sum(taken for _, taken in known)
            words = f"{total:,} of {limit:,} bytes, {total / limit:.1%}"
            cells = tuple(Cell(f"{p} {taken:,} B", 100 * taken / limit) for p, taken in known)
            bars.append(MemoryBar(name, words, cells))
    return tuple(bars)


def _arena_words(rows: tuple[LayerRow, ...]) -> str:
    if not rows:
        return ""
    most = max(rows, key=lambda row: row.live_bytes)
    return f"Most is in use while step {most.number} runs: {most.live_bytes:,} bytes."

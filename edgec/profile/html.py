"""The profile as one page that needs no network: for a browser, a mail, a CI artefact."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

from edgec.base.output_file import write_whole
from edgec.codegen.env import html_environment, values
from edgec.profile.charts import Bar, arena_chart, bar_chart, roofline
from edgec.profile.compile_rows import Tile
from edgec.profile.plot import Plot
from edgec.profile.types import FunctionProfile, LayerProfile, Profile
from edgec.report.console import shortened
from edgec.report.model import Report

_FUNCTIONS = 20
"""Rows of the table of functions."""
_TITLE_CHARACTERS = 26


@dataclass(frozen=True, slots=True)
class LayerRow:
    """A layer in the table: its title in one line, and its share of the cycles."""

    layer: LayerProfile
    title: str
    share: float


@dataclass(frozen=True, slots=True)
class FunctionRow:
    """A function in the table, and its share of the cycles."""

    function: FunctionProfile
    share: float


@dataclass(frozen=True, slots=True)
class ProfilePart:
    """Sections about the time of a run."""

    found: Profile
    layers: tuple[LayerRow, ...]
    functions: tuple[FunctionRow, ...]
    bars: tuple[Bar, ...]
    roof: Plot | None


@dataclass(frozen=True, slots=True)
class Page:
    """Everything that the template shows."""

    template: ClassVar[str] = "profile/page.html.j2"

    part: ProfilePart
    memory: str
    tiles: tuple[Tile, ...]
    arena: Plot


def write_html(found: Profile, report: Report, path: Path) -> None:
    """Write the page; an earlier file is replaced as a whole or not at all.

    Raises:
        ConfigError: the file cannot be written.
    """
    write_whole(path, render_html(found, report).encode("utf-8", "replace"))


def render_html(found: Profile, report: Report) -> str:
    """The page of a profile.

    Args:
        found: the profile.
        report: report of the same build, which says where tensors lie.
    """
    page = Page(
        part=profile_part(found),
        memory=found.memory_words,
        tiles=profile_tiles(found),
        arena=arena_chart(report.buffers, report.memory.arena_bytes, len(report.layers)),
    )
    return html_environment().get_template(Page.template).render(values(page))


def profile_part(found: Profile) -> ProfilePart:
    """The sections about the time of a run."""
    return ProfilePart(
        found=found,
        layers=tuple(_layer_row(layer, found) for layer in found.layers),
        functions=tuple(_function_row(each, found) for each in found.functions[:_FUNCTIONS]),
        bars=bar_chart(found),
        roof=roofline(found),
    )


def _layer_row(layer: LayerProfile, found: Profile) -> LayerRow:
    share = layer.counts.cycles / found.total_cycles
    return LayerRow(layer, shortened(layer.title, _TITLE_CHARACTERS), share)


def _function_row(function: FunctionProfile, found: Profile) -> FunctionRow:
    return FunctionRow(function, function.counts.cycles / found.total_cycles)


def profile_tiles(found: Profile) -> tuple[Tile, ...]:
    """The figures of a run."""
    total = found.total
    per_mac = "" if found.cycles_per_mac is None else f"{found.cycles_per_mac:.2f} per MAC"
    stalls = total.flash_stalls / total.cycles
    stack = "not measured" if found.stack_bytes is None else f"{found.stack_bytes:,} B"
    tiles = [
        Tile("time", f"{found.time_ms:.2f} ms", f"at {found.clock_mhz:g} MHz"),
        Tile("cycles", f"{found.total_cycles:,}", per_mac),
        Tile("waiting for flash", f"{stalls:.1%}", f"{found.ideal_cycles:,} without"),
        Tile(
            "instructions",
            f"{total.instructions:,}",
            f"{found.cycles_per_instruction:.2f} cycles each",
        ),
        Tile(
            "arena",
            f"{found.arena_bytes:,} B",
            f"{found.arena_touched_bytes:,} B touched",
        ),
        Tile("stack", stack, f"of {found.stack_limit_bytes:,} B reserved"),
    ]
    if found.energy is not None:
        energy = found.energy
        tiles.append(Tile("energy", f"≈ {energy.microjoules:,.0f} µJ", f"estimate, {energy.words}"))
    if found.measured_cycles is not None:
        inside = found.total_cycles - found.outside.cycles
        error = f"estimate is {inside / max(found.measured_cycles, 1) - 1:+.1%} off"
        tiles.append(Tile("measured", f"{found.measured_cycles:,} cycles", error))
    return tuple(tiles)

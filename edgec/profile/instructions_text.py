"""An instruction count as tables for the terminal."""

from __future__ import annotations

from rich.console import Console

from edgec.profile.instructions import InstructionCounts, InstructionProfile, LayerInstructions
from edgec.report.console import count, safe
from edgec.report.tables import table

_COLUMNS = (
    *(">", "layer", "operator", "kernel", "output", ">MACs"),
    *(">instructions", ">per MAC", ">share", ">SIMD", ">loads", ">stores"),
)


def print_instructions(found: InstructionProfile, out: Console) -> None:
    """The whole count."""
    rows = [_row(str(number), layer, found) for number, layer in enumerate(found.layers)]
    rows.append(("", "after the last layer", "", "", "", *_numbers(found.outside, 0, found)))
    rows.append(("", "total", "", "", "", *_numbers(found.total, found.macs, found)))
    title = f"{found.model_name} on {found.board_title} ({found.core}), executed instructions"
    out.print(table(title, _COLUMNS, rows))
    functions = [
        (
            function.name,
            count(function.counts.instructions),
            _share(function.counts.instructions, found.total.instructions),
        )
        for function in found.functions
    ]
    out.print(table("By function", ("function", ">instructions", ">share"), functions))
    out.print(
        f"arena touched / planned: {count(found.arena_touched_bytes)} / "
        f"{count(found.arena_bytes)} bytes"
    )
    out.print(f"input: {safe(found.input)}")
    out.print(
        "instructions are exact; edgec has no model of the time that this core takes for them"
    )


def _row(number: str, layer: LayerInstructions, found: InstructionProfile) -> tuple[str, ...]:
    return (
        number,
        layer.title,
        layer.op,
        layer.kernel,
        "x".join(map(str, layer.output_shape)) or "scalar",
        *_numbers(layer.counts, layer.macs, found),
    )


def _numbers(counts: InstructionCounts, macs: int, found: InstructionProfile) -> tuple[str, ...]:
    return (
        count(macs) if macs else "",
        count(counts.instructions),
        f"{counts.instructions / macs:.2f}" if macs else "",
        _share(counts.instructions, found.total.instructions),
        _share(counts.simd, counts.instructions),
        count(counts.loads),
        count(counts.stores),
    )


def _share(part: int, whole: int) -> str:
    return f"{part / whole:.1%}" if whole else ""

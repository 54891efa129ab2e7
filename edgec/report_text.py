"""Reports as people read them: tables for the terminal and for `report.txt`."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from rich.console import Console
from rich.markup import escape

from edgec.board import Board
from edgec.console import count, table
from edgec.report import LayerReport, MemoryReport, Report, TensorReport

REPORT_TXT = "report.txt"
_TEXT_WIDTH = 120


def write_text(report: Report, folder: Path) -> None:
    """Write `report.txt` into `folder`."""
    with (folder / REPORT_TXT).open("w", encoding="utf-8") as file:
        print_report(report, Console(file=file, width=_TEXT_WIDTH, no_color=True, soft_wrap=True))


def print_report(report: Report, out: Console) -> None:
    """The whole report of a compilation."""
    for title, tensors in (("Inputs", report.inputs), ("Outputs", report.outputs)):
        out.print(_tensor_table(title, tensors))
    out.print(_layer_table(report))
    out.print(_memory_table(report))
    for note in report.notes:
        out.print(f"note: {escape(note)}")
    for check in report.checks:
        if check.skipped:
            out.print(f"[yellow]not checked on {check.what}:[/] {escape(check.skipped)}")
        else:
            out.print(
                f"[green]checked on {check.what}:[/] {check.samples} inputs, {check.steps} tensors "
                "each, equal to the numpy reference bit for bit"
            )
    for warning in report.warnings:
        out.print(f"[bold yellow]warning:[/] {escape(warning)}")


def _tensor_table(title: str, tensors: Sequence[TensorReport]) -> object:
    rows = [
        (
            tensor.name,
            f"{tensor.dtype} {_shape(tensor.shape)}",
            f"{tensor.library_dtype} {_shape(tensor.library_shape)}",
            f"{tensor.scale:.6g}",
            tensor.zero_point,
        )
        for tensor in tensors
    ]
    return table(title, ("name", "model", "in the C library", ">scale", ">zero point"), rows)


def _layer_table(report: Report) -> object:
    rows = [
        (
            number,
            _layer_name(layer),
            layer.op,
            _shape(layer.output_shape),
            count(layer.macs) if layer.macs else "",
            count(layer.weight_bytes) if layer.weight_bytes else "",
            layer.kernel,
            "" if layer.sqnr_db is None else f"{layer.sqnr_db:.1f}",
        )
        for number, layer in enumerate(report.layers)
    ]
    weights = count(sum(layer.weight_bytes for layer in report.layers))
    rows.append(("", "total", "", "", count(report.macs), weights, "", ""))
    title = f"{report.model} on {report.board.title} ({report.board.core})"
    columns = (">", "layer", "operator", "output", ">MACs", ">weights B", "kernel", ">SQNR dB")
    return table(title, columns, rows)


def _layer_name(layer: LayerReport) -> str:
    """The shortest ONNX node name, without its path: what a person recognises."""
    name = min(layer.sources, key=len, default=layer.name)
    return name if len(name) <= 40 else f"…{name[-39:]}"


def _memory_table(report: Report) -> object:
    memory, board = report.memory, report.board
    rows = [
        _memory_row("flash", memory.flash_bytes, board.flash_bytes),
        _memory_row("  weights", memory.weight_bytes, None),
        _memory_row("  everything else", memory.code_bytes, None),
        _memory_row("RAM", memory.ram_bytes, board.ram_bytes),
        _memory_row("  arena", memory.arena_bytes, None),
        _memory_row("  stack reserved", memory.stack_bytes, None),
    ]
    return table("Memory", ("", ">bytes", ">board has", ">used"), [row for row in rows if row[1]])


def _memory_row(name: str, used: int | None, limit: int | None) -> tuple[str, str, str, str]:
    if used is None:
        return (name, "", "", "")
    if limit is None:
        return (name, count(used), "", "")
    return (name, count(used), count(limit), f"{used / limit:.0%}")


def _shape(shape: Sequence[int]) -> str:
    return "x".join(map(str, shape)) or "scalar"


def board_rows(boards: Sequence[Board]) -> list[tuple[str, ...]]:
    """One row per board: name, aliases, core, MHz, flash, RAM, emulator, title."""
    return [
        (
            board.name,
            ", ".join(board.aliases),
            board.core.value,
            f"{board.clock_hz / 1e6:.0f}" if board.clock_hz else "",
            _kib(board.flash_bytes),
            _kib(board.ram_bytes),
            board.emulator.kind if board.emulator.kind != "none" else "",
            board.title,
        )
        for board in boards
    ]


def _kib(size: int | None) -> str:
    return "" if size is None else f"{size / 1024:.0f} KB"


def memory_text(memory: MemoryReport) -> str:
    """Flash and RAM in one line."""
    if memory.flash_bytes is None or memory.ram_bytes is None:
        return f"weights {count(memory.weight_bytes)} B, arena {count(memory.arena_bytes)} B"
    return f"flash {count(memory.flash_bytes)} B, RAM {count(memory.ram_bytes)} B"

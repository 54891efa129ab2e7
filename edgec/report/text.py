"""Reports as people read them: tables for the terminal and for `report.txt`."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from rich.console import Console

from edgec.report.console import WIDTH_OF_FILES, count, safe
from edgec.report.model import (
    CheckReport,
    LayerReport,
    PooledLayerReport,
    QdqFileReport,
    Report,
    TensorReport,
)
from edgec.report.tables import table

REPORT_TXT = "report.txt"


def write_text(report: Report, folder: Path) -> None:
    """Write `report.txt` into `folder`."""
    with (folder / REPORT_TXT).open("w", encoding="utf-8") as file:
        width = WIDTH_OF_FILES
        plain = Console(file=file, width=width, no_color=True, soft_wrap=True, emoji=False)
        print_report(report, plain)


def print_report(report: Report, out: Console) -> None:
    """The whole report of a compilation."""
    for title, tensors in (("Inputs", report.inputs), ("Outputs", report.outputs)):
        out.print(_tensor_table(title, tensors))
    if report.max_length:
        out.print(
            f"tokens of a run: 1 to {report.max_length}, the sizes here are those of the longest; "
            f"in C: edgec_{report.c_name}_run_length(&context, tokens)"
        )
    out.print(_layer_table(report))
    if report.pooled:
        out.print(_pooled_table(report))
    out.print(_memory_table(report))
    for note in report.notes:
        out.print(f"note: {safe(note)}")
    for check in report.checks:
        if check.skipped:
            out.print(f"[yellow]not checked on {check.what}:[/] {safe(check.skipped)}")
        elif check.decimals:
            out.print(
                f"[green]checked on {check.what}:[/] {check.samples} inputs by the runner's "
                f"commands, results equal to the numpy reference in all {check.decimals} decimals"
            )
        else:
            out.print(
                f"[green]checked on {check.what}:[/] {check.samples} inputs, {check.steps} tensors "
                f"each, equal to the numpy reference bit for bit{_lengths_text(check)}"
            )
    if report.qdq_file is not None:
        out.print(_file_text(report.qdq_file))
    elif report.qdq_export is not None:
        beside = report.qdq_export
        out.print(
            f"QDQ model in real arithmetic: {beside.differing:.2%} of output elements differ, "
            f"by at most {beside.largest_gap} LSB ({beside.samples} inputs)"
        )
    for warning in report.warnings:
        out.print(f"[bold yellow]warning:[/] {safe(warning)}")


def _file_text(found: QdqFileReport) -> str:
    """The outputs beside those of the quantized file that was compiled."""
    text = (
        f"the file itself in real arithmetic: {found.differing:.2%} of output elements differ, "
        f"by at most {found.worst.largest_gap} LSB ({found.samples} inputs)"
    )
    if found.first is None:
        return text
    first = found.first
    return (
        f"{text}; first in {safe(first.name)}: {first.differing:.2%} by at most "
        f"{first.largest_gap} LSB"
    )


def _lengths_text(check: CheckReport) -> str:
    return f", at lengths {', '.join(map(str, check.lengths))}" if check.lengths else ""


def _tensor_table(title: str, tensors: Sequence[TensorReport]) -> object:
    rows = [
        (
            tensor.name,
            f"{tensor.dtype} {_shape(tensor.shape)}",
            f"{tensor.library_dtype} {_shape(tensor.library_shape)}",
            "by feature" if tensor.feature_scales else f"{tensor.scale:.6g}",
            "by feature" if tensor.feature_scales else tensor.zero_point,
        )
        for tensor in tensors
    ]
    return table(title, ("name", "model", "in the C library", ">scale", ">zero point"), rows)


def _layer_table(report: Report) -> object:
    rows = [
        (
            str(number),
            _layer_name(layer),
            f"{layer.op} {layer.form}".rstrip(),
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
    title = f"{report.model} on {report.board.title} ({report.board.core.value})"
    columns = (">", "layer", "operator", "output", ">MACs", ">weights B", "kernel", ">SQNR dB")
    return table(title, columns, rows)


def _pooled_table(report: Report) -> object:
    rows = [
        (
            _pooled_name(report, layer),
            " ".join(filter(None, (layer.kernel, layer.builder))),
            str(layer.activation_bits),
            str(layer.lanes) if layer.chunk_groups else "",
            str(layer.chunk_groups or ""),
            count(layer.scratch_bytes),
            f"{count(layer.table_bytes)} {layer.table_place}" if layer.table_bytes else "",
            "" if layer.cycles is None else count(layer.cycles),
            layer.reason,
        )
        for layer in report.pooled
    ]
    columns = ("layer", "kernel", ">bits", ">lanes", ">groups at once", ">SRAM B", "table B")
    width = "can be lowered at run time" if report.runtime_bits else "fixed"
    title = f"Layers with pooled weights (width of activations {width}; cycles are estimates)"
    return table(title, (*columns, ">cycles", "why"), rows)


def _pooled_name(report: Report, layer: PooledLayerReport) -> str:
    found = next((each for each in report.layers if each.name == layer.layer), None)
    return layer.layer if found is None else _layer_name(found)


def _layer_name(layer: LayerReport) -> str:
    """The first ONNX node that a step stands for."""
    return next(iter(layer.sources), layer.name)


def _memory_table(report: Report) -> object:
    memory = report.memory
    rows = [
        _memory_row("flash", memory.flash_bytes, memory.flash_limit_bytes),
        _memory_row("  weights", memory.weight_bytes, None),
        _memory_row("  everything else", memory.code_bytes, None),
        _memory_row("RAM", memory.ram_bytes, memory.ram_limit_bytes),
        _memory_row("  arena", memory.arena_bytes, None),
        _memory_row("  stack reserved", memory.stack_bytes, None),
        _memory_row("  variables", memory.variable_bytes, None),
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

"""Reports as people read them: tables for the terminal and for `report.txt`."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from rich.console import Console

from edgec.board import Board
from edgec.console import count, safe, shortened, table
from edgec.frontend.summary import PoolSummary
from edgec.inspection import Inspection
from edgec.quantization import Quantization
from edgec.report import CheckReport, LayerReport, PooledLayerReport, Report, TensorReport
from edgec.toolchain.doctor import Check

REPORT_TXT = "report.txt"
_TEXT_WIDTH = 120


def write_text(report: Report, folder: Path) -> None:
    """Write `report.txt` into `folder`."""
    with (folder / REPORT_TXT).open("w", encoding="utf-8") as file:
        print_report(
            report,
            Console(file=file, width=_TEXT_WIDTH, no_color=True, soft_wrap=True, emoji=False),
        )


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
        else:
            out.print(
                f"[green]checked on {check.what}:[/] {check.samples} inputs, {check.steps} tensors "
                f"each, equal to the numpy reference bit for bit{_lengths_text(check)}"
            )
    if report.onnxruntime is not None:
        beside = report.onnxruntime
        out.print(
            f"onnxruntime on the QDQ export: {beside.differing:.2%} of output elements differ, by "
            f"at most {beside.largest_gap} LSB ({beside.samples} inputs)"
        )
    for warning in report.warnings:
        out.print(f"[bold yellow]warning:[/] {safe(warning)}")


def _lengths_text(check: CheckReport) -> str:
    return f", at lengths {', '.join(map(str, check.lengths))}" if check.lengths else ""


def _tensor_table(title: str, tensors: Sequence[TensorReport]) -> object:
    rows = [
        (
            shortened(tensor.name),
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
            str(number),
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
    return shortened(layer.layer, 40) if found is None else _layer_name(found)


def _layer_name(layer: LayerReport) -> str:
    """The first ONNX node that a step stands for, its end if it is long."""
    name = next(iter(layer.sources), layer.name)
    return shortened(name, 40)


def _memory_table(report: Report) -> object:
    memory = report.memory
    rows = [
        _memory_row("flash", memory.flash_bytes, memory.flash_limit_bytes),
        _memory_row("  weights", memory.weight_bytes, None),
        _memory_row("  everything else", memory.code_bytes, None),
        _memory_row("RAM", memory.ram_bytes, memory.ram_limit_bytes),
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
            memory_size(board.flash_bytes),
            memory_size(board.ram_bytes),
            board.emulator.kind if board.emulator.kind != "none" else "",
            board.title,
        )
        for board in boards
    ]


def memory_size(size: int | None) -> str:
    """Bytes of a board's memory in words; empty for None."""
    if size is None:
        return ""
    return f"{size // 1024} KB" if size < 64 << 20 else f"{size >> 20} MB"


def print_inspection(inspection: Inspection, out: Console) -> None:
    """Nodes, totals, and what is not supported."""
    summary = inspection.summary
    pooled = any(node.pool is not None for node in summary.nodes)
    rows = [
        (
            shortened(node.name, 44),
            node.op,
            ", ".join(_maybe_shape(shape) for shape in node.output_shapes),
            count(node.macs) if node.macs else "",
            count(node.parameters) if node.parameters else "",
            *([_pool_text(node.pool)] if pooled else []),
            "" if node.supported else "no",
        )
        for node in summary.nodes
    ]
    pool = ("weight pool",) if pooled else ()
    columns = ("node", "operator", "output", ">MACs", ">parameters", *pool, "supported")
    out.print(table(f"{summary.name} (opset {summary.opset})", columns, rows))
    for title, tensors in (("inputs", summary.inputs), ("outputs", summary.outputs)):
        for tensor in tensors:
            text = f"{shortened(tensor.name)}: {tensor.dtype} {_maybe_shape(tensor.shape)}"
            out.print(f"{title[:-1]} {safe(text)}")
    if inspection.max_length:
        out.print(f"tokens of a run: 1 to {inspection.max_length}; shapes are the longest one's")
    out.print(f"{count(summary.macs)} MACs, {count(summary.parameters)} parameters")
    live = inspection.live_macs
    if live is not None and live < summary.macs:
        out.print(
            f"{count(live)} MACs are live ({live / summary.macs:.0%}); edgec removes the others, "
            "whose channels are constant or never used"
        )
    for node in summary.nodes:
        if not node.supported:
            text = f"{shortened(node.name)} ({node.op}): {node.reason}"
            out.print(f"[red]not supported:[/] {safe(text)}")
            out.print(f"  remedy: {safe(node.remedy)}")


def _pool_text(pool: PoolSummary | None) -> str:
    if pool is None:
        return ""
    return f"{pool.vectors} vectors of {pool.group}, {pool.index_bits}-bit indices"


def _maybe_shape(shape: Sequence[int] | None) -> str:
    return "?" if shape is None else _shape(shape)


def print_doctor(checks: Sequence[Check], out: Console) -> None:
    """What is installed, what is missing, and the command that installs it."""
    rows = [(_mark(c), c.name, c.found, c.purpose, c.install) for c in checks]
    out.print(table("edgec doctor", ("", "what", "found", "needed for", "to install"), rows))


def _mark(check: Check) -> str:
    return "ok" if check.ok else "MISSING" if check.required else "absent"


def print_quantization(result: Quantization, out: Console) -> None:
    """Quality of a quantized model, layer by layer."""
    rows = [
        (
            shortened(layer.value),
            layer.op.removeprefix("Q"),
            f"{layer.sqnr_db:.1f}",
            f"{layer.saturated:.2%}",
        )
        for layer in result.report.layers
    ]
    if rows:
        columns = ("layer output", "operator", ">SQNR dB", ">saturated")
        out.print(table("Quantization", columns, rows))
    for warning in result.report.warnings:
        out.print(f"[bold yellow]warning:[/] {safe(warning)}")
    out.print(f"written to {safe(str(result.output))}")

"""Reports as people read them: tables for the terminal and for `report.txt`."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

from rich.console import Console

from edgec.base.rounding import Rounding
from edgec.report.console import WIDTH_OF_FILES, count, safe, shortened
from edgec.report.layer_table import layer_name, layer_table, shape_text
from edgec.report.model import (
    CheckReport,
    EstimateReport,
    LossReport,
    PooledLayerReport,
    QdqFileReport,
    Report,
    TensorReport,
)
from edgec.report.rows import rows_table
from edgec.report.stream_text import stream_lines, stream_table
from edgec.report.tables import table

REPORT_TXT = "report.txt"
_WORST, _LEAST_SHARE = 3, 0.05
"""Losses that are named below the tables: as many at most, as much of the noise at least."""
_WORTH_SAYING = 20
"""Least part of the multiply-accumulates for which another placement's savings are told."""


def write_text(report: Report, folder: Path) -> None:
    """Write `report.txt` into `folder`."""
    with (folder / REPORT_TXT).open("w", encoding="utf-8") as file:
        width = WIDTH_OF_FILES
        plain = Console(file=file, width=width, no_color=True, soft_wrap=True, emoji=False)
        print_report(report, plain, whole=True)


def print_report(report: Report, out: Console, *, whole: bool = False) -> None:
    """The whole report of a compilation.

    Args:
        report: what was found out.
        out: where to print it.
        whole: leave nothing out, however narrow the place is.
    """
    for title, tensors in (("Inputs", report.inputs), ("Outputs", report.outputs)):
        out.print(_tensor_table(title, tensors))
    if report.max_length:
        out.print(
            f"tokens of a run: 1 to {report.max_length}, the sizes here are those of the longest; "
            f"in C: edgec_{report.c_name}_run_length(&context, tokens)"
        )
    layers = layer_table(report)
    out.print(replace(layers, narrower=None) if whole else layers)
    if report.pooled:
        out.print(_pooled_table(report))
    out.print(_memory_table(report))
    if report.rows is not None:
        out.print(rows_table(report.rows))
    if report.stream is not None:
        out.print(stream_table(report))
    for line in stream_lines(report):
        out.print(line)
    if report.tuned is not None:
        out.print(safe(report.tuned.line))
    for line in (*_placement_lines(report), *_accuracy_lines(report)):
        out.print(line)
    for note in report.notes:
        out.print(f"note: {safe(note)}")
    for line in (
        *map(_check_text, report.checks),
        *(confined_text(check) for check in report.checks if check.program),
        *_file_lines(report),
    ):
        out.print(line)
    for warning in report.warnings:
        out.print(f"[bold yellow]warning:[/] {safe(warning)}")


def _placement_lines(report: Report) -> Iterator[str]:
    """Lines on weights in RAM and the cycles that they save."""
    found = report.placement
    if found is None:
        return
    ms = report.board.clock_hz / 1000
    if found.weights:
        steps = {step for each in found.weights for step in each.steps}
        layers = sum(layer.weight_bytes > 0 for layer in report.layers)
        yield (
            f"weights in RAM: {found.ram_bytes:,} of {report.memory.weight_bytes:,} bytes, of "
            f"{len(steps)} of {layers} layers, in {' and '.join(found.regions)}; estimated to save "
            f"{found.saved_cycles:,} cycles ({found.saved_cycles / ms:.3f} ms) a run; arena in "
            f"{found.arena_in}"
        )
    elif found.possible_cycles * _WORTH_SAYING >= report.macs > 0:
        yield (
            f"--placement auto would copy {found.possible_bytes:,} bytes of weights to RAM and "
            f"save about {found.possible_cycles:,} cycles ({found.possible_cycles / ms:.3f} ms) "
            "a run"
        )


def agreement_words(classes: bool) -> str:
    """Name of outputs whose largest element is the float model's.

    Args:
        classes: whether they are known to be about classes, so that this is a decision.
    """
    return "equal decisions" if classes else "same largest output"


def _accuracy_lines(report: Report) -> Iterator[str]:
    """Lines on what to expect, on equal decisions, and on the layers that lose most."""
    if report.estimate is not None:
        yield estimate_line(report.estimate)
    found = report.decisions
    if found is not None:
        equal = agreement_words(found.classes)
        yield f"{equal}: {found.equal} of {found.samples} calibration samples"
    largest = [(loss, share) for loss, share in _by_layer(report) if share > _LEAST_SHARE]
    if largest:
        worst = ", ".join(_loss_text(loss, share) for loss, share in largest[:_WORST])
        yield f"noise at the outputs, largest first: {worst}"


def estimate_line(found: EstimateReport) -> str:
    """Line on what to expect of samples that calibration has not seen.

    Args:
        found: the estimate.
    """
    if found.output_db is None:
        return f"expected on other data: no noise ({found.samples} calibration samples held back)"
    least = found.lower_db
    bound = "" if least is None else f", in nine of ten networks above {least:.1f} dB"
    few = "; few samples: more of them give more, or less doubt" if found.few_samples else ""
    return (
        f"expected on other data: {found.output_db:.1f} dB at the worst output{bound} "
        f"({found.samples} calibration samples held back in turn){few}"
    )


def _by_layer(report: Report) -> list[tuple[LossReport, float]]:
    """The largest loss of each layer and input, and what all of its losses are together.

    A layer that does several operators of the model has several losses.
    """
    worst: dict[str | int, LossReport] = {}
    for loss in report.losses:
        worst.setdefault(loss.tensor if loss.step is None else loss.step, loss)
    found = [
        (loss, loss.share if loss.step is None else report.lost(loss.step) or 0.0)
        for loss in worst.values()
    ]
    return sorted(found, key=lambda each: -each[1])


def _loss_text(loss: LossReport, share: float) -> str:
    """Place of a loss, its share of all, and its cause."""
    where = f"input {safe(shortened(loss.tensor))}" if loss.step is None else f"layer {loss.step}"
    detail = f": {loss.detail}" if loss.detail else ""
    return f"{where} {share:.0%} ({loss.why}{detail})"


def _inputs(count: int) -> str:
    return "1 input" if count == 1 else f"{count} inputs"


def _check_text(check: CheckReport) -> str:
    """Result of a check, or the reason why there was none."""
    head, result = check_words(check)
    return f"[{'yellow' if check.skipped else 'green'}]{head}:[/] {safe(result)}"


def check_words(check: CheckReport) -> tuple[str, str]:
    """Two plain, untrusted texts: what a check is; its result, or the reason why there is none."""
    if check.skipped:
        return f"not checked on {check.what}", check.skipped
    head, inputs = f"checked on {check.what}", _inputs(check.samples)
    if check.decimals:
        equal = f"results equal to the numpy reference in all {check.decimals} decimals"
        return head, f"{inputs} by the runner's commands, {equal}"
    lengths = f", at lengths {', '.join(map(str, check.lengths))}" if check.lengths else ""
    equal = "equal to the numpy reference bit for bit"
    return head, f"{inputs}, {check.steps} tensors each, {equal}{lengths}"


def confined_text(check: CheckReport) -> str:
    """Text about the programs that a check ran on this computer, and about their confinement."""
    if check.confined == "none":
        how = "[yellow]not confined[/]: Bubblewrap and namespaces both fail here"
    else:
        how = f"confined by {check.confined}: no network, no file that it could write"
    return f"ran on this computer: firmware.elf, by {check.program}, {how}"


def _file_lines(report: Report) -> Iterator[str]:
    """The outputs beside those of a quantized file: the one compiled, or the one written."""
    if report.qdq_file is not None:
        yield _file_text(report.qdq_file)
    elif report.qdq_export is not None:
        beside = report.qdq_export
        yield (
            f"QDQ model in real arithmetic: {beside.differing:.2%} of output elements differ, "
            f"by at most {beside.largest_gap} LSB ({_inputs(beside.samples)})"
        )


def _file_text(found: QdqFileReport) -> str:
    """The outputs beside those of the quantized file that was compiled."""
    tflm = (
        "; rounded as TensorFlow Lite Micro does" if found.rounding == Rounding.TFLM.value else ""
    )
    text = (
        f"the file itself in real arithmetic: {found.differing:.2%} of output elements differ, "
        f"by at most {found.worst.largest_gap} LSB ({_inputs(found.samples)}{tflm})"
    )
    if found.first is None:
        return text
    first = found.first
    return (
        f"{text}; first in {safe(first.name)}: {first.differing:.2%} by at most "
        f"{first.largest_gap} LSB"
    )


def _tensor_table(title: str, tensors: Sequence[TensorReport]) -> object:
    rows = [
        (
            tensor.name,
            f"{tensor.dtype} {shape_text(tensor.shape)}",
            f"{tensor.library_dtype} {shape_text(tensor.library_shape)}",
            "by feature" if tensor.feature_scales else f"{tensor.scale:.6g}",
            "by feature" if tensor.feature_scales else tensor.zero_point,
        )
        for tensor in tensors
    ]
    return table(title, ("name", "model", "in the C library", ">scale", ">zero point"), rows)


def _pooled_table(report: Report) -> object:
    sums = any(layer.terms > 1 for layer in report.pooled)
    rows = [
        (
            _pooled_name(report, layer),
            *([str(layer.terms)] if sums else []),
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
    terms = (">terms",) if sums else ()
    numbers = (">bits", ">lanes", ">groups at once", ">SRAM B", "table B")
    columns = ("layer", *terms, "kernel", *numbers)
    width = "can be lowered at run time" if report.runtime_bits else "fixed"
    title = f"Layers with pooled weights (width of activations {width}; cycles are estimates)"
    return table(title, (*columns, ">cycles", "why"), rows)


def _pooled_name(report: Report, layer: PooledLayerReport) -> str:
    found = next((each for each in report.layers if each.name == layer.layer), None)
    return layer.layer if found is None else layer_name(found)


def _memory_table(report: Report) -> object:
    memory = report.memory
    rows = [
        _memory_row("flash", memory.flash_bytes, memory.flash_limit_bytes),
        _memory_row("  weights", memory.weight_bytes, None),
        _memory_row("  everything else", memory.code_bytes, None),
        _memory_row("RAM", memory.ram_bytes, memory.ram_limit_bytes),
        _memory_row("  arena", memory.arena_bytes, None),
        _memory_row("  state", memory.state_bytes or None, None),
        _memory_row("  weights", memory.ram_weight_bytes or None, None),
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

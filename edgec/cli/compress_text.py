"""The report of `edgec compress` as people read it."""

from __future__ import annotations

from rich.console import Console

from edgec.commands.compress import Compression
from edgec.report.console import count, safe, shortened
from edgec.report.tables import table
from edgec.weightpool import CompressionReport
from edgec.workflow.accuracy import WIDTHS, Accuracy


def print_compression(result: Compression, out: Console) -> None:
    """Layers, sizes and accuracy of a compressed model."""
    report = result.report
    out.print(_layers(report, result.model.name))
    for layer in report.left_alone:
        out.print(f"not pooled: {safe(shortened(layer.node))}: {safe(layer.reason)}")
    out.print(_sizes(report))
    out.print(
        "Counted: indices at their least number of bits, the pool, weights that stay int8, and "
        "for each output channel a bias and a multiplier of 32 bits (which holds the scale). Not "
        f"counted: code, and the look-up table of {count(report.sizes.table)} bytes that some "
        "kernels use."
    )
    if result.accuracy is not None:
        out.print(_accuracy(result.accuracy))
    if not report.samples:
        out.print(
            "[bold yellow]warning:[/] without --calibration the pool fits the weights, not what "
            "the network computes; expect bad accuracy"
        )
    for note in report.notes:
        out.print(f"note: {safe(note)}")
    out.print(f"written to {safe(str(result.output))} ({count(result.file_bytes)} bytes)")


def _layers(report: CompressionReport, name: str) -> object:
    rows = [
        (
            layer.node,
            count(layer.weights),
            count(layer.vectors),
            f"{layer.entries_used} of {report.pool_size}",
            f"{layer.weight_error:.3f}",
            "" if layer.sqnr_db is None else f"{layer.sqnr_db:.1f}",
            f"{layer.bits_per_weight:.2f}",
        )
        for layer in report.layers
    ]
    columns = (
        *("pooled layer", ">weights", ">vectors", ">pool use"),
        *(">weight error", ">output SQNR dB", ">bits a weight"),
    )
    return table(f"Weight pool of {safe(name)}", columns, rows)


def _sizes(report: CompressionReport) -> object:
    sizes = report.sizes
    rows = [
        ("weights of pooled layers: indices", "", count(sizes.indices)),
        ("weight pool", "", count(sizes.pool)),
        ("other weights", "", count(sizes.unpooled_weights)),
        ("weights in all", count(sizes.int8_weights), count(sizes.pooled_weights)),
        ("biases", count(sizes.biases), count(sizes.biases)),
        ("multipliers", count(sizes.multipliers), count(sizes.multipliers)),
        ("everything", count(sizes.int8_bytes), count(sizes.pooled_bytes)),
        ("compression of everything", "", f"{sizes.compression:.2f}x"),
        ("compression of weights alone", "", f"{sizes.weight_compression:.2f}x"),
    ]
    return table("Stored bytes", ("", ">int8", ">pooled"), rows)


def _accuracy(found: Accuracy) -> object:
    rows = [("float", f"{found.real:.2%}"), ("int8", f"{found.int8:.2%}")]
    for bits, share in zip(WIDTHS, found.pooled, strict=False):
        rows.append((f"pooled, {bits}-bit activations", f"{share:.2%}"))
    return table(f"Accuracy on {count(found.n)} samples", ("", ">"), rows)

"""The report of `edgec compress` as people read it."""

from __future__ import annotations

from rich.console import Console

from edgec.commands.compress import Compression
from edgec.report.answer import bar, size_words
from edgec.report.console import (
    count,
    is_verbose,
    print_labelled,
    print_prose,
    safe,
    shortened,
)
from edgec.report.tables import table
from edgec.weightpool import CompressionReport
from edgec.workflow.accuracy import WIDTHS, Accuracy
from edgec.workflow.pool_search import NO_TEST, PoolCurve

_TRIED = 8
"""Pools of a search that are shown: those around the chosen one."""


def print_compression(result: Compression, out: Console) -> None:
    """Size and accuracy of a compressed model; with `-v` every layer and what was counted."""
    report, whole = result.report, is_verbose()
    if whole:
        _print_layers(result, out)
    if not report.samples:
        print_prose(
            "[bold yellow]warning:[/] without --calibration the pool fits the weights, not what "
            "the network computes; expect bad accuracy",
            out,
        )
    if result.curve is not None:
        _print_curve(result.curve, out, whole=whole)
    elif whole and result.accuracy is not None:
        out.print(_accuracy(result.accuracy))
    for note in report.notes:
        print_prose(f"note: {safe(note)}", out)
    sizes, vectors = report.sizes, f"{report.pool_size} vectors of {report.group} weights"
    pools = "one pool" if report.pools == 1 else f"{report.pools} pools"
    int8, pooled = sizes.int8_bytes, sizes.pooled_bytes
    print_labelled("before", f"{bar(int8, int8)} {size_words(int8)} as int8", out)
    print_labelled(
        "after",
        f"{bar(pooled, int8)} {size_words(pooled)}: {sizes.compression:.1f} times smaller, weights "
        f"alone {sizes.weight_compression:.1f} times",
        out,
    )
    left = f", {len(report.left_alone)} stay as they are" if report.left_alone else ""
    print_labelled("layers", f"{len(report.layers)} use {pools} of {vectors}{left}", out)
    print_labelled("accuracy", _in_words(result), out)
    name = safe(str(result.output))
    print_labelled("written", f"{name} ({size_words(result.file_bytes)})", out)


def _in_words(result: Compression) -> str:
    """The accuracy in one line."""
    found, curve = result.accuracy, result.curve
    if curve is not None:
        shares, n, bits = (curve.real, curve.int8, curve.best.accuracy), curve.n, ""
    elif found is not None:
        shares, n, bits = (found.real, found.int8, found.pooled[0]), found.n, " (8-bit activations)"
    else:
        return "not measured; --eval DATA measures it on samples with labels"
    real, int8, pooled = (f"{share:.1%}" for share in shares)
    return f"float {real}, int8 {int8}, now {pooled}{bits}, on {count(n)} samples"


def _print_layers(result: Compression, out: Console) -> None:
    """Every layer, all sizes, and what they count."""
    report = result.report
    out.print(_layers(report, result.model.name))
    for layer in report.left_alone:
        out.print(f"not pooled: {safe(shortened(layer.node))}: {safe(layer.reason)}")
    out.print(_sizes(report))
    out.print(
        "Counted: indices at their least number of bits, the pool, weights that stay int8, and "
        "for each output channel a bias and a multiplier (which holds the scale) of 32 bits each, "
        "in pooled layers 16; of a transformer 32 and 16. Not "
        f"counted: code, and the look-up table of {count(report.sizes.table)} bytes that some "
        "kernels use."
    )


def _layers(report: CompressionReport, name: str) -> object:
    sums = any(layer.terms > 1 for layer in report.layers)
    rows = [
        (
            layer.node,
            count(layer.weights),
            count(layer.vectors),
            *([str(layer.terms)] if sums else []),
            f"{layer.entries_used} of {layer.pool_size}",
            f"{layer.weight_error:.3f}",
            "" if layer.sqnr_db is None else f"{layer.sqnr_db:.1f}",
            f"{layer.bits_per_weight:.2f}",
        )
        for layer in report.layers
    ]
    columns = (
        *("pooled layer", ">weights", ">vectors", *([">terms"] if sums else []), ">pool use"),
        *(">weight error", ">output SQNR dB", ">bits a weight"),
    )
    return table(f"Weight pool of {safe(name)}", columns, rows)


def _sizes(report: CompressionReport) -> object:
    sizes = report.sizes
    pools = "weight pool" if report.pools == 1 else f"{report.pools} weight pools"
    rows = [
        ("weights of pooled layers: indices", "", count(sizes.indices)),
        (pools, "", count(sizes.pool)),
        ("other weights", "", count(sizes.unpooled_weights)),
        ("weights in all", count(sizes.int8_weights), count(sizes.pooled_weights)),
        ("biases", count(sizes.biases), count(sizes.pooled_biases)),
        ("multipliers", count(sizes.multipliers), count(sizes.pooled_multipliers)),
        ("everything", count(sizes.int8_bytes), count(sizes.pooled_bytes)),
        ("compression of everything", "", f"{sizes.compression:.2f}x"),
        ("compression of weights alone", "", f"{sizes.weight_compression:.2f}x"),
    ]
    return table("Stored bytes", ("", ">int8", ">pooled"), rows)


def _print_curve(curve: PoolCurve, out: Console, *, whole: bool) -> None:
    """Print the pools that a search tried, from float to the smallest; note that it is no test."""
    on_board = bool(curve.board)
    rows = [("float", "", "", "", f"{curve.real:.2%}", "", "")]
    rows.append(("int8", "", count(curve.int8_bytes), "1.00x", f"{curve.int8:.2%}", "", ""))
    chosen = curve.chosen or 0
    last = len(curve.points) if whole else min(chosen + _TRIED // 2, len(curve.points))
    for number in reversed(range(0 if whole else max(last - _TRIED, 0), last)):
        point = curve.points[number]
        rows.append(
            (
                f"{point.name} *" if number == curve.chosen else point.name,
                count(point.pools),
                count(point.stored_bytes),
                f"{point.compression:.2f}x",
                f"{point.accuracy:.2%}",
                "" if point.cycles is None else count(point.cycles),
                "" if point.arena_bytes is None else count(point.arena_bytes),
            )
        )
    columns = ("pools", ">number", ">bytes", ">smaller", ">accuracy", ">cycles", ">SRAM bytes")
    shown = len(columns) if on_board else len(columns) - 2
    title = f"Pools that were tried, {count(curve.n)} samples"
    out.print(table(title, columns[:shown], [row[:shown] for row in rows]))
    print_prose(
        f"* chosen: the smallest of {len(curve.points)} tried ({count(curve.configurations)} to "
        f"choose from) that keep {curve.goal:.2%}, {curve.max_drop:g} points below float",
        out,
    )
    if on_board:
        out.print(
            f"Estimated for {safe(curve.board)}: cycles of the pooled layers, SRAM of the arena."
        )
    out.print(f"note: {NO_TEST}")


def _accuracy(found: Accuracy) -> object:
    rows = [("float", f"{found.real:.2%}"), ("int8", f"{found.int8:.2%}")]
    for bits, share in zip(WIDTHS, found.pooled, strict=False):
        rows.append((f"pooled, {bits}-bit activations", f"{share:.2%}"))
    return table(f"Accuracy on {count(found.n)} samples", ("", ">"), rows)

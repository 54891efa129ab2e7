"""`edgec compress --bits`: the work, and its report as people read it."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from rich.console import Console

from edgec.base.options import MAX_ACTIVATION_BITS
from edgec.base.samples import Samples
from edgec.commands.compress_bits import SUFFIX, BitsOptions, Narrowing, narrow_model
from edgec.commands.compress_jobs import jobs_of
from edgec.report import console
from edgec.report.answer import bar, size_words
from edgec.report.console import count, is_verbose, print_labelled, print_prose, safe, shortened
from edgec.report.progress import status
from edgec.report.tables import table


def narrow(
    models: Sequence[Path],
    output: Path | None,
    options: BitsOptions,
    data: Sequence[Sequence[Samples]],
    samples: Sequence[object],
    *,
    json: bool,
) -> None:
    """Do what `--bits` asks for, and say what became of it.

    Args:
        models: the model alone.
        output: the file to write; None: beside the model.
        options: how.
        data: calibration, training and evaluation data, none or one each.
        samples: the option that names calibration data, for the next command.
        json: print JSON.
    """
    (job,) = jobs_of(models, output, *data, suffix=SUFFIX)
    with status("compressing") as say:
        result = narrow_model(job, options, say)
    if json:
        console.print_json([result.to_json()])
        return
    print_narrowing(result, console.out)
    console.print_next("edgec", "compile", result.output, "--board", "nucleo", *samples)


def print_narrowing(result: Narrowing, out: Console) -> None:
    """Size and accuracy of a model with weights of few bits; with `-v` every layer."""
    report = result.report
    if is_verbose():
        out.print(_layers(result))
        for layer in report.left_alone:
            out.print(f"in bytes: {safe(shortened(layer.node))}: {safe(layer.reason)}")
    if not report.samples:
        print_prose(
            "[bold yellow]warning:[/] without --calibration the numbers fit the weights, not what "
            "the network computes; expect bad accuracy",
            out,
        )
    for note in report.notes:
        print_prose(f"note: {safe(note)}", out)
    before, after = report.int8_bytes, report.narrow_bytes
    print_labelled("before", f"{bar(before, before)} {size_words(before)} as int8", out)
    smaller = f"{before / after:.1f} times smaller"
    print_labelled("after", f"{bar(after, before)} {size_words(after)}: {smaller}", out)
    left = f", {len(report.left_alone)} stay in bytes" if report.left_alone else ""
    few = report.activation_bits < MAX_ACTIVATION_BITS
    width = f"{report.activation_bits} bits" if report.activation_bits > 1 else _ONE_BIT
    read = f" and read numbers of {width}" if few else ""
    print_labelled("layers", f"{len(report.layers)} have {report.bits.title}{read}{left}", out)
    print_labelled("accuracy", _in_words(result), out)
    name = safe(str(result.output))
    print_labelled("written", f"{name} ({size_words(result.file_bytes)})", out)


_ONE_BIT = "1 bit (2 with a sign)"


def _in_words(result: Narrowing) -> str:
    found = result.accuracy
    if found is None:
        return "not measured; --eval DATA measures it on samples with labels"
    real, int8, narrow = (f"{each:.1%}" for each in (found.real, found.int8, found.pooled[0]))
    return f"float {real}, int8 {int8}, now {narrow}, on {count(found.n)} samples"


def _layers(result: Narrowing) -> object:
    rows = [
        (
            layer.node,
            count(layer.weights),
            f"{layer.zeros / layer.weights:.0%}",
            "" if layer.sqnr_db is None else f"{layer.sqnr_db:.1f}",
            count(layer.stored_bytes),
        )
        for layer in result.report.layers
    ]
    columns = ("layer", ">weights", ">zeros", ">output SQNR dB", ">bytes")
    title = result.report.bits.title.capitalize()
    return table(f"{title} of {safe(result.model.name)}", columns, rows)

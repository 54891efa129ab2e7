"""Answer and tables that `edgec validate` prints."""

from __future__ import annotations

from rich.console import Console

from edgec.profile.validation_html import exact_words, gap_words, output_rows
from edgec.report.answer import PLACES, time_words
from edgec.report.console import count, is_verbose, print_labelled, safe, shortened
from edgec.report.tables import table
from edgec.report.text import agreement_words
from edgec.workflow.validation import LayerValidation, Validation
from edgec.workflow.validation_outputs import OutputValidation

_MOST = 6
"""Outputs, and layers that differ, that are named without `-v`."""


def print_validation(found: Validation, out: Console) -> None:
    """The layers and outputs: in a few lines, with `-v` in two tables before these."""
    if is_verbose():
        _print_tables(found, out)
    place = PLACES.get(found.on, f"on the {found.on}")
    samples = f"{found.samples} samples of {found.input}"
    out.print(f"[bold]{safe(found.model)}[/] {place}: {safe(samples)}")
    wrong = [layer for layer in found.layers if not layer.exact]
    equal = f"all {len(found.layers)} equal the reference bit for bit"
    differ = f"{len(wrong)} of {len(found.layers)} differ from the reference"
    print_labelled("layers", f"[red]{differ}[/]" if wrong else f"[green]{equal}[/]", out)
    for layer in wrong[:_MOST]:
        number = found.layers.index(layer)
        words = f"{exact_words(layer, found.samples)} samples, gap {gap_words(layer)} codes"
        out.print(f"  {number} {safe(shortened(layer.title, 40))}: {words}")
    for output in found.outputs[:_MOST]:
        words = "; ".join(_output_words(output))
        print_labelled(safe(shortened(output.name, 40)), words, out)
    if len(found.outputs) > _MOST:
        out.print(f"  and {len(found.outputs) - _MOST} more outputs: -v")
    if found.cycles:
        seconds = found.cycles / found.clock_hz
        print_labelled("speed", f"{time_words(seconds)} a run, counted by the board", out)


def _output_words(output: OutputValidation) -> list[str]:
    """Accuracy of an output and its distance from the float model, in words."""
    words = []
    if output.accuracy is not None:
        beside = "" if output.float_accuracy is None else f" (float {output.float_accuracy:.2%})"
        words.append(f"{output.accuracy:.2%} right{beside}")
    if output.agreement is not None:
        words.append(f"{agreement_words(output.classes)} {output.agreement:.2%}")
    if output.distance is not None and output.distance.l2 is not None:
        words.append(f"{output.distance.l2:.2%} away from float")
    if output.largest_gap:
        words.append(f"[red]{output.largest_gap} codes from the reference[/]")
    return words or ["equal to the reference"]


def _print_tables(found: Validation, out: Console) -> None:
    """Print a row for each layer, and one for each measure of the outputs."""
    counted = found.cycles is not None
    columns = ("", "layer", "operator", "kernel", "bit-exact", ">largest gap", ">MACs")
    cycles = (">cycles", ">share", ">sum", ">cycles/MAC") if counted else ()
    rows: list[tuple[str, ...]] = []
    total = 0
    for number, layer in enumerate(found.layers):
        total += layer.cycles or 0
        words = (exact_words(layer, found.samples), gap_words(layer), count(layer.macs))
        row = (str(number), layer.title, layer.op, layer.kernel, *words)
        rows.append((*row, *_cycles(layer, total)) if counted else row)
    times = f"{found.samples} samples of {found.input}"
    out.print(table(f"{found.model} on {found.on}: {times}", (*columns, *cycles), rows))
    out.print(
        table(
            "Outputs: codes beside the reference, real numbers beside the float model",
            ("", *(f">{output.name}" for output in found.outputs)),
            output_rows(found.outputs),
        )
    )
    if found.cycles:
        out.print(f"{count(found.cycles)} cycles at the board's clock")


def _cycles(layer: LayerValidation, total: int) -> tuple[str, ...]:
    share = "" if layer.share is None else f"{layer.share:.1%}"
    each = layer.cycles_per_mac
    cycles = count(layer.cycles or 0)
    return (cycles, share, count(total), "" if each is None else f"{each:.2f}")

"""Tables that `edgec validate` prints."""

from __future__ import annotations

from rich.console import Console

from edgec.profile.validation_html import exact_words, gap_words, output_rows
from edgec.report.console import count
from edgec.report.tables import table
from edgec.workflow.validation import LayerValidation, Validation


def print_validation(found: Validation, out: Console) -> None:
    """The two tables: layers and outputs."""
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
    if counted and found.cycles:
        milliseconds = 1e3 * found.cycles / found.clock_hz
        out.print(f"{count(found.cycles)} cycles, {milliseconds:.3f} ms at the board's clock")


def _cycles(layer: LayerValidation, total: int) -> tuple[str, ...]:
    share = "" if layer.share is None else f"{layer.share:.1%}"
    each = layer.cycles_per_mac
    cycles = count(layer.cycles or 0)
    return (cycles, share, count(total), "" if each is None else f"{each:.2f}")

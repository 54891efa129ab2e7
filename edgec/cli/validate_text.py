"""What `edgec validate` shows and how it fails."""

from __future__ import annotations

from rich.console import Console

from edgec.report.console import count
from edgec.report.tables import table
from edgec.workflow.validation import LayerValidation, Validation
from edgec.workflow.validation_outputs import OutputValidation


def print_validation(found: Validation, out: Console) -> None:
    """The two tables: layers and outputs."""
    counted = found.cycles is not None
    columns = ("", "layer", "operator", "kernel", "bit-exact", ">largest gap", ">MACs")
    cycles = (">cycles", ">share", ">sum", ">cycles/MAC") if counted else ()
    rows: list[tuple[str, ...]] = []
    total = 0
    for number, layer in enumerate(found.layers):
        total += layer.cycles or 0
        exact = _exact(layer, found.samples)
        gap = "not known" if layer.largest_gap is None else str(layer.largest_gap)
        row = (str(number), layer.title, layer.op, layer.kernel, exact, gap, count(layer.macs))
        rows.append((*row, *_cycles(layer, total)) if counted else row)
    times = f"{found.samples} samples of {found.input}"
    out.print(table(f"{found.model} on {found.on}: {times}", (*columns, *cycles), rows))
    out.print(
        table(
            "Outputs: codes beside the reference, real numbers beside the float model",
            ("", *(f">{output.name}" for output in found.outputs)),
            _output_rows(found.outputs),
        )
    )
    if counted and found.cycles:
        milliseconds = 1e3 * found.cycles / found.clock_hz
        out.print(f"{count(found.cycles)} cycles, {milliseconds:.3f} ms at the board's clock")


def _exact(layer: LayerValidation, samples: int) -> str:
    return "yes" if layer.exact else f"no, on {layer.differing} of {samples}"


def _cycles(layer: LayerValidation, total: int) -> tuple[str, ...]:
    share = "" if layer.share is None else f"{layer.share:.1%}"
    each = layer.cycles_per_mac
    cycles = count(layer.cycles or 0)
    return (cycles, share, count(total), "" if each is None else f"{each:.2f}")


def _output_rows(outputs: tuple[OutputValidation, ...]) -> list[tuple[str, ...]]:
    rows = {
        "bit-exact": [_word(output.largest_gap == 0) for output in outputs],
        "largest gap (codes)": [str(output.largest_gap) for output in outputs],
        "accuracy": [_share(output.accuracy) for output in outputs],
        "accuracy, float model": [_share(output.float_accuracy) for output in outputs],
        "equal decisions": [_share(output.agreement) for output in outputs],
    }
    measures = {"RMSE": "rmse", "MAE": "mae", "L2 error": "l2", "NSE": "nse", "cosine": "cosine"}
    for name, field in measures.items():
        values = (each.distance and getattr(each.distance, field) for each in outputs)
        rows[name] = ["" if value is None else f"{value:.6g}" for value in values]
    return [(name, *cells) for name, cells in rows.items() if any(cells)]


def _word(exact: bool) -> str:
    return "yes" if exact else "no"


def _share(value: float | None) -> str:
    return "" if value is None else f"{value:.2%}"

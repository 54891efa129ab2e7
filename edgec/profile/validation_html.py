"""The page of `edgec validate --html`: which layers equal the reference, and what outputs cost.

The rows of its table of outputs are those of the terminal.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

from edgec.base.output_file import write_whole
from edgec.codegen.env import html_environment, values
from edgec.profile.compile_rows import Cell, Tile
from edgec.report.console import shortened
from edgec.report.text import agreement_words
from edgec.workflow.validation import LayerValidation, Validation
from edgec.workflow.validation_outputs import OutputValidation

_MEASURES = {"RMSE": "rmse", "MAE": "mae", "L2 error": "l2", "NSE": "nse", "cosine": "cosine"}


def exact_words(layer: LayerValidation, samples: int) -> str:
    """Whether a layer equals the reference on all samples, or on how many it does not."""
    return "yes" if layer.exact else f"no, on {layer.differing} of {samples}"


def gap_words(layer: LayerValidation) -> str:
    """The largest difference of a layer in codes."""
    return "not known" if layer.largest_gap is None else str(layer.largest_gap)


def output_rows(outputs: tuple[OutputValidation, ...]) -> list[tuple[str, ...]]:
    """A row for each measure that is known of any output: its name, and its value of each."""
    rows = {
        "bit-exact": ["yes" if output.largest_gap == 0 else "no" for output in outputs],
        "largest gap (codes)": [str(output.largest_gap) for output in outputs],
        "accuracy": [_share(output.accuracy) for output in outputs],
        "accuracy, float model": [_share(output.float_accuracy) for output in outputs],
    }
    for classes in (True, False):
        rows[agreement_words(classes)] = [
            _share(output.agreement if output.classes is classes else None) for output in outputs
        ]
    for name, field in _MEASURES.items():
        values = (each.distance and getattr(each.distance, field) for each in outputs)
        rows[name] = ["" if value is None else f"{value:.6g}" for value in values]
    return [(name, *cells) for name, cells in rows.items() if any(cells)]


def _share(value: float | None) -> str:
    return "" if value is None else f"{value:.2%}"


_TITLE_CHARACTERS = 26


@dataclass(frozen=True, slots=True)
class ValidationRow:
    """A layer.

    Attributes:
        layer: the layer.
        title: its name in one line.
        state: "exact", "first" (the first that differs) or "later" (may differ because of it).
        exact: whether it equals the reference, in words.
        gap: the largest difference in codes.
        cycles: its cycles, the bar as a share of all; None where none were counted.
        total: cycles up to its end.
        per_mac: cycles for each multiply-accumulate; empty without any.
    """

    layer: LayerValidation
    title: str
    state: str
    exact: str
    gap: str
    cycles: Cell | None
    total: int
    per_mac: str


@dataclass(frozen=True, slots=True)
class ValidationPart:
    """Sections about a validation.

    Attributes:
        found: the validation.
        verdict: the result in a sentence.
        counted: the target counted cycles.
        rows: the layers.
        measures: rows of the table of outputs: a name, and a value of each output.
    """

    found: Validation
    verdict: str
    counted: bool
    rows: tuple[ValidationRow, ...]
    measures: tuple[tuple[str, ...], ...]


@dataclass(frozen=True, slots=True)
class ValidationPage:
    """Everything that the template shows: the figures at the top, and the sections."""

    template: ClassVar[str] = "profile/validation.html.j2"

    part: ValidationPart
    tiles: tuple[Tile, ...]


def write_validation_html(found: Validation, path: Path) -> None:
    """Write the page; an earlier file is replaced as a whole or not at all.

    Raises:
        ConfigError: the file cannot be written.
    """
    write_whole(path, render_validation_html(found).encode("utf-8", "replace"))


def render_validation_html(found: Validation) -> str:
    """The page of a validation."""
    page = ValidationPage(validation_part(found), _tiles(found))
    return html_environment().get_template(page.template).render(values(page))


def validation_part(found: Validation) -> ValidationPart:
    """The sections about a validation."""
    return ValidationPart(
        found=found,
        verdict=_verdict(found),
        counted=found.cycles is not None,
        rows=_rows(found),
        measures=tuple(output_rows(found.outputs)),
    )


def _verdict(found: Validation) -> str:
    if found.exact:
        return "Every tensor of every sample equals the reference, bit for bit."
    first = found.first
    if first is None:
        return "An output differs from the reference, although no layer does."
    number = found.layers.index(first)
    return (
        f"Layer {number}, {first.title} ({first.op}), is the first whose output differs from the "
        f"reference: on {first.differing} of {found.samples} samples{first.turn_words}."
    )


def _tiles(found: Validation) -> tuple[Tile, ...]:
    exact = sum(layer.exact for layer in found.layers)
    tiles = [
        Tile("layers bit-exact", f"{exact} of {len(found.layers)}", f"on {found.on}"),
        Tile("samples", f"{found.samples:,}", found.input),
    ]
    if found.cycles:
        time = f"{1e3 * found.cycles / found.clock_hz:.3f} ms at the board's clock"
        tiles.append(Tile("cycles", f"{found.cycles:,}", time))
    for output in found.outputs:
        if output.accuracy is not None and output.float_accuracy is not None:
            detail = f"float model {output.float_accuracy:.2%}"
            tiles.append(Tile("accuracy", f"{output.accuracy:.2%}", detail))
        elif output.agreement is not None:
            words = agreement_words(output.classes)
            tiles.append(Tile(words, f"{output.agreement:.2%}", "as the float model"))
    return tuple(tiles)


def _rows(found: Validation) -> tuple[ValidationRow, ...]:
    rows = []
    total = 0
    for layer in found.layers:
        total += layer.cycles or 0
        per_mac = layer.cycles_per_mac
        rows.append(
            ValidationRow(
                layer=layer,
                title=shortened(layer.title, _TITLE_CHARACTERS),
                state="exact" if layer.exact else "first" if layer is found.first else "later",
                exact=exact_words(layer, found.samples),
                gap=gap_words(layer),
                cycles=_cycles(layer),
                total=total,
                per_mac="" if per_mac is None else f"{per_mac:.2f}",
            )
        )
    return tuple(rows)


def _cycles(layer: LayerValidation) -> Cell | None:
    if layer.cycles is None:
        return None
    share = layer.share or 0.0
    return Cell(f"{layer.cycles:,} · {share:.1%}", 100 * share)

"""What a validation says of outputs, as the rows of a table: on a terminal and on a page."""

from __future__ import annotations

from edgec.report.text import agreement_words
from edgec.workflow.validation import LayerValidation
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

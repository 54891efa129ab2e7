"""Do evaluation data and decisions look like those of the network that was compiled?

What tells is the range that a build was calibrated for, and how many decisions are those of the
original model.  Nothing here needs the quantizer, whose import takes half a second.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import numpy as np

from edgec.base.dtypes import Array
from edgec.base.names import shown
from edgec.report.model import TensorReport

LEAST_AGREEMENT = 0.9
"""Share of equal decisions below which a warning says so."""
_MOST_BEYOND = 0.05
"""Share of evaluation data beyond the calibrated range."""
_LEAST_SPAN = 0.05
"""Part of the calibrated range that evaluation data fill."""


def evaluation_warnings(
    inputs: Sequence[TensorReport], samples: Mapping[str, Array]
) -> tuple[str, ...]:
    """Evaluation data in another range than the model was calibrated for, a sentence each.

    Args:
        inputs: what a compiled model reads.
        samples: model-side samples [N, ...] by input.
    """
    real = [each for each in inputs if each.dtype == "float32" and each.library_dtype == "int8"]
    return tuple(text for tensor in real for text in _other_range(tensor, samples[tensor.name]))


def _other_range(tensor: TensorReport, array: Array) -> Iterator[str]:
    if tensor.feature_scales:
        yield from _other_features(tensor, array)
        return
    low, high = ((code - tensor.zero_point) * tensor.scale for code in (-128, 127))
    beyond = float(np.mean((array < low - tensor.scale) | (array > high + tensor.scale)))
    found = float(array.min()), float(array.max())
    if beyond > _MOST_BEYOND or found[1] - found[0] < _LEAST_SPAN * (high - low):
        outside = f"{beyond:.0%} of these data lie outside of that"
        small = f"these data use {(found[1] - found[0]) / (high - low):.0%} of that"
        yield (
            f"the data of {shown(tensor.name)!r} lie in [{found[0]:.4g}, {found[1]:.4g}], the "
            f"calibration data lay in [{low:.4g}, {high:.4g}]: "
            f"{outside if beyond > _MOST_BEYOND else small}; scale both as in training"
        )


def _other_features(tensor: TensorReport, array: Array) -> Iterator[str]:
    """Data in another range than the codes of an input whose features have a scale each."""
    quant = tensor.quant
    moved = array.transpose(tensor.layout) if tensor.layout else array
    axis = moved.ndim - 1 if quant.axis is None else quant.axis
    codes = np.moveaxis(moved, axis, -1).astype(np.float64) / quant.scale + quant.zero_point
    beyond = (codes < -129) | (codes > 128)
    worst = int(np.argmax(beyond.reshape(-1, beyond.shape[-1]).mean(axis=0)))
    if beyond.mean() > _MOST_BEYOND:
        yield (
            f"{beyond.mean():.0%} of the data of {shown(tensor.name)!r} lie beyond what the model "
            f"was calibrated for, most of all feature {worst}; are both scaled alike?"
        )


def agreement_warnings(agreement: float) -> tuple[str, ...]:
    """A sentence where the compiled model decides otherwise than the one that it was made of.

    Args:
        agreement: share of equal decisions, 0 to 1.
    """
    if agreement >= LEAST_AGREEMENT:
        return ()
    return (
        f"only {agreement:.0%} of the decisions are those of the model that was compiled: look at "
        "the calibration data, and at the SQNR of the layers in report.txt",
    )

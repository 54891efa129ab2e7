"""Codes of a layer's weights by the error of its output, on what the layer reads.

Rounding each weight to its nearest code makes the errors of the weights least, not that of their
sums.  In a dense layer the codes are decided one after the other, and those still open make up for
each error (`fitting.feedback`).  In a grouped layer, whose filters are short, each code is decided
again with all others as they are, until little changes.  What this gains on samples that it did not
see decides whether it is kept.

Rows that the filters of a layer multiply: im2col of its input.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from edgec.base.dtypes import Array
from edgec.base.fixedpoint import INT8_MAX
from edgec.base.portable_algebra import quick_product, second_moments
from edgec.ir import ops
from edgec.ir.graph import Node
from edgec.ir.shapes import window_shape
from edgec.layererror.feedback import feedback_plan, with_feedback
from edgec.layererror.objective import damping_of, own_objective

_TOGETHER = 64
_SWEEPS = 4
_MOST_INPUTS = 1024
"""Weights of a filter that make up for each other's errors: time grows with the third power."""


@dataclass(frozen=True, slots=True, eq=False)
class _Filters:
    """Weights in units of their scale; see `fitting.objective.Filters`."""

    rows: Array
    bias: Array
    present: Array


def better_codes(wanted: Array, nearest: Array, seen: Array, held: Array) -> Array:
    """The codes of less error where the layer reads what it reads on samples held back.

    Args:
        wanted: float64 [G, F, K], weights in units of their scales, of F filters in each group.
        nearest: int8 [G, F, K], the nearest codes.
        seen: float64 [G, R, K], what the layer reads: these decide the codes.
        held: float64 [G, H, K], the same on other samples: these decide which codes are kept.

    Returns:
        int8 [G, F, K]: `nearest` itself where nothing is gained.
    """
    found = _descended(wanted, nearest, seen) if len(wanted) > 1 else _in_parts(wanted, seen)
    before, after = _errors(wanted, (nearest, found), held)
    gains = before > after
    return np.where(gains, found, nearest) if gains.any() else nearest


def _errors(wanted: Array, codes: tuple[Array, Array], rows: Array) -> tuple[Array, Array]:
    """Variance of each filter's error over rows [G, H, K], for codes of two kinds; [G, F, 1] each.

    With fewer weights in a filter than filters, moments of the rows take less time than errors.
    """
    gaps = [each - wanted for each in codes]
    if wanted.shape[-1] < 2 * wanted.shape[-2]:
        _, covariance = _covariance(rows)
        found = [(quick_product(gap, covariance) * gap).sum(axis=-1) for gap in gaps]
    else:
        errors = quick_product(rows, np.concatenate(gaps, axis=-2).swapaxes(-1, -2))
        found = np.split(errors.var(axis=1), 2, axis=-1)
    return found[0][..., None], found[1][..., None]


def _covariance(rows: Array) -> tuple[Array, Array]:
    """Mean [G, K] and covariance [G, K, K] of rows [G, R, K]."""
    mean = rows.mean(axis=1)
    return mean, second_moments(rows, mean[:, None]) / rows.shape[1]


def _in_parts(wanted: Array, seen: Array) -> Array:
    """Codes [1, F, K] of a dense layer, whose long filters are decided part by part."""
    starts = range(0, wanted.shape[-1], _MOST_INPUTS)
    parts = [slice(start, start + _MOST_INPUTS) for start in starts]
    return np.concatenate([_fed_back(wanted[..., p], seen[..., p]) for p in parts], axis=-1)


def _fed_back(wanted: Array, seen: Array) -> Array:
    """Codes [1, F, K] of a dense layer, by feedback."""
    mean, covariance = _covariance(seen)
    rows = wanted[0]
    filters = _Filters(rows, np.zeros(len(rows)), np.ones(rows.shape[1], np.bool_))
    objective = own_objective(filters, mean[0], covariance[0])
    codes = np.zeros(rows.shape, np.int8)

    def decide(position: int, best: Array, _whitening: Array) -> Array:
        chosen = _rounded(best)
        codes[:, position] = chosen[:, 0]
        return chosen

    with_feedback(objective, feedback_plan(objective, 1), decide, _TOGETHER)
    return codes[None]


def _descended(wanted: Array, nearest: Array, seen: Array) -> Array:
    """Codes [G, F, K] of a grouped layer, by descent from the nearest ones."""
    _, covariance = _covariance(seen)
    size = covariance.shape[-1]
    damping = np.array([damping_of(each, size) for each in covariance])
    hessian = covariance + damping[:, None, None] * np.eye(size)
    codes = nearest.astype(np.float64)
    for _ in range(_SWEEPS):
        slope = quick_product(codes - wanted, hessian)
        before = codes.copy()
        for k in range(size):
            own = hessian[:, k]
            new = _rounded(codes[..., k] - slope[..., k] / own[:, None, k])
            slope += (new - codes[..., k])[..., None] * own[:, None]
            codes[..., k] = new
        if np.array_equal(before, codes):
            break
    return codes.astype(np.int8)


def _rounded(steps: Array) -> Array:
    nearest = np.floor(steps + 0.5)
    return np.asarray(np.minimum(np.maximum(nearest, -INT8_MAX), INT8_MAX))


_MOST_ELEMENTS = 1 << 21
"""Elements of all rows of a layer; of more rows some are drawn."""


def read_rows(node: Node, shape: tuple[int, ...], x: Array, chosen: Array | None = None) -> Array:
    """Rows that output elements of a layer are computed from.

    Args:
        node: a Conv or Gemm.
        shape: the shape of the layer's weights, [O, KH, KW, I/group] or [N, K].
        x: float64 [S, ..., H, W, I], or [S, ..., I] of a Gemm: its input for S samples.
        chosen: bool [S], the samples to look at; None: all.

    Returns:
        float64 [group, R, K] with K the weights of a filter, in their order; where there would be
        more than `_MOST_ELEMENTS`, as many as there is room for, drawn the same in every run.
    """
    attrs = node.attrs
    if not isinstance(attrs, ops.Conv):
        rows = (x if chosen is None else x[chosen]).reshape(-1, x.shape[-1])
        return rows[_drawn(len(rows), x.shape[-1])][None]
    kernel = (shape[1], shape[2])
    images = x.reshape(-1, *x.shape[-3:])
    numbers = np.arange(len(images))
    if chosen is not None:
        numbers = numbers[np.repeat(chosen, len(images) // len(x))]
    size = window_shape(images.shape[1], images.shape[2], kernel, attrs)
    count = len(numbers) * size[0] * size[1]
    drawn = _drawn(count, kernel[0] * kernel[1] * images.shape[-1])
    sample, row, col = np.unravel_index(np.arange(count)[drawn], (len(numbers), *size))
    height, width, inputs = images.shape[1:]
    down, right = np.indices(kernel).reshape(2, -1)
    y = (row * attrs.strides[0] - attrs.pads[0])[:, None] + down * attrs.dilations[0]
    z = (col * attrs.strides[1] - attrs.pads[1])[:, None] + right * attrs.dilations[1]
    outside = (y < 0) | (y >= height) | (z < 0) | (z >= width)
    places = (numbers[sample][:, None] * height + y) * width + z
    places[outside] = 0
    # One list of pixels: numpy takes long for each of several indices.
    read = images.reshape(-1, inputs).take(places.reshape(-1), axis=0)
    read[outside.reshape(-1)] = 0.0
    grouped = read.reshape(*places.shape, attrs.group, -1).transpose(2, 0, 1, 3)
    return np.ascontiguousarray(grouped).reshape(attrs.group, len(sample), -1)


def _drawn(count: int, elements: int) -> Array | slice:
    """The rows to look at, of `count` rows of `elements` each."""
    most = max(_MOST_ELEMENTS // elements, 1)
    if count <= most:
        return slice(None)
    return np.sort(np.random.default_rng(0).choice(count, most, replace=False))

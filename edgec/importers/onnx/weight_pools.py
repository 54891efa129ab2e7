"""Look-ups of pooled weights at import: from rows of a table to weights that know their pool."""

from __future__ import annotations

import logging
import math
from dataclasses import replace

import numpy as np

from edgec.base.dtypes import Array, DType
from edgec.base.errors import ImportModelError, WeightPoolError
from edgec.base.limits import MAX_TERMS
from edgec.base.names import shown
from edgec.importers.common.tensors import Gathered, moved_constant
from edgec.importers.onnx.cleanup import MAX_FOLDED_ELEMENTS, MAX_FOLDED_TOTAL
from edgec.ir import ops
from edgec.ir.graph import Constant
from edgec.ir.infer import infer_shape
from edgec.ir.qparams import QuantParams
from edgec.ir.weight_pool import GROUPS, SIZE_MAX, SIZE_MIN, PooledWeights, WeightPool

_LOG = logging.getLogger(__name__)
_LEVELS = 128
"""Largest magnitude of an int8 code."""

_Key = tuple[tuple[int, ...], bytes]
"""Shape and bytes of a table."""


class Pools:
    """The pools of one model under import; layers that share a pool share the object."""

    def __init__(self) -> None:
        self._left = MAX_FOLDED_TOTAL
        self._pools: dict[_Key, WeightPool] = {}
        self._exact: dict[_Key, tuple[Array, QuantParams] | None] = {}

    def gather(self, table: Constant, indices: Constant, axis: int) -> Constant:
        """The parts of a constant that constant indices pick along an axis.

        Args:
            table: any constant; rows of one that can be a pool are a `Gathered`.
            indices: integers of any shape, negative ones counted from the end.
            axis: not negative.

        Raises:
            ImportModelError: no indices, one beyond the axis, or the result is too large.
        """
        size = table.shape[axis]
        if indices.array.dtype.kind not in "iu" or not indices.array.size:
            raise ImportModelError("its indices are no integers, or there are none")
        picked = indices.array.astype(np.int64)
        if picked.max() >= size or picked.min() < -size:
            worst = int(picked.max() if picked.max() >= size else picked.min())
            raise ImportModelError(
                f"an index is {worst}, but there are only {size} vectors to choose from",
                hint="the indices belong to another weight pool, or the file is damaged",
            )
        self._charge(picked.size * math.prod(table.shape) // max(size, 1))
        picked = np.where(picked < 0, picked + size, picked)
        codes = self._codes(table) if axis == 0 else None
        if codes is None:
            return moved_constant(table, lambda array: array.take(picked, axis))
        vectors, quant = codes
        lane = np.arange(vectors.shape[1], dtype=np.int32)
        elements = picked.astype(np.int32)[..., np.newaxis] * np.int32(len(lane)) + lane
        return Gathered(
            name=indices.name,
            array=vectors[picked],
            quant=quant,
            table=vectors,
            elements=(elements,),
        )

    def weight(self, weight: Constant) -> Constant:
        """A weight [O, ..., I] with `pooled` set if a pool explains it, else as it is.

        Args:
            weight: in the layout of the graph, input channels last.
        """
        if not isinstance(weight, Gathered):
            return weight
        quant = _per_output(weight)
        group = weight.table.shape[1]
        terms = [_indices(elements, group) for elements in weight.elements]
        indices = [each for each in terms if each is not None]
        if quant is None or len(indices) < len(terms):
            _LOG.warning(
                "%s: its pool vectors do not lie along the input channels, or are not scaled per "
                "output channel; imported as plain weights",
                shown(weight.name),
            )
            return weight.plain()
        try:
            joined = np.stack(indices, axis=-1).reshape(*indices[0].shape[:-1], -1)
            pooled = PooledWeights(self._pool(weight.table), joined, len(indices))
        except WeightPoolError as error:
            _LOG.warning("%s: %s; imported as plain weights", shown(weight.name), error.what)
            return weight.plain()
        return Constant(weight.name, weight.array, quant, pooled)

    def product(self, a: Constant, b: Constant) -> Constant:
        """The product of two constants; of looked-up codes only the scales change, if they can.

        Raises:
            ImportModelError: the shapes do not fit, or the product is too large.
        """
        constant, factor = (b, a) if isinstance(b, Gathered) else (a, b)
        quant = _scaled(constant, factor.real()) if isinstance(constant, Gathered) else None
        if quant is not None:
            return replace(constant, quant=quant)
        shape = infer_shape(ops.Mul(), [a.shape, b.shape])
        self._charge(math.prod(shape))
        return Constant(constant.name, np.asarray(constant.real() * factor.real(), np.float32))

    def _codes(self, table: Constant) -> tuple[Array, QuantParams | None] | None:
        """A table as int8 codes and what they mean (None: not dequantized yet); None if it is none.

        Only shape and type are judged here: codes that break the rules of a `WeightPool` are found
        out when they turn out to be weights.
        """
        quant, sizes = table.quant, table.shape
        if len(sizes) != 2 or sizes[1] not in GROUPS or not SIZE_MIN <= sizes[0] <= SIZE_MAX:
            return None
        if table.dtype is DType.INT8 and (quant is None or quant.axis is None):
            return table.array, quant
        if table.dtype is not DType.FLOAT32 or quant is not None:
            return None
        key = (sizes, table.array.tobytes())
        if key not in self._exact:
            self._exact[key] = _exact_codes(table.array)
            if self._exact[key] is None:
                _LOG.warning(
                    "%s: its vectors are no multiples of int8 codes; imported as plain weights",
                    shown(table.name),
                )
        return self._exact[key]

    def _pool(self, table: Array) -> WeightPool:
        key = (table.shape, table.tobytes())
        if key not in self._pools:
            self._pools[key] = WeightPool(table)
        return self._pools[key]

    def _charge(self, elements: int) -> None:
        """Limit the bytes that a small file may expand its indices to."""
        if elements > min(MAX_FOLDED_ELEMENTS, self._left):
            raise ImportModelError(
                f"the weights that it makes have {elements} elements, more than edgec takes",
                hint=f"the limit is {MAX_FOLDED_ELEMENTS} in one layer, {MAX_FOLDED_TOTAL} in all",
            )
        self._left -= elements


def terms_added(constant: Gathered, axis: int) -> Gathered | None:
    """Looked-up codes, added up along an axis that is gone then.

    Args:
        constant: codes, not scaled yet.
        axis: not negative.

    Returns:
        None where there are more terms than a weight can have, or sums beyond int8.
    """
    whole = constant.quant == QuantParams.per_tensor(1.0, 0)
    if not whole or constant.shape[axis] * len(constant.elements) > MAX_TERMS:
        return None
    total = constant.array.sum(axis=axis, dtype=np.int64)
    codes = total.astype(np.int8)
    if not np.array_equal(codes, total):
        return None
    parts = [np.moveaxis(each, axis, 0) for each in constant.elements]
    return replace(constant, array=codes, elements=tuple(e for part in parts for e in part))


def float_constant(constant: Constant) -> Constant:
    """A constant cast to float; looked-up codes stay codes, of scale 1."""
    if constant.quant is not None:
        return constant
    if isinstance(constant, Gathered):
        return replace(constant, quant=QuantParams.per_tensor(1.0, 0))
    return Constant(constant.name, constant.array.astype(np.float32))


def _scaled(constant: Constant, factor: Array) -> QuantParams | None:
    """The parameters of quantized codes times positive numbers along one axis at most."""
    quant, shape = constant.quant, constant.shape
    if quant is None or factor.ndim > len(shape):
        return None
    sizes = (1,) * (len(shape) - factor.ndim) + factor.shape
    axes = [axis for axis, size in enumerate(sizes) if size != 1]
    fits = all(size in (1, own) for size, own in zip(sizes, shape, strict=True))
    if not fits or len({*axes, *([] if quant.axis is None else [quant.axis])}) > 1:
        return None
    # Scales are kept as files hold them.
    scale = (np.asarray(quant.scale) * factor.astype(np.float64).reshape(-1)).astype(np.float32)
    if not np.all(np.isfinite(scale)) or not np.all(scale > 0.0):
        return None
    zero_point = np.broadcast_to(np.asarray(quant.zero_point), scale.shape)
    return QuantParams(
        tuple(float(s) for s in scale),
        tuple(int(z) for z in zero_point),
        quant.dtype,
        axes[0] if axes else quant.axis,
    )


def _exact_codes(table: Array) -> tuple[Array, QuantParams] | None:
    """Int8 codes of which float vectors are an exact multiple, bit for bit; None if there are none.

    The step is 1 if that works, else the largest one.
    """
    largest = np.abs(table).max(initial=0.0)
    if not np.isfinite(largest):
        return None
    near = (largest / np.arange(1, _LEVELS + 1)).astype(np.float32)
    # Rounding may have moved the step by one place either way.
    around = [near, np.nextafter(near, np.float32(0.0)), np.nextafter(near, np.float32(np.inf))]
    for step in (1.0, *np.stack(around, axis=1).ravel().astype(np.float64)):
        if not 0.0 < step < np.inf:
            continue
        codes = np.rint(table.astype(np.float64) / step)
        if codes.min() < -_LEVELS or codes.max() >= _LEVELS:
            continue
        if np.array_equal((codes * step).astype(np.float32), table):
            return codes.astype(np.int8), QuantParams.per_tensor(step, 0)
    return None


def _per_output(weight: Gathered) -> QuantParams | None:
    """Symmetric parameters for each output channel, axis 0; None if the weight has no such."""
    quant = weight.quant
    if quant is None or quant.dtype is not DType.INT8 or any(quant.zero_point):
        return None
    if quant.axis == 0:
        return quant
    if quant.axis is not None:
        return None
    outputs = weight.shape[0]
    return QuantParams(quant.scale * outputs, (0,) * outputs, quant.dtype, 0)


def _indices(elements: Array, group: int) -> Array | None:
    """The vector that each group of input channels is, uint16 [..., ceil(I / G)]; None if none."""
    starts = elements[..., ::group]
    indices = starts // group
    channels = elements.shape[-1]
    lane = np.arange(group, dtype=np.int32)
    whole = (indices * group)[..., np.newaxis] + lane
    wanted = whole.reshape(*elements.shape[:-1], -1)[..., :channels]
    return indices.astype(np.uint16) if np.array_equal(wanted, elements) else None

"""Which keys a query of Attention sees by its place: causal order, windows, keys that are padding.

A query at place i of S queries sees the key at place j if ``low <= n <= high``, n being the number
of keys up to the last query, that is the number of keys that are no padding where the node says it
(`nonpad_kv_seqlen`), else S and those of the past; low and high are whole numbers of i and j.
Source: ONNX operator documentation of Attention, versions 23 to 25.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from edgec.base.dtypes import Array, DType
from edgec.importers.common import masks
from edgec.importers.common.masks import Relation
from edgec.importers.common.scattered import check_places
from edgec.importers.common.tensors import Tensor, UnsupportedError
from edgec.importers.onnx.context import Context
from edgec.importers.onnx.node import OnnxNode
from edgec.ir.graph import Constant, Value

PAST_KEY, LENGTHS = 4, 6
"""The inputs that hold the keys of the past, and the numbers of keys that are no padding."""


@dataclass(frozen=True, slots=True, eq=False)
class KeyPlaces:
    """Bounds of the number of keys between which a query sees a key, int64 [queries, keys].

    Attributes:
        low: the fewest; None where there is no such bound.
        high: the most; None where there is no such bound.
    """

    low: Array | None
    high: Array | None

    @classmethod
    def of(cls, node: OnnxNode, queries: int, keys: int) -> KeyPlaces:
        """The bounds of a node.

        Raises:
            UnsupportedError: a window has a negative size.
        """
        check_places(queries * keys)
        far = queries + keys
        left, right = (
            min(node.integer(f"{side}_window_size", -1), far) for side in ("left", "right")
        )
        if min(left, right) < -1:
            raise UnsupportedError("a window has a negative size", "correct the model")
        if node.flag("is_causal", False):
            right = 0
        place = np.arange(keys) - np.arange(queries)[:, None] + queries
        low = place - right if right >= 0 else None
        if node.has(LENGTHS):
            inside = np.broadcast_to(np.arange(keys) + 1, place.shape)
            low = inside if low is None else np.maximum(low, inside)
        return cls(_by_key(low), _by_key(place + left if left >= 0 else None))

    def seen(self, count: Array) -> Array | None:
        """Where a key is seen; None where all are.

        Args:
            count: the number n, broadcasts against [queries, keys].
        """
        above = None if self.low is None else self.low <= count
        below = None if self.high is None else count <= self.high
        if above is None or below is None:
            return above if below is None else below
        return np.asarray(above & below)

    def mask(self, ctx: Context, count: Value, name: str) -> Value:
        """A mask of the run, int32 [N, 1, queries, keys] or, where they are equal, one row.

        Args:
            ctx: the graph under construction.
            count: the number n, int32 [N, 1, 1, 1].
            name: what names of constants begin with.
        """
        parts: list[tuple[Tensor, Tensor]] = []
        if self.low is not None:
            parts.append((Constant(f"{name}/low", self.low), count))
        if self.high is not None:
            parts.append((count, Constant(f"{name}/high", self.high)))
        found = [masks.related(ctx, Relation.LESS_OR_EQUAL, *part) for part in parts]
        mask = found[0]
        for other in found[1:]:
            mask = masks.combined(ctx, mask, other, absorbing=False, stem=name)
        if isinstance(mask, Constant):
            raise UnsupportedError("its mask is a constant", "correct the model")
        return mask


def _by_key(bounds: Array | None) -> Array | None:
    """Bounds as one row where all rows are equal."""
    if bounds is None or not (bounds == bounds[:1]).all():
        return bounds
    return bounds[:1]


def key_count(ctx: Context, node: OnnxNode, samples: int, queries: int) -> Array | Value:
    """The number n of a node: [N, 1, 1, 1], or one number for all samples.

    Raises:
        UnsupportedError: there is not one for each sample.
    """
    if not node.has(LENGTHS):
        past = node.tensor(PAST_KEY).shape[2] if node.has(PAST_KEY) else 0
        return np.asarray(past + queries)
    lengths = node.tensor(LENGTHS)
    if lengths.shape != (samples,):
        raise UnsupportedError(
            f"{list(lengths.shape)} lengths of keys do not fit {samples} samples", "correct it"
        )
    if isinstance(lengths, Constant):
        return lengths.array.astype(np.int64).reshape(samples, 1, 1, 1)
    if lengths.dtype is not DType.INT32:
        raise UnsupportedError("the lengths of its keys are no integers", "correct the model")
    counted = ctx.reshape(lengths, (samples, 1, 1, 1))
    return masks.require_mask(counted) if isinstance(counted, Value) else counted.array

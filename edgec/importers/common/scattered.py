"""Tensors of which some elements are written over, at places that are known at compile time."""

from __future__ import annotations

import enum
import math
from dataclasses import dataclass

import numpy as np

from edgec.base.dtypes import Array, DType
from edgec.importers.common.builder import RealBuilder
from edgec.importers.common.functions import extreme
from edgec.importers.common.gathered import pick, take
from edgec.importers.common.masks import chosen
from edgec.importers.common.tensors import Tensor, UnsupportedError
from edgec.ir import ops
from edgec.ir.graph import Constant, Value

_MOST_WRITES = 8
"""Most updates of one element, each of which takes a pass over the tensor."""
_MOST_PLACES = 1 << 23
"""Most elements whose places are followed one by one."""


class Reduction(enum.Enum):
    """Combination of an element with its update, by ONNX name."""

    NONE = "none"
    ADD = "add"
    MUL = "mul"
    MAX = "max"
    MIN = "min"


_NEUTRAL = {Reduction.ADD: 0.0, Reduction.MUL: 1.0}


def element_places(shape: tuple[int, ...], indices: Array, axis: int) -> Array:
    """Places that ScatterElements and GatherElements access, in the flattened tensor.

    Args:
        shape: sizes of the tensor's axes.
        indices: places along `axis`, counted from the end where they are negative; any shape.
        axis: non-negative.

    Raises:
        UnsupportedError: they lie outside the tensor.
    """
    _check(shape, indices)
    coordinates: list[Array] = list(np.indices(indices.shape))
    if len(coordinates) != len(shape):
        raise UnsupportedError("its indices have another rank than its input", "correct the model")
    coordinates[axis] = np.where(indices < 0, indices + shape[axis], indices)
    return _flat(shape, coordinates)


def slice_places(shape: tuple[int, ...], indices: Array) -> Array:
    """Places that ScatterND and GatherND access, in the flattened tensor.

    Args:
        shape: sizes of the tensor's axes.
        indices: [..., depth], the first coordinates of slices, negative ones from the end.

    Returns:
        Places [..., *slices].

    Raises:
        UnsupportedError: they lie outside the tensor, or are no coordinates.
    """
    depth = indices.shape[-1] if indices.ndim else 0
    if not 1 <= depth <= len(shape):
        raise UnsupportedError("its indices do not choose elements", "use Slice or Gather")
    inner = math.prod(shape[depth:])
    _check(shape, indices, inner)
    wrapped = np.where(indices < 0, indices + np.asarray(shape[:depth]), indices)
    first = _flat(shape[:depth], list(np.moveaxis(wrapped, -1, 0)))
    places = first[..., None] * inner + np.arange(inner)
    return places.reshape(*first.shape, *shape[depth:])


def check_places(count: int) -> None:
    """Refuse to follow more elements than a moment is enough for.

    Raises:
        UnsupportedError: there are too many.
    """
    if count > _MOST_PLACES:
        raise UnsupportedError(
            f"it chooses among {count:,} elements; {_MOST_PLACES:,} is the most",
            "use Slice or Gather, or smaller tensors",
        )


def _check(shape: tuple[int, ...], indices: Array, inner: int = 1) -> None:
    check_places(max(math.prod(shape), indices.size * inner))
    if indices.dtype.kind not in "iu":
        raise UnsupportedError("its indices are no integers", "correct the model")


def _flat(shape: tuple[int, ...], coordinates: list[Array]) -> Array:
    sizes = zip(coordinates, shape, strict=True)
    if any(((each < 0) | (each >= size)).any() for each, size in sizes):
        raise UnsupportedError("its indices lie outside the tensor", "correct the model")
    return np.asarray(np.ravel_multi_index(tuple(coordinates), shape))


def scattered(
    ctx: RealBuilder, x: Tensor, places: Array, updates: Tensor, reduction: Reduction, name: str
) -> Tensor:
    """X with the elements at `places` replaced by their updates, or joined with them.

    Of several updates of one element without a reduction the last one counts.

    Args:
        ctx: the graph under construction.
        x: what is written over.
        places: whole numbers, the shape of `updates`: places in the flattened x.
        updates: what is written.
        reduction: how.
        name: what names of constants begin with.

    Raises:
        UnsupportedError: the shapes do not fit, or an element has too many updates.
    """
    if places.shape != updates.shape:
        raise UnsupportedError(
            f"updates {list(updates.shape)} do not fit {list(places.shape)}", "correct the model"
        )
    if not places.size:
        return x
    layers = _layers(math.prod(x.shape), places.reshape(-1), reduction is Reduction.NONE)
    for index, layer in enumerate(layers):
        writer = _Writer(ctx, layer.reshape(x.shape), updates, f"{name}/{index}")
        x = writer.written(x) if reduction is Reduction.NONE else writer.joined(x, reduction)
    return x


def _layers(size: int, places: Array, last: bool) -> list[Array]:
    """For each element the number of an update, -1 where there is none; int64 [size] each.

    Args:
        size: elements.
        places: where in the flattened tensor each update is written; at least one.
        last: only the last update of each element; else all, layer by layer.
    """
    numbers = np.arange(places.size)
    order = np.argsort(places, kind="stable")
    ordered = places[order]
    starts = np.flatnonzero(np.r_[True, ordered[1:] != ordered[:-1]])
    rank = np.empty_like(order)
    rank[order] = numbers - np.repeat(starts, np.diff(np.r_[starts, places.size]))
    count = int(rank.max()) + 1
    if last:
        layer = np.full(size, -1)
        ends = np.r_[starts[1:], places.size] - 1
        layer[ordered[ends]] = order[ends]
        return [layer]
    if count > _MOST_WRITES:
        raise UnsupportedError(
            f"it updates one element {count} times; {_MOST_WRITES} is the most",
            "sum the updates first",
        )
    layers = []
    for index in range(count):
        layer = np.full(size, -1)
        layer[places[rank == index]] = numbers[rank == index]
        layers.append(layer)
    return layers


@dataclass(frozen=True, slots=True, eq=False)
class _Writer:
    """Writes at most one update over each element.

    Attributes:
        ctx: the graph under construction.
        source: the number of the update of each element, -1 where there is none; shape of x.
        updates: all of them.
        name: what names of constants begin with.
    """

    ctx: RealBuilder
    source: Array
    updates: Tensor
    name: str

    def written(self, x: Tensor) -> Tensor:
        """X with the updates in place of elements."""
        if (self.source >= 0).all():
            return self._updates(self.source)
        found = self._between(x)
        if found is not None:
            return found
        return chosen(self.ctx, self._where(), self._everywhere(), x)

    def joined(self, x: Tensor, reduction: Reduction) -> Tensor:
        """X joined with the updates."""
        neutral = _NEUTRAL.get(reduction)
        if neutral is None:
            largest = reduction is Reduction.MAX
            full = chosen(self.ctx, self._where(), self._everywhere(), x)
            return extreme(self.ctx, [x, full], largest)
        other = Constant(f"{self.name}/neutral", np.asarray(neutral, np.float32))
        full = chosen(self.ctx, self._where(), self._everywhere(), other)
        return self.ctx.emit(ops.Add() if reduction is Reduction.ADD else ops.Mul(), full, x)

    def _where(self) -> Constant:
        return Constant(f"{self.name}/where", self.source >= 0)

    def _between(self, x: Tensor) -> Tensor | None:
        """The updates between two parts of x, where they take a whole range along one axis."""
        mask = self.source >= 0
        for axis, size in enumerate(x.shape):
            along = np.moveaxis(mask, axis, 0).reshape(size, -1)
            if not (along == along[:, :1]).all():
                continue
            (where,) = np.nonzero(along[:, 0])
            start, count = int(where[0]), len(where)
            if int(where[-1]) - start + 1 != count:
                continue
            middle = self._updates(np.take(self.source, where, axis))
            before = [take(self.ctx, x, {axis: (0, 1, start)})] if start else []
            end = start + count
            after = [take(self.ctx, x, {axis: (end, 1, size - end)})] if end < size else []
            return self._joined_parts([*before, middle, *after], axis)
        return None

    def _joined_parts(self, parts: list[Tensor], axis: int) -> Tensor | None:
        values = [part for part in parts if isinstance(part, Value)]
        if not values or any(value.dtype is not DType.FLOAT32 for value in values):
            return None
        return self.ctx.emit(ops.Concat(axis), *parts, dtype=DType.FLOAT32)

    def _everywhere(self) -> Tensor:
        """An update for each element, any of them where there is none."""
        return self._updates(self.source)

    def _updates(self, source: Array) -> Tensor:
        """The updates of certain numbers, in their shape; whole rows of them where possible."""
        inner = 1
        for size in reversed(source.shape):
            rows = source.reshape(-1, inner * size)
            absent = (rows == -1).all(axis=1)
            whole = (rows == rows[:, :1] + np.arange(inner * size)).all(axis=1)
            if not (absent | (whole & (rows[:, 0] % (inner * size) == 0))).all():
                break
            inner *= size
        count = math.prod(self.updates.shape)
        if count % inner:
            inner = 1
        chosen_rows = np.maximum(source.reshape(-1, inner)[:, 0], 0) // inner
        flat = self.ctx.reshape(self.updates, (count // inner, inner))
        if not np.array_equal(chosen_rows, np.arange(count // inner)):
            flat = pick(self.ctx, flat, 0, chosen_rows)
        return self.ctx.reshape(flat, source.shape)

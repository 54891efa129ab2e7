"""Weights that a file stores without their zeros, as whole tensors.

The elements that are stored are the leaves of a tree whose levels are the axes of the tensor, in an
order of its own, some of them cut into blocks.  A dense level has all places below each node, one
in compressed rows has those that its list of indices names.

Source: TensorFlow Lite schema (SparsityParameters, DimensionMetadata).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
import tflite

from edgec.base.dtypes import Array
from edgec.base.errors import ImportModelError
from edgec.base.names import shown

MAX_SPARSE_ELEMENTS = 1 << 24
"""Most elements of a tensor that a file stores without its zeros: a few bytes could claim any."""
_VECTORS = ("", "Int32Vector", "Uint16Vector", "Uint8Vector")
"""Types of lists, by their number in the schema."""


def filled(raw: Any, shape: tuple[int, ...], elements: Array, name: str) -> Array:
    """A whole tensor of its stored elements, with zeros in all other places.

    Args:
        raw: the tensor of the schema, which has a sparsity.
        shape: sizes of the whole tensor.
        elements: the stored ones, [n].
        name: name of the tensor, for messages.

    Raises:
        ImportModelError: the tree does not fit the shape or the elements, or the tensor is too big.
    """
    places = _places(raw, shape, len(elements), name)
    found = np.zeros(shape, elements.dtype)
    found[tuple(places)] = elements
    return found


def _places(raw: Any, shape: tuple[int, ...], stored: int, name: str) -> list[Array]:
    """For each axis the coordinates of the stored elements, in their order; int64 [stored]."""
    if math.prod(shape) > MAX_SPARSE_ELEMENTS:
        raise _error(f"is stored as a sparse tensor of {math.prod(shape):,} elements", name)
    sparsity = raw.Sparsity()
    order = _numbers(sparsity.TraversalOrderAsNumpy())
    blocks = _numbers(sparsity.BlockMapAsNumpy())
    rank = len(shape)
    if (
        sorted(order) != list(range(rank + len(blocks)))
        or len(order) != sparsity.DimMetadataLength()
    ):
        raise _error("is stored as a sparse tensor whose order of axes is none", name)
    if any(not 0 <= axis < rank for axis in blocks) or len(set(blocks)) < len(blocks):
        raise _error("is stored as a sparse tensor whose blocks have no axes", name)
    paths, sizes = np.zeros((1, 0), np.int64), dict[int, int]()
    for number, axis in enumerate(order):
        paths, sizes[axis] = _below(paths, sparsity.DimMetadata(number), stored, name)
    coordinates = [paths[:, order.index(axis)] for axis in range(rank)]
    for number, axis in enumerate(blocks):
        level = rank + number
        coordinates[axis] = coordinates[axis] * sizes[level] + paths[:, order.index(level)]
    fits = len(paths) == stored and all(
        not len(places) or (places.min() >= 0 and places.max() < size)
        for places, size in zip(coordinates, shape, strict=True)
    )
    if not fits:
        raise _error("is stored as a sparse tensor whose elements do not fit its shape", name)
    return coordinates


def _below(paths: Array, level: Any, most: int, name: str) -> tuple[Array, int]:
    """The paths [n, k + 1] of the next level of the tree, and how many places a dense one has."""
    if level.Format() == tflite.DimensionType.DENSE:
        size = level.DenseSize()
        if size <= 0 or len(paths) * size > max(most, 1):
            raise _error("is stored as a sparse tensor that names more elements than it has", name)
        places = np.tile(np.arange(size, dtype=np.int64), len(paths))
        return np.column_stack([np.repeat(paths, size, axis=0), places]), size
    segments = _list(level.ArraySegments(), level.ArraySegmentsType())
    indices = _list(level.ArrayIndices(), level.ArrayIndicesType())
    counts = np.diff(segments)
    fits = len(segments) == len(paths) + 1 and segments[0] == 0 and bool((counts >= 0).all())
    if not fits or segments[-1] != len(indices) or len(indices) > most:
        raise _error("is stored as a sparse tensor whose lists do not fit each other", name)
    return np.column_stack([np.repeat(paths, counts, axis=0), indices]), 0


def _list(table: Any, kind: int) -> Array:
    if table is None or not 0 < kind < len(_VECTORS):
        return np.zeros(0, np.int64)
    vector = getattr(tflite, _VECTORS[kind])()
    vector.Init(table.Bytes, table.Pos)
    return np.asarray(_numbers(vector.ValuesAsNumpy()), np.int64)


def _numbers(vector: Array | int) -> Sequence[int]:
    """A vector of the schema, which gives 0 for an absent one."""
    return [] if isinstance(vector, int) else [int(number) for number in vector]


def _error(text: str, name: str) -> ImportModelError:
    return ImportModelError(
        f"it {text}", where=shown(name), hint="convert the model with dense weights"
    )

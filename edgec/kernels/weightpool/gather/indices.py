"""Indices of layers that gather responses: packed, in the kernel's order, or as lists."""

from __future__ import annotations

import numpy as np

from edgec.base.dtypes import Array
from edgec.kernels.weightpool.gather.groups import (
    BYTE_BITS,
    ENTRY_BYTES,
    INDEX_BLOCK,
    TableGroups,
)
from edgec.kernels.weightpool.gather.spec import PooledConv
from edgec.kernels.weightpool.unrolled import packed_indices


def stored_indices(spec: TableGroups, indices: Array) -> Array:
    """Indices as a kernel with a table of responses reads them.

    Args:
        spec: the kernel.
        indices: uint16 [O, KH, KW, groups * terms].

    Returns:
        uint8 [bytes], packed in the order of the kernel: chunk, filter, tap row, group, tap column,
        term, every chunk in whole blocks; or, if the kernel decodes nothing, its lists uint16
        [entries + 1].
    """
    by_group = indices.reshape(*indices.shape[:-1], spec.groups, spec.terms).swapaxes(2, 3)
    chunks = [
        by_group[:, :, first : first + spec.chunk_groups]
        for first in range(0, spec.groups, spec.chunk_groups)
    ]
    if isinstance(spec, PooledConv) and not spec.decodes:
        lists = [_entries(spec, chunk).reshape(-1) for chunk in chunks]
        # The kernel reads one entry after the last one.
        return np.concatenate([*lists, np.zeros(1, np.uint16)])
    return np.concatenate([_packed_chunk(spec, chunk.reshape(-1)) for chunk in chunks])


def _packed_chunk(spec: TableGroups, indices: Array) -> Array:
    missing = 0 if spec.index_bits == BYTE_BITS else -len(indices) % INDEX_BLOCK
    return packed_indices(np.pad(indices, (0, missing)), spec.index_bits)


def _entries(spec: PooledConv, chunk: Array) -> Array:
    """Entries of edgec/weight_pool/gather.h for the indices [O, KH, groups, KW, terms] of a
    chunk.
    """
    filters, rows, groups, *_ = chunk.shape
    numbers = chunk.reshape(filters, rows, groups, -1).astype(np.int64)
    group = np.arange(groups)[:, None] * spec.group_bytes
    column = np.asarray(spec.entry_column_bytes)
    row = np.asarray(spec.tap_row_bytes)[:, None, None]
    entries = numbers * spec.vector_bytes + group + column + row
    by_base = entries.reshape(filters, rows // spec.rows_per_base, -1)
    last = np.arange(by_base.shape[-1]) == by_base.shape[-1] - 1
    return np.asarray(by_base | last, np.uint16)


def index_bytes(spec: TableGroups) -> int:
    """Bytes of `stored_indices`."""
    chunks = [spec.chunk_groups] * (spec.chunks - 1) + [spec.last_groups]
    beyond = 0 if spec.decodes else ENTRY_BYTES
    return sum(spec.index_bytes(groups) for groups in chunks) + beyond

"""Groups of channels, and the indices of vectors that filters have for them.

The responses of some groups, a chunk, are in the table at a time.  Indices are turned into a list
of places in the table, or are stored as such lists.
"""

from __future__ import annotations

from abc import abstractmethod

from edgec.kernels.common.window import Window
from edgec.kernels.weightpool.decision import READY_INDEX_BITS
from edgec.kernels.weightpool.gather.layout import WORD_BYTES
from edgec.kernels.weightpool.unrolled import PackedIndex, unpacked

ENTRY_BYTES = 2

BYTE_BITS = 8

INDEX_BLOCK = 8
"""Packed indices that are unpacked together; they take whole bytes."""


class TableGroups:
    """The groups of a pooled convolution: one part of a specification, which has the fields.

    Attributes:
        window: geometry of the convolution.
        out_channels: filters.
        group: weights of a vector.
        chunk_groups: groups of channels whose responses are in the table at a time.
        index_bits: bits of a stored index, see `PoolKernelConfig`.
        terms: vectors of the pool whose responses are added up for a tap and a group.
    """

    __slots__ = ()
    window: Window
    out_channels: int
    group: int
    chunk_groups: int
    index_bits: int
    terms: int

    @property
    @abstractmethod
    def tap_columns(self) -> tuple[int, ...]:
        """For each kx, the column of the table that output column 0 reads."""

    @property
    def groups(self) -> int:
        """Groups of input channels."""
        return -(-self.window.channels // self.group)

    @property
    def chunks(self) -> int:
        """Passes over the image."""
        return -(-self.groups // self.chunk_groups)

    @property
    def is_chunked(self) -> bool:
        """There are several passes over the image."""
        return self.chunks > 1

    @property
    def chunk_channels(self) -> int:
        """Channels of a full chunk."""
        return self.chunk_groups * self.group

    @property
    def group_padding(self) -> int:
        """Addend to channels before a division by `group` that must round up."""
        return self.group - 1

    @property
    def last_groups(self) -> int:
        """Groups of the last chunk."""
        return self.groups - (self.chunks - 1) * self.chunk_groups

    @property
    def row_entries(self) -> int:
        """Entries of a list for one filter, one group and one row of taps."""
        return self.window.kernel_w * self.terms

    @property
    def group_entries(self) -> int:
        """Entries of a list for one filter and one group."""
        return self.window.taps * self.terms

    @property
    def filter_entries(self) -> int:
        """Entries of all lists for one filter: responses in the sum of an output."""
        return self.group_entries * self.groups

    @property
    def entry_columns(self) -> tuple[int, ...]:
        """The column of the table of each of `row_entries`: the terms of a tap side by side."""
        return tuple(column for column in self.tap_columns for _ in range(self.terms))

    @property
    def list_entries(self) -> int:
        """Entries of the list of a full chunk."""
        return self.out_channels * self.chunk_places

    @property
    def decodes(self) -> bool:
        """Indices are turned into a list in scratch memory; else they are stored as lists."""
        return self.index_bits != READY_INDEX_BITS

    @property
    def chunk_places(self) -> int:
        """Entries of the list of a full chunk for one filter."""
        return self.group_entries * self.chunk_groups

    @property
    def packed_indices(self) -> tuple[PackedIndex, ...]:
        """A block of indices that are unpacked together; none if each is a byte."""
        return () if self.index_bits == BYTE_BITS else unpacked(self.index_bits)

    @property
    def index_mask(self) -> int:
        """The bits of an index."""
        return (1 << self.index_bits) - 1

    @property
    def list_bytes(self) -> int:
        """The list in scratch memory, and the entry that is read after its last one.

        Indices that are packed closer than bytes are unpacked in whole blocks.
        """
        entries = max(self.list_entries + 1, _whole_blocks(self.list_entries))
        return _words(ENTRY_BYTES * entries) if self.decodes else 0

    @property
    def chunk_index_bytes(self) -> int:
        """Stored indices of a full chunk, in whole blocks if they are packed."""
        return self.index_bytes(self.chunk_groups)

    def index_bytes(self, groups: int) -> int:
        """Bytes of the stored indices of a chunk of this many groups."""
        count = self.out_channels * self.group_entries * groups
        if self.index_bits in (BYTE_BITS, READY_INDEX_BITS):
            return count * self.index_bits // BYTE_BITS
        return _whole_blocks(count) * self.index_bits // BYTE_BITS


def _whole_blocks(count: int) -> int:
    return -(-count // INDEX_BLOCK) * INDEX_BLOCK


def _words(size: int) -> int:
    return -(-size // WORD_BYTES) * WORD_BYTES

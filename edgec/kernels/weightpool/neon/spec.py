"""Specification of the pooled convolution that gathers responses with NEON.

Responses are exact numbers of 16 bits (`ir.qops.PoolRounding` without a shift), of activations in
steps of their width.  An entry of a list leads to the responses of a vector at neighbouring
positions of a line (`layout`), which are added up eight a vector; some of them in 16 bits where no
input can make these sums larger, the rest in 32.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

import numpy as np

from edgec.base.dtypes import Array
from edgec.base.fixedpoint import INT16_MAX, INT16_MIN
from edgec.ir.graph import Graph, Node
from edgec.ir.qops.pooled import round_codes
from edgec.ir.weighted import pooled_attrs, pooled_inputs, weights_of
from edgec.kernels.common.interface import c_parameters
from edgec.kernels.family import template_beside
from edgec.kernels.neon.dense_4x4_s8_neon.tile import Tile
from edgec.kernels.neon.layer import NeonLayer
from edgec.kernels.neon.weights import ROWS
from edgec.kernels.weightpool.decoded import CODE_OFFSET
from edgec.kernels.weightpool.neon.layout import LANES, TableLines
from edgec.kernels.weightpool.plain import CODE_BITS, PooledDense, row_sums
from edgec.target.target import Target

_WORD_BYTES = 4
_RESPONSE_BYTES = 2
_ALIGNMENT = 16
BYTES_BEYOND = 15
"""Bytes after stored indices that are read: sixteen at a time."""
_ENTRY_LIMIT = 2**16
"""Entries are places of responses, in 16 bits."""
MOST_UNROLLED = 18
"""Entries of a turn of the loop that adds up, at most."""
_A64_VECTORS = 8
_ARMV7A_VECTORS = 4
"""Vectors of positions whose sums, two vectors each, and responses the registers hold."""
_LOADED = 3
"""Entries whose responses are loaded together."""
_HALF = LANES // 2
"""Weights of half a vector of int16."""


@dataclass(frozen=True, slots=True)
class Weight:
    """A weight of a vector of the pool.

    Attributes:
        channel: its channel of a group.
        eight: which eight of the weights it is one of.
        half: which half of these.
        lane: its place there.
    """

    channel: int
    eight: int
    half: int
    lane: int

    @classmethod
    def of(cls, channel: int) -> Weight:
        """The weight that a channel is multiplied by."""
        eight, place = divmod(channel, LANES)
        return cls(channel, eight, *divmod(place, _HALF))


@dataclass(frozen=True, slots=True)
class Entry:
    """An entry of a turn of the loop that adds up.

    Attributes:
        number: in the turn.
        begins, ends: a sum of 16 bits begins or ends with it.
        pauses: no load of a later entry is done before it.
    """

    number: int
    begins: bool
    ends: bool
    pauses: bool


@dataclass(frozen=True, slots=True)
class PooledConvNeon(NeonLayer, PooledDense, TableLines):
    """Pooled convolution: builds responses, then every filter adds up those of its vectors.

    x int8 [height, width, channels], indices of [out_channels, kernel_h, kernel_w, groups *
    terms] in the order of `stored_indices`, y int8 [out_height, out_width, out_channels].

    Attributes:
        pool_size: vectors of the pool, S.
        chunk_groups: groups of channels whose responses are in the table at a time.
        band: rows of outputs that are computed together; divides all.
        most: vectors of eight positions that are added up together, at most.
        center: code from which activations count; with a width chosen at run time it is the zero
            point.
        run: responses that are added up in 16 bits.
        full_range: outputs have no bounds but those of int8.
    """

    family: ClassVar[str] = "pooled_conv_neon"
    template: ClassVar[Path] = template_beside(__file__, "pooled_conv_neon")
    pool_size: int
    chunk_groups: int
    band: int
    most: int
    center: int
    run: int
    full_range: bool

    @property
    def parameters(self) -> tuple[str, ...]:
        """The C parameters after x."""
        own = ("int8_t *y", "int8_t *scratch", f"const {self.params_type} *params")
        return c_parameters(self.end, "int8_t", (own, self.run_parameters()))

    @property
    def extras(self) -> tuple[tuple[str, str], ...]:
        """Arguments of the function that stores besides parameters: C parameter and argument."""
        place = {"added": "residual + top * OUT_ROW"}
        given = self.tile_extras("extra")
        return tuple((parameter, place.get(name, name)) for parameter, name in given)

    # ---- Responses ----

    @property
    def drop(self) -> int:
        """Low bits of a code that are rounded away; with a width chosen at run time, none here."""
        return 0 if self.bits is None else CODE_BITS - self.bits

    @property
    def rounds(self) -> bool:
        """Activations may have to be rounded."""
        return self.bits != CODE_BITS

    @property
    def planar_channels(self) -> int:
        """Channels whose activations are spread for a chunk: whole vectors."""
        return -(-self.chunk_channels // LANES) * LANES

    @property
    def planar_pitch(self) -> int:
        """From the activations of a channel to those of the next one; a vector may end after it."""
        return self.positions + LANES

    @property
    def planar_bytes(self) -> int:
        """The spread activations of a chunk."""
        return self.planar_channels * self.planar_pitch * _RESPONSE_BYTES

    @property
    def weights(self) -> tuple[Weight, ...]:
        """The weights of a vector of the pool but the first one."""
        return tuple(Weight.of(c) for c in range(1, self.group))

    @property
    def channels_of_group(self) -> range:
        """Channels of a group."""
        return range(self.group)

    @property
    def eights(self) -> range:
        """Eights of weights of a vector; none where there are only four."""
        return range(self.group // LANES)

    @property
    def is_wide(self) -> bool:
        """A64 has the registers for the activations of sixteen positions."""
        return self.group <= LANES

    @property
    def wide_positions(self) -> int:
        """Positions whose responses are computed in pairs of vectors there."""
        return self.positions - self.positions % (2 * LANES) if self.is_wide else 0

    # ---- Sums ----

    @property
    def unroll(self) -> int:
        """Entries of a turn of the loop that adds up: least sums to widen, then fewest turns."""
        same = self.group_entries * math.gcd(self.chunk_groups, self.last_groups)
        turns = (turn for turn in range(1, MOST_UNROLLED + 1) if same % turn == 0)
        return min(turns, key=lambda turn: (-(-turn // self.run) / turn, -turn))

    @property
    def turn(self) -> tuple[Entry, ...]:
        """The entries of a turn."""
        last, run = self.unroll - 1, self.run
        pause = min(run, _LOADED)
        return tuple(
            Entry(
                number,
                begins=number % run == 0,
                ends=number % run == run - 1 or number == last,
                pauses=number % run % pause == pause - 1 or number % run == run - 1,
            )
            for number in range(self.unroll)
        )

    @property
    def turn_sums(self) -> int:
        """Sums of 16 bits of a turn."""
        return -(-self.unroll // self.run)

    @property
    def stored_filters(self) -> int:
        """Filters up to a multiple of four."""
        return -(-self.out_channels // ROWS) * ROWS

    @property
    def rest(self) -> int:
        """Filters of the last four, if these are not all there."""
        return self.out_channels % ROWS

    @property
    def tile(self) -> Tile:
        """Positions whose outputs are stored together."""
        return Tile(ROWS)

    @property
    def tile_columns(self) -> int:
        """Columns of a tile that are outputs."""
        return min(ROWS, self.window.out_width)

    @property
    def last_tile(self) -> int:
        """First column of the last tile of a row, which may store some columns again."""
        return max(0, self.window.out_width - ROWS)

    # ---- Memory ----

    @property
    def fits_entries(self) -> bool:
        """Every place in the table fits 16 bits; a specification without it is illegal."""
        return self.chunk_groups * self.group_step <= _ENTRY_LIMIT

    @property
    def planar_start(self) -> int:
        """Place of the spread activations; the table int16 [groups, S, positions] comes first."""
        beyond = self.read_positions - self.positions
        return _aligned(_RESPONSE_BYTES * (self.chunk_groups * self.group_step + beyond))

    @property
    def list_start(self) -> int:
        """Place of the list of entries."""
        return _aligned(self.planar_start + self.planar_bytes)

    @property
    def sums_start(self) -> int:
        """Place of the sums int32 [stored_filters, out_positions]."""
        return _aligned(self.list_start + self.list_bytes)

    @property
    def sums_bytes(self) -> int:
        """The sums of a band."""
        return _WORD_BYTES * self.stored_filters * self.out_positions

    @property
    def numbers_start(self) -> int:
        """Place of biases and multipliers int32 [2, stored_filters], after what tiles read."""
        return self.sums_start + self.sums_bytes + _ALIGNMENT

    @property
    def scratch_bytes(self) -> int:
        """Table, activations, list, sums and numbers."""
        return self.numbers_start + 2 * _WORD_BYTES * self.stored_filters

    @property
    def bands(self) -> int:
        """Bands of rows of outputs."""
        return self.window.out_height // self.band

    # ---- For reports ----

    def describe(self) -> str:
        """Operator, shapes and pool in words, for a comment in C."""
        return self._describe(f"pool [{self.pool_size}, {self.group}], {self.band} rows at a time")


def vectors_of(target: Target) -> int:
    """Vectors of positions that are added up together, at most: `PoolKernelConfig.vectors`."""
    return _A64_VECTORS if target.is_aarch64 else _ARMV7A_VECTORS


@dataclass(frozen=True, slots=True)
class Center:
    """The code from which activations of a width count.

    Attributes:
        code: a rounded one.
        run: how many responses of any vectors to any input add up within int16.
    """

    code: int
    run: int

    @classmethod
    def of(cls, pool: Array, bits: int) -> Center:
        """The one in the middle of all codes that allows the longest run.

        Args:
            pool: int8 [S, G].
            bits: width of activations, in steps of which responses are.
        """
        middle = 1 << (bits - 1)
        found = (cls._at(pool, bits, steps) for steps in (middle, middle - 1))
        return max(found, key=lambda center: center.run)

    @classmethod
    def _at(cls, pool: Array, bits: int, steps: int) -> Center:
        wide = pool.astype(np.int64)
        least, most = -steps * wide, ((1 << bits) - 1 - steps) * wide
        high = int(np.maximum(least, most).sum(1).max())
        low = int(np.minimum(least, most).sum(1).min())
        run = min(INT16_MAX // max(high, 1), INT16_MIN // min(low, -1))
        return cls((steps << (CODE_BITS - bits)) - CODE_OFFSET, run)


def centered_fold(graph: Graph, node: Node) -> Array:
    """Additions to the biases of a layer of a fixed width: int64 [O].

    Sums are of activations without the code of `Center`, not without the zero point.
    """
    inputs = pooled_inputs(node)
    bits = pooled_attrs(node).rounding.activation_bits
    zero_point = graph.quant(inputs.x).tensor_zero_point
    center = Center.of(graph.constants[inputs.pool].array, bits)
    zero = int(round_codes(np.asarray(zero_point), bits)) - CODE_OFFSET
    return (center.code - zero) * row_sums(weights_of(graph, node))


def _aligned(size: int) -> int:
    return -(-size // _ALIGNMENT) * _ALIGNMENT

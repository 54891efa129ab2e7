"""What the kernels of layers with a weight pool do, and how often: counts from a specification.

`events_of` says in closed form how often each inner loop of a kernel turns in one call.  What one
turn takes is in `operations`, and what that costs on a core in `prices.toml`.
"""

from __future__ import annotations

import enum
from collections.abc import Mapping

from edgec.kernels.common.dense_weights import FILTERS
from edgec.kernels.dsp.tile_3x2.spec import ROWS as ROWS_3X2
from edgec.kernels.dsp.tile_3x2.spec import Tile3x2
from edgec.kernels.dsp.tile_4x2.spec import ROWS as ROWS_4X2
from edgec.kernels.dsp.tile_4x2.spec import Tile4x2
from edgec.kernels.generic.conv2d.family import Conv2D
from edgec.kernels.generic.gemm.family import Gemm
from edgec.kernels.neon.tile_4x4.spec import Tile4x4
from edgec.kernels.neon.weights import LANES, ROWS
from edgec.kernels.small.tile_3x4.spec import Tile3x4
from edgec.kernels.weightpool.decode.family import PooledDecode
from edgec.kernels.weightpool.decode_dsp.family import PooledDecodeDsp
from edgec.kernels.weightpool.direct.family import PooledDirect


@enum.unique
class Event(enum.Enum):
    """A turn of an inner loop, or what is done once for several of them; the value says which."""

    # Sums of rows of the table of responses.
    LOOK_UP_8 = "eight words of the table added to eight sums"
    LOOK_UP_4 = "four words of the table added to four sums"
    ROUND = "a round of look-ups"
    BASE = "the address of a pair row of the table"
    FILTER_8 = "eight sums of a filter loaded and stored"
    FILTER_4 = "four sums of a filter loaded and stored"
    GATHER = "a call of the function that adds up rows"
    # Responses as products.
    PAIR_VECTOR = "the products of a vector with two pixels"
    PACKED_VECTOR = "the products of a vector with four pixels of few bits"
    LONE_VECTOR = "the products of a vector with two pixels beside padding"
    PRODUCT_TURN = "a turn of the loop of products"
    PACK = "a word of codes of two pixels"
    PLAIN_WEIGHT = "a product in C"
    PLAIN_VECTOR = "a response made of products in C"
    PLAIN_SHIFT = "a word of two such responses, shifted"
    # Responses from bit planes.
    PLANES = "the bit planes of eight codes"
    ROW = "the address of a row of the look-up table"
    BLOCK = "sixteen vectors of a plane looked up"
    PAIR_BLOCK = "sixteen words of the table made of the sums of two pixels"
    LONE_BLOCK = "sixteen words of the table made of the sums of one pixel"
    SUM_BLOCK = "the sums of sixteen vectors stored"
    PLANE_WORD = "four vectors of a plane looked up in C"
    PART_WORD = "four vectors of another part of a plane looked up in C"
    RELOAD = "the address of a row of the look-up table that no register holds, in C"
    LANE_WORD = "the sums of four vectors shifted in C"
    TABLE_WORD = "a word of the table stored in C"
    FREE_WORD = "the sums of four vectors shifted by a variable"
    ZERO_WORD = "the share of the zero point taken out of the sums of four vectors"
    # All responses.
    SHIFT = "a sum shifted"
    FAR_STORE = "an address moved on, where a store cannot do that"
    CODES = "four codes of a pixel"
    BUILD = "a call of the function that builds responses"
    PIXEL = "a pixel or pair of pixels found for such calls"
    # Lists of places in the table, and outputs.
    ENTRY = "an index unpacked"
    PLACE = "a place in the table added to one entry of a list, or to two"
    START = "the first values of four sums"
    OUTPUT_ROW = "a filter's row of outputs"
    OUTPUT_TURN = "a turn of the loop over these outputs"
    OUTPUT = "an output requantized and stored"
    RESIDUAL = "an addition at the end"
    LANE_RESIDUAL = "an addition at the end of an output from the table"
    # Kernels that expand weights, and those without a pool.
    EXPAND = "a vector of weights expanded"
    COPY = "a run of activations copied"
    COPY_BYTE = "an activation copied"
    ROUND_WORD = "four activations rounded"
    MAC = "a product of a loop for one pixel"
    FILTERS_4 = "such a loop, for four filters"
    TILE_MAC = "a product of a loop for several pixels and filters"
    TILE = "such a loop"
    WIDEN = "four activations widened for it"
    WIDEN_ROUND = "four activations rounded and widened for it"
    TILE_4X2_MAC = "a product of a loop for four pixels and two filters"
    TILE_4X2_MAC_DUAL = "the same, on a core that loads while it multiplies"
    TILE_4X2_TURN = "a turn of this loop"
    TILE_4X2 = "a loop for four pixels and two filters"
    TILE_4X2_OUTPUTS = "eight outputs of such a loop, stored from registers"
    TILE_4X2_WIDEN = "four activations widened for such loops"
    NEON_MAC = "a product of a loop for several pixels and filters with NEON"
    NEON_TILE = "such a loop with NEON"
    NEON_PACK = "four activations packed for it"
    # Look-ups for each filter.
    DIRECT_VECTOR = "a vector of a window"
    DIRECT_FILTER = "a vector of a window for one filter"
    DIRECT_PART = "a look-up for that"
    DIRECT_RELOAD = "the address of such a look-up that no register holds"
    DIRECT_LOOP = "a plane of such look-ups, whose number is a variable"


Events = Mapping[Event, float]

_ROWS_IN_REGISTERS = 4
"""Addresses of rows of a look-up table that compiled code keeps in registers."""


def spilled_rows(rows: int) -> int:
    """How many of `rows` addresses are loaded again for every use."""
    return max(0, rows - _ROWS_IN_REGISTERS)


def decode_events(spec: PooledDecode) -> dict[Event, float]:
    """Weights expanded, then a loop for one pixel at a time."""
    batches = -(-spec.out_channels // spec.batch)
    windows = spec.window.out_pixels * batches
    found: dict[Event, float] = {
        Event.EXPAND: spec.out_channels * spec.window.taps * spec.vectors,
        Event.MAC: spec.macs,
        Event.FILTERS_4: spec.window.out_pixels * -(-spec.out_channels // spec.block),
        Event.OUTPUT: spec.out_elements,
    }
    if spec.rounds:
        found[Event.ROUND_WORD] = windows * spec.patch_words
    if spec.needs_patch:
        found[Event.COPY] = windows * _runs(spec)
        found[Event.COPY_BYTE] = windows * spec.depth
    return found


def _runs(spec: PooledDecode) -> int:
    """Pieces in which a window is copied."""
    if spec.reads_rows:
        return 1
    return spec.window.kernel_h if spec.copies_runs else spec.window.taps


def plain_events(spec: Conv2D | Gemm) -> dict[Event, float]:
    """A loop for one pixel at a time."""
    found: dict[Event, float] = {
        Event.MAC: spec.macs,
        Event.FILTERS_4: spec.out_elements / 4,
        Event.OUTPUT: spec.out_elements,
    }
    if isinstance(spec, Conv2D):
        found[Event.COPY] = spec.window.out_pixels * spec.window.kernel_h
        found[Event.COPY_BYTE] = spec.window.out_pixels * spec.scratch_bytes
    return found


def tile_events(spec: Tile3x2 | Tile3x4) -> dict[Event, float]:
    """Three pixels at a time; pixels and filters beyond the last ones are computed, too."""
    blocks = -(-spec.window.out_pixels // ROWS_3X2)
    together = spec.filters if isinstance(spec, Tile3x4) else FILTERS
    tiles = blocks * -(-spec.out_channels // together)
    return {
        Event.TILE_MAC: tiles * ROWS_3X2 * together * spec.depth,
        Event.TILE: tiles,
        Event.WIDEN: blocks * ROWS_3X2 * spec.depth / 4,
        Event.COPY: blocks * ROWS_3X2 * spec.window.kernel_h,
        Event.OUTPUT: spec.out_elements,
    }


def tile_4x2_events(spec: Tile4x2) -> dict[Event, float]:
    """Four pixels at a time; pixels and filters beyond the last ones are computed, too."""
    rows = -(-spec.rows // ROWS_4X2) * ROWS_4X2
    tiles = rows // ROWS_4X2 * spec.pairs
    turns = spec.words // spec.unrolled
    product = Event.TILE_4X2_MAC_DUAL if spec.dual_issue else Event.TILE_4X2_MAC
    found: dict[Event, float] = {
        product: 2 * rows * spec.pairs * spec.depth,
        Event.TILE_4X2_TURN: tiles * turns if turns > 1 else 0,
        Event.TILE_4X2: tiles,
        Event.TILE_4X2_WIDEN: rows * spec.words,
        Event.COPY: rows * (1 if spec.window is None else spec.window.kernel_h),
    }
    return found | (
        {Event.TILE_4X2_OUTPUTS: tiles} if spec.fuses else {Event.OUTPUT: spec.out_elements}
    )


def neon_events(spec: Tile4x4) -> dict[Event, float]:
    """Pixels and filters beyond the last four are computed, too, except for a lone pixel."""
    depth = spec.blocks * LANES
    pixels = spec.rows if spec.rows == 1 else -(-spec.rows // ROWS) * ROWS
    tiles = -(-pixels // ROWS) * -(-spec.out_channels // ROWS)
    return {
        Event.NEON_MAC: pixels * -(-spec.out_channels // ROWS) * ROWS * depth,
        Event.NEON_TILE: tiles,
        Event.NEON_PACK: pixels * depth / 4,
        Event.OUTPUT: spec.out_elements,
    }


def decode_tile_events(spec: PooledDecodeDsp) -> dict[Event, float]:
    """Weights expanded, then a loop for three pixels at a time."""
    found = tile_events(spec.dense)
    batches = -(-spec.out_channels // spec.batch)
    found[Event.COPY] *= batches
    found[Event.WIDEN] *= batches
    if spec.rounds:
        found[Event.WIDEN_ROUND] = found.pop(Event.WIDEN)
    found[Event.EXPAND] = spec.out_channels * spec.window.taps * spec.vectors
    return found


def direct_events(spec: PooledDirect, bits: int) -> dict[Event, float]:
    """Look-ups for each filter."""
    vectors = spec.window.out_pixels * spec.window.taps * spec.vectors
    filters = vectors * spec.out_channels
    rows = bits * spec.parts
    return {
        Event.DIRECT_VECTOR: vectors,
        Event.CODES: vectors * spec.group / 4,
        Event.PLANES: vectors * -(-spec.group // 8),
        Event.ROW: vectors * spec.planes * spec.parts,
        Event.DIRECT_FILTER: filters,
        Event.DIRECT_PART: filters * rows,
        Event.DIRECT_RELOAD: filters * spilled_rows(rows),
        Event.DIRECT_LOOP: filters * bits if spec.bits is None else 0,
        Event.OUTPUT: spec.out_elements,
    }

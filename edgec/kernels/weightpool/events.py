"""Parts of the kernels for layers with a weight pool, which have one table of prices.

What a part takes on a core follows from a few operations (`benchmarks/pool_operations.toml`), since
there are too many parts to measure each by itself.
"""

from __future__ import annotations

import enum


@enum.unique
class Event(enum.StrEnum):
    """One turn of an inner loop, or one piece of work around it; the value describes it."""

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
    PAIR_VECTOR_DSP = "the products of a vector with two pixels, by DSP instructions"
    PACKED_VECTOR = "the products of a vector with four pixels of few bits"
    LONE_VECTOR = "the products of a vector with two pixels beside padding"
    LONE_VECTOR_DSP = "the products of a vector with two pixels beside padding, by DSP instructions"
    PRODUCT_TURN = "a turn of the loop of products"
    PACK = "a word of codes of two pixels"
    PLAIN_WEIGHT = "a product in C"
    PLAIN_VECTOR = "a response made of products in C"
    PLAIN_SHIFT = "a word of two responses made in C, shifted"
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
    FILTERS_4 = "a loop for one pixel and four filters"
    TILE_MAC = "a product of a loop for several rows and filters"
    TILE = "a loop for several rows and filters"
    WIDEN = "four activations widened to int16 for a tile"
    WIDEN_ROUND = "four activations rounded and widened to int16 for a tile"
    # Look-ups for each filter.
    DIRECT_VECTOR = "a vector of a window"
    DIRECT_FILTER = "a vector of a window for one filter"
    DIRECT_PART = "a look-up of a part of a vector for one filter"
    DIRECT_RELOAD = "the address of a look-up for one filter that no register holds"
    DIRECT_LOOP = "a plane of look-ups for one filter, the number of planes being a variable"


TABLE = "pool"
"""Name of the table of prices."""

"""Convolutions and matrix products on cores with the DSP extension: four rows by two filters."""

from __future__ import annotations

from typing import Protocol, Self, TypeVar

import numpy as np

from edgec.base.dtypes import Array
from edgec.base.fixedpoint import INT8_MAX, INT8_MIN
from edgec.ir import qops
from edgec.ir.graph import Graph, Node
from edgec.ir.weighted import is_int8_layer, plain_inputs
from edgec.kernels.common.code_range import has_room_for_any_code, is_symmetric
from edgec.kernels.common.constants import ConstantPool, Params
from edgec.kernels.common.dense import WORD, flipped_words, odd_sums
from edgec.kernels.common.layer_end import end_of, ends_in_requant31
from edgec.kernels.common.lengths import Counted
from edgec.kernels.common.overlap import by_starts, pixel_distance, with_ending
from edgec.kernels.common.parts import UNMEASURED, Parts, Run
from edgec.kernels.common.weighted import CONVOLUTIONS, MATRIX_PRODUCTS, weighted_arguments
from edgec.kernels.common.window import dense_window
from edgec.kernels.dsp.dense_4x2_s8_dsp.rows import ROWS
from edgec.kernels.dsp.dense_4x2_s8_dsp.spec import Dense4x2, loops
from edgec.kernels.family import Distances, KernelFamily, Unrolled
from edgec.target.target import Target

_CODE_BYTES = 700
_WORD_CODE_BYTES = 104
"""Code of a word in a turn of the loop of products, which two loops have:
`edgec/dense/dense_4x2_s8_dsp.h`.
"""


def tile_parts(spec: Dense4x2) -> dict[str, float]:
    """The loops over pairs of filters, of blocks of four rows and of three."""
    tiles, fewer = ((spec.blocks - spec.threes) * spec.pairs, spec.threes * spec.pairs)
    turns = spec.words // spec.unrolled
    store = "registers" if spec.fuses else "sums"
    return {
        "block": spec.blocks,
        f"tile stored from {store}": tiles,
        "word of a tile": tiles * spec.words,
        "tile of three rows": fewer,
        "word of a tile of three rows": fewer * spec.words,
        "turn": (tiles + fewer) * turns if turns > 1 else 0,
        "addition": spec.out_elements if spec.adds else 0,
    }


def loop_bytes(spec: Dense4x2) -> int:
    """Code of the loops of products: a turn, and the words before it."""
    loop = (spec.unrolled + spec.words % spec.unrolled) * _WORD_CODE_BYTES
    return loop * len(spec.heights)


def _source(spec: Dense4x2) -> str:
    """Source of rows; the copy of a pixel depends on the parity of its channels."""
    w = spec.window
    if w is None or spec.row_source != "patch" or w.taps > 1 or w.rows_clipped or w.cols_clipped:
        return spec.row_source
    return "a pixel of odd channels" if w.channels % 2 else "a pixel of even channels"


def parts(spec: Dense4x2, _run: Run) -> Parts:
    """Counts of a call; only fixed lengths and multipliers of 31 bits were measured."""
    rows = spec.rows + spec.idle
    source = _source(spec)
    counts = tile_parts(spec) | {
        "call": 1,
        f"row of {source}": rows,
        f"word of a row of {source}": rows * spec.words,
    }
    if spec.window is not None:
        w = spec.window
        by_row = w.kernel_h if w.columns_are_runs else w.taps
        counts[f"run of {source}"] = rows * by_row
        if spec.row_source == "patch":
            counts[f"byte of {source}"] = rows * spec.used_depth
    if spec.rescale16 is not None or spec.variable:
        counts[UNMEASURED] = 1
    return Parts(counts, _CODE_BYTES + loop_bytes(spec), spec.weight_reads, copies=True)


class HasTurn(Unrolled, Protocol):
    """A specification whose loop may have turns of other lengths."""

    @property
    def words(self) -> int:
        """Words that all turns take."""

    def with_turn(self, turn: int) -> Self:
        """The specification with as many words in a turn."""


Tile = TypeVar("Tile", bound=HasTurn)

_ROOMY_BYTES = 2048
"""The code of a loop of sixteen words, 104 bytes each, and what is around it:
`dense/dense_4x2_s8_dsp.h`.
"""
_LEAST_UNITS = 8
"""Filters from which on two more rows a tile pay for windows that are gathered byte by byte."""


def accepts(graph: Graph, node: Node, target: Target) -> bool:
    """Whether it computes the node, and faster than `dense_3x2_s8_dsp`."""
    return computes(graph, node, target) and _pays(spec(graph, node, target))


def computes(graph: Graph, node: Node, target: Target) -> bool:
    """Whether the core has the DSP extension, and the node what `Dense4x2` asks for."""
    if not target.has_dsp or getattr(node.attrs, "group", 1) != 1:
        return False
    found = spec(graph, node, target)
    if found.rows == 1 or found.depth % WORD or found.scratch_bytes > target.scratch_limit_bytes:
        return False
    return not found.any_code or has_room_for_any_code(graph, node)


def _pays(spec: Dense4x2) -> bool:
    """Whether this is the faster one of the products for cores with DSP (the other takes 3 rows).

    After 16x15 bits it always is.  Else, measured with the cycle model on the layers of MLPerf
    Tiny: rows of a last block that is not full are computed for nothing, and gathering costs more
    the fewer filters share it.
    """
    if spec.rescale16 is not None:
        return True
    few = spec.row_source == "patch" and spec.units < _LEAST_UNITS
    return spec.idle < max(spec.rows // ROWS, 2) and not few


def _is_symmetric(graph: Graph, node: Node) -> bool:
    """Whether a kernel meets no code -128, in x or outside the image."""
    return is_symmetric(graph, plain_inputs(node).x) and _padding(graph, node) != INT8_MIN


def _padding(graph: Graph, node: Node) -> int:
    """Code of padding outside the image; 0 for layers without padding."""
    quant = graph.quant(plain_inputs(node).x)
    is_conv = isinstance(node.attrs, qops.QConv)
    return quant.tensor_zero_point if is_conv and quant.axis is None else 0


def spec(graph: Graph, node: Node, target: Target) -> Dense4x2:
    """The specification for a matrix product or a convolution of one group, of either form."""
    window = dense_window(graph, node)
    depth = window.taps * window.channels
    gathers = not window.is_pointwise or depth % WORD > 0
    end = end_of(graph, node)
    return Dense4x2(
        rows=window.out_pixels,
        depth=-(-depth // WORD) * WORD,
        units=graph.shape(plain_inputs(node).w)[0],
        rescale16=end.rescale16,
        dual_issue=target.dual_issue,
        roomy=not target.unrolls_little and _is_roomy(target),
        window=window if gathers else None,
        any_code=has_room_for_any_code(graph, node) or not _is_symmetric(graph, node),
        shift=0 if end.rescale16 is not None else end.shift,
        residual_shift=end.residual_shift,
        saturates=ends_in_requant31(node, INT8_MIN, INT8_MAX),
        tflite31=end.tflite31,
        sharing=target.sharing,
        saves_code=target.unrolls_little,
    )


def _is_roomy(target: Target) -> bool:
    return target.dual_issue or target.runs_from_cache(_ROOMY_BYTES)


def other_loops(spec: Tile) -> tuple[Tile, ...]:
    """Tiles whose loop has another length."""
    found = [spec.with_turn(turn) for turn in loops(spec.words)]
    return tuple({each.unrolled: each for each in found if each.unrolled != spec.unrolled}.values())


def overlap(spec: Dense4x2) -> Distances:
    """As many rows as a block has are read before the first of them is written."""
    row = spec.units * spec.out_bytes
    firsts = np.array(spec.first_rows)
    rows = np.arange(spec.rows)
    starts = firsts[np.searchsorted(firsts, rows, side="right") - 1]
    if spec.window is not None:
        return with_ending(spec, by_starts(spec.window, row, starts))
    return with_ending(spec, pixel_distance(starts, row, spec.depth))


def arguments(graph: Graph, node: Node, spec: Dense4x2, pool: ConstantPool) -> tuple[Params, ...]:
    """Filters two by two, signs flipped."""
    return weighted_arguments(
        graph,
        node,
        pool,
        lambda weights, *others: packed(spec, weights, *others),
        pad=lambda numbers: filled_up(spec, numbers),
        interleaves=spec.interleaves,
        stream=streamed if spec.streams else None,
    )


def packed(
    spec: Dense4x2, weights: Array, bias: Array, multiplier: Array
) -> tuple[Array, Array, Array]:
    """Weights, biases and multipliers as the products read them (`weighted.Pack`)."""
    start = bias + odd_sums(weights) if spec.any_code else bias
    return flipped_words(weights), filled_up(spec, start), filled_up(spec, multiplier)


def streamed(weights: Array, bias: Array, numbers: tuple[Array, ...]) -> Array:
    """Pairs of filters as `edgec/dense/dense_4x2_pair.h` reads them.

    Args:
        weights: int8 [pairs, words, 2, 4].
        bias: int32 [filters], an even number.
        numbers: each [filters]; one int16, or all int32 once they are put together.

    Returns:
        int8 [pairs, bytes].
    """
    dtype = np.int16 if numbers[0].dtype == np.int16 else np.int32
    made_of = np.stack(numbers, axis=1).astype(dtype)
    parts = (bias.astype(np.int32), weights, made_of)
    pairs = (np.ascontiguousarray(part).reshape(len(weights), -1) for part in parts)
    return np.concatenate([pair.view(np.int8) for pair in pairs], axis=1)


def filled_up(spec: Dense4x2, numbers: Array) -> Array:
    """Numbers of filters, one of them more where outputs of pairs are stored from registers."""
    return np.pad(numbers, (0, 1 if spec.fuses and spec.odd else 0), mode="edge")


FAMILY = KernelFamily(
    spec_type=Dense4x2,
    operators=(*CONVOLUTIONS, *MATRIX_PRODUCTS),
    types=is_int8_layer,
    spec=spec,
    overlap=overlap,
    accepts=accepts,
    computes=computes,
    variants=other_loops,
    arguments=arguments,
    lengths=Counted("rows", lambda spec: spec.window is None),
    weight_reads=lambda spec: spec.weight_reads,
    parts=parts,
)

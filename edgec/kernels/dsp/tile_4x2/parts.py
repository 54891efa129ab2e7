"""The parts of a call of `tile_4x2`, counted."""

from __future__ import annotations

from edgec.kernels.common.parts import Parts
from edgec.kernels.dsp.tile_4x2.spec import Tile4x2

_CODE_BYTES = 700
_WORD_CODE_BYTES = 104
"""Code of a word in a turn of the loop of products, which two loops have: `edgec/tile_4x2.h`."""


def tile_parts(spec: Tile4x2) -> dict[str, float]:
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


def loop_bytes(spec: Tile4x2) -> int:
    """Code of the loops of products: a turn, and the words before it."""
    loop = (spec.unrolled + spec.words % spec.unrolled) * _WORD_CODE_BYTES
    return loop * len(spec.heights)


def _source(spec: Tile4x2) -> str:
    """What becomes a row; how a pixel is copied depends on where it may begin."""
    w = spec.window
    if w is None or spec.row_source != "patch" or w.taps > 1 or w.rows_clipped or w.cols_clipped:
        return spec.row_source
    return "a pixel of odd channels" if w.channels % 2 else "a pixel of even channels"


def parts(spec: Tile4x2) -> Parts | None:
    """Counts of a call that ends in a multiplier of 31 bits; None for another end."""
    if spec.rescale16 is not None or spec.variable:
        return None
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
    return Parts(counts, _CODE_BYTES + loop_bytes(spec), spec.weight_reads, copies=True)

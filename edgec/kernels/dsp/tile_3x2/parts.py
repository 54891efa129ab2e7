"""The parts of a call of `tile_3x2`, counted."""

from __future__ import annotations

from edgec.kernels.common.dense_weights import FILTERS
from edgec.kernels.common.parts import Parts, numbers_of
from edgec.kernels.common.weight_reads import WeightReads
from edgec.kernels.dsp.tile_3x2.spec import ROWS, Tile3x2

_CODE_BYTES = 700


def parts(spec: Tile3x2) -> Parts | None:
    """Counts of a call that ends in a multiplier of 31 bits; None for another end."""
    if spec.rescale16 is not None or spec.variable:
        return None
    blocks = -(-spec.rows // ROWS)
    rows = blocks * ROWS
    source = "runs" if spec.widens_runs else "patch"
    by_row = spec.window.kernel_h if spec.widens_runs else spec.window.taps
    tiles = blocks * -(-spec.out_channels // FILTERS)
    counts: dict[str, float] = {
        "call": 1,
        "block": blocks,
        f"row of {source}": rows,
        f"run of {source}": rows * by_row,
        f"word of a row of {source}": rows * spec.words,
        "byte of a patch": 0 if spec.widens_runs else rows * spec.depth,
        "tile": tiles,
        "word of a tile": tiles * spec.words,
        "output": spec.out_elements,
        "addition": spec.out_elements if spec.adds else 0,
    }
    return Parts(
        counts, _CODE_BYTES, WeightReads(spec.stored_bytes, blocks, numbers_of(spec.out_channels))
    )

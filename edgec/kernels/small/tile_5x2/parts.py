"""The parts of a call of `tile_5x2`, counted."""

from __future__ import annotations

import numpy as np

from edgec.kernels.common.parts import Parts, numbers_of
from edgec.kernels.common.weight_reads import WeightReads
from edgec.kernels.small.tile_5x2.spec import FILTERS, ROWS, Tile5x2

_CODE_BYTES = 1200


def parts(spec: Tile5x2) -> Parts | None:
    """Counts of a call that ends in a multiplier of 31 bits; None for another end."""
    if spec.rescale16 is not None or spec.variable:
        return None
    starts = np.unique(spec.block_starts)
    ends = np.append(starts[1:], spec.rows)
    small = int(np.sum(ends - starts <= 3)) if spec.by_three else 0
    blocks = len(starts)
    pairs = -(-spec.out_channels // FILTERS)
    w = spec.window
    runs = 0 if spec.is_product else w.kernel_h * (1 if w.columns_are_runs else w.kernel_w)
    counts: dict[str, float] = {
        "call": 1,
        "block": blocks,
        "run": blocks * ROWS * runs,
        "clipped run": blocks * ROWS * runs if spec.clipped else 0,
        "packed column": blocks * spec.padded_depth,
        "batch": blocks * -(-spec.out_channels // spec.batch),
    }
    for name, count in (("five", blocks - small), ("three", small)):
        tiles = count * pairs * spec.segments
        counts |= {
            f"tile of {name} rows": tiles,
            f"product of {name} rows": count * pairs * spec.padded_depth,
            f"part of sums of {name} rows": count * spec.out_channels * spec.segments,
            f"filter of {name} rows": count * spec.out_channels,
        }
    counts["addition"] = spec.out_elements if spec.adds else 0
    return Parts(
        counts,
        _CODE_BYTES,
        WeightReads(spec.stored_bytes, blocks, numbers_of(spec.out_channels)),
        copies=True,
        load_bytes=FILTERS,
    )

"""What loops take that compute some rows and filters together in C or assembly."""

from __future__ import annotations

from edgec.kernels.common.dense import Dense
from edgec.kernels.common.events import Event
from edgec.kernels.common.flash_waits import for_weights
from edgec.target.memory_map import Flash


def tile_events(spec: Dense, rows: int, filters: int) -> dict[Event, float]:
    """Counts of a layer; rows and filters that fill up the last tiles are computed, too.

    Args:
        spec: some rows at a time, without an addition at the end.
        rows: rows of x for which a weight is read once.
        filters: filters that are computed together.
    """
    blocks = -(-spec.window.out_pixels // rows)
    tiles = blocks * -(-spec.out_channels // filters)
    return {
        Event.TILE_MAC: tiles * rows * filters * spec.depth,
        Event.TILE: tiles,
        Event.WIDEN: blocks * rows * spec.depth / 4,
        Event.COPY: blocks * rows * spec.window.kernel_h,
        Event.OUTPUT: spec.out_elements,
    }


def tile_waits(spec: Dense, rows: int, flash: Flash) -> float:
    """Cycles waited for the weights of a layer, each of which is read once for some rows."""
    return for_weights(spec.macs / rows, flash)

"""What loops take that compute some rows and filters together in C or assembly."""

from __future__ import annotations

from edgec.kernels.common.dense import Dense
from edgec.kernels.common.events import Event
from edgec.kernels.common.flash_waits import for_weights
from edgec.kernels.common.form import KernelForm
from edgec.target.memory_map import Flash

TILE_ROWS = 3
"""Rows of x for which a weight is read once."""


def tile_events(spec: Dense, filters: int) -> dict[Event, float]:
    """Counts of a layer; rows and filters that fill up the last tiles are computed, too.

    Args:
        spec: three rows at a time, without an addition at the end.
        filters: filters of a tile.
    """
    blocks = -(-spec.window.out_pixels // TILE_ROWS)
    tiles = blocks * -(-spec.out_channels // filters)
    return {
        Event.TILE_MAC: tiles * TILE_ROWS * filters * spec.depth,
        Event.TILE: tiles,
        Event.WIDEN: blocks * TILE_ROWS * spec.depth / 4,
        Event.COPY: blocks * TILE_ROWS * spec.window.kernel_h,
        Event.OUTPUT: spec.out_elements,
    }


def tile_waits(spec: Dense, _bits: int, _form: KernelForm, flash: Flash) -> float:
    """Cycles waited for the weights of a layer."""
    return for_weights(spec.macs / TILE_ROWS, flash)

"""Estimated cycles of the kernels for layers with a weight pool: what the planner compares.

A kernel's events are counted from its specification alone (`events`); each takes some
operations (`operations`) that have a price on a core (`prices.toml`).  Those prices are
for code and constants that never make the core wait; waiting for tables in flash comes on top
(`waiting`).
"""

from __future__ import annotations

from edgec.base.errors import InternalError
from edgec.kernels.dsp.tile_3x2.spec import Tile3x2
from edgec.kernels.dsp.tile_4x2.spec import Tile4x2
from edgec.kernels.family import KernelSpec
from edgec.kernels.generic.conv2d.family import Conv2D
from edgec.kernels.generic.gemm.family import Gemm
from edgec.kernels.neon.tile_4x4.spec import Tile4x4
from edgec.kernels.small.tile_3x4.spec import Tile3x4
from edgec.kernels.weightpool.decode.family import PooledDecode
from edgec.kernels.weightpool.decode_dsp.family import PooledDecodeDsp
from edgec.kernels.weightpool.direct.family import PooledDirect
from edgec.kernels.weightpool.gather.spec import PooledConv
from edgec.kernels.weightpool.plan.events import (
    Event,
    Events,
    decode_events,
    decode_tile_events,
    direct_events,
    neon_events,
    plain_events,
    tile_4x2_events,
    tile_events,
)
from edgec.kernels.weightpool.plan.events_responses import responses_events
from edgec.kernels.weightpool.plan.form import KernelForm
from edgec.kernels.weightpool.plan.prices import Prices
from edgec.kernels.weightpool.plan.waiting import waiting
from edgec.target.board import Board


def estimate(spec: KernelSpec, bits: int, prices: Prices, board: Board) -> float:
    """Cycles of one call.

    Args:
        spec: specification of a convolution or matrix product, with a pool or not.
        bits: activation width, 1 to 8.
        prices: prices of the core, from `prices.prices_of`.
        board: whose code runs, and whose flash the constants are in.
    """
    form = KernelForm.of(board)
    ideal = sum(n * prices[event] for event, n in events_of(spec, bits, form).items())
    return ideal + waiting(spec, bits, board)


def events_of(spec: KernelSpec, bits: int, form: KernelForm) -> Events:
    """Events of one call of a kernel with weights.

    Raises:
        InternalError: it is another kernel, which must not look as if it took no time.
    """
    match spec:
        case PooledConv():
            found = responses_events(spec, bits, form)
        case PooledDecode():
            found = decode_events(spec)
        case PooledDecodeDsp():
            found = decode_tile_events(spec)
        case PooledDirect():
            found = direct_events(spec, bits)
        case Tile3x2() | Tile3x4():
            found = tile_events(spec)
        case Tile4x2():
            found = tile_4x2_events(spec)
        case Tile4x4():
            found = neon_events(spec)
        case Conv2D() | Gemm():
            found = plain_events(spec)
        case _:
            raise InternalError(f"nothing counts what a kernel {spec.family!r} does")
    if spec.residual_shift is not None:
        is_lane = isinstance(spec, PooledConv)
        found[Event.LANE_RESIDUAL if is_lane else Event.RESIDUAL] = spec.out_elements
    return found

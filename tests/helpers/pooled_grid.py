"""A grid of pooled convolutions: every width and group size with every builder of responses."""

from __future__ import annotations

from dataclasses import replace
from itertools import product

import numpy as np
from pooled_graphs import with_short
from pooled_responses import Pooled, least_shift
from random_pools import random_indices, random_vectors

from edgec.base.dtypes import DType
from edgec.ir import QuantParams, Value, qops
from edgec.ir.graph_builder import GraphBuilder
from edgec.ir.shapes import window_out
from edgec.kernels.weightpool.decision import READY_INDEX_BITS, PoolFamily, PoolKernelConfig
from edgec.kernels.weightpool.tables import ResponseKind

GROUPS = (4, 8, 16)
WIDTHS = range(1, 9)

_SIZES = (16, 64, 31, 256, 32, 100, 17, 128)
_WINDOWS = (
    # kernel, stride, pads (top, left, bottom, right), dilation
    ((3, 3), (1, 1), (1, 1, 1, 1), (1, 1)),
    ((3, 3), (2, 2), (0, 0, 1, 1), (1, 1)),
    ((2, 3), (1, 2), (1, 0, 0, 2), (1, 1)),
    ((3, 2), (1, 1), (2, 2, 2, 2), (2, 2)),
    ((1, 1), (1, 1), (0, 0, 0, 0), (1, 1)),
    ((3, 3), (2, 1), (2, 1, 1, 1), (1, 2)),
    ((5, 5), (1, 1), (2, 2, 2, 2), (1, 1)),
)
_IMAGES = ((8, 8), (7, 9), (6, 5), (9, 4), (5, 13))
_ZERO_POINTS = (-128, -128, 127, -128, 0, -128, -37)


def grid(kinds: tuple[ResponseKind, ...], groups: tuple[int, ...], seed: int) -> Pooled:
    """A layer for each width, kind and group; windows, images, pools and the rest by turns.

    Channels leave an incomplete group in two of three layers.
    """
    rng = np.random.default_rng(seed)
    builder = GraphBuilder("grid")
    configs = {}
    cells = list(product(WIDTHS, kinds, groups))
    for number, (bits, kind, group) in enumerate(cells):
        turn = number + seed
        size = _SIZES[turn % len(_SIZES)]
        name = _layer(builder, rng, turn, bits, group, size)
        ready = turn % 5 == 1
        configs[name] = PoolKernelConfig(
            PoolFamily.RESPONSES,
            chunk_groups=1 + turn % 3 if size <= 64 else 1,
            builder=kind,
            index_bits=READY_INDEX_BITS if ready else (size - 1).bit_length(),
            keep_rows=turn % 4 == 3 and size <= 64,
            tables_in_ram=turn % 3 == 0 and size <= 32,
        )
    graph = builder.build()
    builder = GraphBuilder.of(graph)
    for node in graph.nodes:
        rounding = node.attrs.rounding
        shift = least_shift(graph, node, rounding.activation_bits)
        shifted = replace(rounding, response_shift=shift)
        builder.put(replace(node, attrs=replace(node.attrs, rounding=shifted)))
    return Pooled(*with_short(builder.build(), configs))


def _layer(
    builder: GraphBuilder, rng: np.random.Generator, turn: int, bits: int, group: int, size: int
) -> str:
    """Add a layer with its own input and a response shift of 0; its name."""
    kernel, stride, pads, dilation = _WINDOWS[turn % len(_WINDOWS)]
    height, width = _IMAGES[turn % len(_IMAGES)]
    channels = group * (1 + turn % 3) - (turn % 3) * (group // 4)
    filters = 3 + turn % 6
    terms = 1 + turn // 2 % 3
    pool = random_vectors(rng, size, group, ("any", "extremes")[turn % 2], terms)
    indices = random_indices(rng, pool, (filters, *kernel, channels), terms)
    quant = QuantParams.per_tensor(0.1, _ZERO_POINTS[turn % len(_ZERO_POINTS)])
    out = (
        window_out(height, kernel[0], stride[0], dilation[0], pads[0], pads[2]),
        window_out(width, kernel[1], stride[1], dilation[1], pads[1], pads[3]),
    )
    x = builder.value(Value(f"x{turn}", (1, height, width, channels), DType.INT8, quant))
    y = builder.value(
        Value(f"y{turn}", (1, *out, filters), DType.INT8, QuantParams.per_tensor(0.1, 3))
    )
    constants = [
        builder.constant(f"pool{turn}", pool),
        builder.constant(f"indices{turn}", indices),
        builder.constant(f"bias{turn}", rng.integers(-5000, 5000, filters).astype(np.int32)),
        # Outputs that reach from about -128 to 127.
        builder.constant(
            f"multiplier{turn}", rng.integers(1 << 21, 1 << 23, filters).astype(np.int32)
        ),
    ]
    conv = qops.QConv(stride, pads, dilation, 1, qops.Requant31(32, 3))
    builder.node(
        f"layer{turn}", qops.QPooledConv(conv, qops.PoolRounding(bits)), [x, *constants], [y]
    )
    builder.inputs.append(x)
    builder.outputs.append(y)
    return f"layer{turn}"

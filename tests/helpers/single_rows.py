"""Graphs of products of one row, with every end that such a layer can have."""

from __future__ import annotations

from collections.abc import Sequence

import dense_layers
import neon_wide_layers
import numpy as np
from dense_layers import Case as DenseCase
from exact_chain import ENDS, Exact
from random_transformer import operators

from edgec.ir import Graph, qops

_LAYERS = tuple(
    DenseCase(1, depth, units, bounds, shift, residual, kernel=int(residual), width=1)
    for depth, units, bounds, shift in (
        (40, 9, (-128, 127), 32),
        (160, 4, (-100, 90), 38),
        (17, 2, (0, 127), 31),
        (64, 131, (-128, 127), 34),
    )
    for residual in (False, True)
)
ALL_ENDS = {
    "transformers": (
        lambda: operators(5, ["gemm"], 24),
        {"rescale16", "rescale16_added", "rescale16_table"},
    ),
    "31 bits": (
        lambda: dense_layers.graph_of(3, _LAYERS),
        {"requant31", "requant31_added"},
    ),
    "int16": (lambda: neon_wide_layers.dense_layers(1, 9), {"requant31_s16"}),
}
"""Graphs, and ends of their layers of one row."""


def single_rows(seed: int, sizes: Sequence[tuple[int, int]]) -> Graph:
    """All ends of a chain of int8, and one multiplier; `sizes`: columns and filters."""
    net = Exact(seed)
    for number, (depth, units) in enumerate(sizes):
        x = net.input(1, depth)
        form, numbers = net.exact(ENDS[number % 3], units, depth)
        y = net.put(qops.QGemm(form), [x, *numbers], getattr(form, "zero_point", 3))
        numbers[2] = net.array(np.full(units, 3 << 24, np.int32))
        other = net.put(qops.QGemm(qops.Requant31(38, 5)), [x, *numbers], 5)
        net.builder.outputs += [y, other]
    return net.builder.build()

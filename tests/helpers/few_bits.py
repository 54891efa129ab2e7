"""Integer graphs whose layers have weights of few bits, and families that pack even small ones."""

import dataclasses

import numpy as np

from edgec.ir import Graph, qops
from edgec.ir.weighted import plain_inputs
from edgec.kernels.family import KernelFamily
from edgec.kernels.packed.filters import packed_filters
from edgec.kernels.packed.filters.spec import PackedFilters
from edgec.kernels.registry import DENSE, FAMILIES, PACKED_FILTERS
from edgec.lower import Program

_LOST_BITS = 4
"""By which sums shrink; shifts do, too, so that codes still spread."""


def few_bits(graph: Graph, bits: int, seed: int = 0) -> Graph:
    """The graph with other weights: numbers of `bits` bits, the least and the greatest among them.

    Layers of several groups keep theirs.
    """
    rng = np.random.default_rng(seed)
    low, high = -(1 << bits - 1), (1 << bits - 1) - 1
    constants, nodes = dict(graph.constants), []
    for each in graph.nodes:
        node = each
        if isinstance(node.attrs, qops.QConv | qops.QGemm) and getattr(node.attrs, "group", 1) == 1:
            weights = constants[plain_inputs(node).w]
            codes = rng.integers(low, high + 1, weights.shape).astype(np.int8)
            codes.flat[0] = low
            constants[weights.name] = dataclasses.replace(weights, array=codes)
            node = dataclasses.replace(each, attrs=_spread(node.attrs))
        nodes.append(node)
    return graph.replace(constants=constants, nodes=tuple(nodes))


def _spread(attrs: qops.QConv | qops.QGemm) -> qops.QConv | qops.QGemm:
    form = attrs.output
    if isinstance(form, qops.Requant31) and form.shift > _LOST_BITS:
        form = dataclasses.replace(form, shift=form.shift - _LOST_BITS)
    if isinstance(form, qops.Rescale16x15) and form.shift > _LOST_BITS:
        form = dataclasses.replace(form, shift=form.shift - _LOST_BITS)
    return dataclasses.replace(attrs, output=form)


def packing_all(small_bytes: int = 1 << 12) -> tuple[KernelFamily, ...]:
    """All families; any weights are packed, and `small_bytes` of them unpacked at a time."""
    own = packed_filters(DENSE, least_saved_bytes=1, small_bytes=small_bytes)
    return tuple(own if family is PACKED_FILTERS else family for family in FAMILIES)


def packed_specs(program: Program) -> list[PackedFilters]:
    """The kernels of a program that unpack weights."""
    specs = [kernel.spec for kernel in program.kernels]
    return [spec for spec in specs if isinstance(spec, PackedFilters)]

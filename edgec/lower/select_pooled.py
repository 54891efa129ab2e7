"""The kernel of an operator with pooled weights: the planner's decision, or a default."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType

from edgec.ir.graph import Graph, Node
from edgec.ir.weighted import pooled_attrs
from edgec.lower.build_pooled import fits_lanes, pooled_conv
from edgec.lower.build_pooled_dense import pooled_decode, pooled_direct
from edgec.lower.pool_config import PoolFamily, PoolKernelConfig
from edgec.lower.spec import KernelSpec

_BYTE_SIZES = 256
"""Pools of up to this many vectors have indices of a byte."""

_BUILDERS: Mapping[PoolFamily, Callable[[Graph, Node, PoolKernelConfig], KernelSpec]] = (
    MappingProxyType(
        {
            PoolFamily.RESPONSES: pooled_conv,
            PoolFamily.DECODE: pooled_decode,
            PoolFamily.DIRECT: pooled_direct,
        }
    )
)


def pooled_kernel(graph: Graph, node: Node, config: PoolKernelConfig | None) -> KernelSpec:
    """The kernel of a QPooledConv or QPooledGemm; without a decision, of `default_config`.

    Raises:
        LoweringError: the kernel cannot serve the node.
    """
    chosen = config or default_config(graph, node)
    return _BUILDERS[chosen.family](graph, node, chosen)


def default_config(graph: Graph, node: Node) -> PoolKernelConfig:
    """A kernel that serves the node, with little memory."""
    size = graph.shape(node.inputs[1])[0]
    index_bits = 8 if size <= _BYTE_SIZES else (size - 1).bit_length()
    if pooled_attrs(node).pooling.response_shift == 0:
        return PoolKernelConfig(PoolFamily.DECODE, index_bits=index_bits)
    lanes = 2 if fits_lanes(graph, node) else 1
    return PoolKernelConfig(PoolFamily.RESPONSES, lanes=lanes, index_bits=index_bits)

"""Flash that a plan of the pooled layers needs, estimated before there is any code."""

from __future__ import annotations

from collections.abc import Sequence

from edgec.ir.graph import Graph, Node
from edgec.ir.weighted import pooled_inputs
from edgec.kernels.weightpool.direct import PooledDirect
from edgec.kernels.weightpool.gather.groups import TableGroups
from edgec.kernels.weightpool.gather.layout import WORD_BYTES
from edgec.kernels.weightpool.gather.spec import PooledConv
from edgec.kernels.weightpool.plan.candidates import Candidate
from edgec.kernels.weightpool.tables import ResponseKind, table_words
from edgec.target.board import Board

_CODE_BYTES = 12 << 10
"""Start-up, drivers, and the kernels of a small network."""
_LAYER_CODE_BYTES = 2 << 10
"""The kernel of a pooled layer."""
_SHORT_BYTES = 2


def fits_flash(
    graph: Graph, board: Board, nodes: Sequence[Node], chosen: Sequence[Candidate]
) -> bool:
    """Whether constants and code are likely to fit the board's flash.

    Args:
        graph: before the plan.
        board: the target.
        nodes: those with pooled weights.
        chosen: what each of them is computed with.
    """
    limit = board.flash_bytes
    if limit is None:
        return True
    code = _CODE_BYTES + _LAYER_CODE_BYTES * len(nodes)
    return constant_bytes(graph, nodes, chosen) + code <= limit


def constant_bytes(graph: Graph, nodes: Sequence[Node], chosen: Sequence[Candidate]) -> int:
    """Bytes of all constants: those of pooled layers as their kernels store them."""
    operands = [pooled_inputs(node) for node in nodes]
    pooled = {name for own in operands for name in (own.pool, own.indices, own.b, own.multiplier)}
    others = sum(
        constant.array.nbytes for name, constant in graph.constants.items() if name not in pooled
    )
    tables = {
        (own.pool, _table_of(way))
        for own, way in zip(operands, chosen, strict=True)
        if way.config is not None
    }
    shared = sum(_table_bytes(graph, pool, kind) for pool, kind in tables)
    numbers = sum(_number_bytes(graph, node, way) for node, way in zip(nodes, chosen, strict=True))
    return others + numbers + shared + sum(way.flash_bytes for way in chosen)


def _number_bytes(graph: Graph, node: Node, way: Candidate) -> int:
    """A layer's biases and multipliers: 16 bits each in a kernel that takes `ShortNumbers`.

    With widths at run time kernels that sum up activations, not responses, also store the sums of
    each filter's weights.
    """
    own, config = pooled_inputs(node), way.config
    bias, multiplier = (graph.constants[name].array for name in (own.b, own.multiplier))
    if config is not None and config.short:
        return 2 * _SHORT_BYTES * len(bias)
    sums = config is not None and config.runtime_bits and not isinstance(way.spec, TableGroups)
    return bias.nbytes * (1 + sums) + multiplier.nbytes


def _table_of(way: Candidate) -> ResponseKind | None:
    """The form of the pool that a kernel reads; None: its vectors as they are."""
    return way.spec.builder if isinstance(way.spec, PooledConv | PooledDirect) else None


def _table_bytes(graph: Graph, pool: str, kind: ResponseKind | None) -> int:
    size, group = graph.shape(pool)
    return size * group if kind is None else WORD_BYTES * table_words(kind, size, group)

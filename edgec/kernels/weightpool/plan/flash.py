"""Flash that a plan of the pooled layers needs, estimated before there is any code."""

from __future__ import annotations

from collections.abc import Sequence

from edgec.ir.graph import Graph, Node
from edgec.ir.weighted import pooled_inputs
from edgec.kernels.weightpool.direct.family import PooledDirect
from edgec.kernels.weightpool.gather.columns import WORD_BYTES
from edgec.kernels.weightpool.gather.spec import PooledConv
from edgec.kernels.weightpool.plan.candidates import Candidate
from edgec.kernels.weightpool.tables import ResponseKind, table_words
from edgec.target.board import Board

_CODE_BYTES = 12 << 10
"""Start-up, drivers, and the kernels of a small network."""
_LAYER_CODE_BYTES = 2 << 10
"""The kernel of a pooled layer."""


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
    pooled = {name for own in operands for name in (own.pool, own.indices)}
    others = sum(
        constant.array.nbytes for name, constant in graph.constants.items() if name not in pooled
    )
    tables = {
        (own.pool, _table_of(way))
        for own, way in zip(operands, chosen, strict=True)
        if way.config is not None
    }
    shared = sum(_table_bytes(graph, pool, kind) for pool, kind in tables)
    return others + shared + sum(way.flash_bytes for way in chosen)


def _table_of(way: Candidate) -> ResponseKind | None:
    """The form of the pool that a kernel reads; None: its vectors as they are."""
    return way.spec.builder if isinstance(way.spec, PooledConv | PooledDirect) else None


def _table_bytes(graph: Graph, pool: str, kind: ResponseKind | None) -> int:
    size, group = graph.shape(pool)
    return size * group if kind is None else WORD_BYTES * table_words(kind, size, group)

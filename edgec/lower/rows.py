"""Rows of padding and rows that move on, with their addresses."""

from __future__ import annotations

from edgec.ir.graph import Graph
from edgec.ir.rows import ROWS, RowBuffer, RowChain, RowFill
from edgec.lower.inputs import Fill, HandedInput, Slide
from edgec.memory import MemoryPlan


def slide_of(graph: Graph, chain: RowChain, node: str, plan: MemoryPlan) -> Slide | None:
    """The rows of a node's output that later turns read; None where none do.

    Args:
        graph: INTEGER stage.
        chain: the chain of the node.
        node: its name.
        plan: places of all buffers.
    """
    buffer = chain.buffers.get(node)
    return None if buffer is None else _slide(graph, buffer, plan)


def handed_input(graph: Graph, plan: MemoryPlan) -> HandedInput | None:
    """The input that the caller hands over by rows; None: it is there before a run.

    Args:
        graph: INTEGER stage.
        plan: places of all buffers.
    """
    handed = graph.chains[0].handed if graph.chains else None
    if handed is None:
        return None
    firing = handed.firing
    return HandedInput(
        rows=firing.rows,
        runs=firing.count,
        period=firing.period,
        padding=firing.padding,
        slide=_slide(graph, handed.buffer, plan),
        passes=sum(chain.handed is not None for chain in graph.chains),
    )


def _slide(graph: Graph, buffer: RowBuffer, plan: MemoryPlan) -> Slide:
    slot, depth = plan.slots[buffer.tensor], graph.shape(buffer.tensor)[ROWS]
    each = slot.size_bytes // depth
    kept = (depth - buffer.rows) * each
    new = Fill(slot.offset + kept, buffer.rows * each, buffer.byte)
    return Slide(slot.offset, kept, new)


def fills_of(graph: Graph, chain: RowChain, plan: MemoryPlan) -> tuple[Fill, ...]:
    """Padding that is written before the first turn of a chain."""
    found = []
    for fill in chain.fills:
        found += _fills(graph, fill, plan)
    return tuple(found)


def _fills(graph: Graph, fill: RowFill, plan: MemoryPlan) -> list[Fill]:
    slot = plan.slots[fill.tensor]
    each = slot.size_bytes // graph.shape(fill.tensor)[ROWS]
    top, bottom = fill.top * each, fill.bottom * each
    places = ((slot.offset, top), (slot.offset + slot.size_bytes - bottom, bottom))
    return [Fill(offset, size, fill.byte) for offset, size in places if size]

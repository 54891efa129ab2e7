"""Does the model fit the board, and if not: by how much, because of what, and what would help."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from edgec.base.errors import MemoryPlanError
from edgec.base.names import printable
from edgec.ir import ops
from edgec.ir.graph import Graph
from edgec.target.board import Board, list_boards

_LARGEST = 5
_REMOVABLE = 4
"""Passes make no network smaller than a fourth: half of the channels of each layer."""


@dataclass(frozen=True, slots=True)
class Tensor:
    """A tensor that takes memory: an activation (RAM) or a constant (flash)."""

    name: str
    shape: tuple[int, ...]
    size_bytes: int


@dataclass(frozen=True, slots=True)
class Demand:
    """Memory that a model needs on a board.

    Attributes:
        arena_bytes: RAM of activations, scratch and state; the rest of the firmware comes on top.
        weight_bytes: flash of constants; the rest of the firmware comes on top.
        activations, weights: the tensors that the two numbers count.
        placed: weights lie in RAM, or the arena elsewhere than the board file says.
    """

    arena_bytes: int
    weight_bytes: int
    activations: Sequence[Tensor]
    weights: Sequence[Tensor]
    placed: bool = False


def check_fits(demand: Demand, board: Board) -> None:
    """Refuse what cannot fit, before any code is built.

    Raises:
        MemoryPlanError: arena or weights alone exceed the board's RAM or flash.
    """
    ram, flash = board.arena_limit_bytes, board.flash_bytes
    if ram is not None and demand.arena_bytes > ram:
        raise _too_large("RAM", demand.arena_bytes - ram, ram, demand, board)
    if flash is not None and demand.weight_bytes > flash:
        raise _too_large("flash", demand.weight_bytes - flash, flash, demand, board)


def check_could_fit(graph: Graph, board: Board, *, in_rows: bool = False) -> None:
    """Refuse what is far too large, before any calibration.

    Passes on the integer graph remove channels that are constant, so only what exceeds the memory
    `_REMOVABLE` times is refused here.

    Args:
        graph: REAL stage, cleaned.
        board: the target.
        in_rows: layers may run in turns of a few rows, so that only inputs and outputs are whole.

    Raises:
        MemoryPlanError: the largest activation alone, or the weights at one byte each, exceed the
            board's RAM or flash that often.
    """
    demand = _least_demand(graph, in_rows=in_rows)
    ram, flash = board.arena_limit_bytes, board.flash_bytes
    if ram is not None and demand.arena_bytes > _REMOVABLE * ram:
        raise _too_large("RAM", demand.arena_bytes - ram, ram, demand, board)
    if flash is not None and demand.weight_bytes > _REMOVABLE * flash:
        raise _too_large("flash", demand.weight_bytes - flash, flash, demand, board)


def _least_demand(graph: Graph, *, in_rows: bool) -> Demand:
    """One byte an element: of the layers' weights together, and of the largest whole activation."""
    made = [node for node in graph.nodes if isinstance(node.attrs, ops.Weighted)]
    inner = () if in_rows else (name for node in made for name in node.outputs)
    ends = [*graph.inputs, *graph.outputs, *inner]
    activations = [_tensor(name, graph.shape(name)) for name in dict.fromkeys(ends)]
    layers = dict.fromkeys(ops.layer_inputs(node).w for node in made)
    weights = [
        _tensor(name, graph.shape(name)) for name in layers if graph.constants[name].pooled is None
    ]
    return Demand(
        arena_bytes=max((tensor.size_bytes for tensor in activations), default=0),
        weight_bytes=sum(tensor.size_bytes for tensor in weights),
        activations=activations,
        weights=weights,
    )


def _tensor(name: str, shape: tuple[int, ...]) -> Tensor:
    return Tensor(name, shape, math.prod(shape))


def overflow_error(memory: str, excess_bytes: int, demand: Demand, board: Board) -> MemoryPlanError:
    """The error for firmware that the linker found too large.

    Args:
        memory: "RAM" or "flash".
        excess_bytes: bytes that do not fit.
        demand: what the model asks for.
        board: whose memory is too small.
    """
    limit = (board.ram_bytes if memory == "RAM" else board.flash_bytes) or 0
    error = _too_large(memory, excess_bytes, limit, demand, board)
    if memory == "RAM" and demand.placed:
        error.hint = "--placement flash keeps weights out of RAM, which leaves more of it"
    return error


def _too_large(
    memory: str, excess: int, limit: int, demand: Demand, board: Board
) -> MemoryPlanError:
    tensors = demand.activations if memory == "RAM" else demand.weights
    largest = sorted(tensors, key=lambda tensor: (-tensor.size_bytes, tensor.name))[:_LARGEST]
    lines = [
        f"does not fit: {memory} is short of {excess:,} bytes (the board has {limit:,} for it)",
        "largest tensors:",
        *(
            f"  {t.size_bytes:>10,} B  {'x'.join(map(str, t.shape))}  {printable(t.name)}"
            for t in largest
        ),
    ]
    return MemoryPlanError("\n".join(lines), where=board.name, hint=_advice(memory, demand))


def _advice(memory: str, demand: Demand) -> str:
    roomy = [
        board.name for board in list_boards() if not board.is_host and _could_hold(board, demand)
    ]
    remedy = (
        "a smaller input, fewer channels or an earlier stride"
        if memory == "RAM"
        else "fewer layers, or layers of fewer channels"
    )
    if not roomy:
        return f"no board here can hold it; {remedy} would help"
    return f"boards that can hold it: {', '.join(roomy)}; else {remedy} would help"


def _could_hold(board: Board, demand: Demand) -> bool:
    ram, flash = board.arena_limit_bytes, board.flash_bytes
    return (ram is None or demand.arena_bytes <= ram) and (
        flash is None or demand.weight_bytes <= flash
    )

"""The planner of pooled layers: a kernel for each, for a board's cycles, SRAM and flash.

Cycles come first.  Flash has a price, because pools are there to save it: a kilobyte must bring a
layer `_FLASH_PRICE` of its cycles, and a kilobyte of a look-up table, which all layers of a pool
share, these layers `_TABLE_PRICE`.  No layer pays more for its flash than its own cycles: whatever
is stored, a kernel of twice the speed is worth it.  With ``--optimize size`` layers decode their
weights wherever that can compute them.  Where the flash of the board is not enough, the
price goes up, without that limit, until the plan fits.  SRAM is free as long as the arena fits the
board; if it does not, the layers that set its peak take the next smaller table, at the least loss
of cycles, until it does.
"""

from __future__ import annotations

import fnmatch
import itertools
from collections.abc import Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, replace

from edgec.base.errors import ConfigError, Effect, WeightPoolError, refuse_without_effect
from edgec.base.options import (
    MAX_ACTIVATION_BITS,
    Optimize,
    PoolKernel,
    PoolKernelOptions,
    PoolKernelRule,
)
from edgec.ir.graph import Graph, Node
from edgec.ir.weight_pool_graph import pooled_nodes, with_plain_weights
from edgec.ir.weighted import pooled_inputs
from edgec.kernels.buffers import buffers_of, scratch_name
from edgec.kernels.select import select_kernels
from edgec.kernels.weightpool.decision import PoolKernelConfig
from edgec.kernels.weightpool.gather.layout import WORD_BYTES
from edgec.kernels.weightpool.plan.candidates import (
    Candidate,
    Setting,
    candidates,
)
from edgec.kernels.weightpool.plan.flash import fits_flash
from edgec.kernels.weightpool.plan.reasons import PooledLayer, Rivals, record
from edgec.kernels.weightpool.plan.rounding import with_rounding
from edgec.kernels.weightpool.plan.short import with_short_numbers
from edgec.kernels.weightpool.tables import ResponseKind, table_words
from edgec.memory import MemoryPlan, plan_memory
from edgec.target.board import Board
from edgec.target.target import Target

_FLASH_PRICE = 0.05
_TABLE_PRICE = 0.01
"""Shares of cycles that a kilobyte of flash must save."""
_THRIFTS = (1, 4, 16, 64, 1024)
"""Factors of these prices, to be tried one after the other; the last finds the smallest plan."""
_CLOSE = 0.01
"""Candidates that are no more than this slower than the best count as equal: the smallest wins."""
_OWN_RAM_BYTES = 2048
"""Variables of the firmware itself, where the arena shares a region with them."""


@dataclass(frozen=True, slots=True)
class PoolPlan:
    """Decisions of the planner.

    Attributes:
        graph: INTEGER stage: the definition of what the kernels compute.
        configs: the decision for every layer that stays pooled, by name of the node.
        layers: one record per pooled layer, in the graph's order.
    """

    graph: Graph
    configs: Mapping[str, PoolKernelConfig]
    layers: tuple[PooledLayer, ...]


def plan_pools(
    graph: Graph, board: Board, options: PoolKernelOptions, optimize: Optimize = Optimize.SPEED
) -> PoolPlan:
    """Choose a kernel for every layer with pooled weights.

    Args:
        graph: INTEGER stage; activation widths as they shall be, responses unscaled.
        board: the target.
        options: what the user asked for; `activation_bits` is in the graph already.
        optimize: what is preferred where fast code and little flash differ.

    Raises:
        ConfigError: an option is for pooled layers, or for a layer, that the graph does not have.
        WeightPoolError: the kernel that the user asked for cannot compute a layer.
    """
    nodes = pooled_nodes(graph)
    rules = kernel_rules(graph, options)
    if not nodes:
        return PoolPlan(graph, {}, ())
    setting = Setting.of(board, options)
    # One small function serves all layers, where others are made for each.
    small = {node.name for node in nodes} if optimize is Optimize.SIZE else options.decoded
    ways = [_ways(graph, node, setting, rules.get(node.name), small) for node in nodes]
    for thrift in _THRIFTS:
        allowed = _allowed(graph, nodes, ways, thrift)
        fronts = [_front(found, thrift) for found in allowed]
        chosen = _fitted(graph, board, nodes, fronts)
        if fits_flash(graph, board, nodes, chosen):
            break
    planned, configs = _applied(graph, nodes, chosen)
    layers = tuple(
        record(graph, node, way, Rivals(found, every), rules.get(node.name), setting)
        for node, way, found, every in zip(nodes, chosen, allowed, ways, strict=True)
    )
    return PoolPlan(planned, configs, layers)


def kernel_rules(graph: Graph, options: PoolKernelOptions) -> dict[str, PoolKernel]:
    """The user's choice by name of the node.

    Raises:
        ConfigError: an option is for pooled layers, or for a layer, that the graph does not have.
    """
    nodes = pooled_nodes(graph)
    refuse_without_effect(_effects(graph, options, is_pooled=bool(nodes)))
    found: dict[str, PoolKernel] = {}
    for rule in options.rules:
        matching = [node.name for node in nodes if _matches(rule, node)]
        if not matching:
            names = ", ".join(next(iter(node.sources), node.name) for node in nodes[:8])
            raise ConfigError(
                f"no layer with pooled weights is called {rule.pattern[:60]!r}",
                where="--pool-kernel",
                hint=f"layers: {names}{', ...' if len(nodes) > 8 else ''}",
            )
        found.update(dict.fromkeys(matching, rule.kernel))
    return found


def _effects(graph: Graph, options: PoolKernelOptions, *, is_pooled: bool) -> Iterator[Effect]:
    """Options that only layers with pooled weights, which a kernel is chosen for, can meet."""
    expanded = any(constant.pooled for constant in graph.constants.values())
    why, hint = (
        (
            "pooled layers of a transformer, and those of int16 codes, have one kernel",
            "leave the option out: weights of such layers are expanded",
        )
        if expanded
        else (
            "no layer of the model has pooled weights",
            "pool the weights first: edgec compress MODEL.onnx -o MODEL.pool.onnx",
        )
    )
    given = {
        "--activation-bits": options.activation_bits != MAX_ACTIVATION_BITS,
        "--runtime-bits": options.runtime_bits,
        "--pool-kernel": bool(options.rules),
        "--pool-table": options.table_bytes is not None,
    }
    for option, is_given in given.items():
        yield Effect(option, is_given, is_pooled, why, hint)


def _matches(rule: PoolKernelRule, node: Node) -> bool:
    return any(fnmatch.fnmatchcase(name, rule.pattern) for name in _names(node))


def _names(node: Node) -> tuple[str, ...]:
    return (node.name, node.output, *node.sources)


def _ways(
    graph: Graph, node: Node, setting: Setting, only: PoolKernel | None, decoded: Set[str]
) -> tuple[Candidate, ...]:
    found: tuple[Candidate, ...] = ()
    if only is None and node.name in decoded:
        found = candidates(graph, node, setting, PoolKernel.DECODE)
    found = found or candidates(graph, node, setting, only)
    if not found:
        kernel = "any kernel" if only is None else f"the kernel {only.value!r}"
        raise WeightPoolError(
            f"{kernel} cannot compute this layer",
            where=next(iter(node.sources), node.name),
            hint=_remedy(graph, node, setting, only),
        )
    return found


def _remedy(graph: Graph, node: Node, setting: Setting, only: PoolKernel | None) -> str:
    """Remedy for a layer without a possible kernel, in words."""
    if only is PoolKernel.EXPAND:
        return "weights can be expanded for 8 bits of activations only, without --runtime-bits"
    free = candidates(graph, node, replace(setting, table_bytes=None), only)
    if free:
        least = min(way.scratch_bytes for way in free)
        return f"its smallest table takes {least:,} bytes: --pool-table {-(-least // 1024)}K"
    return "no table of responses is small enough for its row length; leave the choice to edgec"


def _allowed(
    graph: Graph, nodes: Sequence[Node], ways: Sequence[tuple[Candidate, ...]], thrift: int
) -> list[list[Candidate]]:
    """For each layer the candidates whose look-up table will be in flash, or that need none.

    Which tables those are is decided for all layers of a pool together.
    """
    pools = [pooled_inputs(node).pool for node in nodes]
    tables = {pool: _tables_of(graph, pool, pools, ways, thrift) for pool in dict.fromkeys(pools)}
    return [
        [way for way in found if way.table is None or way.table in tables[pool]]
        for pool, found in zip(pools, ways, strict=True)
    ]


def _tables_of(
    graph: Graph,
    pool: str,
    pools: Sequence[str],
    ways: Sequence[tuple[Candidate, ...]],
    thrift: int,
) -> frozenset[ResponseKind]:
    """The set of tables in flash with which the layers of a pool cost least."""
    size, group = graph.shape(pool)
    bytes_of = {
        kind: WORD_BYTES * table_words(kind, size, group)
        for kind in (ResponseKind.NIBBLE, ResponseKind.BITSERIAL)
    }
    own = [found for name, found in zip(pools, ways, strict=True) if name == pool]
    floor = sum(min(way.cycles for way in found) for found in own)
    best: tuple[float, frozenset[ResponseKind]] | None = None
    for count in range(len(bytes_of) + 1):
        for tables in map(frozenset, itertools.combinations(bytes_of, count)):
            cost = thrift * floor * _TABLE_PRICE * sum(bytes_of[table] for table in tables) / 1024
            for found in own:
                legal = [way for way in found if way.table is None or way.table in tables]
                cost += min((_score(way, found, thrift) for way in legal), default=float("inf"))
            if best is None or cost < best[0]:
                best = (cost, tables)
    return best[1] if best is not None else frozenset()


def _score(way: Candidate, ways: Sequence[Candidate], thrift: int) -> float:
    """Cycles, with the price of flash beyond what the layer takes at least."""
    extra_bytes = way.flash_bytes - min(w.flash_bytes for w in ways)
    price = _FLASH_PRICE * min(w.cycles for w in ways) * extra_bytes / 1024
    return way.cycles + (min(price, way.cycles) if thrift == 1 else thrift * price)


def _front(ways: Sequence[Candidate], thrift: int) -> list[Candidate]:
    """The candidates worth a look, the best first, each smaller than the one before."""
    scores = {id(way): _score(way, ways, thrift) for way in ways}
    least = min(scores.values())
    close = [way for way in ways if scores[id(way)] <= least * (1 + _CLOSE)]
    front = [min(close, key=lambda way: (way.scratch_bytes, scores[id(way)]))]
    for way in sorted(ways, key=lambda way: (scores[id(way)], way.scratch_bytes)):
        if way.scratch_bytes < front[-1].scratch_bytes:
            front.append(way)
    return front


def _fitted(
    graph: Graph, board: Board, nodes: Sequence[Node], fronts: Sequence[list[Candidate]]
) -> list[Candidate]:
    """The best candidates whose arena fits the board; the smallest where none does."""
    at = [0] * len(nodes)
    while True:
        chosen = [front[i] for front, i in zip(fronts, at, strict=True)]
        excess = _excess(graph, board, nodes, chosen)
        movable = [
            (node_excess, index)
            for index, node_excess in excess.items()
            if at[index] + 1 < len(fronts[index])
        ]
        if not movable:
            return chosen
        at[max(movable)[1]] += 1


def _excess(
    graph: Graph, board: Board, nodes: Sequence[Node], chosen: Sequence[Candidate]
) -> dict[int, int]:
    """Layers that keep the arena from fitting: live bytes at their step by index of the layer."""
    limit = _arena_limit(board)
    if limit is None:
        return {}
    planned, configs = _applied(graph, nodes, chosen)
    choices = select_kernels(planned, Target.of(board), configs)
    buffers, overlaps, _ = buffers_of(planned, choices)
    plan = plan_memory(buffers, overlaps)
    if plan.arena_bytes <= limit:
        return {}
    indices = {node.name: index for index, node in enumerate(nodes)}
    found = {}
    for step, choice in enumerate(choices):
        if choice.node.name in indices and choice.scratch_bytes:
            scratch = scratch_name(planned, choice)
            if _reaches(plan, scratch, step, limit):
                found[indices[choice.node.name]] = _live(plan, step)
    return found


def _reaches(plan: MemoryPlan, scratch: str, step: int, limit: int) -> bool:
    """Whether something beyond `limit` may be there because of a step's scratch memory."""
    own = plan.slots[scratch]
    if own.end > limit:
        return True
    above = (slot for slot in plan.slots.values() if slot.first_step <= step < slot.end_step)
    return any(slot.end > limit for slot in above)


def _live(plan: MemoryPlan, step: int) -> int:
    slots = plan.slots.values()
    return sum(slot.size_bytes for slot in slots if slot.first_step <= step < slot.end_step)


def _arena_limit(board: Board) -> int | None:
    limit = board.arena_limit_bytes
    if limit is None or board.memory is None:
        return None
    shared = board.memory.arena_in == board.memory.data_in
    return limit - (_OWN_RAM_BYTES if shared else 0)


def _applied(
    graph: Graph, nodes: Sequence[Node], chosen: Sequence[Candidate]
) -> tuple[Graph, dict[str, PoolKernelConfig]]:
    """The graph that the candidates compute, and the configurations of its pooled nodes."""
    shifts = {node.name: way.response_shift for node, way in zip(nodes, chosen, strict=True)}
    plain = {node.name for node, way in zip(nodes, chosen, strict=True) if way.config is None}
    configs = {
        node.name: way.config
        for node, way in zip(nodes, chosen, strict=True)
        if way.config is not None
    }
    planned = with_short_numbers(with_rounding(graph, shifts), configs)
    return (with_plain_weights(planned, plain) if plain else planned), configs

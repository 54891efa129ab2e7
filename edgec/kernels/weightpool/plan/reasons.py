"""Decision of the planner on a layer, with its reason, in words."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from edgec.base.options import MAX_ACTIVATION_BITS, PoolKernel
from edgec.ir.graph import Graph, Node
from edgec.ir.weighted import layer_terms, pooled_attrs, pooled_inputs
from edgec.kernels.weightpool.decision import PoolFamily
from edgec.kernels.weightpool.gather.groups import TableGroups
from edgec.kernels.weightpool.gather.spec import PooledConv
from edgec.kernels.weightpool.plan.candidates import Candidate, Setting, two_lane_shift
from edgec.kernels.weightpool.plan.rounding import rounding_steps, rounds_too_much

_KB = 1024
_WORTH_TELLING = 0.05
_CLOSE = 0.01
"""Estimates that differ by less are equal."""


@dataclass(frozen=True, slots=True)
class PooledLayer:
    """Kernel, memory and estimate of one pooled layer.

    Attributes:
        output: name of the tensor that it writes, untrusted.
        terms: vectors of the pool that are added up to one of the layer.
        kernel: what computes it.
        builder: how responses, or the bit planes' table, are built: "multiply", "bitserial",
            "nibble"; "" without any.
        lanes: sums in a 32-bit word.
        chunk_groups: groups of channels whose responses exist at one time; 0 without any.
        scratch_bytes: SRAM of a call.
        table_bytes: the look-up table; 0 without any.
        table_place: "flash" or "SRAM"; "" without any.
        activation_bits, response_shift: b and k of `qops.PoolRounding`.
        cycles: estimated; None where there is no cycle model.
        reason: why this kernel.
        free_bits: the widest activations that this kernel computes as fast.
    """

    output: str
    terms: int
    kernel: PoolKernel
    builder: str
    lanes: int
    chunk_groups: int
    scratch_bytes: int
    table_bytes: int
    table_place: str
    activation_bits: int
    response_shift: int
    cycles: int | None
    reason: str
    free_bits: int


@dataclass(frozen=True, slots=True)
class Rivals:
    """Alternatives to the chosen kernel.

    Attributes:
        allowed: candidates with the look-up tables that were decided to be in flash.
        every: those with other tables too.
    """

    allowed: Sequence[Candidate]
    every: Sequence[Candidate]


def record(
    graph: Graph,
    node: Node,
    chosen: Candidate,
    rivals: Rivals,
    asked: PoolKernel | None,
    setting: Setting,
) -> PooledLayer:
    """The record of one layer.

    Args:
        graph: before the plan.
        node: pooled.
        chosen: what it is computed with.
        rivals: what else was possible.
        asked: the user's choice of kernel.
        setting: the target and its prices.
    """
    config, spec = chosen.config, chosen.spec
    responses = isinstance(spec, PooledConv)
    looks_up = config is not None and config.family is not PoolFamily.DECODE
    table = 4 * spec.builder_words if isinstance(spec, PooledConv) and chosen.table else 0
    place = "SRAM" if config is not None and config.tables_in_ram else "flash"
    return PooledLayer(
        output=node.output,
        terms=layer_terms(graph, node),
        kernel=chosen.kernel,
        builder=config.builder.value if config is not None and looks_up else "",
        lanes=config.lanes if config is not None and responses else 1,
        chunk_groups=spec.chunk_groups if isinstance(spec, TableGroups) else 0,
        scratch_bytes=chosen.scratch_bytes,
        table_bytes=table,
        table_place=place if table else "",
        activation_bits=pooled_attrs(node).rounding.activation_bits,
        response_shift=chosen.response_shift,
        cycles=None if setting.board.is_hosted else round(chosen.cycles),
        reason=_reason(graph, node, chosen, rivals, asked),
        free_bits=_free_bits(node, chosen, setting),
    )


def _free_bits(node: Node, chosen: Candidate, setting: Setting) -> int:
    own: int = pooled_attrs(node).rounding.activation_bits
    limit = (1 + _CLOSE) * setting.cycles(chosen.spec, own)
    widths = range(MAX_ACTIVATION_BITS, own - 1, -1)
    return next(bits for bits in widths if setting.cycles(chosen.spec, bits) <= limit)


def _reason(
    graph: Graph, node: Node, chosen: Candidate, rivals: Rivals, asked: PoolKernel | None
) -> str:
    ways = rivals.allowed
    parts = ["as asked"] if asked is not None else [_against(graph, node, chosen, ways)]
    parts += _about_sram(chosen, ways)
    parts += _about_table(chosen, rivals)
    parts += _about_rounding(graph, node, chosen)
    return "; ".join(parts)


def _about_rounding(graph: Graph, node: Node, chosen: Candidate) -> list[str]:
    """Loss of accuracy from two lanes, chosen or not, in words."""
    if chosen.response_shift:
        steps = rounding_steps(graph, node, chosen.response_shift)
        return [f"rounding of responses: {steps:.2f} LSB"]
    if not isinstance(chosen.spec, PooledConv) or chosen.spec.lanes == 2:
        return []
    shift = two_lane_shift(graph, node)
    if shift is None:
        return ["one lane: sums do not fit 16 bits"]
    if not rounds_too_much(graph, node, shift):
        return []
    return [f"one lane: two would add {rounding_steps(graph, node, shift):.2f} LSB of rounding"]


def _against(graph: Graph, node: Node, chosen: Candidate, ways: Sequence[Candidate]) -> str:
    """The choice against the best of the other kernels."""
    others = [way for way in ways if way.kernel is not chosen.kernel]
    if not others:
        return "nothing else serves"
    rival = min(others, key=lambda way: way.cycles)
    responses = [way for way in ways if way.kernel is PoolKernel.RESPONSES]
    filters = graph.shape(pooled_inputs(node).indices)[0]
    if chosen.kernel is PoolKernel.RESPONSES:
        ratio = rival.cycles / chosen.cycles
        if ratio < 1:
            return f"{1 / ratio - 1:.0%} slower than {rival.kernel.value}, but smaller in flash"
        return f"{ratio:.1f}x faster than {rival.kernel.value}"
    if not responses:
        return "a table of responses would not fit"
    ratio = min(way.cycles for way in responses) / chosen.cycles
    if ratio < 1:
        return "the response tables that are faster need too much SRAM"
    return f"responses would take {ratio:.1f}x as much: only {filters} filters share each"


def _about_sram(chosen: Candidate, ways: Sequence[Candidate]) -> list[str]:
    """Gain from more SRAM, in words."""
    same = [way for way in ways if _stores(way) == _stores(chosen)]
    fastest = min(same, key=lambda way: way.cycles)
    slower = chosen.cycles / fastest.cycles - 1
    if slower < _WORTH_TELLING or fastest.scratch_bytes <= chosen.scratch_bytes:
        return []
    return [f"{slower:.0%} slower than with {-(-fastest.scratch_bytes // _KB)} KB of SRAM"]


def _stores(way: Candidate) -> tuple[object, ...]:
    """The kernel, and what it has in flash."""
    return way.kernel, way.table, way.flash_bytes


def _about_table(chosen: Candidate, rivals: Rivals) -> list[str]:
    """Gain from a look-up table in flash, in words."""
    least = min(way.cycles for way in rivals.allowed)
    fastest = min(rivals.every, key=lambda way: way.cycles)
    slower = least / fastest.cycles - 1
    if slower < _WORTH_TELLING or fastest.table in (None, chosen.table):
        return []
    return [f"{slower:.0%} slower than with a {fastest.table.value} table in flash"]

"""Logarithms of the energies of sound in place of spectra, powers, filters and logarithms.

As codes the parts lose what the one operator keeps: powers of sound span eighty decibels and more.

Rules, from a `Spectrum` on, along values that nothing else reads and no file pins to codes:
1. power: the parts squared and added, as ``ReduceSumSquare``, ``ReduceL2`` (whose result is the
   magnitude) or ``Pow`` and ``ReduceSum`` write it; ``Sqrt`` and squares after it.
2. filters: a product with constant weights, none below 0, over the bins; without one, each bin is a
   filter of its own.
3. floor: an added constant, or a lower bound, above 0.
4. logarithm: ``Log``, then constant factors above 0 and summands.
Axes may be moved in between.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from edgec.base.dtypes import Array
from edgec.ir import ops
from edgec.ir.graph import Graph, Node
from edgec.ir.graph_builder import GraphBuilder
from edgec.ir.ops import ReduceKind, UnaryKind
from edgec.ir.real import RealOperator

_FRAMES, _BINS, _PARTS = "frames", "bins", "parts"
_SQUARE = ops.Unary(UnaryKind.POW, 2.0)


@dataclass(frozen=True, slots=True, eq=False)
class _Found:
    """A value of the chain.

    Attributes:
        axes: what each axis of the value counts; "": its size is 1.
        squared: the parts are squared, and not added yet.
        power: exponent of the amplitude; 0: these are parts of spectra.
        bank: weights of bins, float64 [F, C]; None: none yet.
        added, least: the floor, as `ops.LogMel` has it.
        is_log: the logarithm is taken.
        gain, bias: factor of the logarithm, and what is added to it then.
    """

    axes: tuple[str, ...]
    squared: bool = False
    power: float = 0.0
    bank: Array | None = None
    added: float = 0.0
    least: float = 0.0
    is_log: bool = False
    gain: float = 1.0
    bias: float = 0.0


def fuse_log_mel(graph: Graph) -> Graph:
    """Apply the rules to all spectra."""
    for node in [node for node in graph.nodes if isinstance(node.attrs, ops.Spectrum)]:
        graph = _fused(graph, node)
    return graph


def _fused(graph: Graph, spectrum: Node) -> Graph:
    """The graph with the longest chain after a spectrum in one operator, if it has a logarithm."""
    frames = _FRAMES if graph.shape(spectrum.output)[1] > 1 else ""
    found, name = _Found(("", frames, _BINS, _PARTS)), spectrum.output
    passed: list[Node] = []
    best: tuple[_Found, str, int] | None = None
    while (reader := graph.sole_consumer(name)) is not None and len(reader.outputs) == 1:
        step = _after(graph, reader, name, found)
        if step is None or graph.values[reader.output].quant is not None:
            break
        found, name = step, reader.output
        passed.append(reader)
        if found.is_log:
            best = found, name, len(passed)
    if best is None:
        return graph
    found, name, count = best
    return _with_log_mel(graph, spectrum, passed[:count], found, name)


def _after(graph: Graph, node: Node, name: str, found: _Found) -> _Found | None:
    """The value that the next node gives; None where it is none of the chain."""
    attrs = node.attrs
    if isinstance(attrs, ops.Transpose):
        return replace(found, axes=tuple(found.axes[axis] for axis in attrs.perm))
    if isinstance(attrs, ops.Reshape):
        axes = _reshaped(graph.shape(name), found.axes, attrs.shape)
        return None if axes is None else replace(found, axes=axes)
    if not found.power:
        return _to_power(attrs, found)
    if found.is_log:
        return _scaled(graph, node, name, found)
    if isinstance(attrs, ops.Unary):
        return _function(attrs, found)
    if isinstance(attrs, ops.Gemm | ops.MatMul):
        return _filtered(graph, node, name, found)
    return _floored(graph, node, name, found)


def _reshaped(
    old: Sequence[int], axes: tuple[str, ...], new: tuple[int, ...]
) -> tuple[str, ...] | None:
    """The axes of a value whose axes of size 1 come and go; None where others change."""
    sizes = [(size, axis) for size, axis in zip(old, axes, strict=True) if size > 1]
    if any(axis for size, axis in zip(old, axes, strict=True) if size == 1):
        return axes if tuple(old) == new else None
    if [size for size, _ in sizes] != [size for size in new if size > 1]:
        return None
    left = iter(sizes)
    return tuple(next(left)[1] if size > 1 else "" for size in new)


def _to_power(attrs: object, found: _Found) -> _Found | None:
    """Rule 1: squares of both parts, and their sum."""
    if attrs == _SQUARE and not found.squared:
        return replace(found, squared=True)
    if not isinstance(attrs, ops.Reduce) or attrs.axes != (found.axes.index(_PARTS),):
        return None
    wanted = (ReduceKind.SUM,) if found.squared else (ReduceKind.SUM_SQUARE, ReduceKind.L2)
    if attrs.kind not in wanted:
        return None
    kept = "" if attrs.keepdims else None
    axes = tuple(kept if axis == _PARTS else axis for axis in found.axes)
    power = 1.0 if attrs.kind is ReduceKind.L2 else 2.0
    return replace(found, axes=tuple(axis for axis in axes if axis is not None), power=power)


def _function(attrs: ops.Unary, found: _Found) -> _Found | None:
    """Roots and squares before the filters, the logarithm after the floor."""
    untouched = found.bank is None and not found.added and not found.least
    if attrs.kind is UnaryKind.SQRT and untouched and found.power == 2.0:
        return replace(found, power=1.0)
    if attrs == _SQUARE and untouched and found.power == 1.0:
        return replace(found, power=2.0)
    if attrs.kind is UnaryKind.LOG and (found.added > 0 or found.least > 0):
        return replace(found, is_log=True)
    return None


def _filtered(graph: Graph, node: Node, name: str, found: _Found) -> _Found | None:
    """Rule 2, from either side."""
    bank: Array | None = None
    axis = len(found.axes) - 1
    if isinstance(node.attrs, ops.Gemm):
        inputs = ops.Gemm.Inputs.of(node.inputs)
        if inputs.b is None and graph.is_constant(inputs.w):
            bank = graph.constants[inputs.w].real64().T
    elif node.attrs == ops.MatMul():
        product = ops.MatMul.Inputs.of(node.inputs)
        if product.b == name and graph.is_constant(product.a):
            bank = graph.constants[product.a].real64()
            bank = bank.reshape(bank.shape[-2:]).T if math.prod(bank.shape[:-2]) == 1 else None
            axis -= 1
    if bank is None or found.bank is not None or found.added or found.least:
        return None
    fits = bank.ndim == 2 and found.axes[axis] == _BINS and np.all(bank >= 0) and np.any(bank > 0)
    return replace(found, bank=bank) if fits and found.power in (1.0, 2.0) else None


def _floored(graph: Graph, node: Node, name: str, found: _Found) -> _Found | None:
    """Rule 3."""
    attrs = node.attrs
    if found.least or found.power not in (1.0, 2.0):
        return None
    if isinstance(attrs, ops.Clip):
        return replace(found, least=attrs.low) if attrs.low > 0 and attrs.high == math.inf else None
    number = _other(graph, node, name)
    if number is None or number <= 0 or not math.isfinite(number):
        return None
    if isinstance(attrs, ops.Add) and not found.added:
        return replace(found, added=number)
    return replace(found, least=number) if isinstance(attrs, ops.Maximum) else None


def _scaled(graph: Graph, node: Node, name: str, found: _Found) -> _Found | None:
    """Rule 4, after the logarithm."""
    number = _other(graph, node, name)
    if number is None or not math.isfinite(number):
        return None
    first = node.first == name
    match node.attrs:
        case ops.Mul() if number > 0:
            return replace(found, gain=found.gain * number, bias=found.bias * number)
        case ops.Div() if number > 0 and first:
            return replace(found, gain=found.gain / number, bias=found.bias / number)
        case ops.Add():
            return replace(found, bias=found.bias + number)
        case ops.Sub() if first:
            return replace(found, bias=found.bias - number)
    return None


def _other(graph: Graph, node: Node, name: str) -> float | None:
    """The only number that the other operand of a node with two holds."""
    others = [each for each in node.inputs if each != name]
    if len(node.inputs) != 2 or len(others) != 1 or not graph.is_constant(others[0]):
        return None
    numbers = graph.constants[others[0]].real64().reshape(-1)
    broadcast = math.prod(graph.shape(node.output)) == math.prod(graph.shape(name))
    return float(numbers[0]) if broadcast and np.all(numbers == numbers[0]) else None


def _with_log_mel(
    graph: Graph, spectrum: Node, passed: Sequence[Node], found: _Found, name: str
) -> Graph:
    """The graph with the nodes of a chain in one, and moves of axes after it."""
    attrs = spectrum.attrs_as(ops.Spectrum)
    inputs = ops.Spectrum.Inputs.of(spectrum.inputs)
    bins = attrs.points // 2 + 1
    bank = np.eye(bins) if found.bank is None else found.bank
    builder = GraphBuilder.of(graph)
    for node in (spectrum, *passed):
        builder.remove(node)
    sources = tuple(source for node in (spectrum, *passed) for source in node.sources)
    value = graph.values[name]
    frames, channels = graph.shape(spectrum.output)[1], bank.shape[1]
    log_mel = ops.LogMel(
        hop=attrs.hop,
        points=attrs.points,
        magnitude=found.power == 1.0,
        added=found.added,
        least=found.least,
        gain=found.gain,
        bias=found.bias,
    )

    def put(
        stem: str, operator: RealOperator, names: tuple[str, ...], shape: tuple[int, ...]
    ) -> str:
        made = builder.fresh(f"{name}/{stem}")
        builder.value(replace(value, name=made, shape=shape))
        builder.node(made, operator, names, (made,), sources)
        return made

    weights = builder.constant(f"{name}/bank", bank.astype(np.float32))
    operands = ops.LogMel.Inputs(inputs.x, inputs.window, weights).names()
    made = put("features", log_mel, operands, (1, frames, channels))
    order = [axis for axis in found.axes if axis]
    if order == [_BINS, _FRAMES]:
        made = put("turned", ops.Transpose((0, 2, 1)), (made,), (1, channels, frames))
    builder.node(name, ops.Reshape(value.shape), (made,), (name,), sources)
    return builder.build()

"""Operators that move elements, and Resize, in ONNX.

`ops.Resize` holds resolved positions.  Writing it as ONNX's operator needs the attributes back; the
few combinations are tried in turn, and positions that none gives are written as Gathers.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from itertools import product
from types import MappingProxyType

import numpy as np

from edgec.base.dtypes import Array
from edgec.exporters.onnx.codes import Exporter, common_layout, moved_axis, moved_values
from edgec.exporters.onnx.state import NCHW_TO_NHWC, NHWC_TO_NCHW, Emitter, Layout
from edgec.ir import ops
from edgec.ir.graph import Node
from edgec.ir.operator import OperatorTable

_Coordinate = Callable[[int, int, int], float]

# Source: ONNX operator specification, Resize, "coordinate_transformation_mode"; (i, in, out) -> x.
_COORDINATES: Mapping[str, _Coordinate] = MappingProxyType(
    {
        "half_pixel": lambda i, n, m: (i + 0.5) * n / m - 0.5,
        "asymmetric": lambda i, n, m: i * n / m,
        "align_corners": lambda i, n, m: i * (n - 1) / (m - 1) if m > 1 else 0.0,
        "pytorch_half_pixel": lambda i, n, m: (i + 0.5) * n / m - 0.5 if m > 1 else 0.0,
    }
)
_NEAREST: Mapping[str, Callable[[float], int]] = MappingProxyType(
    {
        "round_prefer_floor": lambda x: math.ceil(x - 0.5),
        "round_prefer_ceil": lambda x: math.floor(x + 0.5),
        "floor": math.floor,
        "ceil": math.ceil,
    }
)
_TOLERANCE = 1e-5
"""Tolerance of a weight: positions are float32 in some runtimes."""


def match_resize(attrs: ops.Resize, height: int, width: int) -> dict[str, str] | None:
    """Attributes of an ONNX Resize with `sizes` that does the same; None if there are none."""
    rows = (attrs.row_low, attrs.row_high, attrs.row_weights)
    columns = (attrs.col_low, attrs.col_high, attrs.col_weights)
    nearest = attrs.mode is ops.ResizeMode.NEAREST
    for coordinate, rounding in product(_COORDINATES, _NEAREST if nearest else ("",)):
        if all(
            _matches(positions, size, coordinate, rounding)
            for positions, size in ((rows, height), (columns, width))
        ):
            found = {"coordinate_transformation_mode": coordinate, "mode": attrs.mode.value}
            return found | ({"nearest_mode": rounding} if nearest else {})
    return None


def _matches(
    positions: tuple[tuple[int, ...], tuple[int, ...], tuple[float, ...]],
    size: int,
    coordinate: str,
    rounding: str,
) -> bool:
    low, high, weights = (np.asarray(part, np.float64) for part in positions)
    given = low + weights * (high - low)
    steps = range(len(given))
    source = np.asarray([_COORDINATES[coordinate](i, size, len(given)) for i in steps])
    if rounding:
        source = np.asarray([_NEAREST[rounding](x) for x in source], np.float64)
    return bool(np.all(np.abs(np.clip(source, 0, size - 1) - given) <= _TOLERANCE))


EXPORTERS = OperatorTable[Exporter]()
_OPEN_END = np.iinfo(np.int64).min
"""Slice end that includes index 0 with a negative step."""


@EXPORTERS.entry(ops.Reshape)
def _reshape(e: Emitter, node: Node) -> None:
    shape = e.ints(f"{node.name}_shape", node.attrs_as(ops.Reshape).shape)
    e.store(node.output, e.emit(node.name, "Reshape", [e.fetch(node.first), shape]))


@EXPORTERS.entry(ops.Transpose)
def _transpose(e: Emitter, node: Node) -> None:
    perm: tuple[int, ...] = node.attrs_as(ops.Transpose).perm
    x = node.input
    if perm == NCHW_TO_NHWC and x in e.graph.values and e.same_quant(x, node.output):
        e.alias(node.output, e.fetch(x), Layout.NCHW)
    elif perm == NHWC_TO_NCHW and x in e.graph.values and e.same_quant(x, node.output):
        e.alias(node.output, e.fetch(x, Layout.NCHW))
    else:
        e.store(node.output, e.emit(node.name, "Transpose", [e.fetch(x)], perm=perm))


@EXPORTERS.entry(ops.Slice)
def _slice(e: Emitter, node: Node) -> None:
    attrs = node.attrs_as(ops.Slice)
    x = node.input
    layout = common_layout(e, node)
    ends = []
    for start, step, size in zip(attrs.starts, attrs.steps, attrs.sizes, strict=True):
        end = start + size * step
        ends.append(int(_OPEN_END) if end < 0 else end)
    bounds = [
        e.ints(f"{node.name}_starts", moved_values(attrs.starts, layout)),
        e.ints(f"{node.name}_ends", moved_values(tuple(ends), layout)),
        e.ints(f"{node.name}_axes", range(len(attrs.starts))),
        e.ints(f"{node.name}_steps", moved_values(attrs.steps, layout)),
    ]
    e.store(node.output, e.emit(node.name, "Slice", [e.fetch(x, layout), *bounds]), layout)


@EXPORTERS.entry(ops.Concat)
def _concat(e: Emitter, node: Node) -> None:
    layout = common_layout(e, node)
    inputs = [e.fetch(name, layout) for name in node.inputs]
    y = e.emit(node.name, "Concat", inputs, axis=moved_axis(node.attrs_as(ops.Concat).axis, layout))
    e.store(node.output, y, layout)


@EXPORTERS.entry(ops.Pad)
def _pad(e: Emitter, node: Node) -> None:
    attrs = node.attrs_as(ops.Pad)
    layout = common_layout(e, node)
    pads = moved_values(attrs.pads, layout)
    flat = [before for before, _ in pads] + [after for _, after in pads]
    inputs = [e.fetch(node.first, layout), e.ints(f"{node.name}_pads", flat)]
    if attrs.mode is ops.PadMode.CONSTANT:
        inputs.append(e.scalar(f"{node.name}_value", attrs.value))
    e.store(node.output, e.emit(node.name, "Pad", inputs, mode=attrs.mode.value), layout)


@EXPORTERS.entry(ops.SpaceToBatch)
def _space_to_batch(e: Emitter, node: Node) -> None:
    attrs, shape = node.attrs_as(ops.SpaceToBatch), e.graph.shape(node.output)
    count, x, stem = len(attrs.blocks), e.graph.shape(node.first), node.name
    rest = len(x) - count - 1
    pads = ((0, 0), *attrs.pads, *((0, 0),) * rest)
    flat = [before for before, _ in pads] + [after for _, after in pads]
    y = e.emit(stem, "Pad", [e.fetch(node.first), e.ints(f"{stem}_pads", flat)])
    cut = [part for n, b in zip(shape[1:], attrs.blocks, strict=False) for part in (n, b)]
    split = e.ints(f"{stem}_split", (x[0], *cut, *shape[count + 1 :]))
    inner, outer = (range(first, 2 * count + 1, 2) for first in (2, 1))
    perm = (*inner, 0, *outer, *range(2 * count + 1, 2 * count + 1 + rest))
    y = e.emit(stem, "Transpose", [e.emit(stem, "Reshape", [y, split])], perm=perm)
    e.store(node.output, e.emit(stem, "Reshape", [y, e.ints(f"{stem}_shape", shape)]))


@EXPORTERS.entry(ops.BatchToSpace)
def _batch_to_space(e: Emitter, node: Node) -> None:
    attrs, shape = node.attrs_as(ops.BatchToSpace), e.graph.shape(node.output)
    count, x, stem = len(attrs.blocks), e.graph.shape(node.first), node.name
    split = e.ints(f"{stem}_split", (*attrs.blocks, shape[0], *x[1:]))
    mixed = [axis for i in range(count) for axis in (count + 1 + i, i)]
    perm = (count, *mixed, *range(2 * count + 1, count + len(x)))
    y = e.emit(stem, "Reshape", [e.fetch(node.first), split])
    grown = [n * b for n, b in zip(x[1:], attrs.blocks, strict=False)]
    full = e.ints(f"{stem}_full", (shape[0], *grown, *x[count + 1 :]))
    y = e.emit(stem, "Reshape", [e.emit(stem, "Transpose", [y], perm=perm), full])
    starts = [before for before, _ in attrs.crops]
    ends = [n - after for n, (_, after) in zip(grown, attrs.crops, strict=True)]
    bounds = (("starts", starts), ("ends", ends), ("axes", range(1, count + 1)))
    inputs = [y, *(e.ints(f"{stem}_{name}", numbers) for name, numbers in bounds)]
    e.store(node.output, e.emit(stem, "Slice", inputs))


@EXPORTERS.entry(ops.Resize)
def _resize(e: Emitter, node: Node) -> None:
    attrs = node.attrs_as(ops.Resize)
    x = node.input
    _, height, width, channels = e.graph.shape(x)
    matched = match_resize(attrs, height, width)
    tensor = e.fetch(x, Layout.NCHW)
    if matched is not None:
        sizes = (1, channels, len(attrs.row_low), len(attrs.col_low))
        inputs = [tensor, "", "", e.ints(f"{node.name}_sizes", sizes)]
        y = e.emit(node.name, "Resize", inputs, **matched)
    else:
        rows = (attrs.row_low, attrs.row_high, attrs.row_weights)
        columns = (attrs.col_low, attrs.col_high, attrs.col_weights)
        y = _interpolate(e, node, tensor, 2, rows)
        y = _interpolate(e, node, y, 3, columns)
    e.store(node.output, y, Layout.NCHW)


def _interpolate(
    e: Emitter,
    node: Node,
    x: str,
    axis: int,
    positions: tuple[tuple[int, ...], tuple[int, ...], tuple[float, ...]],
) -> str:
    """Rows or columns of an NCHW tensor: ``(1 - w) * x[low] + w * x[high]``."""
    low, high, weights = positions
    stem = f"{node.name}_axis{axis}"
    below = e.emit(stem, "Gather", [x, e.ints(f"{stem}_low", low)], axis=axis)
    if not any(weights):
        return below
    above = e.emit(stem, "Gather", [x, e.ints(f"{stem}_high", high)], axis=axis)
    weight: Array = np.asarray(weights, np.float32).reshape((-1, 1) if axis == 2 else (-1,))
    low_part = e.emit(stem, "Mul", [below, e.initializer(f"{stem}_1-w", 1 - weight)])
    high_part = e.emit(stem, "Mul", [above, e.initializer(f"{stem}_w", weight)])
    return e.emit(stem, "Add", [low_part, high_part])

"""Rules of windows over time: convolutions, pooling, parts of a window, padding."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from edgec.ir import qops
from edgec.ir.graph import Node
from edgec.ir.operator import Operator
from edgec.ir.shapes import Pads2D, Pair
from edgec.ir.weighted import layer_inputs
from edgec.passes.stream_frames import Frames, Window, whole, windowed
from edgec.passes.stream_scan import MultipleError, RefusedError, Scan


def over_time(
    scan: Scan,
    node: Node,
    window: Window,
    attrs: Callable[[], Operator],
    residual: str | None = None,
) -> None:
    """Add a node with a window that slides over time.

    Args:
        scan: the walk.
        node: a node of the graph of the whole window.
        window: its window over time.
        attrs: gives the operator without padding in time.
        residual: name of the operand that it adds to what it computes; None: it adds none.

    Raises:
        RefusedError: a stream cannot have it.
        MultipleError: a run brings too few frames for its stride.
    """
    x = node.first
    own, length = scan.frames[x], scan.graph.shape(node.output)[scan.frames[x].axis]
    if length == 1 and not (window.before or window.after) and residual is None:
        scan.computed(node, whole(own), scan.recent(x, own.length))
        return
    other = None if residual is None else scan.frames.get(residual)
    if residual is not None and other is None:
        scan.fixed(residual, own.axis)
    step = windowed(own, window, length, 0 if other is None else other.delay)
    found, new = step.frames, scan.rings.per_run(own)
    if new % window.stride:
        raise MultipleError(found.stride)
    count = window.reach + (new // window.stride - 1) * window.stride
    inputs = list(node.inputs)
    if step.spare < window.stride:  # too few for one position more
        inputs[0] = scan.recent(x, count + step.spare)
    else:
        inputs[0] = scan.recent(x, count, step.spare)
    if residual is not None and other is not None:
        if (other.axis, other.length, other.stride) != (found.axis, found.length, found.stride):
            raise RefusedError("its operands have different frames")
        # The last one of that name: the operand may be x, too.
        place = len(inputs) - 1 - node.inputs[::-1].index(residual)
        inputs[place] = scan.late(residual, found.delay)
        found = together((found, other))
    scan.written(node, found, inputs, attrs())


def together(moving: tuple[Frames, ...]) -> Frames:
    """Frames that are computed from several at the same place."""
    delay = max(each.delay for each in moving)
    return replace(
        moving[0],
        delay=delay,
        depth=max(each.depth + (delay - each.delay) * each.stride for each in moving),
        front=max(each.front for each in moving),
        back=max(each.back for each in moving),
    )


def conv_rule(scan: Scan, node: Node) -> None:
    """A convolution, whose rows or columns may be frames.

    Raises:
        RefusedError: a stream cannot have it.
        MultipleError: a run brings too few frames for its stride.
    """
    attrs = node.attrs_as(qops.QConv, qops.QPooledConv)
    conv = attrs.conv if isinstance(attrs, qops.QPooledConv) else attrs
    inputs = layer_inputs(node)
    frames = scan.frames.get(inputs.x)
    if frames is None:
        raise RefusedError("it adds frames to something that has none")
    if frames.axis == 3:
        raise RefusedError("it takes the frames of the window as channels")
    kernel = scan.graph.shape(inputs.rows)[1:3]
    at = frames.axis - 1

    def valid() -> Operator:
        own = replace(conv, pads=_without(conv.pads, at))
        return replace(attrs, conv=own) if isinstance(attrs, qops.QPooledConv) else own

    window = window_of(kernel, conv.strides, conv.pads, conv.dilations, at)
    over_time(scan, node, window, valid, inputs.residual)


def pool_rule(scan: Scan, node: Node) -> None:
    """Pooling, whose rows or columns may be frames.

    Raises:
        RefusedError: a stream cannot have it.
        MultipleError: a run brings too few frames for its stride.
    """
    attrs = node.attrs_as(qops.QAveragePool, qops.QMaxPool)
    frames = scan.frames[node.first]
    if frames.axis == 3:
        scan.written(node, frames)
        return
    at = frames.axis - 1
    window = window_of(attrs.kernel, attrs.strides, attrs.pads, attrs.dilations, at)
    over_time(scan, node, window, lambda: replace(attrs, pads=_without(attrs.pads, at)))


def window_of(
    kernel: tuple[int, ...], strides: Pair, pads: Pads2D, dilations: Pair, at: int
) -> Window:
    """The window along rows (0) or columns (1)."""
    reach = (kernel[at] - 1) * dilations[at] + 1
    return Window(reach, strides[at], pads[at], pads[at + 2])


def _without(pads: Pads2D, at: int) -> Pads2D:
    """Padding without that of rows (0) or columns (1)."""
    top, left, bottom, right = pads
    return (0, left, 0, right) if at == 0 else (top, 0, bottom, 0)


def slice_rule(scan: Scan, node: Node) -> None:
    """A part of a value, which may be some of its frames.

    Raises:
        RefusedError: a stream cannot have it.
        MultipleError: a run brings too few frames for its stride.
    """
    attrs, x = node.attrs_as(qops.QSlice), node.first
    frames = scan.frames[x]
    start, step, size = (each[frames.axis] for each in (attrs.starts, attrs.steps, attrs.sizes))
    if step < 0:
        raise RefusedError("it turns the frames round")

    def starting(first: int, count: int, every: int) -> Operator:
        return qops.QSlice(
            _replaced(attrs.starts, frames.axis, first),
            _replaced(attrs.steps, frames.axis, every),
            _replaced(attrs.sizes, frames.axis, count),
        )

    if size == 1:
        recent = scan.recent(x, frames.length - start)
        found = whole(frames, start)
        scan.computed(node, found, recent, starting(0, 1, 1))
        return
    after = (size - 1) * step + 1 + start - frames.length
    new = scan.rings.per_run(frames) // step
    window = Window(1, step, -start, after)
    over_time(scan, node, window, lambda: starting(0, new, step))


def _replaced(numbers: tuple[int, ...], axis: int, number: int) -> tuple[int, ...]:
    return (*numbers[:axis], number, *numbers[axis + 1 :])


def pad_rule(scan: Scan, node: Node) -> None:
    """Padding, which vanishes in time.

    Raises:
        RefusedError: a stream cannot have it.
        MultipleError: a run brings too few frames for its stride.
    """
    attrs = node.attrs_as(qops.QPad)
    axis = scan.frames[node.first].axis
    before, after = attrs.pads[axis]
    rest = (*attrs.pads[:axis], (0, 0), *attrs.pads[axis + 1 :])
    new = scan.rings.per_run(scan.frames[node.first])
    shape = scan.graph.shape(node.output)

    def unpadded() -> Operator:
        if any(map(any, rest)):
            return replace(attrs, pads=rest)
        return qops.QReshape(_replaced(shape, axis, new))

    over_time(scan, node, Window(before=before, after=after), unpadded)

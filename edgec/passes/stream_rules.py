"""Follow frames of a stream through each operator of an integer graph, and write its node anew."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from types import MappingProxyType

from edgec.base.dtypes import DType
from edgec.ir import qops
from edgec.ir.graph import Graph, Node
from edgec.ir.operator import Operator
from edgec.ir.shapes import Pads2D, Pair
from edgec.ir.weighted import layer_inputs, plain_inputs
from edgec.passes.stream_frames import Frames, Result, Window, whole, windowed
from edgec.passes.stream_rings import Rings


class RefusedError(Exception):
    """An operator that a stream cannot have; the text says why."""


class MultipleError(Exception):
    """A run must bring a multiple of some number of frames.

    Attributes:
        multiple: the number.
    """

    def __init__(self, multiple: int) -> None:
        super().__init__(multiple)
        self.multiple = multiple


class Scan:
    """A walk over the nodes of a graph.

    Attributes:
        graph: INTEGER stage, of the whole window.
        rings: the graph of the stream, as far as it is built.
        frames: what each value holds that has new frames in each run.
        results: values that a run computes whole, from frames of the window.
    """

    def __init__(self, graph: Graph, rings: Rings, allow_delay: bool) -> None:
        self.graph, self.rings, self._allow_delay = graph, rings, allow_delay
        self.frames: dict[str, Frames] = {}
        self.results: dict[str, Result] = {}

    def follow(self, node: Node) -> None:
        """Add a node to the new graph, and note what its output is.

        Raises:
            RefusedError: a stream cannot have it.
            MultipleError: a run brings too few frames.
        """
        if any(name in self.frames for name in node.inputs):
            rule = _RULES.get(type(node.attrs))
            if rule is None:
                raise RefusedError(_REASONS.get(type(node.attrs), "it mixes frames of the window"))
            rule(self, node)
            return
        found = [self.results[name] for name in node.inputs if name in self.results]
        self.rings.builder.put(node)
        if found:
            for name in node.outputs:
                self.results[name] = _joined(found)

    def written(
        self,
        node: Node,
        frames: Frames,
        inputs: Sequence[str] | None = None,
        attrs: Operator | None = None,
    ) -> None:
        """Add a node whose outputs have new frames in each run.

        Args:
            node: a node of the graph of the whole window.
            frames: what its outputs hold.
            inputs: its operands, where they are other ones.
            attrs: its operator, where that is another one.
        """
        if frames.delay and not self._allow_delay:
            late = frames.delay_of_input
            raise RefusedError(
                f"it reads frames after the one that it computes: it would be {late} late"
            )
        self._put(node, inputs, attrs)
        for name in node.outputs:
            self.frames[name] = frames
            self.rings.put(name, frames, self.rings.per_run(frames))

    def computed(
        self,
        node: Node,
        found: Result,
        x: str,
        attrs: Operator | None = None,
    ) -> None:
        """Add a node whose outputs are computed whole from `x`, its first operand."""
        self._put(node, (x, *node.inputs[1:]), attrs)
        self.results.update(dict.fromkeys(node.outputs, found))

    def _put(self, node: Node, inputs: Sequence[str] | None, attrs: Operator | None) -> None:
        names = node.inputs if inputs is None else tuple(inputs)
        self.rings.builder.put(replace(node, attrs=attrs or node.attrs, inputs=names))

    def recent(self, name: str, count: int, spare: int = 0) -> str:
        """The newest frames of a value but the `spare` newest ones; see `Rings.newest`."""
        frames = self.frames[name]
        is_new = count == self.rings.per_run(frames) and not spare
        if not is_new and self.graph.values[name].dtype is DType.INT32:
            raise RefusedError("it reads whole numbers of earlier frames, which are not kept")
        return self.rings.newest(name, frames, count, spare)

    def late(self, name: str, delay: int) -> str:
        """As many frames as are new in a run, of a value with a delay of its own frames."""
        frames = self.frames[name]
        return self.recent(name, self.rings.per_run(frames), delay - frames.delay)

    def fixed(self, name: str, axis: int) -> None:
        """Check that an operand without new frames serves every frame alike.

        Args:
            name: the operand.
            axis: axis of its frames, negative where it has fewer axes than the output.

        Raises:
            RefusedError: it does not.
        """
        if not self.graph.is_constant(name):
            what = "a result of the window" if name in self.results else "an input"
            raise RefusedError(f"it joins frames with {what}, which is another one in each run")
        if axis >= 0 and self.graph.shape(name)[axis] > 1:
            raise RefusedError("it has a number for each frame of the window")


def _joined(found: list[Result]) -> Result:
    if len({each.delay for each in found}) > 1:
        raise RefusedError("it joins results of windows that end at different frames")
    return Result(
        max(each.depth for each in found), found[0].delay, any(each.padded for each in found)
    )


def _same(scan: Scan, node: Node) -> None:
    """Each frame by itself: the operator works on other axes, or on each element."""
    frames = scan.frames[node.first]
    for name in node.inputs[1:]:
        if name in scan.frames:
            raise RefusedError("it mixes frames of several values")
        if name and not scan.graph.is_constant(name):
            scan.fixed(name, -1)
    scan.written(node, frames)


def _on_last_axis(scan: Scan, node: Node) -> None:
    """Along the last axis, which may not be that of the frames."""
    if scan.frames[node.first].axis == len(scan.graph.shape(node.first)) - 1:
        raise RefusedError("it works along the frames of the window")
    _same(scan, node)


def _elementwise(scan: Scan, node: Node) -> None:
    """Operands with numpy broadcasting, brought to the same delay; tables serve all frames."""
    rank = len(scan.graph.shape(node.output))
    spread = node.inputs[: len(node.inputs) - qops.table_count(scan.graph, node)]
    missing = {name: rank - len(scan.graph.shape(name)) for name in spread}
    moving = {name: scan.frames[name] for name in node.inputs if name in scan.frames}
    places = {
        (each.axis + missing[name], each.length, each.stride) for name, each in moving.items()
    }
    if len(places) > 1:
        raise RefusedError("its operands have different frames")
    axis = places.pop()[0]
    for name in spread:
        if name not in moving:
            scan.fixed(name, axis - missing[name])
    found = _together(tuple(moving.values()))
    late = [scan.late(name, found.delay) if name in moving else name for name in node.inputs]
    scan.written(node, replace(found, axis=axis), late)


def _together(moving: tuple[Frames, ...]) -> Frames:
    """Frames that are computed from several at the same place."""
    delay = max(each.delay for each in moving)
    return replace(
        moving[0],
        delay=delay,
        depth=max(each.depth + (delay - each.delay) * each.stride for each in moving),
        front=max(each.front for each in moving),
        back=max(each.back for each in moving),
    )


def _concat(scan: Scan, node: Node) -> None:
    axes = {scan.frames[name].axis for name in node.inputs if name in scan.frames}
    if node.attrs_as(qops.QConcat).axis in axes:
        raise RefusedError("it joins values one after the other in time")
    _elementwise(scan, node)


def _over_time(
    scan: Scan,
    node: Node,
    window: Window,
    attrs: Callable[[], Operator],
    residual: str | None = None,
) -> None:
    """A window that slides over time; `attrs`: the operator without padding in time."""
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
        found = _together((found, other))
    scan.written(node, found, inputs, attrs())


def _conv(scan: Scan, node: Node) -> None:
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

    window = _window(kernel, conv.strides, conv.pads, conv.dilations, at)
    _over_time(scan, node, window, valid, inputs.residual)


def _pool(scan: Scan, node: Node) -> None:
    attrs = node.attrs_as(qops.QAveragePool, qops.QMaxPool)
    frames = scan.frames[node.first]
    if frames.axis == 3:
        _same(scan, node)
        return
    at = frames.axis - 1
    window = _window(attrs.kernel, attrs.strides, attrs.pads, attrs.dilations, at)
    _over_time(scan, node, window, lambda: replace(attrs, pads=_without(attrs.pads, at)))


def _window(
    kernel: tuple[int, ...], strides: Pair, pads: Pads2D, dilations: Pair, at: int
) -> Window:
    """The window along rows (0) or columns (1)."""
    reach = (kernel[at] - 1) * dilations[at] + 1
    return Window(reach, strides[at], pads[at], pads[at + 2])


def _without(pads: Pads2D, at: int) -> Pads2D:
    """Padding without that of rows (0) or columns (1)."""
    top, left, bottom, right = pads
    return (0, left, 0, right) if at == 0 else (top, 0, bottom, 0)


def _transposed_conv(scan: Scan, node: Node) -> None:
    attrs = node.attrs_as(qops.QConvTranspose)
    frames, kernel = scan.frames[node.first], scan.graph.shape(plain_inputs(node).w)[1:3]
    at = frames.axis - 1
    if frames.axis == 3 or (kernel[at], attrs.strides[at]) != (1, 1):
        raise RefusedError("it gives several frames for each one that it reads")
    window = _window(kernel, attrs.strides, attrs.pads, attrs.dilations, at)
    if not window.is_plain or attrs.output_padding[at]:
        raise RefusedError("it gives another number of frames than it reads")
    _same(scan, node)


def _gemm(scan: Scan, node: Node) -> None:
    """Products over the last axis; over the frames, all of the window are taken."""
    inputs = layer_inputs(node)
    frames = scan.frames.get(inputs.x)
    if frames is None:
        raise RefusedError("it adds frames to something that has none")
    if frames.axis == len(scan.graph.shape(inputs.x)) - 1:
        if inputs.residual is not None:
            raise RefusedError("it works along the frames of the window")
        scan.computed(node, whole(frames), scan.recent(inputs.x, frames.length))
        return
    _over_time(scan, node, Window(), lambda: node.attrs, inputs.residual)


def _matmul(scan: Scan, node: Node) -> None:
    """A product with a constant, of rows that are frames."""
    attrs, inputs = node.attrs_as(qops.QMatMul), node.attrs_as(qops.QMatMul).Inputs.of(node.inputs)
    frames = scan.frames.get(inputs.a)
    if not scan.graph.is_constant(inputs.b) or frames is None:
        raise RefusedError("it is a product of frames with others, as attention over the window is")
    rank = len(scan.graph.shape(inputs.a))
    if frames.axis == (rank - 2 if attrs.transpose_a else rank - 1):
        raise RefusedError("it works along the frames of the window")
    if attrs.transpose_a and frames.axis == rank - 1:
        frames = replace(frames, axis=rank - 2)
    scan.written(node, frames)


def _reduce(scan: Scan, node: Node) -> None:
    """Over the frames: of all of the window; else of each frame by itself."""
    attrs = node.attrs_as(qops.QReduce)
    frames = scan.frames[node.first]
    if frames.axis in attrs.axes:
        scan.computed(node, whole(frames), scan.recent(node.first, frames.length))
        return
    axis = frames.axis
    if not attrs.keepdims:
        axis -= sum(other < frames.axis for other in attrs.axes)
    scan.written(node, replace(frames, axis=axis))


def _arg_max(scan: Scan, node: Node) -> None:
    attrs = node.attrs_as(qops.QArgMax)
    frames = scan.frames[node.first]
    if frames.axis == attrs.axis:
        scan.computed(node, whole(frames), scan.recent(node.first, frames.length))
        return
    axis = frames.axis - (0 if attrs.keepdims or attrs.axis > frames.axis else 1)
    scan.written(node, replace(frames, axis=axis))


def _transpose(scan: Scan, node: Node) -> None:
    frames = scan.frames[node.first]
    axis = node.attrs_as(qops.QTranspose).perm.index(frames.axis)
    scan.written(node, replace(frames, axis=axis))


def _reshape(scan: Scan, node: Node) -> None:
    """Frames that stay an axis; else all of the window are taken."""
    frames, x = scan.frames[node.first], node.first
    before, after = scan.graph.shape(x), scan.graph.shape(node.output)
    for axis, size in enumerate(after):
        lead = math.prod(before[: frames.axis]) == math.prod(after[:axis])
        if size == frames.length > 1 and lead:
            new = scan.rings.per_run(frames)
            shape = (*after[:axis], new, *after[axis + 1 :])
            scan.written(node, replace(frames, axis=axis), attrs=qops.QReshape(shape))
            return
    scan.computed(node, whole(frames), scan.recent(x, frames.length))


def _slice(scan: Scan, node: Node) -> None:
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
    _over_time(scan, node, window, lambda: starting(0, new, step))


def _replaced(numbers: tuple[int, ...], axis: int, number: int) -> tuple[int, ...]:
    return (*numbers[:axis], number, *numbers[axis + 1 :])


def _pad(scan: Scan, node: Node) -> None:
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

    _over_time(scan, node, Window(before=before, after=after), unpadded)


_RULES: Mapping[type, Callable[[Scan, Node], None]] = MappingProxyType(
    {
        **dict.fromkeys((qops.QLut, qops.QRescale, qops.QIsEqual, qops.QEmbedding), _same),
        **dict.fromkeys((qops.QSoftmax, qops.QLogSoftmax, qops.QNorm, qops.QPRelu), _on_last_axis),
        **dict.fromkeys((qops.QMul, qops.QAdd, qops.QDiv, qops.QSquaredDifference), _elementwise),
        **dict.fromkeys((qops.QCompare, qops.QExtremum, qops.QWhere, qops.QChain), _elementwise),
        **dict.fromkeys((qops.QConv, qops.QPooledConv), _conv),
        **dict.fromkeys((qops.QGemm, qops.QPooledGemm), _gemm),
        **dict.fromkeys((qops.QAveragePool, qops.QMaxPool), _pool),
        qops.QConcat: _concat,
        qops.QConvTranspose: _transposed_conv,
        qops.QMatMul: _matmul,
        qops.QReduce: _reduce,
        qops.QArgMax: _arg_max,
        qops.QTranspose: _transpose,
        qops.QReshape: _reshape,
        qops.QSlice: _slice,
        qops.QPad: _pad,
    }
)
_REASONS: Mapping[type, str] = MappingProxyType(
    {
        qops.QAttention: "each frame attends to all frames of the window",
        qops.QTopK: "it looks for the largest of the window",
        qops.QTurnSlice: "it begins a loop over the window",
        qops.QTurnStack: "it ends a loop over the window",
    }
)

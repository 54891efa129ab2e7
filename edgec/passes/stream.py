"""Make a network with a window of time one that takes a few frames a run.

The network of the whole window computes its outputs from the last T frames.  That of the stream
takes N new ones in each run, keeps what it needs of earlier ones as state, and gives the same
outputs.  Padding in time is gone: in its place the stream has the frames before and after.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from edgec.base.errors import ConfigError, UnsupportedModelError, UnsupportedNode
from edgec.base.names import shown
from edgec.ir.graph import Graph, Node
from edgec.passes.slide_windows import slide_windows
from edgec.passes.stream_frames import Frames, Result
from edgec.passes.stream_rings import Rings
from edgec.passes.stream_rules import follow
from edgec.passes.stream_scan import MultipleError, RefusedError, Scan

_OPTION, _FRAMES = "--stream", "--stream-frames"


@dataclass(frozen=True, slots=True, eq=False)
class Streamed:
    """A network that runs frame by frame.

    Attributes:
        graph: INTEGER stage, with `warm_up`.
        window: frames of the whole window.
        frames: frames that a run brings.
        delay: frames of the input that came after those that an output is about.
        equals_window: padding in time reaches no output: each equals that of the whole window on
            the same frames.
        axes: axis of time of the inputs and outputs that have frames, in the graph's order of axes.
    """

    graph: Graph
    window: int
    frames: int
    delay: int
    equals_window: bool
    axes: Mapping[str, int]


def streamed(
    graph: Graph, axes: Mapping[str, int], frames: int | None, allow_delay: bool
) -> Streamed:
    """The network of a stream.

    Args:
        graph: INTEGER stage, of the whole window.
        axes: axis of time of each input that brings frames, in the graph's order of axes.
        frames: frames that a run brings; None: the fewest.
        allow_delay: outputs may be about earlier frames than the newest of a run.

    Raises:
        ConfigError: it has loops or a state, or no such axis or number of frames.
        UnsupportedModelError: all nodes that a stream cannot have.
    """
    window = check_window(graph, axes, frames)
    wanted = 1 if frames is None else frames
    needs: Mapping[str, int] = {}
    while True:
        try:
            scan = _scanned(graph, axes, wanted, needs, allow_delay)
        except MultipleError as error:
            if frames is not None:
                fewest = streamed(graph, axes, None, allow_delay).frames
                raise ConfigError(
                    f"{frames} frames a run do not fill the strides of this network",
                    where=_FRAMES,
                    hint=f"give a multiple of {fewest}",
                ) from error
            wanted = error.multiple
            if wanted >= window:
                raise _short(window, wanted) from error
            needs = {}
            continue
        if scan.rings.needs == needs:
            return _streamed(scan, axes, window, wanted)
        needs = scan.rings.needs


def check_window(graph: Graph, axes: Mapping[str, int], frames: int | None) -> int:
    """Frames of the window of a network, of any stage; arguments and errors as of `streamed`."""
    if not graph.is_straight:
        raise ConfigError(
            "a network with loops or a state keeps frames by itself",
            where=_OPTION,
            hint="compile it without --stream",
        )
    sizes = {}
    for name, axis in axes.items():
        shape = graph.shape(name)
        quant = graph.values[name].quant
        if quant is not None and quant.axis == axis:
            raise ConfigError(
                f"axis {axis} of {shown(name)} has features with a scale each, not frames",
                where=_OPTION,
            )
        sizes[name] = shape[axis]
    if len(set(sizes.values())) > 1:
        found = ", ".join(f"{shown(name)} has {size}" for name, size in sizes.items())
        raise ConfigError(f"the windows of the inputs differ: {found} frames", where=_OPTION)
    window = next(iter(sizes.values()))
    if window <= (frames or 1):
        raise _short(window, frames or 1)
    return window


def _short(window: int, frames: int) -> ConfigError:
    return ConfigError(
        f"the window has {window} frames, a run would bring {frames}: it would keep none",
        where=_OPTION,
        hint="name the axis of time, and fewer frames a run than the window has",
    )


def _scanned(
    graph: Graph, axes: Mapping[str, int], frames: int, needs: Mapping[str, int], allow_delay: bool
) -> Scan:
    """A walk over the graph with a number of frames a run."""
    rings = Rings(graph, frames, needs)
    scan = Scan(graph, rings, allow_delay)
    for name, axis in axes.items():
        scan.frames[name] = Frames(axis, graph.shape(name)[axis])
        rings.put(name, scan.frames[name], frames)
    problems, unknown = [], set[str]()
    for node in graph.nodes:
        if unknown.intersection(node.inputs):
            unknown.update(node.outputs)
            continue
        try:
            follow(scan, node)
        except RefusedError as refused:
            unknown.update(node.outputs)
            problems.append(_problem(graph, node, str(refused)))
    if problems:
        raise UnsupportedModelError(tuple(problems))
    return scan


def _streamed(scan: Scan, axes: Mapping[str, int], window: int, frames: int) -> Streamed:
    """The result of a walk whose rings are all known."""
    found = [_output(scan, name) for name in scan.graph.outputs]
    known = [each for each in found if each is not None]
    if not known:
        raise ConfigError("no output depends on the frames", where=_OPTION)
    depth = max(each.depth for each in known)
    scan.rings.builder.warm_up = -(-depth // frames) - 1
    outputs = {name: scan.frames[name].axis for name in scan.graph.outputs if name in scan.frames}
    return Streamed(
        slide_windows(scan.rings.builder.build()),
        window,
        frames,
        max(each.delay for each in known),
        not any(each.padded for each in known),
        {**axes, **outputs},
    )


def _output(scan: Scan, name: str) -> Result | None:
    """The dependence of an output on frames; None: it has none."""
    if name not in scan.frames:
        return scan.results.get(name)
    own = scan.frames[name]
    new = scan.rings.per_run(own)
    depth = own.depth + (new - 1) * own.stride
    padded = own.back > own.delay or own.front > own.length - own.delay - new
    return Result(depth, own.delay_of_input, padded)


def _problem(graph: Graph, node: Node, reason: str) -> UnsupportedNode:
    late = "late" in reason
    return UnsupportedNode(
        name=shown(node.sources[-1] if node.sources else node.name),
        op=node.op.removeprefix("Q"),
        shape="x".join(map(str, graph.shape(node.outputs[0]))),
        reason=f"{reason}, in a stream",
        remedy="add --allow-delay, or pad only before the first frame"
        if late
        else "use layers that look at a few frames, and pool with a mean or a maximum; or compile "
        "it without --stream",
    )

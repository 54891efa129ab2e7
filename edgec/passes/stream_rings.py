"""The new graph of a stream: frames of runs before this one, kept as state of the model.

A ring of a value holds its newest frames of the runs before.  A run joins them with its new ones;
the last of both are the ring of the next run.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import numpy as np

from edgec.base.errors import InternalError
from edgec.ir import qops
from edgec.ir.graph import Graph, Value
from edgec.ir.graph_builder import GraphBuilder
from edgec.passes.stream_frames import Frames


class Rings:
    """Builds the graph of a stream.

    Attributes:
        builder: the new graph, which has the tensors of the old one by the same names.
        needs: for each value the most frames that were asked for, known once all have been.
    """

    def __init__(self, graph: Graph, run_frames: int, needs: Mapping[str, int]) -> None:
        """Begin a graph.

        Args:
            graph: INTEGER stage, of the whole window.
            run_frames: frames of the input that a run brings.
            needs: the most frames of each value that will be asked for; what is missing is not
                known yet, and the graph is not the last one.
        """
        self.builder = GraphBuilder.of(graph)
        self.builder.nodes = {}
        self.needs = dict(needs)
        self._run_frames = run_frames
        self._joined: dict[str, str] = {}

    def per_run(self, frames: Frames) -> int:
        """New frames of a value in each run."""
        return self._run_frames // frames.stride

    def put(self, name: str, frames: Frames, count: int) -> None:
        """Let a value hold `count` frames."""
        value = self.builder.values[name]
        self.builder.value(replace(value, shape=_sized(value.shape, frames.axis, count)))

    def newest(self, name: str, frames: Frames, count: int, spare: int = 0) -> str:
        """A value of the newest frames.

        Args:
            name: the value of a run's new frames.
            frames: what they are.
            count: how many are wanted.
            spare: how many of the newest ones are left out.
        """
        new, wanted = self.per_run(frames), count + spare
        self.needs[name] = max(self.needs.get(name, 0), wanted)
        if wanted == new and not spare:
            return name
        held, source = new, name
        if self.needs[name] > new:
            held, source = self.needs[name], self._ring(name, frames, self.needs[name])
        if wanted == held and not spare:
            return source
        return self.part(source, frames.axis, held - wanted, count)

    def part(self, name: str, axis: int, start: int, count: int, step: int = 1) -> str:
        """Some frames of a value as a value of their own."""
        return part(self.builder, name, axis, start, count, step)

    def _ring(self, name: str, frames: Frames, count: int) -> str:
        """The value of the last `count` frames, of which earlier runs brought the first ones."""
        if name in self._joined:
            return self._joined[name]
        kept = count - self.per_run(frames)
        self._joined[name] = with_past(self.builder, name, frames.axis, kept)
        return self._joined[name]


def with_past(builder: GraphBuilder, name: str, axis: int, kept: int) -> str:
    """A window that moves on in each run: the last positions of the runs before, then new ones.

    Args:
        builder: gets the nodes.
        name: the value of the new positions.
        axis: axis of the positions.
        kept: how many of those before there are, zeros after a reset.

    Returns:
        The window.
    """
    value = builder.values[name]
    shape = _sized(value.shape, axis, kept)
    if value.quant is None:
        raise InternalError("frames of a stream have no quantization", where=name)
    begin = value.quant.quantize(np.zeros(shape, np.float32))
    first = builder.constant(f"{name} before", begin, value.quant)
    ring = _like(builder, f"{name} ring", value, shape)
    builder.node(ring, qops.QCarry(None), (first,), (ring,))
    count = kept + value.shape[axis]
    joined = _like(builder, f"{name} window", value, _sized(value.shape, axis, count))
    builder.node(joined, qops.QConcat(axis), (ring, name), (joined,))
    rest = part(builder, joined, axis, count - kept, kept)
    after = _like(builder, f"{name} next ring", value, shape)
    builder.node(after, qops.QUpdate(), (rest, ring), (after,))
    return joined


def part(builder: GraphBuilder, name: str, axis: int, start: int, count: int, step: int = 1) -> str:
    """Some positions of a value as a value of its own."""
    value = builder.values[name]
    sizes = _sized(value.shape, axis, count)
    starts = tuple(start if at == axis else 0 for at in range(len(sizes)))
    steps = tuple(step if at == axis else 1 for at in range(len(sizes)))
    made = _like(builder, f"{name} frames", value, sizes)
    builder.node(made, qops.QSlice(starts, steps, sizes), (name,), (made,))
    return made


def _like(builder: GraphBuilder, stem: str, like: Value, shape: tuple[int, ...]) -> str:
    name = builder.fresh(stem)
    return builder.value(replace(like, name=name, shape=shape, form_of=""))


def _sized(shape: tuple[int, ...], axis: int, count: int) -> tuple[int, ...]:
    return (*shape[:axis], count, *shape[axis + 1 :])

"""A walk over an integer graph that writes the graph of a stream, and what its rules share."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from edgec.base.dtypes import DType
from edgec.ir.graph import Graph, Node
from edgec.ir.operator import Operator
from edgec.passes.stream_frames import Frames, Result
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

    def whole(self, node: Node) -> None:
        """Add a node that reads no new frames, and note whether its outputs depend on some.

        Raises:
            RefusedError: it joins results of different windows.
        """
        found = [self.results[name] for name in node.inputs if name in self.results]
        self.rings.builder.put(node)
        if found:
            self.results.update(dict.fromkeys(node.outputs, _joined(found)))

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
        self._put(node, (x, *node.others), attrs)
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

"""Float activations of a graph whose nodes are decided one after the other.

`activations` runs a network from its inputs on.  Who looks at one layer after the other, and
changes it, would run the first layers again for every later one.  A `Walk` keeps what nodes from
the present one on will read, so that a pass over a network runs each node about once.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import numpy as np

from edgec.base.dtypes import Array
from edgec.floatrun.activations import as_float32, batch_samples
from edgec.floatrun.executor import Executor
from edgec.ir.graph import Graph

_MOST_BYTES = 512 << 20
"""What is kept takes no more; where it would, the next node is computed from the inputs on."""


class Walk:
    """A pass over a network, from its first node to its last."""

    def __init__(self, graph: Graph, data: Mapping[str, Array]) -> None:
        """Begin at the inputs.

        Args:
            graph: REAL stage; later graphs have the nodes of this one, with other constants.
            data: checked calibration data.
        """
        self._data = dict(data)
        self._known = dict(data)
        self._count = len(next(iter(data.values())))
        self._step = batch_samples(Executor(graph, graph.outputs))

    def activations(
        self, graph: Graph, names: Sequence[str], place: int
    ) -> Iterator[dict[str, Array]]:
        """Values of a few samples at a time, bit for bit those of `activations`.

        Args:
            graph: the network as it is now.
            names: values wanted.
            place: number of the present node; no node before it will be changed.

        Yields:
            For each name [samples, ...value shape...], as `activations` gives it.
        """
        cut = graph.replace(
            nodes=tuple(node for node in graph.nodes if node.output not in self._known),
            inputs=tuple(self._known),
            outputs=tuple(names),
            output_layouts={},
        ).pruned()
        kept = self._read_from(graph, cut, place)
        executor = Executor(cut, (*names, *kept))
        parts: dict[str, list[Array]] = {name: [] for name in kept}
        for start in range(0, self._count, self._step):
            here = {name: x[start : start + self._step] for name, x in self._known.items()}
            results = executor.run(here)
            for name, part in parts.items():
                part.append(results[name])
            yield {name: as_float32(results[name]) for name in names}
        found = {name: np.concatenate(part) for name, part in parts.items()}
        self._known = self._data | found

    def forget(self, graph: Graph, name: str) -> None:
        """Drop a value whose node was changed, and all that depends on it.

        Args:
            graph: the network as it is now.
            name: output of the node.
        """
        waiting, gone = [name], {name}
        while waiting:
            each = waiting.pop()
            self._known.pop(each, None)
            # Once each: paths double at every branch, so that walking all of them would never end.
            found = {node.output for node in graph.consumers[each]} - gone
            gone |= found
            waiting += found

    def _read_from(self, graph: Graph, cut: Graph, place: int) -> tuple[str, ...]:
        """Values of `cut` that nodes from `place` on read; none where they take too much memory."""
        later = {name for node in graph.nodes[place:] for name in node.inputs}
        kept = tuple(name for name in cut.values if name in later and name not in self._data)
        size = sum(8 * graph.values[name].elements for name in kept) * self._count
        return kept if size <= _MOST_BYTES else ()

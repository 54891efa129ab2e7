"""What the codes of one tensor do to the outputs of a network that is exact otherwise.

The network runs once in float64.  A trial puts other numbers into one tensor and computes again
what depends on it.  Such noises are nearly independent, so those of all tensors add up to that of
the quantized network: in MLPerf's visual wake words, ResNet-8 and MCUNet to within 1 dB.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from edgec.base.dtypes import Array
from edgec.floatrun.executor import Executor
from edgec.ir.graph import Graph
from edgec.ir.infer import total_macs

MOST_SAMPLES = 4
"""Samples that a tensor is tried on, at most."""
_TRIAL_MACS = 2e9
"""Multiply-accumulates of a trial of each tensor: some seconds.  What is done never depends on how
fast the computer is."""


def trial_samples(graph: Graph, available: int) -> int:
    """How many samples trials of all tensors may take: 1 to `MOST_SAMPLES`, 0 for a large graph."""
    # On the average half of the network depends on a tensor.
    cost = max(total_macs(graph), 1) * max(len(graph.nodes), 1) / 2
    return min(int(_TRIAL_MACS / cost), MOST_SAMPLES, available)


class OutputNoise:
    """A float network on samples, and what becomes of changes in it."""

    def __init__(self, graph: Graph, data: Mapping[str, Array]) -> None:
        """Run the network.

        Args:
            graph: REAL stage.
            data: graph input name to float32 [S, ...]; all of it is used.
        """
        self._graph = graph
        self._known = Executor(graph, [*graph.values]).run(data)
        self._outputs = [n for n in graph.outputs if self._known[n].dtype.kind == "f"]
        self._power = {name: max(energy(self._known[name]), 1e-30) for name in self._outputs}

    def value(self, name: str) -> Array:
        """What the float network computes; float64 [S, ...]."""
        return self._known[name]

    def of(self, name: str, values: Array) -> float:
        """The largest share of an output's energy that is noise when a tensor holds `values`."""
        found = {}
        if name in self._outputs:
            found[name] = values
        after = self._after(name)
        if after is not None:
            inputs = {each: self._known[each] for each in after.inputs} | {name: values}
            found |= Executor(after, after.outputs).run(inputs)
        return max(
            (energy(y - self._known[n]) / self._power[n] for n, y in found.items()), default=0.0
        )

    def _after(self, name: str) -> Graph | None:
        """The part of the network that depends on a value; None: no output does."""
        changed, nodes = {name}, []
        for node in self._graph.nodes:
            if not changed.isdisjoint(node.inputs):
                nodes.append(node)
                changed.update(node.outputs)
        outputs = tuple(n for n in self._outputs if n in changed and n != name)
        if not outputs:
            return None
        made = {out for node in nodes for out in node.outputs}
        read = dict.fromkeys(each for node in nodes for each in node.inputs)
        inputs = tuple(each for each in read if each in self._graph.values and each not in made)
        return self._graph.replace(
            nodes=tuple(nodes), inputs=inputs, outputs=outputs, input_layouts={}, output_layouts={}
        )


def energy(values: Array) -> float:
    """Sum of squares."""
    return float(np.sum(np.asarray(values, np.float64) ** 2))

"""What the codes of one tensor do to the outputs of a network: the measure that chooses precision.

One run of the network with int16 codes everywhere is kept for each sample.  A trial rounds a tensor
to its int8 codes there and computes again what depends on it, in integers, so that every computer
finds the same numbers.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from edgec.base.dtypes import Array
from edgec.interp.int_interp import run_graph, run_node
from edgec.ir.graph import Graph
from edgec.ir.qparams import QuantParams


class Trials:
    """A network with int16 codes wherever it can have them, run on samples."""

    def __init__(
        self, graph: Graph, samples: Sequence[Mapping[str, Array]], compared: Sequence[str]
    ) -> None:
        """Run all samples.

        Args:
            graph: INTEGER stage, schedule as it is.
            samples: codes of the graph's inputs.
            compared: the values that `outputs` and `rounded` give.
        """
        self._graph, self._outputs = graph, compared
        self._runs = [run_graph(graph, codes) for codes in samples]

    @property
    def samples(self) -> int:
        """How many samples were run."""
        return len(self._runs)

    def outputs(self, sample: int) -> dict[str, Array]:
        """What is compared of a sample, as real numbers; float64."""
        return self._real(self._runs[sample])

    def rounded(self, sample: int, narrow: Mapping[str, QuantParams]) -> dict[str, Array]:
        """What is compared of a sample when some tensors are rounded to int8 codes; float64.

        Args:
            sample: its number.
            narrow: int8 parameters of tensors that an operator computes, or of inputs.
        """
        known, found = self._runs[sample], dict(self._runs[sample])
        changed = set()
        for name in narrow.keys() & set(self._graph.inputs):
            found[name] = self._round(name, known[name], narrow[name])
            changed.add(name)
        for node in self._graph.nodes:
            if changed.isdisjoint(node.inputs):
                codes = known[node.output]
            else:
                codes = run_node(self._graph, node, found)
            if node.output in narrow:
                codes = self._round(node.output, codes, narrow[node.output])
            if codes is not known[node.output]:
                found[node.output] = codes
                changed.add(node.output)
        return self._real(found)

    def _round(self, name: str, codes: Array, narrow: QuantParams) -> Array:
        wide = self._graph.quant(name)
        return wide.quantize(narrow.dequantize64(narrow.quantize(wide.dequantize64(codes))))

    def _real(self, run: Mapping[str, Array]) -> dict[str, Array]:
        return {name: self._graph.quant(name).dequantize64(run[name]) for name in self._outputs}

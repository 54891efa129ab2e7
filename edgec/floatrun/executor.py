"""Executes graphs of the real stage in float64, with the same bits on every computer.

onnxruntime's sums depend on the processor.  Here every operator is made of `base.exact_product`,
`base.exact_functions` and single operations that IEEE 754 defines.  What is computed for a sample
does not depend on the other samples of its batch.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import numpy as np

from edgec.base.dtypes import Array
from edgec.base.errors import InternalError
from edgec.floatrun import ops_elementwise, ops_move, ops_product, ops_reduce, ops_trees
from edgec.floatrun.nearest import dequantized, nearest_codes
from edgec.ir import ops
from edgec.ir.graph import Graph, Node
from edgec.ir.real import RealOperator

RULES = ops_elementwise.RULES.joined(
    ops_move.RULES, ops_product.RULES, ops_reduce.RULES, ops_trees.RULES
)

_ELEMENT_BYTES = 8

Change = Callable[[Node, Array, Mapping[str, Array]], Array]


class Executor:
    """A graph, ready to run on samples."""

    def __init__(self, graph: Graph, names: Sequence[str]) -> None:
        """Prepare a graph of the REAL (or ANNOTATED) stage.

        Args:
            graph: quantization pinned on values is ignored, except by QuantizeLinear and
                DequantizeLinear; integer weights count as what they stand for.
            names: values wanted.
        """
        self._names = tuple(dict.fromkeys(names))
        self._graph = graph.replace(outputs=self._names, output_layouts={}).pruned()
        constants = self._graph.constants.values()
        # With an axis for samples, like values.
        self._constants = {constant.name: constant.real64()[None] for constant in constants}
        self._released = _released(self._graph, self._names)

    @property
    def sample_bytes(self) -> int:
        """Bytes of the values of one sample that are in memory at a time, at most."""
        live = most = sum(self._bytes(name) for name in self._graph.inputs)
        for node, released in zip(self._graph.nodes, self._released, strict=True):
            live += self._bytes(node.output)
            most = max(most, live)
            live -= sum(self._bytes(name) for name in released)
        return most

    def _bytes(self, name: str) -> int:
        return _ELEMENT_BYTES * self._graph.values[name].elements

    def run(self, inputs: Mapping[str, Array], change: Change | None = None) -> dict[str, Array]:
        """Values of samples.

        Args:
            inputs: for each graph input an array of S samples, [S, ...]; codes or whole numbers
                where it holds such.
            change: told each node, its output and the values that are known at this point, by
                name; what it returns takes the output's place.

        Returns:
            For each of the names [S, ...shape of the value...]: float64, int32, or codes.
        """
        live = dict(self._constants)
        for name in self._graph.inputs:
            live[name] = self._samples(name, np.asarray(inputs[name]))
        with np.errstate(invalid="ignore", over="ignore", divide="ignore", under="ignore"):
            for node, released in zip(self._graph.nodes, self._released, strict=True):
                output = self._computed(node, live)
                live[node.output] = output if change is None else change(node, output, live)
                for name in released:
                    del live[name]
        return {name: live[name] for name in self._names}

    def run_again(
        self, known: Mapping[str, Array], changed: Mapping[str, Array]
    ) -> dict[str, Array]:
        """What becomes of other numbers in some values: only what depends on them is computed.

        Args:
            known: every value of the graph, from `run`.
            changed: some of them, with other numbers in them.

        Returns:
            All values that are others, by name; those of `changed` are among them.
        """
        live = {**self._constants, **known, **changed}
        touched = set(changed)
        with np.errstate(invalid="ignore", over="ignore", divide="ignore", under="ignore"):
            for node in self._graph.nodes:
                if not touched.isdisjoint(node.inputs):
                    live[node.output] = self._computed(node, live)
                    touched.add(node.output)
        return {name: live[name] for name in touched}

    def _samples(self, name: str, array: Array) -> Array:
        full = array.reshape(len(array), *self._graph.shape(name))
        return full.astype(np.float64) if full.dtype.kind == "f" else full

    def _computed(self, node: Node, live: Mapping[str, Array]) -> Array:
        arrays = [live[name] if name else None for name in node.inputs]
        match node.attrs:
            case ops.QuantizeLinear():
                return nearest_codes(live[node.input], self._graph.quant(node.output))
            case ops.DequantizeLinear():
                return dequantized(live[node.input], self._graph.quant(node.input))
        rule = RULES.get(type(node.attrs))
        if rule is None:
            return _evaluated(node, arrays)
        return rule(node.attrs, node.attrs.Inputs.of(arrays))


def _evaluated(node: Node, arrays: Sequence[Array | None]) -> Array:
    """The output of an operator without a rule, by its `evaluate`, one sample after the other."""
    count = max(len(array) for array in arrays if array is not None)
    outputs = []
    for sample in range(count):
        own = [None if a is None else a[min(sample, len(a) - 1)] for a in arrays]
        attrs, operands = node.attrs, node.attrs.Inputs.of(own)
        output = attrs.evaluate(operands) if isinstance(attrs, RealOperator) else None
        if output is None:
            raise InternalError(f"operator {node.op} cannot be executed in float", where=node.name)
        outputs.append(output)
    return np.stack(outputs)


def is_quantized(graph: Graph) -> bool:
    """True for a model with integer weights or rounding between its operators.

    Args:
        graph: REAL stage, as imported.
    """
    rounding = ops.QuantizeLinear | ops.DequantizeLinear
    weights = any(constant.quant is not None for constant in graph.constants.values())
    return weights or any(isinstance(node.attrs, rounding) for node in graph.nodes)


def _released(graph: Graph, kept: Sequence[str]) -> list[list[str]]:
    """For each node the values that nobody reads after it."""
    last: dict[str, int] = {}
    for index, node in enumerate(graph.nodes):
        last.update({name: index for name in (*node.inputs, *node.outputs) if name})
    released: list[list[str]] = [[] for _ in graph.nodes]
    for name, index in last.items():
        if name not in kept and name in graph.values:
            released[index].append(name)
    return released

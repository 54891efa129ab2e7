"""The pieces of a new graph, until it is built."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from edgec.base.dtypes import Array
from edgec.base.errors import InternalError
from edgec.base.rounding import Rounding
from edgec.ir.graph import Constant, Graph, Node, Value
from edgec.ir.length import VariableLength
from edgec.ir.operator import Operands, Operator
from edgec.ir.qparams import QuantParams
from edgec.ir.turns import in_turns
from edgec.ir.weight_pool import PooledWeights


class GraphBuilder:
    """Collects the pieces of a new graph; used by the importer, passes and tests.

    Start from nothing or from an existing graph (`GraphBuilder.of(graph)`), add and remove, then
    `build()`, which sorts the nodes topologically and drops what no output needs.
    """

    def __init__(self, name: str) -> None:
        self.name = name
        self.values: dict[str, Value] = {}
        self.constants: dict[str, Constant] = {}
        self.nodes: dict[str, Node] = {}
        self.inputs: list[str] = []
        self.outputs: list[str] = []
        self.input_layouts: dict[str, tuple[int, ...]] = {}
        self.output_layouts: dict[str, tuple[int, ...]] = {}
        self.input_features: dict[str, QuantParams] = {}
        self.metadata: dict[str, str] = {}
        self.length: VariableLength | None = None
        self.rounding = Rounding.EDGEC
        self.warm_up = 0
        self.lead: int | None = None
        self._reserved: frozenset[str] = frozenset()

    @classmethod
    def of(cls, graph: Graph) -> GraphBuilder:
        """A builder that holds all of `graph`."""
        builder = cls(graph.name)
        builder.values = dict(graph.values)
        builder.constants = dict(graph.constants)
        builder.nodes = {node.name: node for node in graph.nodes}
        builder.inputs = list(graph.inputs)
        builder.outputs = list(graph.outputs)
        builder.input_layouts = dict(graph.input_layouts)
        builder.output_layouts = dict(graph.output_layouts)
        builder.input_features = dict(graph.input_features)
        builder.metadata = dict(graph.metadata)
        builder.length = graph.length
        builder.rounding = graph.rounding
        builder.warm_up = graph.warm_up
        builder.lead = graph.lead
        return builder

    def reserve(self, names: Iterable[str]) -> None:
        """Keep names for values that are added later: `fresh` gives others."""
        self._reserved = frozenset(names)

    def fresh(self, stem: str) -> str:
        """`stem`, with a number when that is taken (tensors and nodes share names)."""
        if not self._taken(stem):
            return stem
        number = 1
        while self._taken(f"{stem}#{number}"):
            number += 1
        return f"{stem}#{number}"

    def value(self, value: Value) -> str:
        """Add or replace a value; its name."""
        self.values[value.name] = value
        return value.name

    def constant(
        self,
        stem: str,
        array: Array,
        quant: QuantParams | None = None,
        *,
        pooled: PooledWeights | None = None,
        keep_name: bool = False,
    ) -> str:
        """Add a constant under a fresh name (`keep_name`: exactly `stem`, replacing); its name."""
        name = stem if keep_name else self.fresh(stem)
        self.constants[name] = Constant(name, array, quant, pooled)
        return name

    def node(
        self,
        stem: str,
        attrs: Operator,
        inputs: Iterable[str] | Operands[str],
        outputs: Iterable[str],
        sources: Iterable[str] = (),
    ) -> Node:
        """Add a node under a fresh name; `inputs`: the operator's record, or its flat names."""
        name = stem if stem not in self.nodes else self.fresh(stem)
        names = inputs.names() if isinstance(inputs, Operands) else tuple(inputs)
        node = Node(name, attrs, names, tuple(outputs), tuple(sources))
        self.nodes[name] = node
        return node

    def put(self, node: Node) -> None:
        """Add a node, or replace the node of the same name in place."""
        self.nodes[node.name] = node

    def remove(self, node: Node) -> None:
        """Take a node out; its outputs stay as values until `build` finds them unused."""
        del self.nodes[node.name]

    def rewire(self, old: str, new: str) -> None:
        """Make every reader of `old`, and the graph outputs, read `new` instead."""
        for node in self.nodes.values():
            if old in node.inputs:
                inputs = tuple(new if name == old else name for name in node.inputs)
                self.nodes[node.name] = replace(node, inputs=inputs)
        self.outputs = [new if name == old else name for name in self.outputs]

    def build(self) -> Graph:
        """The graph, topologically sorted (stable) and pruned.

        Raises:
            InternalError: the nodes form a cycle or read a name that nothing defines.
        """
        return Graph(
            name=self.name,
            values=self.values,
            constants=self.constants,
            nodes=self._sorted_nodes(),
            inputs=tuple(self.inputs),
            outputs=tuple(self.outputs),
            input_layouts=self.input_layouts,
            output_layouts=self.output_layouts,
            input_features=self.input_features,
            metadata=self.metadata,
            length=self.length,
            rounding=self.rounding,
            warm_up=self.warm_up,
            lead=self.lead,
        ).pruned()

    def _taken(self, name: str) -> bool:
        known = (self.values, self.constants, self.nodes, self._reserved)
        return any(name in names for names in known)

    def _sorted_nodes(self) -> tuple[Node, ...]:
        ready = {"", *self.constants, *self.inputs}
        waiting = list(self.nodes.values())
        done: list[Node] = []
        while waiting:
            later: list[Node] = []
            for node in waiting:
                if all(name in ready for name in node.inputs):
                    done.append(node)
                    ready.update(node.outputs)
                else:
                    later.append(node)
            if len(later) == len(waiting):
                raise InternalError(
                    "nodes form a cycle or read undefined tensors", where=later[0].name
                )
            waiting = later
        try:
            return in_turns(done)
        except ValueError as error:
            raise InternalError(str(error)) from error

"""The graph of layers that run in turns, as kernels and memory see it.

Rules:
1. rows of a time: a node of a chain computes its rows of a time, from an operand that has its
   padding; the padding of columns stays.
2. buffer: rows of a value that later turns read lie in a buffer (`QRowsInto`), readers see their
   part of it (`QRowsFrom`).
   An input that the caller hands over by rows has such a buffer, too.
3. whole tensor: what is read or written by rows from or for the nodes around is a part that moves
   on with the time; with padding, if some is read, all around the image.

Names of nodes stay, and of values but those that the chain hands on: there, the whole tensor keeps
its name.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from types import MappingProxyType

from edgec.ir import qops
from edgec.ir.graph import Constant, Graph, Node, Value
from edgec.ir.qops import IntegerOperator
from edgec.ir.rows import ROWS, HandedRows, RowBuffer, RowChain, RowFill
from edgec.passes.rows.names import Names
from edgec.passes.rows.reads import Read, inputs_for_rows
from edgec.passes.rows.timeline import RowSlice, Timeline


def in_turns(
    graph: Graph,
    chains: Sequence[Timeline],
    columns: Mapping[str, tuple[str, tuple[int, int]]] = MappingProxyType({}),
) -> Graph:
    """The graph with some chains in turns.

    Args:
        graph: INTEGER stage, straight, without chains.
        chains: times of neighbours in the order of the graph; no node is in two of them.
        columns: for nodes that compute some columns, of which tensor and which (`strips.Strip`).
    """
    return _Rewriting(graph, chains, columns).graph()


def by_itself(graph: Graph, node: Node, reads: Sequence[Read], rows: int) -> Graph:
    """A graph of one node that computes some rows at a time.

    Args:
        graph: INTEGER stage, straight.
        node: one of it.
        reads: what it reads by rows.
        rows: rows of a time.
    """
    inputs = list(node.inputs)
    values = {name: graph.values[name] for name in (*inputs, node.output) if name in graph.values}
    for read in reads:
        # A node may read two windows of one value.
        inputs[read.place] = f"{read.name} {read.place}"
        value = with_rows(values[read.name], read.window.height(rows))
        values[inputs[read.place]] = replace(value, name=inputs[read.place])
    constants = {n: graph.constants[n] for n in node.inputs if n in graph.constants}
    for place, count in inputs_for_rows(node, rows).items():
        constants[inputs[place]] = _front(constants[inputs[place]], count, inputs[place])
    values[node.output] = with_rows(values[node.output], rows)
    attrs = node.attrs_as(IntegerOperator).without_row_padding()
    names = [name for name in inputs if name in values]
    return graph.replace(
        nodes=(replace(node, attrs=attrs, inputs=tuple(inputs)),),
        values={name: values[name] for name in (*names, node.output)},
        constants=constants,
        inputs=tuple(dict.fromkeys(names)),
        outputs=(node.output,),
        input_layouts={},
        output_layouts={},
        input_features={},
    )


def with_rows(value: Value, rows: int) -> Value:
    """A value of the same columns and channels with another number of rows."""
    return replace(value, shape=(*value.shape[:ROWS], rows, *value.shape[ROWS + 1 :]))


def _front(constant: Constant, count: int, name: str) -> Constant:
    """The first entries of a table."""
    return Constant(name, constant.array[:count])


class _Rewriting:
    """Values and nodes of the new graph."""

    def __init__(
        self,
        graph: Graph,
        chains: Sequence[Timeline],
        columns: Mapping[str, tuple[str, tuple[int, int]]],
    ) -> None:
        self._graph, self._chains, self._columns = graph, chains, columns
        self._values, self._constants = dict(graph.values), dict(graph.constants)
        self._fresh = Names(graph).fresh
        self._chain_of = {node.name: chain for chain in chains for node in chain.nodes}
        self._margins: dict[str, tuple[int, int]] = {}
        self._padded: dict[str, str] = {}
        self._buffers: dict[str, str] = {}
        for chain in chains:
            for name, (top, bottom) in chain.margins.items():
                before = self._margins.get(name, (0, 0))
                self._margins[name] = max(top, before[0]), max(bottom, before[1])

    def graph(self) -> Graph:
        """The new graph."""
        nodes: list[Node] = []
        for name in self._graph.inputs:
            nodes += self._surrounded(name)
        for chain in self._chains:
            if chain.handed is not None:
                nodes += self._kept_rows(chain.handed.name, chain.handed.firing.rows, chain)
        for node in self._graph.nodes:
            if node.name in self._chain_of:
                nodes += self._fired(node, self._chain_of[node.name])
            else:
                nodes.append(node)
                nodes += self._surrounded(node.output)
        return self._graph.replace(
            nodes=tuple(nodes),
            values=self._values,
            constants=self._constants,
            chains=tuple(self._record(chain) for chain in self._chains),
        )

    def _surrounded(self, name: str) -> Iterator[Node]:
        """The tensor with padding that a whole tensor is the inner part of."""
        top, bottom = self._margins.get(name, (0, 0))
        if top or bottom:
            height = top + self._graph.shape(name)[ROWS] + bottom
            self._padded[name] = self._fresh(f"{name} padded")
            yield self._view(name, qops.QRowsInto(height, top), self._padded[name])

    def _fired(self, node: Node, chain: Timeline) -> Iterator[Node]:
        """A node of a chain, after views of its operands and before one of its output."""
        operands = list(node.inputs)
        for part in chain.slices:
            if part.node == node.name:
                yield from self._read(part, chain, operands)
        rows = chain.firings[node.name].rows
        for place, count in inputs_for_rows(node, rows).items():
            whole = self._constants[operands[place]]
            name = operands[place] = self._fresh(f"{whole.name} of {node.name}")
            self._constants[name] = _front(whole, count, name)
        attrs, inputs = node.attrs_as(IntegerOperator).without_row_padding(), tuple(operands)
        name = node.output
        if name not in chain.kept:
            yield replace(node, attrs=attrs, inputs=inputs)
            yield from self._kept_rows(name, rows, chain)
            return
        own = self._fresh(f"{name} rows")
        self._values[own] = replace(
            with_rows(self._graph.values[name], rows), name=own, form_of=name
        )
        yield replace(node, attrs=attrs, inputs=inputs, outputs=(own,))
        top, bottom = self._margins.get(name, (0, 0))
        height = self._graph.shape(name)[ROWS]
        if not top and not bottom:
            yield self._view(own, qops.QRowsInto(height, 0, rows), name)
            return
        around = self._padded[name] = self._fresh(f"{name} padded")
        yield self._view(own, qops.QRowsInto(top + height + bottom, top, rows), around)
        yield self._view(around, qops.QRowsFrom(height, top), name)

    def _kept_rows(self, name: str, rows: int, chain: Timeline) -> Iterator[Node]:
        """The rows of a time of a value within a chain, and the buffer that later turns read."""
        self._values[name] = with_rows(self._graph.values[name], rows)
        depth = chain.depths[name]
        if depth > rows:
            self._buffers[name] = self._fresh(f"{name} rows")
            yield self._view(name, qops.QRowsInto(depth, depth - rows), self._buffers[name])

    def _read(self, part: RowSlice, chain: Timeline, operands: list[str]) -> Iterator[Node]:
        """A view of the rows of an operand; it takes its place in `operands`."""
        name = part.read.name
        whole = name not in chain.depths
        if whole:
            top, _ = self._margins.get(name, (0, 0))
            source, start = self._padded.get(name, name), part.start + top
        else:
            rows = self._values[name].shape[ROWS]
            source = self._buffers.get(name, name)
            start = part.start
            if source == name and (part.height, start) == (rows, 0):
                return
        view = operands[part.read.place] = self._fresh(f"{name} for {part.node}")
        yield self._view(source, qops.QRowsFrom(part.height, start, part.step), view)

    def _view(self, x: str, attrs: qops.RowView, y: str) -> Node:
        shape = attrs.infer_shape(attrs.Inputs(self._values[x].shape))
        self._values[y] = replace(self._values[x], name=y, shape=shape)
        return Node(self._fresh(f"{attrs.op} {y}"), attrs, (x,), (y,))

    def _record(self, chain: Timeline) -> RowChain:
        """A chain as lowering needs it."""
        padding, handed = chain.bytes_of_padding, None
        buffers = {
            name: RowBuffer(self._buffers[name], firing.rows, padding.get(name, 0))
            for name, firing in chain.written().items()
            if chain.depths.get(name, 0) > firing.rows
        }
        if chain.handed is not None:
            name, firing = chain.handed.name, chain.handed.firing
            handed = HandedRows(name, firing, buffers.get(name) or RowBuffer(name, firing.rows, 0))
        fills = []
        for name, buffer in buffers.items():
            if name in padding:
                depth = self._values[buffer.tensor].shape[ROWS]
                # Rows that are handed over are there before the padding is written.
                own = buffer.rows if handed is not None and name == handed.name else 0
                fills.append(RowFill(buffer.tensor, padding[name], depth - own))
        for name in chain.margins:
            # Those of other chains, too: whoever comes first fills for all.
            fills.append(RowFill(self._padded[name], padding[name], *self._margins[name]))
        whole = {part.read.name for part in chain.slices if part.read.name not in chain.depths}
        roots = frozenset(self._padded.get(name, name) for name in (*whole, *chain.kept))
        names, firings = {node.name: node.output for node in chain.nodes}, dict(chain.firings)
        for node in chain.nodes:
            if node.name in self._columns:
                names[node.name], columns = self._columns[node.name]
                firings[node.name] = replace(firings[node.name], columns=columns)
        kept = {node.name: buffers[node.output] for node in chain.nodes if node.output in buffers}
        title = f"{chain.nodes[0].output} to {chain.nodes[-1].output}"
        return RowChain(
            *(title, chain.turns, firings, names, kept, tuple(fills), roots, handed),
            chain.waiting,
        )

"""Scaled dot-product attention out of its parts, with the heads side by side.

Rules:
1. attention: `MatMul` of queries and keys, masks, `Softmax`, `MatMul` with the values becomes one
   `Attention`.  A mask is a summand of the logits, or a `Where` that replaces logits by a number
   below `HIDDEN`; one that depends on the key alone and comes from integers becomes its `keys`.
   Constant summands and masks become one constant bias, unless they are the same for all keys.
2. heads: queries, keys and values that are columns of some value (`token_columns`) are read there,
   without the transposes that cut heads out; factors found there join the scale.  When none of the
   three are, each head counts as a sequence of its own.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np

from edgec.base.dtypes import Array
from edgec.base.errors import UnsupportedModelError, UnsupportedNode
from edgec.base.names import shown
from edgec.ir import ops
from edgec.ir.graph import Graph, Node, Value
from edgec.ir.graph_builder import GraphBuilder
from edgec.passes.attention_masks import HIDDEN, LOWEST, KeyMask, added_mask, chosen_mask
from edgec.passes.edit import sweep
from edgec.passes.linear import either_way
from edgec.passes.token_columns import Columns, Source, columns_of, source_of

Shape = tuple[int, ...]
_NO_LOGIT_LEFT = -1e5
"""Added to a logit, numbers from here on down leave less than 1/128 of it in float32."""


@dataclass(frozen=True, slots=True)
class _Logits:
    """The product of queries and keys, and what is done to it.

    Attributes:
        product: the `MatMul`.
        nodes: those between it and the `Softmax`.
        bias: name of the summand that is computed at run time, or "".
        lead: the leading axes of the logits where `bias` is added.
        constants: constant summands, each with the leading axes of the logits where it is added.
        keys: the mask of keys.
    """

    product: Node
    nodes: tuple[Node, ...] = ()
    bias: str = ""
    lead: Shape = ()
    constants: tuple[tuple[Array, Shape], ...] = ()
    keys: KeyMask | None = None

    def hidden_by(self, keys: KeyMask, lead: Shape) -> _Logits:
        """These logits with a mask of keys."""
        return replace(self, keys=keys, constants=(*self.constants, (keys.bias, lead)))

    def plus(self, array: Array, lead: Shape) -> _Logits:
        """These logits with a constant summand."""
        return replace(self, constants=(*self.constants, (array, lead)))


@dataclass(frozen=True, slots=True)
class _Operand:
    """Queries, keys or values: a value [..., L, D], stored [..., D, L] if `swapped`."""

    name: str
    swapped: bool
    source: Source | None


def fuse_attention(graph: Graph) -> Graph:
    """Apply the rules until none applies."""
    return sweep(graph, _rewrite)


def _rewrite(graph: Graph, node: Node) -> Graph | None:
    """`node` being the product with the values."""
    if not isinstance(node.attrs, ops.MatMul) or node.attrs.scale != 1.0 or node.attrs.transpose_a:
        return None
    softmax, reshape = _weights(graph, node)
    if softmax is None:
        return None
    logits = _logits(graph, softmax.first, _Logits(node))
    if logits is None or (logits.bias and logits.constants):
        return None
    first = logits.product.attrs_as(ops.MatMul)
    scores, values = (ops.MatMul.Inputs.of(n.inputs) for n in (logits.product, node))
    operands = (
        _operand(graph, scores.a, first.transpose_a, True),
        _operand(graph, scores.b, not first.transpose_b, True),
        _operand(graph, values.b, node.attrs.transpose_b, False),
    )
    leads = {graph.shape(operand.name)[:-2] for operand in operands[:2]}
    counts = {math.prod(graph.shape(operand.name)[:-2]) for operand in operands}
    if len(leads) > 1 or len(counts) > 1 or graph.shape(values.b)[:-2] != _lead(graph, node):
        return None
    between = (softmax, *((reshape,) if reshape is not None else ()))
    nodes = (logits.product, *reversed(logits.nodes), *between, node)
    return _Fusion(graph, node, logits, operands, _sources(nodes)).write()


def _weights(graph: Graph, node: Node) -> tuple[Node | None, Node | None]:
    """The `Softmax` whose output, perhaps reshaped, only `node` reads as its left operand."""
    name, reshape = node.first, None
    producer = graph.producers.get(name)
    if producer is not None and _keeps_matrix(graph, producer) and _private(graph, name):
        reshape, name = producer, producer.first
        producer = graph.producers.get(name)
    if producer is None or producer.attrs != ops.Softmax():
        return None, None
    return (producer, reshape) if _private(graph, name) else (None, None)


def _private(graph: Graph, name: str) -> bool:
    return graph.sole_consumer(name) is not None and graph.values[name].quant is None


def _keeps_matrix(graph: Graph, node: Node) -> bool:
    """Whether a node is a `Reshape` of the leading axes alone."""
    if not isinstance(node.attrs, ops.Reshape):
        return False
    before, after = graph.shape(node.first), graph.shape(node.output)
    return len(after) >= 2 and before[-2:] == after[-2:]


def _lead(graph: Graph, node: Node) -> Shape:
    return graph.shape(node.output)[:-2]


def _sources(nodes: tuple[Node, ...]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(name for node in nodes for name in node.sources))


def _logits(graph: Graph, name: str, found: _Logits) -> _Logits | None:
    """Follow the logits `name` back to their product; None if there is none."""
    value, node = graph.values.get(name), graph.producers.get(name)
    if value is None or node is None or value.quant is not None or len(value.shape) < 2:
        return None
    if isinstance(node.attrs, ops.MatMul):
        return replace(found, product=node)
    found = replace(found, nodes=(*found.nodes, node))
    if _keeps_matrix(graph, node):
        return _logits(graph, node.first, found)
    for rest, masked in _unmasked(graph, node, found):
        if graph.shape(rest) == value.shape:
            result = _logits(graph, rest, masked)
            if result is not None:
                return result
    return None


def _unmasked(graph: Graph, node: Node, found: _Logits) -> Iterator[tuple[str, _Logits]]:
    """Candidates for the logits without the mask that `node` applies."""
    *lead, _, keys = graph.shape(node.output)
    if isinstance(node.attrs, ops.Add):
        for rest, mask in either_way(node):
            hidden = added_mask(graph, mask, keys) if found.keys is None else None
            if hidden is not None:
                yield rest, found.hidden_by(hidden, tuple(lead))
            elif mask in graph.constants:
                yield rest, found.plus(graph.constants[mask].real(), tuple(lead))
            elif found.bias == "":
                yield rest, replace(found, bias=mask, lead=tuple(lead))
    if isinstance(node.attrs, ops.Where):
        yield from _chosen(graph, node, found)


def _chosen(graph: Graph, node: Node, found: _Logits) -> Iterator[tuple[str, _Logits]]:
    """Candidates for the logits without a `Where` that hides keys."""
    inputs = ops.Where.Inputs.of(node.inputs)
    condition, choices = inputs.condition, (inputs.a, inputs.b)
    *lead, _, keys = graph.shape(node.output)
    fixed = graph.constants.get(condition)
    free = fixed is None and found.keys is None
    mask = chosen_mask(graph, condition, keys) if free else None
    for index in (0, 1):
        low = graph.constants.get(choices[1 - index])
        if low is None or not (low.real() <= HIDDEN).all():
            continue
        if fixed is not None:
            seen = (fixed.real() != 0.0) == (index == 0)
            yield choices[index], found.plus(np.where(seen, 0.0, LOWEST), tuple(lead))
        elif mask is not None:
            own = mask if index == 0 else mask.inverted
            if own is not None:
                yield choices[index], found.hidden_by(own, tuple(lead))


def _operand(graph: Graph, name: str, swapped: bool, factors: bool) -> _Operand:
    source = source_of(graph, name, factors)
    if source is not None and swapped:
        source = replace(source, positions=source.positions.swapaxes(-1, -2))
    return _Operand(name, swapped, source)


class _Fusion:
    """Writes one `Attention` in place of its parts."""

    def __init__(
        self,
        graph: Graph,
        node: Node,
        logits: _Logits,
        operands: tuple[_Operand, _Operand, _Operand],
        sources: tuple[str, ...],
    ) -> None:
        self._graph, self._node, self._logits = graph, node, logits
        self._operands, self._sources = operands, sources
        self._builder = GraphBuilder.of(graph)
        self._count = math.prod(graph.shape(ops.MatMul.Inputs.of(node.inputs).b)[:-2])

    def write(self) -> Graph:
        batch, columns = self._heads()
        heads = self._count // batch
        scale, inputs = self._logits.product.attrs_as(ops.MatMul).scale, []
        for operand, found in zip(self._operands, columns, strict=True):
            if found is None:
                inputs.append(self._side_by_side(operand, batch, heads))
            else:
                inputs.append(self._read(found, batch))
                scale *= found.factor
        keys = self._logits.keys
        inputs.append(self._bias(batch, heads))
        inputs.append(keys.emit(self._builder, self._sources) if keys is not None else "")
        self._attention(ops.Attention(heads, scale), tuple(inputs), batch)
        return self._builder.build()

    def _heads(self) -> tuple[int, tuple[Columns | None, ...]]:
        """The split of the leading axes for which most operands are columns, and these."""
        best: tuple[int, tuple[Columns | None, ...]] = (self._count, (None, None, None))
        most = 0
        for batch in (b for b in range(1, self._count + 1) if self._count % b == 0):
            columns = tuple(
                columns_of(self._graph, operand.source, batch, self._count // batch)
                if operand.source is not None
                else None
                for operand in self._operands
            )
            found = sum(column is not None for column in columns)
            if found > most:
                best, most = (batch, columns), found
        return best

    def _read(self, columns: Columns, batch: int) -> str:
        """The columns as a value [batch, L, heads*D]."""
        shape = self._graph.shape(columns.root)
        rows = (batch, math.prod(shape[:-1]) // batch, shape[-1])
        name = self._moved(columns.root, ops.Reshape(rows), rows)
        sizes = (*rows[:2], columns.stop - columns.start)
        cut = ops.Slice((0, 0, columns.start), (1, 1, 1), sizes)
        return self._moved(name, cut, sizes)

    def _side_by_side(self, operand: _Operand, batch: int, heads: int) -> str:
        """The operand [..., L, D] as a value [batch, L, heads*D], by moving its elements."""
        *_, rows, columns = self._graph.shape(operand.name)
        length, width = (columns, rows) if operand.swapped else (rows, columns)
        name = self._moved(operand.name, ops.Reshape((batch, heads, rows, columns)))
        perm = (0, 3, 1, 2) if operand.swapped else (0, 2, 1, 3)
        if heads > 1 or operand.swapped:
            name = self._moved(name, ops.Transpose(perm), (batch, length, heads, width))
        return self._moved(name, ops.Reshape((batch, length, heads * width)))

    def _moved(
        self, source: str, attrs: ops.Reshape | ops.Transpose | ops.Slice, shape: Shape = ()
    ) -> str:
        """A value rearranged; itself when its shape is the wanted one already."""
        value = self._builder.values[source]
        shape = attrs.shape if isinstance(attrs, ops.Reshape) else shape
        if value.shape == shape and not isinstance(attrs, ops.Transpose):
            return source
        part = "columns" if isinstance(attrs, ops.Slice) else "rows"
        name = self._builder.fresh(f"{source}/{part}")
        self._builder.value(Value(name, shape))
        self._builder.node(name, attrs, (source,), (name,), self._sources)
        return name

    def _bias(self, batch: int, heads: int) -> str:
        """The summand of the logits, broadcastable to [batch, heads, N, M]."""
        name, lead = self._logits.bias, self._logits.lead
        if name == "":
            return self._constant_bias(batch, heads)
        shape = self._graph.shape(name)
        own = (1,) * (len(lead) + 2 - len(shape)) + shape
        if math.prod(own[:-2]) == 1:
            wanted = (1, 1, *own[-2:])
        elif lead == (batch, heads):
            wanted = own
        else:
            wanted = (batch, heads, *own[-2:])
        full = (*lead, *own[-2:]) if wanted[:2] == (batch, heads) else own
        if math.prod(shape) != math.prod(full):
            name = self._expanded(name, full)
        return self._moved(name, ops.Reshape(wanted))

    def _constant_bias(self, batch: int, heads: int) -> str:
        """The constant summands together; none where they are the same for all keys."""
        *_, queries, keys = self._graph.shape(self._logits.product.output)
        total = np.zeros((1, 1, 1, 1))
        for array, lead in self._logits.constants:
            part = np.broadcast_to(array, (*array.shape[:-2], queries, keys))
            same = math.prod(part.shape[:-2]) == 1
            if not same:
                part = np.broadcast_to(part, (*lead, queries, keys))
            total = total + part.reshape(*((1, 1) if same else (batch, heads)), queries, keys)
        self._need_keys(total)
        if (total == total[..., :1]).all():
            return ""
        for axis in (0, 1):
            if (total == total.take([0], axis)).all():
                total = total.take([0], axis)
        return self._builder.constant(
            f"{self._node.name}/bias", np.maximum(total, LOWEST).astype(np.float32)
        )

    def _need_keys(self, bias: Array) -> None:
        """Refuse a query whose keys are all hidden by constants.

        Runtimes differ: minus infinity gives NaN, and numbers so low that no logit is left after
        rounding to float32 give the mean of all values.

        Args:
            bias: [..., queries, keys].

        Raises:
            UnsupportedModelError: there is such a query.
        """
        blind = (bias <= _NO_LOGIT_LEFT).all(axis=-1)
        if blind.any():
            query = int(np.argwhere(blind)[0, -1])
            problem = UnsupportedNode(
                name=shown(self._node.sources[-1] if self._node.sources else self._node.name),
                op=self._node.attrs.title,
                shape="x".join(map(str, self._graph.shape(self._node.output))),
                reason=f"its constant mask hides all keys of query {query}, so that there is "
                "nothing to attend to",
                remedy="let each query see one key at least, e.g. its own",
            )
            raise UnsupportedModelError((problem,))

    def _expanded(self, source: str, shape: Shape) -> str:
        name = self._builder.fresh(f"{source}/full")
        self._builder.value(Value(name, shape))
        self._builder.node(name, ops.Expand(shape), (source,), (name,), self._sources)
        return name

    def _attention(self, attrs: ops.Attention, inputs: tuple[str, ...], batch: int) -> None:
        """The node, and its output cut into heads again for those who read it so."""
        builder, result = self._builder, self._graph.values[self._node.output]
        *_, length, width = result.shape
        joined = Value(builder.fresh(f"{result.name}/joined"), (batch, length, attrs.heads * width))
        builder.value(joined)
        builder.put(
            replace(
                self._node,
                attrs=attrs,
                inputs=inputs,
                outputs=(joined.name,),
                sources=self._sources,
            )
        )
        split = self._moved(joined.name, ops.Reshape((batch, length, attrs.heads, width)))
        if attrs.heads > 1:
            shape = (batch, attrs.heads, length, width)
            split = self._moved(split, ops.Transpose((0, 2, 1, 3)), shape)
        last = ops.Reshape(result.shape)
        builder.node(f"{self._node.name}/heads", last, (split,), (result.name,), self._sources)

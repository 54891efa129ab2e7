"""Operators of single elements, one after the other, as one: nothing between them is stored."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import ClassVar

from edgec.base.dtypes import Array, DType
from edgec.ir.graph import Graph, Node, Tensor, Value
from edgec.ir.operator import Operands, Shape, T
from edgec.ir.qops.add import QAdd
from edgec.ir.qops.base import IntegerOperator, need_operands
from edgec.ir.qops.binary import QDiv, QMul, QSquaredDifference
from edgec.ir.qops.choice import QCompare, QExtremum, QWhere
from edgec.ir.qops.functions import QLut, QPRelu, QRescale
from edgec.ir.qops.operands import CODES, Operand, tensor
from edgec.ir.qparams import QuantParams
from edgec.ir.shapes import need

BROADCAST = (QAdd, QMul, QDiv, QSquaredDifference, QExtremum, QCompare, QWhere)
"""Operators by element whose operands may have fewer axes than the output, or axes of 1."""
CHAINED = (QAdd, QDiv, QExtremum, QLut, QMul, QPRelu, QRescale, QSquaredDifference)


def can_link(attrs: object) -> bool:
    """Whether an operator may be part of a chain: a function of codes."""
    return isinstance(attrs, CHAINED)


@dataclass(frozen=True, slots=True)
class Link:
    """An operator of a chain.

    Attributes:
        attrs: the operator.
        operands: its operands, in its order: i >= 0 is operand i of the chain, -1 - i the result of
            link i.
        dtype, quant: the codes of its result.
    """

    attrs: IntegerOperator
    operands: tuple[int, ...]
    dtype: DType
    quant: QuantParams | None


@dataclass(frozen=True, slots=True)
class QChain(IntegerOperator):
    """Tensors with numpy broadcasting, then the tables of look-ups, each operand once.

    y is the result of the last link; the results of all links have the shape of y, and each but
    the last is read by one later link.  The arithmetic is that of the links.
    """

    @dataclass(frozen=True, slots=True)
    class Inputs(Operands[T]):
        x: tuple[T, ...] = field(default=(), metadata=tensor(*CODES, DType.INT32, DType.UINT16))

    EACH_ELEMENT: ClassVar[bool] = True

    links: tuple[Link, ...]

    def infer_shape(self, inputs: Inputs[Shape]) -> Shape:
        found: list[Shape] = []
        for link in self.links:
            own = [inputs.x[i] if i >= 0 else found[-1 - i] for i in link.operands]
            found.append(link.attrs.infer_shape(link.attrs.Inputs.of(own)))
        need(len(set(found)) == 1, "results differ in shape")
        return found[-1]

    def compute(self, inputs: Inputs[Operand]) -> Array:
        found: list[Operand] = []
        for link in self.links:
            own = [inputs.x[i] if i >= 0 else found[-1 - i] for i in link.operands]
            codes = link.attrs.compute(link.attrs.Inputs.of(own))
            zero_point = 0 if link.quant is None else link.quant.tensor_zero_point
            found.append(Operand(codes, zero_point))
        return found[-1].array

    def verify(self, inputs: Inputs[Tensor], output: Value) -> None:
        found: list[Tensor] = []
        read = [-1 - i for link in self.links for i in link.operands if i < 0]
        need(sorted(set(read)) == list(range(len(self.links) - 1)), "a result that nobody reads")
        for number, link in enumerate(self.links):
            need(can_link(link.attrs), f"{link.attrs.op} in a chain")
            need(all(-1 - i < number for i in link.operands if i < 0), "a later result is read")
            own = link.attrs.Inputs.of(
                [inputs.x[i] if i >= 0 else found[-1 - i] for i in link.operands]
            )
            result = Value(f"{output.name}/{number}", output.shape, link.dtype, link.quant)
            need_operands(own)
            link.attrs.verify(own, result)
            found.append(result)
        last = self.links[-1]
        need((last.dtype, last.quant) == (output.dtype, output.quant), "another result than y")


def unchained(graph: Graph, node: Node) -> tuple[Graph, tuple[Node, ...]]:
    """The operators of a node, each a node of its own.

    Args:
        graph: INTEGER stage.
        node: one of its nodes, a chain or not.

    Returns:
        A graph that has the values between them, and its nodes: `node` alone where it is no chain.
    """
    if not isinstance(node.attrs, QChain):
        return graph, (node,)
    links = node.attrs.links
    shape = graph.shape(node.output)
    names = [f"{node.output}/{number}" for number in range(len(links) - 1)] + [node.output]
    values = {
        name: Value(name, shape, link.dtype, link.quant)
        for name, link in zip(names, links, strict=True)
    }
    nodes = tuple(
        Node(
            f"{node.name}/{number}",
            link.attrs,
            _names(node.inputs, names, link.operands),
            (name,),
            node.sources,
        )
        for number, (name, link) in enumerate(zip(names, links, strict=True))
    )
    return Graph(
        name=graph.name,
        values={name: graph.values[name] for name in node.inputs if name in graph.values} | values,
        constants={n: graph.constants[n] for n in node.inputs if n in graph.constants},
        nodes=nodes,
        inputs=tuple(name for name in node.inputs if name in graph.values),
        outputs=(node.output,),
        rounding=graph.rounding,
    ), nodes


def _names(
    inputs: Sequence[str], results: Sequence[str], operands: Sequence[int]
) -> tuple[str, ...]:
    return tuple(inputs[i] if i >= 0 else results[-1 - i] for i in operands)


def chained(graph: Graph, nodes: Sequence[Node]) -> Node:
    """A node for several, each a chain or not, of which each but the last is read by a later one.

    Args:
        graph: INTEGER stage.
        nodes: in their order; the result has the name of the last one, and its output.
    """
    links: list[tuple[Node, Value]] = []
    for node in nodes:
        inner, parts = unchained(graph, node)
        links += [(part, inner.values[part.output]) for part in parts]
    made = {part.output: -1 - number for number, (part, _) in enumerate(links)}
    read = dict.fromkeys(name for part, _ in links for name in part.inputs if name not in made)
    tables = {_table(part) for part, _ in links} - {None}
    order = sorted(read, key=lambda name: name in tables)
    place = {name: at for at, name in enumerate(order)} | made
    last = nodes[-1]
    attrs = QChain(
        tuple(
            Link(
                part.attrs_as(IntegerOperator),
                tuple(place[name] for name in part.inputs),
                value.dtype,
                value.quant,
            )
            for part, value in links
        )
    )
    sources = tuple(dict.fromkeys(source for node in nodes for source in node.sources))
    return Node(last.name, attrs, tuple(order), last.outputs, sources)


def _table(node: Node) -> str | None:
    """The table that a node reads."""
    return QLut.Inputs.of(node.inputs).table if isinstance(node.attrs, QLut) else None


def table_count(graph: Graph, node: Node) -> int:
    """Number of tables among the operands of a chain: its last ones."""
    _, nodes = unchained(graph, node)
    return len({_table(each) for each in nodes} - {None})

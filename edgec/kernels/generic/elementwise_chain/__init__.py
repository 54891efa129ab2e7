"""Chains of functions of elements: one loop, nothing between them is stored."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

from edgec.base.dtypes import DType
from edgec.ir import qops
from edgec.ir.graph import Graph, Node
from edgec.kernels.common.constants import ConstantPool, Params
from edgec.kernels.common.form_ends import stored_type
from edgec.kernels.common.lengths import Looped
from edgec.kernels.common.loops import broadcast_loops
from edgec.kernels.common.overlap import by_bytes
from edgec.kernels.common.spec import Loop, Plain
from edgec.kernels.family import Distances, KernelFamily, template_beside
from edgec.kernels.generic.elementwise.operators import ELEMENTS, Element
from edgec.target.target import Target


@dataclass(frozen=True, slots=True)
class Step:
    """A function of the chain.

    Attributes:
        element: the function.
        operands: what it reads, and the table last: i >= 0 is operand i of the chain, -1 - i the
            result of step i.
    """

    element: Element
    operands: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Struct:
    """An argument struct: its C type, the parameter and the local copy."""

    c_type: str
    parameter: str
    local: str


@dataclass(frozen=True, slots=True)
class ElementwiseChain(Plain):
    """Functions of the elements of tensors with broadcasting; y is written in raster order.

    Attributes:
        steps: the functions, each of operands and of results before it.
        loops: strides of the tensors; y is contiguous.
        types: element types of the tensors, then of y.
        tables: element types of the tables.
        variable: the turns of the outermost loop are an argument.
    """

    family: ClassVar[str] = "elementwise_chain"
    template: ClassVar[Path] = template_beside(__file__, "elementwise_chain")
    steps: tuple[Step, ...]
    loops: tuple[Loop, ...]
    types: tuple[DType, ...]
    tables: tuple[DType, ...] = ()
    variable: bool = False

    @property
    def stem(self) -> str:
        """Name of the function: how many, the last one, and the type of y."""
        last = self.steps[-1].element.operation
        return f"chain{len(self.steps)}_{last}_s{8 * self.types[-1].size_bytes}"

    @property
    def y_type(self) -> str:
        """C type of an element of y."""
        return stored_type(self.types[-1])

    @property
    def tensors(self) -> int:
        """Number of tensors that are read."""
        return len(self.types) - 1

    @property
    def structs(self) -> tuple[Struct, ...]:
        """The argument structs, in the order of the steps that take one."""
        found = (step.element.params for step in self.steps if step.element.params)
        return tuple(Struct(kind, f"params{n}", f"p{n}") for n, kind in enumerate(found))

    @property
    def parameters(self) -> tuple[str, ...]:
        """The parameters of the C function."""
        return (
            *(f"const {stored_type(t)} *x{n}" for n, t in enumerate(self.types[:-1])),
            *(f"const {t.c_name} *table{n}" for n, t in enumerate(self.tables)),
            f"{self.y_type} *y",
            *(f"const {each.c_type} *{each.parameter}" for each in self.structs),
            *(("int32_t rows",) if self.variable else ()),
        )

    @property
    def loads(self) -> tuple[int, ...]:
        """The tensors by number."""
        return tuple(range(self.tensors))

    @property
    def calls(self) -> tuple[str, ...]:
        """The call of each step in C, by elements x0, x1, ... and results v0, v1, ..."""
        return tuple(self._calls())

    def _calls(self) -> Iterator[str]:
        structs = iter(self.structs)
        for step in self.steps:
            local = (f"&{next(structs).local}",) if step.element.params else ()
            operands = map(self._operand, step.operands)
            given = (*operands, *local, *map(str, step.element.constants))
            yield f"{step.element.function}({', '.join(given)})"

    def _operand(self, number: int) -> str:
        if number < 0:
            return f"v{-1 - number}"
        return f"e{number}" if number < self.tensors else f"table{number - self.tensors}"

    def describe(self) -> str:
        """What the function computes, in words."""
        words = ", ".join(step.element.words.lower() for step in self.steps)
        count = math.prod(loop.size for loop in self.loops)
        return f"Chain to {self.types[-1].value}, {count} elements: {words}"


def _found(graph: Graph, node: Node) -> list[tuple[Element, Params | None]]:
    inner, nodes = qops.unchained(graph, node)
    return [ELEMENTS[type(each.attrs)](inner, each) for each in nodes]


def chain_fields(graph: Graph, node: Node) -> dict[str, Any]:
    """The fields of `ElementwiseChain` for a node: a chain, or an operator of single elements."""
    attrs = node.attrs
    alone = (tuple(range(len(node.inputs))),)
    operands = [link.operands for link in attrs.links] if isinstance(attrs, qops.QChain) else alone
    tables = qops.table_count(graph, node)
    names = node.inputs[: len(node.inputs) - tables]
    return {
        "steps": tuple(
            Step(element, own)
            for (element, _), own in zip(_found(graph, node), operands, strict=True)
        ),
        "loops": broadcast_loops(graph, names, node.output),
        "types": tuple(graph.tensor(name).dtype for name in (*names, node.output)),
        "tables": tuple(graph.tensor(name).dtype for name in node.inputs[len(names) :]),
    }


def spec(graph: Graph, node: Node, _target: Target) -> ElementwiseChain:
    """The specification for a node."""
    return ElementwiseChain(**chain_fields(graph, node))


def overlap(spec: ElementwiseChain) -> Distances:
    """Elements are read in the order in which they are written, some of them again and again."""
    *read, written = (dtype.size_bytes for dtype in spec.types)
    own = (by_bytes(spec.loops, operand, size, written) for operand, size in enumerate(read))
    return (*own, *(None for _ in spec.tables))


def arguments(
    graph: Graph, node: Node, _spec: ElementwiseChain, _pool: ConstantPool
) -> tuple[Params, ...]:
    """The numbers that functions take in structs."""
    return tuple(params for _, params in _found(graph, node) if params is not None)


FAMILY = KernelFamily(
    spec_type=ElementwiseChain,
    operators=(qops.QChain,),
    spec=spec,
    overlap=overlap,
    arguments=arguments,
    lengths=Looped("loops"),
)

"""Functions of the elements of up to three tensors, of any operator and form, in plain C."""

from __future__ import annotations

import math
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

from edgec.base.dtypes import DType
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

_NAMES = ("a", "b", "c")


@dataclass(frozen=True, slots=True)
class Elementwise(Plain):
    """A function of the elements of tensors with broadcasting; y is written in raster order.

    Attributes:
        element: the function of one element of each.
        loops: strides of the tensors; y is contiguous.
        types: element types of the tensors, then of y.
        table: element type of a table that the function reads beside them; None: it reads none.
        variable: the turns of the outermost loop are an argument.
    """

    family: ClassVar[str] = "elementwise"
    template: ClassVar[Path] = template_beside(__file__, "elementwise")
    element: Element
    loops: tuple[Loop, ...]
    types: tuple[DType, ...]
    table: DType | None = None
    variable: bool = False

    @property
    def stem(self) -> str:
        """What the function is called: operator and types."""
        types = self.types if len(set(self.types)) > 1 else self.types[:1]
        return "_".join((self.element.operation, *(f"s{8 * t.size_bytes}" for t in types)))

    @property
    def names(self) -> tuple[str, ...]:
        """The C names of the tensors."""
        return _NAMES[: len(self.types) - 1]

    @property
    def y_type(self) -> str:
        """C type of an element of y."""
        return stored_type(self.types[-1])

    @property
    def parameters(self) -> tuple[str, ...]:
        """The parameters of the C function."""
        tensors = zip(self.types, self.names, strict=False)
        params = self.element.params
        return (
            *(f"const {stored_type(dtype)} *{name}" for dtype, name in tensors),
            *((f"const {self.table.c_name} *table",) if self.table is not None else ()),
            f"{self.y_type} *y",
            *((f"const {params} *params",) if params else ()),
            *(("int32_t rows",) if self.variable else ()),
        )

    @property
    def arguments(self) -> tuple[str, ...]:
        """What the function of an element takes beside the elements."""
        return (
            *(("table",) if self.table is not None else ()),
            *(("&p",) if self.element.params else ()),
            *map(str, self.element.constants),
        )

    def describe(self) -> str:
        """What the function computes, in words."""
        types = ", ".join(dtype.value for dtype in self.types[:-1])
        count = math.prod(loop.size for loop in self.loops)
        return f"{self.element.words} of {types} to {self.types[-1].value}, {count} elements"


def spec(graph: Graph, node: Node, _target: Target) -> Elementwise:
    """The specification for a node."""
    element, _ = ELEMENTS[type(node.attrs)](graph, node)
    inputs = dict(node.attrs.Inputs.of(node.inputs).items())
    table = inputs.pop("table", None)
    names = tuple(inputs.values())
    return Elementwise(
        element=element,
        loops=broadcast_loops(graph, names, node.output),
        types=tuple(graph.tensor(name).dtype for name in (*names, node.output)),
        table=None if table is None else graph.tensor(table).dtype,
    )


def overlap(spec: Elementwise) -> Distances:
    """Elements are read in the order in which they are written, some of them again and again."""
    *read, written = (dtype.size_bytes for dtype in spec.types)
    own = (by_bytes(spec.loops, operand, size, written) for operand, size in enumerate(read))
    return (*own, None) if spec.table is not None else tuple(own)


def arguments(
    graph: Graph, node: Node, _spec: Elementwise, _pool: ConstantPool
) -> tuple[Params, ...]:
    """The numbers that the function of an element takes in a struct."""
    _, params = ELEMENTS[type(node.attrs)](graph, node)
    return () if params is None else (params,)


FAMILY = KernelFamily(
    spec_type=Elementwise,
    operators=tuple(ELEMENTS),
    spec=spec,
    overlap=overlap,
    arguments=arguments,
    lengths=Looped("loops"),
)

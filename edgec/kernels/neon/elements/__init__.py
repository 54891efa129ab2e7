"""Functions of elements, and chains of them, on cores with NEON: eight elements at a time."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

from edgec.base.dtypes import DType
from edgec.ir import qops
from edgec.ir.graph import Graph, Node
from edgec.kernels.common.form_ends import stored_type
from edgec.kernels.common.lengths import Looped
from edgec.kernels.common.spec import Loop
from edgec.kernels.family import KernelFamily, template_beside
from edgec.kernels.generic.elementwise.operators import ELEMENTS
from edgec.kernels.generic.elementwise_chain import (
    ElementwiseChain,
    arguments,
    chain_fields,
    overlap,
)
from edgec.target.target import Target

_EIGHT = 8
VECTORS = frozenset(
    {
        "edgec_add_codes",
        "edgec_add_once",
        "edgec_add_twice",
        "edgec_entry",
        "edgec_line",
        "edgec_line_inside",
        "edgec_max_s32",
        "edgec_min_s32",
        "edgec_mul_once",
        "edgec_mul_once_centred",
        "edgec_mul_rescale16",
        "edgec_mul_twice",
        "edgec_mul_twice_any",
        "edgec_near_line",
        "edgec_scale_once",
        "edgec_scale_rescale16",
        "edgec_scale_twice",
        "edgec_scale_twice_any",
        "edgec_sub_twice",
    }
)
"""The functions of one element that `edgec/elementwise/functions_neon.h` has for eight."""


@dataclass(frozen=True, slots=True)
class Operand:
    """A tensor that is read, along the innermost loop.

    Attributes:
        number: its place among the operands.
        c_type: C type of an element.
        suffix: end of the names of functions that load elements.
        place: index of the first element, in C.
        repeated: one element stands for all.
    """

    number: int
    c_type: str
    suffix: str
    place: str
    repeated: bool


@dataclass(frozen=True, slots=True)
class ElementsNeon(ElementwiseChain):
    """As `ElementwiseChain`, of one function or more; along the innermost loop every tensor
    has neighbours or one element for all.
    """

    family: ClassVar[str] = "elements_neon"
    template: ClassVar[Path] = template_beside(__file__, "elements_neon")

    @property
    def stem(self) -> str:
        """Name of the function: the only one or how many and the last, and the type of y."""
        last, bits = self.steps[-1].element.operation, 8 * self.types[-1].size_bytes
        chain = f"chain{len(self.steps)}_" if len(self.steps) > 1 else ""
        return f"{chain}{last}_s{bits}_neon"

    @property
    def suffix(self) -> str:
        """End of the name of the function that stores elements of y."""
        return _suffix(self.types[-1])

    @property
    def outer(self) -> tuple[Loop, ...]:
        """The loops around the innermost one."""
        return self.loops[:-1]

    @property
    def turns(self) -> str | None:
        """Turns of the outermost loop where they are an argument, in C."""
        return "rows" if self.variable else None

    @property
    def count(self) -> str:
        """Elements of the innermost loop, in C."""
        return "rows" if self.variable and not self.outer else str(self.loops[-1].size)

    @property
    def reads(self) -> tuple[Operand, ...]:
        """The tensors that are read."""
        return tuple(self._read(number) for number in self.loads)

    def _read(self, number: int) -> Operand:
        strides = [level.strides[number] for level in self.outer]
        parts = [f"i{i}" + f" * {stride}" * (stride != 1) for i, stride in enumerate(strides)]
        dtype, repeated = self.types[number], self.loops[-1].strides[number] == 0
        place = " + ".join(parts) or "0"
        return Operand(number, stored_type(dtype), _suffix(dtype), place, repeated)

    @property
    def value(self) -> str:
        """Name of the elements that are stored, eight at a time."""
        return f"v{len(self.steps) - 1}"

    @property
    def in_registers(self) -> tuple[int, ...]:
        """The tables with an entry for each code of int8, by number."""
        return tuple(n for n, dtype in enumerate(self.tables) if dtype is DType.INT8)

    @property
    def has_rest(self) -> bool:
        """Elements are left after the last eight, or may be."""
        own = self.variable and not self.outer
        return own or self.loops[-1].size % _EIGHT > 0

    @property
    def vector_calls(self) -> tuple[str, ...]:
        """As `calls`, for eight elements."""
        return tuple(self._vector_calls())

    def _vector_calls(self) -> Iterator[str]:
        for call in self.calls:
            text = call.replace("edgec_", "edgec_eight_", 1)
            for number in self.in_registers:
                text = text.replace(f" table{number}", f" &whole{number}")
            yield text


def _suffix(dtype: DType) -> str:
    return f"s{8 * dtype.size_bytes}"


def spec(graph: Graph, node: Node, _target: Target) -> ElementsNeon:
    """The specification for a node."""
    return ElementsNeon(**chain_fields(graph, node))


def accepts(graph: Graph, node: Node, target: Target) -> bool:
    """Functions that there are for eight elements, of int8 and int16, on a core with NEON."""
    if not target.has_neon:
        return False
    found = spec(graph, node, target)
    inner = found.loops[-1]
    return (
        inner.size >= _EIGHT
        and all(stride in (0, 1) for stride in inner.strides)
        and {*found.types} <= {DType.INT8, DType.INT16}
        and {step.element.function for step in found.steps} <= VECTORS
    )


FAMILY = KernelFamily(
    spec_type=ElementsNeon,
    operators=(*ELEMENTS, qops.QChain),
    spec=spec,
    overlap=overlap,
    accepts=accepts,
    arguments=arguments,
    lengths=Looped("loops"),
)

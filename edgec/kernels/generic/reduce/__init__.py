"""Means, sums, extremes and norms over axes in plain C, of any types and form."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from pathlib import Path
from typing import ClassVar

from edgec.base.digests import LATER
from edgec.base.dtypes import DType
from edgec.ir import qops
from edgec.ir.graph import Graph, Node
from edgec.ir.ops import ReduceKind
from edgec.ir.qops.operands import largest_distance
from edgec.kernels.common.constants import ConstantPool, Params
from edgec.kernels.common.form_ends import (
    FormCall,
    SingleForm,
    form_call,
    shared_form,
    start_of,
    stored_type,
)
from edgec.kernels.common.lengths import Looped
from edgec.kernels.common.loops import reduction_loops
from edgec.kernels.common.overlap import by_bytes
from edgec.kernels.common.short_mean import function_of, is_short, left_of
from edgec.kernels.common.spec import Loop, Plain
from edgec.kernels.family import Distances, KernelFamily, template_beside
from edgec.kernels.transformer.single import single_arguments
from edgec.target.target import Target

_WORD = 4
"""Elements of int8 in a word."""


@dataclass(frozen=True, slots=True)
class Reduce(Plain):
    """A reduction over some axes; y is written in raster order.

    Attributes:
        kind: operator.
        x: element type of x, INT8 or INT16.
        kept: loops over y, with strides of x.
        reduced: loops over what is summed up, with strides of x.
        output: the form, without its zero point; None for MAX and MIN.
        root_bits: fraction bits of a root.
        variable: the turns of the outermost loop over y are an argument.
        has_neon: the core has NEON.
    """

    family: ClassVar[str] = "reduce"
    template: ClassVar[Path] = template_beside(__file__, "reduce")
    kind: ReduceKind
    x: DType
    kept: tuple[Loop, ...]
    reduced: tuple[Loop, ...]
    output: SingleForm | None
    root_bits: int = 0
    variable: bool = False
    has_neon: bool = field(default=False, metadata=LATER)

    @property
    def y(self) -> DType:
        """Element type of y."""
        return self.x if self.output is None else self.output.dtype

    @property
    def types(self) -> tuple[str, str]:
        """C types of elements of x and y."""
        return stored_type(self.x), stored_type(self.y)

    @property
    def term(self) -> str:
        """What is done with an element: "largest", "least", "sum", "magnitude" or "square"."""
        match self.kind:
            case ReduceKind.MAX:
                return "largest"
            case ReduceKind.MIN:
                return "least"
            case ReduceKind.L1:
                return "magnitude"
            case ReduceKind.L2 | ReduceKind.SUM_SQUARE:
                return "square"
            case _:
                return "sum"

    @property
    def total(self) -> str:
        """What becomes a code in C: the sum, or its root."""
        if self.kind is not ReduceKind.L2:
            return "acc"
        return f"(int32_t)edgec_root_u32((uint32_t)acc << {2 * self.root_bits})"

    @property
    def start(self) -> str:
        """What stands for no element yet, in C."""
        if self.output is None:
            end = "MIN" if self.kind is ReduceKind.MAX else "MAX"
            return f"{self.x.value.upper()}_{end}"
        bias = start_of(self.output)
        # Elements are added up as they are.
        return f"{bias} - {self.terms} * p.a_zero_point" if self.term == "sum" else bias

    @property
    def by_words(self) -> bool:
        """Sums of int8 go four elements of y at a time (`edgec/pooling/sums_s8.h`)."""
        if self.term != "sum" or self.x is not DType.INT8 or self.output is None or self.variable:
            return False
        if len(self.kept) != 1 or len(self.reduced) != 1:
            return False
        (kept,), (reduced,) = self.kept, self.reduced
        return kept.strides == (1,) and not kept.size % _WORD and not reduced.strides[0] % _WORD

    @property
    def as_window(self) -> bool:
        """All pixels of an image are one window of `edgec/pooling/average_s8.h`."""
        if not isinstance(self.output, qops.Requant31) or self.term != "sum" or self.variable:
            return False
        if len(self.kept) != 1 or len(self.reduced) != 1:
            return False
        (kept,), (reduced,) = self.kept, self.reduced
        pixels = kept.strides == (1,) and reduced.strides == (kept.size,)
        types = self.x, self.output.dtype
        return pixels and is_short(types, self.output.shift, self.terms, self.has_neon)

    @property
    def way(self) -> str:
        """How y is computed: "window" as `as_window` says, "words" as `by_words` does, or ""."""
        if self.as_window:
            return "window"
        return "words" if self.by_words else ""

    @property
    def function(self) -> str:
        """The C function of a window."""
        assert isinstance(self.output, qops.Requant31)
        return function_of(self.output)

    @property
    def left(self) -> int:
        """Shift of a sum to the left after which a code is the high word of one product."""
        assert isinstance(self.output, qops.Requant31)
        return left_of(self.output)

    @property
    def terms(self) -> int:
        """Elements of x for one of y."""
        return math.prod(loop.size for loop in self.reduced)

    @property
    def call(self) -> FormCall | None:
        """How a code is made; None where it is one of x."""
        if self.output is None:
            return None
        bound = self.terms * largest_distance(self.x) if self.term == "sum" else 0
        return form_call(self.output, "p.y_zero_point", bound)

    def describe(self) -> str:
        """What the function computes, in words."""
        outputs = math.prod(loop.size for loop in self.kept)
        return f"{self.kind.value} of {self.terms} elements of {self.x.value}, {outputs} times"


def spec(graph: Graph, node: Node, target: Target) -> Reduce:
    """The specification for a QReduce."""
    attrs, x = node.attrs_as(qops.QReduce), graph.values[node.input]
    loops, form = reduction_loops(x.shape, attrs.axes), attrs.output
    end = None if form is None else shared_form(form)
    return Reduce(*(attrs.kind, x.dtype, *loops, end, attrs.root_bits), has_neon=target.has_neon)


def overlap(spec: Reduce) -> Distances:
    """All terms of an element of y are read before it is written."""
    return (by_bytes(spec.kept, 0, spec.x.size_bytes, spec.y.size_bytes),)


def arguments(graph: Graph, node: Node, spec: Reduce, pool: ConstantPool) -> tuple[Params, ...]:
    """Multiplier, bias and zero points; a maximum or minimum needs none of them."""
    return () if spec.output is None else single_arguments(graph, node, spec, pool)


FAMILY = KernelFamily(
    spec_type=Reduce,
    operators=(qops.QReduce,),
    spec=spec,
    overlap=overlap,
    arguments=arguments,
    lengths=Looped("kept"),
)

"""Matrix product with constant weights in plain C, also of pointwise convolutions."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import ClassVar

from edgec.base.digests import LATER
from edgec.ir.graph import Graph, Node
from edgec.ir.weighted import plain_inputs
from edgec.kernels.common.constants import ConstantPool, Params
from edgec.kernels.common.form_ends import Rescale16, Tflite31, TypedEnd
from edgec.kernels.common.interface import LayerFunction
from edgec.kernels.common.layer_end import end_of, has_plain_c, typed_end
from edgec.kernels.common.lengths import Counted
from edgec.kernels.common.overlap import by_row, with_ending
from edgec.kernels.common.parts import UNMEASURED, Parts, Run, WeightReads, numbers_of
from edgec.kernels.common.weighted import CONVOLUTIONS, MATRIX_PRODUCTS, weighted_arguments
from edgec.kernels.common.window import dense_window, is_gemm
from edgec.kernels.family import Distances, KernelFamily, template_beside
from edgec.kernels.generic.plain_parts import loop_parts
from edgec.target.target import Target

_BLOCK = 4
"""Output channels computed together, so that a loaded activation is used several times."""
_CODE_BYTES = 300


@dataclass(frozen=True, slots=True)
class Gemm(LayerFunction):
    """Matrix product with constant weights: fully connected layers and pointwise convolutions.

    x int8 or int16 [rows, depth], weights int8 [units, depth], y int8 or int16 [rows, units].

    Attributes:
        variable: the rows of a run are an argument.
    """

    family: ClassVar[str] = "gemm"
    scratch_name: ClassVar[str | None] = None
    template: ClassVar[Path] = template_beside(__file__, "gemm")
    rows: int
    depth: int
    units: int
    shift: int
    residual_shift: int | None = None
    rescale16: Rescale16 | None = None
    tflite31: Tflite31 | None = field(default=None, metadata=LATER)
    variable: bool = False
    typed: TypedEnd | None = field(default=None, metadata=LATER)

    def run_parameters(self) -> tuple[str, ...]:
        """The rows of a run."""
        return ("int32_t rows",) if self.variable else ()

    @property
    def stored_bytes(self) -> int:
        """Bytes of the weights in the kernel's order."""
        return self.units * self.depth

    @property
    def block(self) -> int:
        """Units computed together."""
        return min(_BLOCK, self.units)

    @property
    def rest(self) -> int:
        """Units that are left after the last full block."""
        return self.units % self.block

    @property
    def scratch_bytes(self) -> int:
        """Always 0."""
        return 0

    @property
    def out_elements(self) -> int:
        """Elements of y."""
        return self.rows * self.units

    @property
    def macs(self) -> int:
        """Multiply-accumulates of one call."""
        return self.out_elements * self.depth

    def describe(self) -> str:
        """What the function computes, in words."""
        return f"Matrix product [{self.rows}, {self.depth}] by [{self.units}, {self.depth}]"


def accepts(graph: Graph, node: Node, _target: Target) -> bool:
    """A product, or a convolution that is a product of the input as it lies in memory."""
    return isinstance(node.attrs, MATRIX_PRODUCTS) or is_gemm(graph, node)


def spec(graph: Graph, node: Node, _target: Target) -> Gemm:
    """The specification for an operator that `accepts` accepts."""
    window = dense_window(graph, node)
    units = graph.shape(plain_inputs(node).w)[0]
    depth = window.taps * window.channels
    end, typed = end_of(graph, node), typed_end(graph, node)
    return Gemm(window.out_pixels, depth, units, *end, typed=typed)


def overlap(spec: Gemm) -> Distances:
    """A row of x is read for each block of units: only the last one is unwritten then."""
    each, read = spec.out_bytes, spec.depth * spec.x_dtype.size_bytes
    last = (spec.rest or spec.block) * each
    return with_ending(spec, by_row(spec.rows, read, spec.units * each, last))


def arguments(graph: Graph, node: Node, _spec: Gemm, pool: ConstantPool) -> tuple[Params, ...]:
    """Weights as the graph has them."""
    return weighted_arguments(graph, node, pool)


def parts(spec: Gemm, _run: Run) -> Parts:
    """Counts of a call; only fixed lengths and multipliers of 31 bits were measured."""
    counts = {"call": 1, "row": spec.rows} | loop_parts(spec, spec.rows, spec.units)
    if spec.variable:
        counts[UNMEASURED] = 1
    return Parts(
        counts,
        _CODE_BYTES,
        WeightReads(spec.stored_bytes, spec.rows, numbers_of(spec.units)),
        load_bytes=1,
    )


FAMILY = KernelFamily(
    spec_type=Gemm,
    operators=(*CONVOLUTIONS, *MATRIX_PRODUCTS),
    types=has_plain_c,
    spec=spec,
    overlap=overlap,
    accepts=accepts,
    arguments=arguments,
    lengths=Counted("rows"),
    parts=parts,
    vectorized=True,
)

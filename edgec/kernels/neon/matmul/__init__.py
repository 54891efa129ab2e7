"""Products of two matrices that are both computed, of any types, on cores with NEON."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import ClassVar

from edgec.base.digests import LATER
from edgec.base.dtypes import DType
from edgec.ir import qops
from edgec.ir.graph import Graph, Node
from edgec.ir.weighted import zero_point_of
from edgec.kernels.common.matrix_pairs import pair_overlap, pair_sizes
from edgec.kernels.family import KernelFamily, template_beside
from edgec.kernels.generic.matmul import MatMul
from edgec.kernels.generic.matmul import spec as plain_spec
from edgec.kernels.neon.weights import padded_rows
from edgec.kernels.transformer.single import single_arguments
from edgec.target.target import Target

_ROWS = 4
_COLUMNS = 8
_BLOCK_BYTES = 16384
"""Most scratch memory for columns: half a cache of the first level."""


@dataclass(frozen=True, slots=True)
class MatMulNeon(MatMul):
    """Products of pairs of matrices, four rows by eight columns at a time:
    `edgec/dense/matmul_neon.h`.

    Attributes:
        block: columns that are copied at a time, a multiple of eight.
    """

    family: ClassVar[str] = "matmul_neon"
    template: ClassVar[Path] = template_beside(__file__, "matmul_neon")
    block: int = field(default=_COLUMNS, metadata=LATER)

    @property
    def padded(self) -> int:
        """Values of a copied row or column, the last ones zeros."""
        return padded_rows(self.depth)

    @property
    def scratch_bytes(self) -> int:
        """Copies of four rows and of a block of columns, and of the codes of a part of eight."""
        return 2 * (self.padded * (_ROWS + self.block) + _COLUMNS)

    @property
    def copies(self) -> tuple[str, str]:
        """The C functions that copy lines of a and of b."""
        a, b = (f"edgec_neon_fours_s{8 * dtype.size_bytes}" for dtype in (self.a, self.b))
        return a, b

    @property
    def codes(self) -> str:
        """Eight codes of the sums of a row, in C."""
        form = self.output
        bounds = f"{form.low}, {form.high}"
        match form:
            case qops.Requant31():
                numbers = f"p.multiplier, {form.shift}, p.y_zero_point, {bounds}"
                return f"edgec_eight_requantized(sums[r], {numbers})"
            case qops.TwoRoundings31(shifts=(shift,)):
                scaled = f"sums[r], p.multiplier, {max(shift, 0)}, {max(-shift, 0)}"
                end = f"p.y_zero_point, {bounds}"
                return f"edgec_eight_codes(edgec_eight_scaled_twice({scaled}), {end})"
            case qops.Rescale16x15():
                numbers = f"p.multiplier, {form.pre_shift}, {form.shift}, {bounds}"
                return f"edgec_eight_rescaled16(sums[r], {numbers})"
            case _:
                raise AssertionError("sums of 64 bits")

    @property
    def store(self) -> str:
        """The C function that stores eight codes."""
        return f"edgec_neon_store8_s{8 * self.output.dtype.size_bytes}"


def spec(graph: Graph, node: Node, target: Target) -> MatMulNeon:
    """The specification for a QMatMul that `accepts` accepts."""
    plain = plain_spec(graph, node, target)
    room = min(_BLOCK_BYTES, target.scratch_limit_bytes) // (2 * padded_rows(plain.depth)) - _ROWS
    most = max(room // _COLUMNS, 1) * _COLUMNS
    block = min(most, -(-plain.columns // _COLUMNS) * _COLUMNS)
    return MatMulNeon(*pair_sizes(graph, node), plain.a, plain.b, plain.output, block)


def accepts(graph: Graph, node: Node, target: Target) -> bool:
    """Sums of 32 bits on a core with NEON, unless few rows meet columns that lie in order: then a
    compiler makes vectors of the plain loop.
    """
    form = node.attrs_as(qops.QMatMul).output
    if not target.has_neon or isinstance(form, qops.Once15):
        return False
    names = qops.QMatMul.Inputs.of(node.inputs)
    found = spec(graph, node, target)
    operands = ((names.a, found.a), (names.b, found.b))
    centred = all(
        dtype is DType.INT8 or zero_point_of(graph, name) == 0 for name, dtype in operands
    )
    in_order = found.a_strides[1] == found.b_strides[0] == 1
    fits = found.scratch_bytes <= target.scratch_limit_bytes
    return centred and fits and (found.rows >= _ROWS or not in_order)


FAMILY = KernelFamily(
    spec_type=MatMulNeon,
    operators=(qops.QMatMul,),
    spec=spec,
    overlap=pair_overlap,
    accepts=accepts,
    arguments=single_arguments,
)

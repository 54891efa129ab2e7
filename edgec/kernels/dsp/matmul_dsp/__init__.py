"""Products of two matrices that are both computed, of any types and form, on cores with DSP."""

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
from edgec.kernels.transformer.single import single_arguments
from edgec.target.target import Target

_PAIR_BYTES = 4
_TOGETHER = 2
"""Rows and columns of a tile."""
_BLOCK_BYTES = 8192
"""Most scratch memory for columns: more would seldom be read again before they leave a cache."""
_LEAST_ROWS = 4
"""Rows from which on it pays to bring columns into pairs first."""
_NEON_LANES = 16
"""Depths that are multiples of it are loops that a compiler makes vectors of without a rest."""


def _pairs(depth: int) -> int:
    return 2 * -(-depth // 4)


@dataclass(frozen=True, slots=True)
class MatMulDsp(MatMul):
    """Products of pairs of matrices, two rows by two columns at a time:
    `edgec/dense/matmul_dsp.h`.

    Attributes:
        block: columns that are brought into pairs at a time, an even number.
    """

    family: ClassVar[str] = "matmul_dsp"
    template: ClassVar[Path] = template_beside(__file__, "matmul_dsp")
    block: int = field(default=_TOGETHER, metadata=LATER)

    @property
    def pairs(self) -> int:
        """Pairs of a row or column, an even number; the last ones may have zeros."""
        return _pairs(self.depth)

    @property
    def scratch_bytes(self) -> int:
        """Pairs of two rows and of a block of columns."""
        return (_TOGETHER + self.block) * self.pairs * _PAIR_BYTES

    @property
    def packs(self) -> tuple[str, str]:
        """Ends of the names of the C functions that bring a and b into pairs."""
        a, b = (f"s{8 * dtype.size_bytes}" for dtype in (self.a, self.b))
        return a, b

    @property
    def dot(self) -> str:
        """The C function of a tile."""
        return f"edgec_matmul_dot_{'s64' if self.sum_type == 'int64_t' else 's32'}"


def spec(graph: Graph, node: Node, target: Target) -> MatMulDsp:
    """The specification for a QMatMul that `accepts` accepts."""
    plain = plain_spec(graph, node, target)
    column = _pairs(plain.depth) * _PAIR_BYTES
    room = min(_BLOCK_BYTES, target.scratch_limit_bytes) // column - _TOGETHER
    most = max(room // _TOGETHER, 1) * _TOGETHER
    block = min(most, -(-plain.columns // _TOGETHER) * _TOGETHER)
    return MatMulDsp(*pair_sizes(graph, node), plain.a, plain.b, plain.output, block)


def accepts(graph: Graph, node: Node, target: Target) -> bool:
    """A product of several rows on a core with DSP, with room for its columns."""
    if not target.has_dsp or target.takes_few_kernels:
        return False
    names = qops.QMatMul.Inputs.of(node.inputs)
    found = spec(graph, node, target)
    if target.has_neon and _is_vectorized(found):
        return False
    operands = ((names.a, found.a), (names.b, found.b))
    centred = all(
        dtype is DType.INT8 or zero_point_of(graph, name) == 0 for name, dtype in operands
    )
    fits = found.scratch_bytes <= target.scratch_limit_bytes
    return found.rows >= _LEAST_ROWS and centred and fits


def _is_vectorized(spec: MatMul) -> bool:
    """A compiler makes vectors of NEON from the plain loop over the depth, and these are faster."""
    in_order = spec.a_strides[1] == spec.b_strides[0] == 1
    return in_order and spec.depth % _NEON_LANES == 0


FAMILY = KernelFamily(
    spec_type=MatMulDsp,
    operators=(qops.QMatMul,),
    spec=spec,
    overlap=pair_overlap,
    accepts=accepts,
    arguments=single_arguments,
)

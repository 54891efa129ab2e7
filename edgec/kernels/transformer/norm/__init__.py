"""Layer and root mean square normalization in plain C."""

from __future__ import annotations

import math
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

from edgec.base.dtypes import DType
from edgec.ir import qops
from edgec.ir.graph import Graph, Node
from edgec.kernels.common.constants import ConstantPool, ConstantRef, Params
from edgec.kernels.common.form_ends import stored_type
from edgec.kernels.common.lengths import Counted
from edgec.kernels.common.overlap import IN_PLACE
from edgec.kernels.common.spec import Plain
from edgec.kernels.family import Distances, KernelFamily, template_beside
from edgec.target.target import Target


@dataclass(frozen=True, slots=True)
class Norm(Plain):
    """LayerNormalization or RMSNormalization: x [rows, channels] in three passes a row.

    Attributes:
        rows, channels: shape.
        centred: subtract the mean.
        square_shift, shift, low, high: numbers of `ir.qops.QNorm`.
        dtype: element type of y, INT8 or INT16.
        variable: the rows of a run are an argument.
        shifted: x is int8 and has a left shift for each channel; else it is int16.
    """

    family: ClassVar[str] = "norm"
    template: ClassVar[Path] = template_beside(__file__, "norm")
    rows: int
    channels: int
    centred: bool
    square_shift: int
    shift: int
    low: int
    high: int
    dtype: DType
    variable: bool = False
    shifted: bool = False

    @property
    def scratch_bytes(self) -> int:
        """A row as int16, if it is not."""
        return 2 * self.channels if self.shifted else 0

    @property
    def y_type(self) -> str:
        """C type of an element of y."""
        return stored_type(self.dtype)

    @property
    def has_pair_loop(self) -> bool:
        """Two elements at a time are stored by a loop that has these bounds."""
        return (self.low, self.high) in ((-127, 127), (-128, 127))

    @property
    def pairs(self) -> int:
        """Pairs of elements of a row."""
        return self.channels // 2

    @property
    def has_rest(self) -> bool:
        """The last element of a row has no partner."""
        return self.channels % 2 > 0

    @property
    def stores_singly(self) -> bool:
        """Some elements are stored one by one, outside the loop of pairs."""
        return self.has_rest or not self.has_pair_loop

    @property
    def raised(self) -> bool:
        """The lower bound of the loop of pairs is -127, not -128."""
        return self.low == -127

    def describe(self) -> str:
        """Operator and shapes in words, for a comment in C."""
        kind = "Layer" if self.centred else "Root mean square"
        return f"{kind} normalization of {self.rows} rows of {self.channels}"


def spec(graph: Graph, node: Node, _target: Target) -> Norm:
    """The specification for a QNorm."""
    attrs, inputs = node.attrs_as(qops.QNorm), qops.QNorm.Inputs.of(node.inputs)
    *rows, channels = graph.shape(inputs.x)
    return Norm(
        rows=math.prod(rows),
        channels=channels,
        centred=attrs.centred,
        square_shift=attrs.square_shift,
        shift=attrs.shift,
        low=attrs.low,
        high=attrs.high,
        dtype=attrs.dtype,
        shifted=inputs.k is not None,
    )


@dataclass(frozen=True, slots=True)
class NormParams:
    """Normalizations of a transformer."""

    c_type: ClassVar[str] = "edgec_norm_params_t"
    gamma: ConstantRef
    beta: ConstantRef
    epsilon: int
    least_shift: int


def overlap(spec: Norm) -> Distances:
    """A row is read before it is written; the shifts of channels are a constant."""
    growth = spec.dtype.size_bytes - 1
    grown = growth * spec.channels * (spec.rows - 1)
    return (grown, None) if spec.shifted else (IN_PLACE,)


def arguments(graph: Graph, node: Node, _spec: Norm, pool: ConstantPool) -> tuple[Params, ...]:
    """Gain and offset of the channels, and the numbers of the square root."""
    attrs, inputs = node.attrs_as(qops.QNorm), qops.QNorm.Inputs.of(node.inputs)
    gamma, beta = (graph.constants[name].array for name in (inputs.gamma, inputs.beta))
    references = pool.add("gamma", gamma), pool.add("beta", beta)
    return (NormParams(*references, attrs.epsilon, attrs.least_shift),)


FAMILY = KernelFamily(
    spec_type=Norm,
    operators=(qops.QNorm,),
    spec=spec,
    overlap=overlap,
    arguments=arguments,
    lengths=Counted("rows"),
)

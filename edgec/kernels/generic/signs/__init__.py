"""Signs of int8 or int16 codes, packed, in plain C."""

from __future__ import annotations

import math
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

from edgec.base.dtypes import DType
from edgec.ir import qops
from edgec.ir.graph import Graph, Node
from edgec.ir.qops.signs import words_of
from edgec.kernels.common.binary import WORD_BYTES
from edgec.kernels.common.constants import ConstantPool, ConstantRef, Params
from edgec.kernels.common.spec import Plain
from edgec.kernels.family import Distances, KernelFamily, template_beside
from edgec.target.target import Target


@dataclass(frozen=True, slots=True)
class SignsParams:
    """Signs of int8 codes."""

    c_type: ClassVar[str] = "edgec_signs_params_t"
    least: ConstantRef
    most: ConstantRef


@dataclass(frozen=True, slots=True)
class Signs16Params(SignsParams):
    """Signs of int16 codes."""

    c_type: ClassVar[str] = "edgec_signs16_params_t"


@dataclass(frozen=True, slots=True)
class Signs(Plain):
    """x int8 or int16 [rows, channels], y signs [rows, channels].

    Attributes:
        dtype: element type of x.
    """

    family: ClassVar[str] = "signs"
    template: ClassVar[Path] = template_beside(__file__, "signs")
    rows: int
    channels: int
    dtype: DType = DType.INT8

    @property
    def x_type(self) -> str:
        """C type of an element of x."""
        return self.dtype.c_name

    @property
    def params_type(self) -> str:
        """C type of the argument struct."""
        return _params(self.dtype).c_type

    def describe(self) -> str:
        """Shape of the codes in words, for a comment in C."""
        return f"Signs of [{self.rows}, {self.channels}], 32 to a word"


def _params(dtype: DType) -> type[SignsParams]:
    return Signs16Params if dtype is DType.INT16 else SignsParams


def spec(graph: Graph, node: Node, _target: Target) -> Signs:
    """The specification for a QSigns."""
    x = graph.tensor(node.first)
    *outer, channels = x.shape
    return Signs(math.prod(outer), channels, x.dtype)


def overlap(spec: Signs) -> Distances:
    """A word is written when its elements have been read, row by row."""
    each = words_of(spec.channels) * WORD_BYTES - spec.channels * spec.dtype.size_bytes
    return (max(0, (spec.rows - 1) * each),)


def arguments(graph: Graph, node: Node, spec: Signs, pool: ConstantPool) -> tuple[Params, ...]:
    """The ends of the intervals that become -1."""
    inputs = qops.QSigns.Inputs.of(node.inputs)
    least, most = (graph.constants[name].array for name in (inputs.least, inputs.most))
    return (_params(spec.dtype)(pool.add("least", least), pool.add("most", most)),)


FAMILY = KernelFamily(
    spec_type=Signs,
    operators=(qops.QSigns,),
    spec=spec,
    overlap=overlap,
    arguments=arguments,
)

"""Rows of a table by index, in plain C."""

from __future__ import annotations

import math
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

from edgec.base.dtypes import DType
from edgec.ir import qops
from edgec.ir.graph import Graph, Node
from edgec.kernels.common.form_ends import stored_type
from edgec.kernels.common.lengths import Counted
from edgec.kernels.common.spec import Plain
from edgec.kernels.family import Distances, KernelFamily, template_beside
from edgec.target.target import Target


@dataclass(frozen=True, slots=True)
class Embedding(Plain):
    """Rows of a table by index: ids int32 [tokens], table [vocabulary, channels].

    Attributes:
        tokens, vocabulary, channels: shapes.
        dtype: element type of the table, INT8 or INT16.
        multiplier: multiplier of its entries.
        variable: the tokens of a run are an argument.
        y_dtype: element type of y, INT16 or INT8.
    """

    family: ClassVar[str] = "embedding"
    template: ClassVar[Path] = template_beside(__file__, "embedding")
    tokens: int
    vocabulary: int
    channels: int
    dtype: DType
    multiplier: int
    variable: bool = False
    y_dtype: DType = DType.INT16

    @property
    def y_type(self) -> str:
        """C type of an element of y."""
        return stored_type(self.y_dtype)

    @property
    def last_id(self) -> int:
        """The last row of the table."""
        return self.vocabulary - 1

    @property
    def is_copied(self) -> bool:
        """Entries of the table are elements of y."""
        return self.y_dtype is DType.INT8

    @property
    def table_type(self) -> str:
        """C type of an entry of the table."""
        return f"{self.dtype.value}_t"

    def describe(self) -> str:
        """Operator and shapes in words, for a comment in C."""
        return f"{self.tokens} rows of a table [{self.vocabulary}, {self.channels}]"


def spec(graph: Graph, node: Node, _target: Target) -> Embedding:
    """The specification for a QEmbedding."""
    inputs = qops.QEmbedding.Inputs.of(node.inputs)
    vocabulary, channels = graph.shape(inputs.table)
    return Embedding(
        tokens=math.prod(graph.shape(inputs.ids)),
        vocabulary=vocabulary,
        channels=channels,
        dtype=graph.constants[inputs.table].dtype,
        multiplier=node.attrs_as(qops.QEmbedding).multiplier,
        y_dtype=node.attrs_as(qops.QEmbedding).dtype,
    )


def overlap(_spec: Embedding) -> Distances:
    """The output overlaps neither the indices nor the table."""
    return (None, None)


FAMILY = KernelFamily(
    spec_type=Embedding,
    operators=(qops.QEmbedding,),
    spec=spec,
    overlap=overlap,
    lengths=Counted("tokens"),
)

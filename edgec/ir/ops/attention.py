"""Scaled dot-product attention, its heads side by side.

Rows of a table.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

from edgec.ir.graph import Tensor, Value
from edgec.ir.operator import Operands, Shape, T
from edgec.ir.real import RealOperator, check_int32
from edgec.ir.shapes import broadcast, need


@dataclass(frozen=True, slots=True)
class Attention(RealOperator):
    """Scaled dot-product attention, heads side by side in the last axis; y [..., N, heads*E].

    The leading axes of q, k and v are equal.  Per head ``softmax(scale * q @ k.T + bias) @ v`` over
    the keys whose entry of `keys` is not 0; at least one is not.
    """

    @dataclass(frozen=True, slots=True)
    class Inputs(Operands[T]):
        """Queries, keys and values, and what says which of them meet.

        q [..., N, heads*D], k [..., M, heads*D], v [..., M, heads*E], bias broadcastable to
        [..., heads, N, M], keys int32 broadcastable to [..., M].
        """

        q: T
        k: T
        v: T
        bias: T | None = None
        keys: T | None = None

    heads: int
    scale: float

    def infer_shape(self, inputs: Inputs[Shape]) -> Shape:
        q, k, v = inputs.q, inputs.k, inputs.v
        need(min(len(q), len(k), len(v)) >= 2, "an operand is no matrix")
        lead, (n, m) = q[:-2], (q[-2], k[-2])
        need(k[:-2] == v[:-2] == lead and m == v[-2], "q, k and v disagree")
        need(q[-1] == k[-1], "q and k disagree about their width")
        heads = self.heads
        need(heads >= 1 and q[-1] % heads == v[-1] % heads == 0, "heads do not fit")
        for mask, full in ((inputs.bias, (*lead, heads, n, m)), (inputs.keys, (*lead, m))):
            need(mask is None or broadcast(full, mask) == full, "a mask does not fit")
        return (*q[:-1], v[-1])

    def macs(self, inputs: Inputs[Shape], output: Shape) -> int:
        # Each query meets each key, and each key's weight the value.
        q, k, v = inputs.q, inputs.k, inputs.v
        return math.prod(q[:-1]) * k[-2] * (q[-1] + v[-1])


@dataclass(frozen=True, slots=True)
class Embedding(RealOperator):
    """The rows of a table that ids name; y [..., C]."""

    @dataclass(frozen=True, slots=True)
    class Inputs(Operands[T]):
        """ids int32 [...], each at least 0 and less than V; table const [V, C]."""

        ids: T
        table: T

    CONSTANTS: ClassVar[frozenset[str]] = frozenset({"table"})

    @property
    def title(self) -> str:
        return "Gather"

    def infer_shape(self, inputs: Inputs[Shape]) -> Shape:
        need(len(inputs.table) == 2, "the table must be [V, C]")
        return (*inputs.ids, inputs.table[1])

    def verify(self, inputs: Inputs[Tensor], output: Value) -> None:
        check_int32(inputs.ids)

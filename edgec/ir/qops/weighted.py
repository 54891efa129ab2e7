"""The operands that the layers with trained weights share; named as those of `ir.ops.Weighted`."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Self

from edgec.base.dtypes import DType
from edgec.ir.operator import Operands, T
from edgec.ir.qops.base import IntegerOperator
from edgec.ir.qops.operands import CODES, MULTIPLIERS, parameter, table, tensor


@dataclass(frozen=True, slots=True)
class Weighted(IntegerOperator):
    """An operator whose accumulator is a bias and a sum of products with weights."""

    @dataclass(frozen=True, slots=True)
    class Inputs(Operands[T]):
        """Input x; weights w, outputs O on axis 0; bias b and multiplier of each output."""

        x: T = field(metadata=tensor(DType.INT8))
        w: T = field(metadata=parameter(DType.INT8))
        b: T = field(metadata=parameter(DType.INT32))
        multiplier: T = field(metadata=parameter(*MULTIPLIERS))

        @property
        def rows(self) -> T:
            """What has a row for each output: the weights."""
            return self.w

        def with_rows(self, rows: T, b: T, multiplier: T) -> Self:
            """The record with others of what has an entry for each output."""
            return replace(self, w=rows, b=b, multiplier=multiplier)


@dataclass(frozen=True, slots=True)
class PlainLayer(Weighted):
    """One that ends as `layer_end` says, and whose weights may come from a pool instead."""

    @dataclass(frozen=True, slots=True)
    class Inputs(Weighted.Inputs[T]):
        """Operands of `Weighted`, then what the end of the layer adds or looks up."""

        residual: T | None = field(default=None, metadata=tensor(*CODES))
        table: T | None = field(default=None, metadata=table(DType.INT8))

        def pooled(self, pool: T, indices: T) -> PooledLayer.Inputs[T]:
            """The operands of the pooled layer that has `indices` into `pool`."""
            end = self.b, self.multiplier, self.residual, self.table
            return PooledLayer.Inputs(self.x, pool, indices, *end)


@dataclass(frozen=True, slots=True)
class PooledLayer(IntegerOperator):
    """A layer whose weights are vectors of a pool."""

    @dataclass(frozen=True, slots=True)
    class Inputs(Operands[T]):
        """Operands of `PlainLayer`, with the pool and indices into it in place of the weights."""

        x: T = field(metadata=tensor(DType.INT8))
        pool: T = field(metadata=parameter(DType.INT8))
        indices: T = field(metadata=parameter(DType.UINT16))
        b: T = field(metadata=parameter(DType.INT32))
        multiplier: T = field(metadata=parameter(*MULTIPLIERS))
        residual: T | None = field(default=None, metadata=tensor(*CODES))
        table: T | None = field(default=None, metadata=table(DType.INT8))

        @property
        def rows(self) -> T:
            """What has a row for each output: the indices."""
            return self.indices

        def with_rows(self, rows: T, b: T, multiplier: T) -> Self:
            """The record with others of what has an entry for each output."""
            return replace(self, indices=rows, b=b, multiplier=multiplier)

        def plain(self, w: T) -> PlainLayer.Inputs[T]:
            """The operands of the plain layer that has the weights `w`."""
            return PlainLayer.Inputs(self.x, w, self.b, self.multiplier, self.residual, self.table)

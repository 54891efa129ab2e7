"""What the converters from real to integer operators share: one node in the making."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from edgec.base.dtypes import Array, DType
from edgec.base.errors import QuantizationError
from edgec.base.fixedpoint import INT8_MAX, INT8_MIN, INT32_MAX, Requant
from edgec.ir import ops, qops
from edgec.ir.fusion import act_bounds
from edgec.ir.graph import Graph, GraphBuilder, Node
from edgec.ir.qparams import QuantParams

SPAN = 255
"""Bound of |q - zero_point| for int8 q."""


@dataclass(frozen=True, slots=True, eq=False)
class Conversion:
    """One real node, with the Clip fused onto it, as it becomes an integer node.

    Attributes:
        graph: ANNOTATED stage.
        builder: builds the integer graph; holds all constants already.
        node: what is converted.
        clip: the Clip it absorbs, or None.
    """

    graph: Graph
    builder: GraphBuilder
    node: Node
    clip: Node | None

    @property
    def output(self) -> str:
        """Name of the integer node's output."""
        return self.node.output if self.clip is None else self.clip.output

    @property
    def y(self) -> QuantParams:
        """Parameters of the output."""
        return self.graph.quant(self.output)

    @property
    def x(self) -> QuantParams:
        """Parameters of the first operand."""
        return self.graph.quant(self.node.first)

    @property
    def x_shape(self) -> tuple[int, ...]:
        """Shape of the first operand."""
        return self.graph.shape(self.node.first)

    def form(self, shift: int) -> qops.Requant31:
        """The requantization to the output, with the bounds of the fused Clip."""
        return qops.Requant31(shift, self.y.tensor_zero_point, *self.act_bounds)

    @property
    def act_bounds(self) -> tuple[int, int]:
        """Clamp bounds in output codes: those of the fused Clip."""
        if self.clip is None:
            return INT8_MIN, INT8_MAX
        attrs, y = self.clip.attrs_as(ops.Clip), self.y
        return act_bounds(attrs.low, attrs.high, y.tensor_scale, y.tensor_zero_point)

    def requant(self, factors: npt.ArrayLike, acc_bound: float) -> Requant:
        """`Requant.from_real`, with the node's name in errors.

        Raises:
            QuantizationError: an accumulator could exceed int32, or a factor is out of range.
        """
        if acc_bound > INT32_MAX:
            raise QuantizationError(
                f"its accumulators could reach {acc_bound:.3g}, beyond 32 bits",
                where=self.node.name,
                hint="split the operator; it sums too many elements",
            )
        try:
            return Requant.from_real(factors, int(acc_bound))
        except QuantizationError as error:
            raise QuantizationError(error.what, where=self.node.name, hint=error.hint) from error

    def constant(self, suffix: str, array: Array) -> str:
        """Add a constant of the integer graph; its name."""
        return self.builder.constant(f"{self.node.name}_{suffix}", array)

    def int32(self, suffix: str, values: npt.ArrayLike) -> str:
        """Add an int32 constant."""
        return self.constant(suffix, np.asarray(values, np.int32))

    def emit(self, attrs: Any, inputs: tuple[str, ...]) -> None:
        """Add the integer node and its output value."""
        value = self.graph.values[self.output]
        dtype = value.quant.dtype if value.quant is not None else DType.INT32
        self.builder.value(replace(value, dtype=dtype))
        sources = self.node.sources + (self.clip.sources if self.clip else ())
        self.builder.put(Node(self.node.name, attrs, inputs, (self.output,), sources))


Converter: TypeAlias = Callable[[Conversion], None]
"""Adds the integer operator of a real one to the graph in the making."""

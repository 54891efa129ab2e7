"""A growing random INTEGER graph: tensors and numbers, biased to the edges.

Shapes and choices come from hypothesis (so that failures shrink), or from a seed; the contents of
arrays come from a generator whose seed does.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from hypothesis import strategies as st
from random_pools import KINDS, random_indices, random_vectors

from edgec.base.dtypes import Array, DType
from edgec.base.fixedpoint import INT32_MAX
from edgec.base.limits import MAX_TERMS
from edgec.ir import Graph, QuantParams, Value, qops
from edgec.ir.graph_builder import GraphBuilder
from edgec.ir.qops import AddParams, PoolRounding
from edgec.ir.weight_pool import GROUPS

CHANNELS = (1, 2, 3, 4, 5, 7, 8, 9, 16, 17)
POOL_SIZES = (2, 3, 16, 17, 64, 255, 256)
EDGE_MULTIPLIERS = (0, 1, -1, 2, INT32_MAX, -INT32_MAX, 2**30, -(2**30), 2**16 + 1)
EDGE_SHIFTS = (1, 2, 8, 15, 16, 30, 31, 32, 33, 34, 47, 61, 62)


class Net:
    """A graph under construction, and where its random choices come from."""

    def __init__(self, integer: Callable[[int, int], int]) -> None:
        self.integer = integer
        self.builder = GraphBuilder("random")
        self.rng = np.random.default_rng(integer(0, 2**32 - 1))

    @classmethod
    def drawn(cls, draw: Any) -> Net:
        """Choices by hypothesis."""
        return cls(lambda low, high: draw(st.integers(low, high)))

    @classmethod
    def seeded(cls, seed: int) -> Net:
        """The same choices for the same seed."""
        rng = np.random.default_rng(seed)
        return cls(lambda low, high: int(rng.integers(low, high, endpoint=True)))

    def pick(self, options: Sequence[Any]) -> Any:
        return options[self.integer(0, len(options) - 1)]

    def chance(self) -> bool:
        return self.pick([False, True])

    def shape(self, name: str) -> tuple[int, ...]:
        tensors = self.builder.values if name in self.builder.values else self.builder.constants
        return tensors[name].shape

    def quant_of(self, name: str) -> QuantParams:
        tensors = self.builder.values if name in self.builder.values else self.builder.constants
        quant = tensors[name].quant
        assert quant is not None
        return quant

    def zero_point_of(self, name: str) -> int:
        return self.quant_of(name).tensor_zero_point

    def image_shape(self) -> tuple[int, int, int, int]:
        return (1, self.integer(1, 7), self.integer(1, 7), self.pick(CHANNELS))

    def any_shape(self) -> tuple[int, ...]:
        if self.chance():
            return self.image_shape()
        return (1, *(self.integer(1, 6) for _ in range(self.integer(1, 3))))

    def quant(self) -> QuantParams:
        zero_point = self.pick([-128, 127, 0, -1, 1, self.integer(-128, 127)])
        return QuantParams.per_tensor(self.pick([0.05, 1.0, 2.0**-8]), zero_point)

    def input(self, shape: tuple[int, ...]) -> str:
        name = self._value("x", shape, self.quant(), DType.INT8)
        self.builder.inputs.append(name)
        return name

    def output(self, shape: tuple[int, ...], quant: QuantParams | None) -> str:
        """A new value that a node is about to compute; quant None: indices."""
        return self._value("y", shape, quant, DType.INT32 if quant is None else DType.INT8)

    def constant(self, array: Array, quant: QuantParams | None = None) -> str:
        return self.builder.constant("c", array, quant)

    def node(self, attrs: Any, inputs: Sequence[str], output: str) -> str:
        self.builder.node(type(attrs).__name__, attrs, inputs, [output])
        return output

    def codes(self, shape: tuple[int, ...]) -> Array:
        """int8 codes or weights: anything, only extremes, or all alike."""
        match self.pick(["any", "any", "extremes", "low", "high", "sparse"]):
            case "any":
                array = self.rng.integers(-128, 128, shape)
            case "extremes":
                array = self.rng.choice([-128, -127, 127], shape)
            case "low":
                array = np.full(shape, -128)
            case "high":
                array = np.full(shape, 127)
            case _:
                array = self.rng.integers(-128, 128, shape) * self.rng.integers(0, 2, shape)
        return array.astype(np.int8)

    def rounding(self) -> PoolRounding:
        """Exact responses, any width."""
        return PoolRounding(self.pick([8, 8, self.integer(1, 8)]), 0)

    def pool_and_indices(self, shape: tuple[int, ...]) -> tuple[Array, Array]:
        """Pool int8 [S, G] and indices uint16 [..., ceil(I/G) * terms] for weights [..., I]."""
        kind = self.pick(["any", "any", *KINDS])
        size, group = self.pick(POOL_SIZES), self.pick(GROUPS)
        terms = self.pick([1, 1, *range(1, MAX_TERMS + 1)])
        vectors = random_vectors(self.rng, size, group, kind, terms)
        return vectors, random_indices(self.rng, vectors, shape, terms)

    def clamp(self, zero_point: int) -> dict[str, int]:
        ranges = [(-128, 127), (zero_point, 127), (-128, zero_point), (-7, 9)]
        # Constant outputs are an edge too, but a network full of them would test little.
        low, high = self.pick([*ranges, *ranges, *ranges, (127, 127), (-128, -128)])
        return {"low": low, "high": high}

    def form(self, shift: int, zero_point: int) -> qops.Requant31:
        return qops.Requant31(shift, zero_point, *self.clamp(zero_point).values())

    def bias(self, channels: int, typical: float) -> Array:
        size = self.pick([0, 1, int(typical), 2**30])
        return self.rng.integers(-size, size, channels, endpoint=True).astype(np.int32)

    def requant(self, count: int, typical: float) -> tuple[Array, int]:
        """(multipliers int32 [count], shift), for accumulators of about `typical`."""
        if self.pick([True, True, True, False]):
            shift = self.pick([32, 32, 32, 24, 31, 33, 40])
            factor = self.rng.uniform(20, 200) / max(typical, 1.0)
            real = factor * self.rng.uniform(0.3, 2.0, count) * 2.0**shift
        else:
            shift = self.pick(EDGE_SHIFTS)
            edges = self.rng.choice(EDGE_MULTIPLIERS, count)
            random = self.rng.integers(-INT32_MAX, INT32_MAX, count, endpoint=True)
            real = np.where(self.rng.integers(0, 3, count) > 0, edges, random).astype(np.float64)
        return np.clip(np.round(real), -INT32_MAX, INT32_MAX).astype(np.int32), shift

    def add_params(self, a_zero_point: int, b_zero_point: int, y_zero_point: int) -> AddParams:
        """Numbers within the bound that `AddParams` states."""
        shift = self.pick([20, 20, 20, 1, 8, 30, 31])
        room = (INT32_MAX - 2 ** (shift - 1)) // 255
        a = min(self.pick([0, 1, 2**19, 2**20 - 1, room]), room)
        b = min(self.pick([1, 2**18 + 12345, 2**20]), room - a)
        signs = self.pick([(1, 1), (1, -1), (-1, 1)])
        return AddParams(
            a_zero_point=a_zero_point,
            b_zero_point=b_zero_point,
            a_multiplier=a * signs[0],
            b_multiplier=b * signs[1],
            shift=shift,
            y_zero_point=y_zero_point,
            **self.clamp(y_zero_point),
        )

    def build(self) -> Graph:
        """The graph; every value that no node reads is an output."""
        read = {name for node in self.builder.nodes.values() for name in node.inputs}
        made = [node.outputs[0] for node in self.builder.nodes.values()]
        self.builder.outputs = [name for name in made if name not in read]
        return self.builder.build()

    def _value(
        self, stem: str, shape: tuple[int, ...], quant: QuantParams | None, dtype: DType
    ) -> str:
        return self.builder.value(Value(self.builder.fresh(stem), shape, dtype, quant))

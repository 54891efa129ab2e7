"""Normalizations of transformers, over the last axis.

Batch normalization.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from edgec.ir.layout import Freedom
from edgec.ir.operator import Operands, Shape, T
from edgec.ir.real import RealOperator
from edgec.ir.shapes import check_per_channel, norm_shape


@dataclass(frozen=True, slots=True)
class Norm(RealOperator):
    """x [..., C], normalized over the last axis and multiplied by gamma."""

    @dataclass(frozen=True, slots=True)
    class Inputs(Operands[T]):
        """Input x, factors gamma (const [C]), and what is added, beta (const [C])."""

        x: T
        gamma: T
        beta: T | None = None

    CONSTANTS: ClassVar[frozenset[str]] = frozenset({"gamma", "beta"})

    epsilon: float = 1e-5

    @property
    def freedom(self) -> Freedom:
        return Freedom.LAST

    def infer_shape(self, inputs: Inputs[Shape]) -> Shape:
        return norm_shape(inputs.x, inputs.gamma, inputs.beta)


@dataclass(frozen=True, slots=True)
class LayerNormalization(Norm):
    """``(x - mean) / sqrt(variance + epsilon) * gamma + beta``, the variance divided by C."""


@dataclass(frozen=True, slots=True)
class RMSNormalization(Norm):
    """``x / sqrt(mean(x * x) + epsilon) * gamma``; it has no beta."""

    def infer_shape(self, inputs: Norm.Inputs[Shape]) -> Shape:
        if inputs.beta is not None:
            raise ValueError("there is no beta")
        return norm_shape(inputs.x, inputs.gamma, None)


@dataclass(frozen=True, slots=True)
class BatchNormalization(RealOperator):
    """``(x - mean) / sqrt(var + epsilon) * scale + b``; folded or turned into `Conv` by a pass."""

    @dataclass(frozen=True, slots=True)
    class Inputs(Operands[T]):
        """Input x [..., C]; factors, what is added, mean and variance: const [C] (or [1]) each."""

        x: T
        scale: T
        b: T
        mean: T
        var: T

    CONSTANTS: ClassVar[frozenset[str]] = frozenset({"scale", "b", "mean", "var"})
    REAL_STAGE_ONLY: ClassVar[bool] = True

    epsilon: float = 1e-5

    @property
    def freedom(self) -> Freedom:
        return Freedom.LAST

    def infer_shape(self, inputs: Inputs[Shape]) -> Shape:
        check_per_channel(inputs.x, inputs.scale, inputs.b, inputs.mean, inputs.var)
        return inputs.x

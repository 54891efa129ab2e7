"""Cells of recurrent networks, written out in the operators of the graph.

Products of the input and of the hidden state are layers of their own, one a gate: the input keeps
its own codes, and each gate has its own scale.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from edgec.base.dtypes import Array
from edgec.importers.common.builder import RealBuilder
from edgec.importers.common.tensors import Tensor
from edgec.ir import ops
from edgec.ir.graph import Constant, Value

Function = Callable[[RealBuilder, Tensor], Tensor]
"""An activation function."""


@dataclass(frozen=True, slots=True, eq=False)
class Gate:
    """Weights of a gate: ``x @ w.T + h @ r.T + b``.

    Attributes:
        name: unique in the file, for the names of the constants.
        w: weights of the input, float32 [units, features].
        r: weights of the hidden state, float32 [units, units].
        b: bias, float32 [units].
        rb: bias of the product of the hidden state, where it is kept apart from b
            (a GRU that is reset after its product); float32 [units].
    """

    name: str
    w: Array
    r: Array
    b: Array
    rb: Array | None = None

    def of_input(self, ctx: RealBuilder, x: Tensor) -> Tensor:
        """``x @ w.T + b``; [batch, units]."""
        return _product(ctx, x, self.w, self.b, f"{self.name}/W")

    def of_hidden(self, ctx: RealBuilder, h: Tensor) -> Tensor:
        """``h @ r.T``, and rb where there is one; [batch, units]."""
        return _product(ctx, h, self.r, self.rb, f"{self.name}/R")

    def total(self, ctx: RealBuilder, x: Tensor, h: Tensor) -> Tensor:
        """The sum of both; [batch, units]."""
        return add(ctx, self.of_input(ctx, x), self.of_hidden(ctx, h))


@dataclass(frozen=True, slots=True, eq=False)
class Lstm:
    """Long short-term memory without peepholes.

    ``c' = f * c + i * g`` and ``h' = o * tanh(c')``; i, f, o of the gate function, g of the cell's.
    Source: ONNX operator documentation of LSTM.

    Attributes:
        gates: weights of input, output, forget and cell gate.
        functions: those of the gates, of the new cell and of the cell state.
        couples: the forget gate is 1 less the input gate.
    """

    gates: tuple[Gate, ...]
    functions: tuple[Function, ...]
    couples: bool = False

    def turn(self, ctx: RealBuilder, x: Tensor, state: Sequence[Tensor]) -> list[Tensor]:
        """Hidden and cell state after a step.

        Args:
            ctx: the graph under construction.
            x: input of the step [batch, features].
            state: hidden and cell state before it, each [batch, units].
        """
        h, c = state
        inputs, outputs, forgets, new = self.gates
        gate, candidate, hidden = self.functions
        i = gate(ctx, inputs.total(ctx, x, h))
        f = _less(ctx, i) if self.couples else gate(ctx, forgets.total(ctx, x, h))
        g = candidate(ctx, new.total(ctx, x, h))
        c = add(ctx, multiply(ctx, f, c), multiply(ctx, i, g))
        o = gate(ctx, outputs.total(ctx, x, h))
        return [multiply(ctx, o, hidden(ctx, c)), c]


@dataclass(frozen=True, slots=True, eq=False)
class Gru:
    """Gated recurrent unit: ``h' = n + z * (h - n)``.

    Source: ONNX operator documentation of GRU, whose ``(1 - z) * n + z * h`` this is.

    Attributes:
        gates: weights of update and reset gate, and of the new state.
        functions: those of the gates and of the new state.
        resets_product: the reset gate multiplies the product of the hidden state
            (linear_before_reset); else the hidden state before its product.
    """

    gates: tuple[Gate, ...]
    functions: tuple[Function, ...]
    resets_product: bool = False

    def turn(self, ctx: RealBuilder, x: Tensor, state: Sequence[Tensor]) -> list[Tensor]:
        """Hidden state after a step; arguments as those of `Lstm.turn`."""
        (h,) = state
        update, reset, new = self.gates
        gate, candidate = self.functions
        z = gate(ctx, update.total(ctx, x, h))
        r = gate(ctx, reset.total(ctx, x, h))
        if self.resets_product:
            passed = multiply(ctx, r, new.of_hidden(ctx, h))
        else:
            passed = new.of_hidden(ctx, multiply(ctx, r, h))
        n = candidate(ctx, add(ctx, new.of_input(ctx, x), passed))
        change = ctx.emit(ops.Sub(), h, n)
        return [add(ctx, n, multiply(ctx, z, change))]


@dataclass(frozen=True, slots=True, eq=False)
class Rnn:
    """Elman network: ``h' = function(x @ w.T + h @ r.T + b)``.

    Attributes:
        gates: the only one.
        functions: the only one.
    """

    gates: tuple[Gate, ...]
    functions: tuple[Function, ...]

    def turn(self, ctx: RealBuilder, x: Tensor, state: Sequence[Tensor]) -> list[Tensor]:
        """Hidden state after a step; arguments as those of `Lstm.turn`."""
        (h,), (gate,), (function,) = state, self.gates, self.functions
        return [function(ctx, gate.total(ctx, x, h))]


Cell = Lstm | Gru | Rnn


def add(ctx: RealBuilder, a: Tensor, b: Tensor) -> Tensor:
    """The sum; constants are added here, and 0 to nothing."""
    if isinstance(a, Constant) and isinstance(b, Constant):
        return Constant(a.name, a.real() + b.real())
    for one, other in ((a, b), (b, a)):
        if isinstance(one, Constant) and not one.real().any():
            return other
    return ctx.emit(ops.Add(), a, b)


def multiply(ctx: RealBuilder, a: Tensor, b: Tensor) -> Tensor:
    """The product; that of constants is one, and so is that with 0."""
    if isinstance(a, Constant) and isinstance(b, Constant):
        return Constant(a.name, a.real() * b.real())
    for one in (a, b):
        if isinstance(one, Constant) and not one.real().any():
            return Constant(one.name, np.zeros(np.broadcast_shapes(a.shape, b.shape), np.float32))
    return ctx.emit(ops.Mul(), a, b)


def _less(ctx: RealBuilder, x: Tensor) -> Tensor:
    if isinstance(x, Constant):
        return Constant(x.name, 1.0 - x.real())
    return ctx.emit(ops.Sub(), Constant("one", np.ones((), np.float32)), x)


def _product(ctx: RealBuilder, x: Tensor, w: Array, b: Array | None, name: str) -> Tensor:
    bias = None if b is None or not b.any() else b
    if isinstance(x, Constant):
        array = x.real() @ w.T
        return Constant(f"{name}/of {x.name}", array if bias is None else array + bias)
    known = None if bias is None else Constant(f"{name}/bias", bias)
    assert isinstance(x, Value)
    return ctx.emit(ops.Gemm(), x, Constant(name, w), known)

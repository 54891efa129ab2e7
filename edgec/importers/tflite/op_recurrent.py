"""UNIDIRECTIONAL_SEQUENCE_LSTM: a state, and a loop over the steps whose turn is a cell."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import tflite

from edgec.base.dtypes import DType
from edgec.importers.common.boundary import library_call
from edgec.importers.common.loops import carry, new_loop, part, stacked, updated
from edgec.importers.common.tensors import Tensor, UnsupportedError
from edgec.importers.tflite.context import Context, code_params
from edgec.importers.tflite.load_tensor import FileModel
from edgec.importers.tflite.node import TfliteNode
from edgec.importers.tflite.op_layers import bias_of
from edgec.importers.tflite.states import keep, pinned, state_before
from edgec.ir import ops
from edgec.ir.graph import Constant, Value
from edgec.ir.ops import UnaryKind
from edgec.ir.qparams import QuantParams
from edgec.ir.real import RealOperator

_OPTIONS = "UnidirectionalSequenceLSTMOptions"
_INPUT, _FORGET, _NEW, _OUTPUT = range(4)
"""The gates, in the order of the file's inputs."""
_W, _R, _B = 1, 5, 12
"""Weights of the input, of the hidden state, and biases: the first of four inputs each."""
_HIDDEN, _CELL = 18, 19
_OTHERS = (
    (range(9, 12), "its gates look at the cell (peepholes)", "peepholes"),
    (range(16, 18), "it projects its hidden state", "a projection"),
    (range(20, 24), "it normalizes its gates", "layer normalization"),
)
"""Inputs that only other kinds of LSTM have, what they are for, and what to train without."""
_GATE = QuantParams.per_tensor(2.0**-12, 0, DType.INT16)
_FUNCTION = QuantParams.per_tensor(2.0**-15, 0, DType.INT16)


def unidirectional_sequence_lstm(ctx: Context, node: TfliteNode) -> Tensor:
    """Float32, int8 or 16x8; the state is kept between runs; four gates and nothing else."""
    _refuse_others(node)
    sequence = _Sequence.of(node)
    x = node.real(0)
    shape = (sequence.batch, sequence.units)
    state = [state_before(ctx, node, index, shape) for index in (_HIDDEN, _CELL)]
    cell = _Cell.of(ctx, node, sequence, state)
    codes = node.input_params(0)
    before = [each for each in state if isinstance(each, Value)]
    if sequence.steps == 1 and before:
        row = pinned(ctx, _value(ctx.reshape(x, (sequence.batch, sequence.features))), codes)
        last = cell.turn(ctx, row, *before)
        y: Tensor = ctx.reshape(last[0], sequence.whole)
    else:
        loop = new_loop(ctx, node.outputs[0], sequence.steps, "LSTM" if codes is None else "")
        carried = [pinned(ctx, carry(ctx, each, loop), each.quant) for each in state]
        row = pinned(ctx, _value(part(ctx, x, loop, sequence.axis, backwards=False)), codes)
        after = cell.turn(ctx, row, *carried)
        y = stacked(ctx, after[0], loop, sequence.axis, backwards=False)
        last = [
            _value(updated(ctx, loop, own, new, is_used=True))
            for own, new in zip(carried, after, strict=True)
        ]
    for own, new in zip(state, last, strict=True):
        keep(ctx, new, own)
    return y


def batches(model: FileModel) -> dict[str, int]:
    """The batch axis of inputs of the network that are sequences whose steps come first."""
    found = {}
    for operator in model.operators:
        x = next(iter(operator.inputs), None)
        if operator.kind == _OPTIONS and x is not None and x in model.inputs:
            with library_call("an attribute cannot be read"):
                steps_first = operator.options.TimeMajor()
            if steps_first:
                found[model.tensors[x].name] = 1
    return found


@dataclass(frozen=True, slots=True)
class _Sequence:
    """Sizes of the operands, and the axis of the steps of x."""

    batch: int
    steps: int
    features: int
    units: int
    axis: int

    @property
    def whole(self) -> tuple[int, ...]:
        """Shape of y."""
        first = (self.steps, self.batch) if self.axis == 0 else (self.batch, self.steps)
        return (*first, self.units)

    @classmethod
    def of(cls, node: TfliteNode) -> _Sequence:
        """Sizes by x and the weights of the hidden state."""
        x, r = node.value(0).shape, node.constant(_R, "recurrence weights").shape
        if len(x) != 3 or not r or r[0] == 0:
            raise UnsupportedError(
                f"its input is {list(x)}, its weights are {list(r)}", "correct the model"
            )
        steps_first = bool(node.integer("TimeMajor"))
        steps, batch = (x[0], x[1]) if steps_first else (x[1], x[0])
        return cls(batch, steps, x[2], r[0], int(not steps_first))


def _refuse_others(node: TfliteNode) -> None:
    """Refuse kinds of cells that are not computed, each by its name."""
    for places, what, remedy in _OTHERS:
        if any(node.has(place) for place in places):
            raise UnsupportedError(what, f"train the LSTM without {remedy}")
    if not node.has(_W + _INPUT):
        raise UnsupportedError(
            "its input gate is 1 less its forget gate (CIFG)", "train it with an input gate"
        )
    if node.integer("FusedActivationFunction") != tflite.ActivationFunctionType.TANH:
        raise UnsupportedError("its activation function is not tanh", "train it with tanh")
    if node.integer("DiagonalRecurrentTensors"):
        raise UnsupportedError("its recurrence weights are diagonals", "train it with matrices")
    if not node.number("CellClip") >= 0.0:
        raise UnsupportedError("the clip of its cell is no bound", "correct the model")


@dataclass(frozen=True, slots=True, eq=False)
class _Gate:
    """``x @ w.T + b + h @ r.T`` of a gate: weights [units, ...], bias [units]."""

    w: Constant
    r: Constant
    b: Constant | None


@dataclass(frozen=True, slots=True, eq=False)
class _Cell:
    """``c' = clip(f * c + i * g)`` and ``h' = o * tanh(c')``.

    In codes every product, sum and function is rounded to codes of its own, as TensorFlow Lite
    Micro does: both parts of a gate to int16 steps of 2^-12, functions to steps of 2^-15, both
    parts of the cell to its codes.

    Source: TensorFlow Lite Micro, micro/kernels/lstm_eval_common.cc and lstm_eval.h.

    Attributes:
        gates: input, forget, new cell, output.
        clip: bound of |c'|; 0: there is none.
        hidden, cell: the codes of both states; None of a float network.
    """

    gates: tuple[_Gate, ...]
    clip: float
    hidden: QuantParams | None
    cell: QuantParams | None

    @classmethod
    def of(
        cls, ctx: Context, node: TfliteNode, sequence: _Sequence, state: Sequence[Tensor]
    ) -> _Cell:
        """The cell of an operator, checked.

        Args:
            ctx: the graph under construction.
            node: the operator.
            sequence: its sizes.
            state: hidden and cell state before a run.
        """
        hidden, cell = (each.quant for each in state)
        _check_codes(ctx, node, hidden, cell)
        coded = hidden is not None
        gates = []
        for gate in range(4):
            shape = (sequence.units, sequence.features)
            w = _weights(node, _W + gate, shape, coded=coded)
            r = _weights(node, _R + gate, (sequence.units, sequence.units), coded=coded)
            b = bias_of(ctx, node, 0, w, _B + gate)
            if b is not None and b.shape != (sequence.units,):
                raise UnsupportedError(f"a bias is {list(b.shape)}", "correct the model")
            gates.append(_Gate(w, r, b))
        return cls(tuple(gates), _clip(node, cell), hidden, cell)

    def turn(self, ctx: Context, x: Value, h: Value, c: Value) -> list[Value]:
        """Hidden and cell state after a step.

        Args:
            ctx: the graph under construction.
            x: input of the step [batch, features].
            h, c: states before it [batch, units].
        """
        i, f, g, o = (self._gate(ctx, number, x, h) for number in range(4))
        kept, fresh = (self._cell(ctx, ops.Mul(), a, b) for a, b in ((f, c), (i, g)))
        if self.clip > 0.0:
            whole = ctx.emit(ops.Add(), kept, fresh)
            after = self._cell(ctx, ops.Clip(-self.clip, self.clip), whole)
        else:
            after = self._cell(ctx, ops.Add(), kept, fresh)
        shown = self._coded(ctx, ctx.emit(ops.Unary(UnaryKind.TANH), after), _FUNCTION)
        return [pinned(ctx, ctx.emit(ops.Mul(), o, shown), self.hidden), after]

    def _gate(self, ctx: Context, number: int, x: Value, h: Value) -> Value:
        gate = self.gates[number]
        of_x = self._coded(ctx, ctx.emit(ops.Gemm(), x, gate.w, gate.b), _GATE)
        of_h = self._coded(ctx, ctx.emit(ops.Gemm(), h, gate.r, None), _GATE)
        total = self._coded(ctx, ctx.emit(ops.Add(), of_x, of_h), _GATE)
        kind = UnaryKind.TANH if number == _NEW else UnaryKind.SIGMOID
        return self._coded(ctx, ctx.emit(ops.Unary(kind), total), _FUNCTION)

    def _cell(self, ctx: Context, attrs: RealOperator, *operands: Value) -> Value:
        return pinned(ctx, ctx.emit(attrs, *operands), self.cell)

    def _coded(self, ctx: Context, x: Value, quant: QuantParams) -> Value:
        return x if self.cell is None else pinned(ctx, x, quant)


def _check_codes(
    ctx: Context, node: TfliteNode, hidden: QuantParams | None, cell: QuantParams | None
) -> None:
    """Check that the codes of input, states and output are those of one kind of cell."""
    x, y = node.input_params(0), code_params(ctx.file[node.output_number], ())
    if x is None and hidden is None and cell is None and y is None:
        return
    if x is None or hidden is None or cell is None or y is None or x.dtype is not hidden.dtype:
        raise UnsupportedError(
            "its input, states and output are codes in part, or of several types",
            "quantize the whole operator",
        )
    if x.dtype not in (DType.INT8, DType.INT16) or y != hidden:
        raise UnsupportedError(
            "its output and its hidden state have different codes", "convert the model again"
        )
    if cell.dtype is not DType.INT16 or np.frexp(cell.tensor_scale)[0] != 0.5:
        raise UnsupportedError(
            "its cell has no int16 codes in steps of a power of 2", "convert the model again"
        )


def _weights(node: TfliteNode, index: int, shape: tuple[int, ...], *, coded: bool) -> Constant:
    """Weights of a gate: int8 codes of one scale, or real numbers."""
    found = node.constant(index, "weight")
    if found.shape != shape:
        raise UnsupportedError(
            f"a weight is {list(found.shape)}, not {list(shape)}", "correct the model"
        )
    quant = found.quant
    if not coded:
        real = found.real() if quant is not None or found.dtype is DType.FLOAT32 else None
        if real is None or not np.isfinite(real).all():
            raise UnsupportedError("a weight holds no finite numbers", "convert the model again")
        return Constant(found.name, real)
    if quant is None or quant.dtype is not DType.INT8 or quant.zero_point != (0,):
        raise UnsupportedError(
            "a weight has no int8 codes of one scale around 0", "convert it again"
        )
    return found


def _clip(node: TfliteNode, cell: QuantParams | None) -> float:
    """The bound of the cell; of codes a whole number of steps, rounded down.

    Source: TensorFlow Lite Micro, micro/kernels/lstm_eval_common.cc (CreateLstmCellStateInfo).
    """
    clip = node.number("CellClip")
    if cell is None:
        return clip
    step = cell.tensor_scale
    return int(min(clip / step, float(np.iinfo(np.int16).max))) * step


def _value(x: Tensor) -> Value:
    assert isinstance(x, Value)
    return x

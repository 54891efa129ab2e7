"""LSTM, GRU and RNN: a loop over the steps of the sequence, whose turn is a cell."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType

import numpy as np

from edgec.base.dtypes import Array
from edgec.importers.common.attributes import finite_number
from edgec.importers.common.builder import RealBuilder
from edgec.importers.common.gathered import take
from edgec.importers.common.loops import carry, new_loop, part, stacked, updated
from edgec.importers.common.recurrent import Cell, Function, Gate, Gru, Lstm, Rnn
from edgec.importers.common.tensors import Tensor, UnsupportedError
from edgec.importers.onnx.node import Context, OnnxNode
from edgec.ir import ops
from edgec.ir.graph import Constant
from edgec.ir.ops import UnaryKind

_UNUSED = Constant("unused", np.zeros((), np.float32))
_X, _W, _R, _B, _LENGTHS, _H, _C, _P = range(8)
_DIRECTIONS = {"forward": (False,), "reverse": (True,), "bidirectional": (False, True)}
_GATES = {"LSTM": 4, "GRU": 3, "RNN": 1}


def recurrent(ctx: Context, node: OnnxNode) -> tuple[Tensor, ...]:
    """All directions, layouts, initial states and activations; whole sequences, no peepholes."""
    sequence = _Sequence.of(node)
    _refuse_others(node, sequence)
    found = [_direction(ctx, node, sequence, number) for number in range(sequence.directions)]
    layout = int(sequence.batch_first)
    outputs: list[Tensor] = []
    for index in range(len(node.outputs)):
        # Y is [steps, directions, batch, units], or [batch, steps, directions, units]; states are
        # [directions, batch, units], or [batch, directions, units].
        axis = layout if index else 1 + layout
        own = [_with_axis(ctx, each[index], axis) for each in found if node.is_used(index)]
        outputs.append(_joined(ctx, own, axis) if own else _UNUSED)
    return tuple(outputs)


@dataclass(frozen=True, slots=True)
class _Sequence:
    """Sizes of the operands of a node.

    Attributes:
        steps, batch, features, units: sizes.
        backwards: for each direction, whether the last step comes first.
        batch_first: axes of x and of states begin with the batch (layout = 1).
    """

    steps: int
    batch: int
    features: int
    units: int
    backwards: tuple[bool, ...]
    batch_first: bool

    @property
    def directions(self) -> int:
        """1, or 2 of a bidirectional one."""
        return len(self.backwards)

    @property
    def axis(self) -> int:
        """Axis of the steps of x."""
        return int(self.batch_first)

    @classmethod
    def of(cls, node: OnnxNode) -> _Sequence:
        """Sizes, checked against those of the weights."""
        shape = node.real_value(_X).shape
        backwards = _DIRECTIONS.get(node.text("direction", "forward"))
        if len(shape) != 3 or backwards is None:
            raise UnsupportedError("its input or its direction is none", "correct the model")
        first = node.flag("layout", False)
        batch, steps = (shape[0], shape[1]) if first else (shape[1], shape[0])
        r = node.constant(_R, "recurrence weights").shape
        units = r[-1] if r else 0
        rows, count = _GATES[node.op] * units, len(backwards)
        fits = r == (count, rows, units) and units > 0
        w = node.constant(_W, "weights").shape
        if not fits or w != (count, rows, shape[2]) or node.integer("hidden_size", units) != units:
            raise UnsupportedError(
                f"its weights {list(w)} and {list(r)} do not fit {shape[2]} features and "
                f"{count} direction{'s' * (count > 1)}",
                "correct the model",
            )
        return cls(steps, batch, shape[2], units, backwards, first)


def _refuse_others(node: OnnxNode, sequence: _Sequence) -> None:
    """Check that every sequence has all steps, and that there are no peepholes."""
    if node.has(_LENGTHS):
        lengths = node.constant(_LENGTHS, "sequence lengths").array
        if not (lengths == sequence.steps).all():
            raise UnsupportedError(
                "its sequences have lengths of their own", "give whole sequences"
            )
    if node.has(_P) and node.real_array(_P, "peepholes").any():
        raise UnsupportedError(
            "its gates look at the cell (peepholes)", "train an LSTM without peepholes"
        )


def _direction(
    ctx: Context, node: OnnxNode, sequence: _Sequence, number: int
) -> tuple[Tensor, ...]:
    """Hidden states of all steps, and the states after the last one, each [batch, ...]."""
    cell = _cell(node, sequence, number)
    state = [
        _initial(ctx, node, index, sequence, number)
        for index in ((_H, _C) if node.op == "LSTM" else (_H,))
    ]
    x, axis = node.real_value(_X), sequence.axis
    row = (sequence.batch, sequence.features)
    if sequence.steps == 1:
        after = cell.turn(ctx, ctx.reshape(x, row), state)
        return (_with_axis(ctx, after[0], axis), *after)
    loop = new_loop(ctx, node.name, sequence.steps, node.op)
    carried = [carry(ctx, each, loop) for each in state]
    backwards = sequence.backwards[number]
    after = cell.turn(ctx, part(ctx, x, loop, axis, backwards=backwards), carried)
    whole = stacked(ctx, after[0], loop, axis, backwards=backwards)
    last = [
        updated(ctx, loop, own, new, is_used=node.is_used(1 + place))
        for place, (own, new) in enumerate(zip(carried, after, strict=True))
    ]
    return (whole, *last)


def _initial(ctx: Context, node: OnnxNode, index: int, sequence: _Sequence, number: int) -> Tensor:
    """The state before the first step, [batch, units]."""
    shape = (sequence.batch, sequence.units)
    if not node.has(index):
        return Constant(f"{node.outputs[0]}/initial {index} {number}", np.zeros(shape, np.float32))
    x = node.tensor(index)
    axis = int(sequence.batch_first)
    wanted = list(shape)
    wanted.insert(axis, sequence.directions)
    if x.shape != tuple(wanted):
        raise UnsupportedError(
            f"an initial state is {list(x.shape)} instead of {wanted}",
            "export the model with a batch of 1; a state has that size, too",
        )
    if isinstance(x, Constant):
        return Constant(f"{x.name}/{number}", np.take(x.real(), number, axis))
    if sequence.directions > 1:
        x = take(ctx, x, {axis: (number, 1, 1)})
    return ctx.reshape(x, shape)


def _cell(node: OnnxNode, sequence: _Sequence, number: int) -> Cell:
    """The cell of a direction."""
    gates, units = _GATES[node.op], sequence.units
    w, r = (_gates_of(node, index, number, units) for index in (_W, _R))
    biases = np.zeros((2, gates, units), np.float32)
    if node.has(_B):
        given = node.real_array(_B, "bias")
        if given.shape != (sequence.directions, 2 * gates * units):
            raise UnsupportedError(f"its bias is {list(given.shape)}", "correct the model")
        biases = given[number].reshape(2, gates, units)
    functions = _functions(node, sequence.directions)[number]
    after = node.op == "GRU" and node.flag("linear_before_reset", False)
    stem = f"{node.outputs[0] or node.name}/{number}"

    def gate(index: int) -> Gate:
        apart = after and index == 2
        b = biases[0, index] if apart else biases[0, index] + biases[1, index]
        rest = biases[1, index] if apart else None
        return Gate(f"{stem}/{index}", w[index], r[index], b, rest)

    own = tuple(map(gate, range(gates)))
    match node.op:
        case "LSTM":
            couples = node.flag("input_forget", False)
            return Lstm(own, functions, couples)
        case "GRU":
            return Gru(own, functions, after)
        case _:
            return Rnn(own, functions)


def _gates_of(node: OnnxNode, index: int, number: int, units: int) -> Array:
    """Weights of the gates of a direction, float32 [gates, units, ...]."""
    array = node.real_array(index, "weights")[number]
    if not np.isfinite(array).all():
        raise UnsupportedError("its weights are not finite", "correct the model")
    return np.asarray(array.reshape(-1, units, array.shape[-1]))


_DEFAULTS = {
    "LSTM": ("Sigmoid", "Tanh", "Tanh"),
    "GRU": ("Sigmoid", "Tanh"),
    "RNN": ("Tanh",),
}


def _functions(node: OnnxNode, directions: int) -> list[tuple[Function, ...]]:
    """Activation functions of each direction; numbers are given to those that take some."""
    defaults = _DEFAULTS[node.op]
    names = node.texts("activations") or defaults * directions
    if len(names) != len(defaults) * directions:
        raise UnsupportedError(f"it has {len(names)} activations", "correct the model")
    alphas, betas = (iter(node.numbers(f"activation_{each}") or ()) for each in ("alpha", "beta"))
    clip = node.number("clip", 0.0)
    found = [_function(name, alphas, betas, clip) for name in names]
    count = len(defaults)
    return [tuple(found[first : first + count]) for first in range(0, len(found), count)]


_Maker = Callable[[float, float], Function]


def _of_kind(kind: UnaryKind) -> _Maker:
    return lambda alpha, beta: lambda ctx, x: ctx.emit(ops.Unary(kind, alpha, beta), x)


def _plain(kind: UnaryKind) -> _Maker:
    return lambda _alpha, _beta: lambda ctx, x: ctx.emit(ops.Unary(kind), x)


def _relu(_alpha: float, _beta: float) -> Function:
    return lambda ctx, x: ctx.emit(ops.Clip(0.0, math.inf), x)


def _affine(alpha: float, beta: float) -> Function:
    return lambda ctx, x: _line(ctx, x, alpha, beta)


def _scaled_tanh(alpha: float, beta: float) -> Function:
    def function(ctx: RealBuilder, x: Tensor) -> Tensor:
        y = ctx.emit(ops.Unary(UnaryKind.TANH), _line(ctx, x, beta, 0.0))
        return _line(ctx, y, alpha, 0.0)

    return function


def _line(ctx: RealBuilder, x: Tensor, alpha: float, beta: float) -> Tensor:
    y = ctx.emit(ops.Mul(), x, Constant("alpha", np.asarray(alpha, np.float32)))
    return ctx.emit(ops.Add(), y, Constant("beta", np.asarray(beta, np.float32))) if beta else y


_FUNCTIONS: Mapping[str, tuple[_Maker, float | None, float | None]] = MappingProxyType(
    {
        "sigmoid": (_plain(UnaryKind.SIGMOID), None, None),
        "tanh": (_plain(UnaryKind.TANH), None, None),
        "relu": (_relu, None, None),
        "softplus": (_plain(UnaryKind.SOFTPLUS), None, None),
        "softsign": (_plain(UnaryKind.SOFTSIGN), None, None),
        "hardsigmoid": (_of_kind(UnaryKind.HARD_SIGMOID), 0.2, 0.5),
        "leakyrelu": (_of_kind(UnaryKind.LEAKY_RELU), 0.01, None),
        "elu": (_of_kind(UnaryKind.ELU), 1.0, None),
        "thresholdedrelu": (_of_kind(UnaryKind.THRESHOLDED_RELU), 1.0, None),
        "affine": (_affine, 1.0, 0.0),
        "scaledtanh": (_scaled_tanh, 1.0, 1.0),
    }
)
"""Makers of the functions, with the defaults of the numbers that each takes."""


def _function(name: str, alphas: Iterator[float], betas: Iterator[float], clip: float) -> Function:
    known = _FUNCTIONS.get(name.lower())
    if known is None:
        raise UnsupportedError(
            f"its activation {name} is unknown", "use one of ONNX's: Sigmoid, Tanh, Relu ..."
        )
    make, alpha, beta = known
    first = 0.0 if alpha is None else finite_number(next(alphas, alpha))
    second = 0.0 if beta is None else finite_number(next(betas, beta))
    function = make(first, second)
    if not clip > 0.0:
        return function
    return lambda ctx, x: function(ctx, ctx.emit(ops.Clip(-clip, clip), x))


def _with_axis(ctx: Context, x: Tensor, axis: int) -> Tensor:
    return ctx.reshape(x, (*x.shape[:axis], 1, *x.shape[axis:]))


def _joined(ctx: Context, parts: Sequence[Tensor], axis: int) -> Tensor:
    return parts[0] if len(parts) == 1 else ctx.emit(ops.Concat(axis), *parts)

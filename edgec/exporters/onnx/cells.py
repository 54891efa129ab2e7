"""Loops that an LSTM, GRU or RNN of a file became, as that operator again.

`Loop.operator` says what a loop was; its parameters are read from the body, as passes and
quantization left them.  What is no longer the cell of its operator is left to `loops`.

    LSTM  c' = f * c + i * g,  h' = o * function(c')
    GRU   h' = n + z * (h - n), the reset gate before or after the product of the hidden state
    RNN   h' = function(gate)

A gate is a function of sums of products with x and h, joined or apart (`passes.join_products`).
Between the operators of a body an annotated graph rounds; the operator computes in float there.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType

import numpy as np

from edgec.base.dtypes import Array
from edgec.ir import ops
from edgec.ir.graph import Graph, Node
from edgec.ir.ops import UnaryKind
from edgec.ir.qparams import QuantParams

_NUMBERS: Mapping[UnaryKind, int] = MappingProxyType(
    {
        UnaryKind.SIGMOID: 0,
        UnaryKind.TANH: 0,
        UnaryKind.SOFTPLUS: 0,
        UnaryKind.SOFTSIGN: 0,
        UnaryKind.HARD_SIGMOID: 2,
        UnaryKind.LEAKY_RELU: 1,
        UnaryKind.ELU: 1,
        UnaryKind.THRESHOLDED_RELU: 1,
    }
)
"""Activation functions of ONNX's recurrent operators, and how many of alpha and beta each takes."""


class _OtherError(Exception):
    """The body is not the cell of its operator."""


@dataclass(frozen=True, slots=True)
class Function:
    """An activation function.

    Attributes:
        name: ONNX's.
        numbers: alpha, and beta, of those that have them.
        clip: bound of its operand to both sides; 0: none.
    """

    name: str
    numbers: tuple[float, ...]
    clip: float


@dataclass(frozen=True, slots=True, eq=False)
class Term:
    """``source @ (weights * factor).T``.

    Attributes:
        source: a value of the turn.
        weights: [units, columns]; codes where they have a quantization.
        quant: parameters along axis 0 of the weights; None: they are real numbers.
        factor: what the columns are multiplied by, float32 [columns].
    """

    source: str
    weights: Array
    quant: QuantParams | None
    factor: Array


@dataclass(frozen=True, slots=True, eq=False)
class Gate:
    """``x @ w.T + h @ r.T + b``.

    Attributes:
        x, h: the terms.
        b: float32 [units].
        rb: bias of h's product alone (GRU with linear_before_reset), float32 [units].
    """

    x: Term
    h: Term
    b: Array
    rb: Array


@dataclass(frozen=True, slots=True, eq=False)
class Cell:
    """A turn of a loop.

    Attributes:
        gates: in ONNX's order (LSTM: i, o, f, c; GRU: z, r, h).
        functions: in ONNX's order.
        x: the value that all gates read beside the states.
        coupled: whether an LSTM's forget gate is 1 less the input gate, whatever its weights.
        linear_before_reset: whether a GRU resets after the product of its hidden state.
    """

    gates: tuple[Gate, ...]
    functions: tuple[Function, ...]
    x: str
    coupled: bool = False
    linear_before_reset: bool = False


def cell_of(graph: Graph, operator: str, states: Sequence[str], new: Sequence[str]) -> Cell | None:
    """The cell that computes new states; None where it is not the operator's.

    Args:
        graph: REAL or ANNOTATED.
        operator: LSTM, GRU or RNN.
        states: carried values, of an LSTM hidden state and cell.
        new: what becomes of them.
    """
    reader = _Reader(graph)
    try:
        match operator:
            case "LSTM":
                return reader.lstm(*states, *new)
            case "GRU":
                return reader.gru(*states, *new)
            case _:
                return reader.rnn(*states, *new)
    except _OtherError:
        return None


def rows_of(graph: Graph, name: str) -> str:
    """The value whose rows, along the last axis, a value has in another arrangement."""
    made = graph.producers.get(name)
    while made is not None and isinstance(made.attrs, ops.Reshape):
        if graph.shape(made.first)[-1:] != graph.shape(name)[-1:]:
            break
        name = made.first
        made = graph.producers.get(name)
    return name


class _Reader:
    """Reads cells; a part that does not fit raises `_OtherError`."""

    def __init__(self, graph: Graph) -> None:
        self._graph = graph

    def lstm(self, h: str, c: str, new_h: str, new_c: str) -> Cell:
        """An LSTM."""
        inputs = ops.Add.Inputs.of(self._node(new_c, ops.Add).inputs)
        kept, fresh = inputs.a, inputs.b
        if self._factor(kept, c) is None:
            kept, fresh = fresh, kept
        forgets = self._factor(kept, c)
        if forgets is None:
            raise _OtherError
        product = ops.Mul.Inputs.of(self._node(fresh, ops.Mul).inputs)
        outputs, hidden = self._output(new_h, new_c)
        gate, o = self._function(outputs)
        takes, new = product.a, product.b
        if self._function(takes)[0] != gate:
            takes, new = new, takes
        coupled = self._is_rest(forgets, takes) or self._is_rest(forgets, new)
        if self._is_rest(forgets, new):
            takes, new = new, takes
        (taking, i), (candidate, g) = self._function(takes), self._function(new)
        forgetting, f = (taking, i) if coupled else self._function(forgets)
        if not taking == forgetting == gate:
            raise _OtherError
        gates = [self._gate(each, h) for each in (i, o, f, g)]
        return self._cell(gates, (gate, candidate, hidden), coupled=coupled)

    def _is_rest(self, name: str, other: str) -> bool:
        """Whether a value is 1 less another one."""
        if not self._is(name, ops.Sub):
            return False
        inputs = ops.Sub.Inputs.of(self._graph.producers[name].inputs)
        one = self._graph.constants.get(inputs.a)
        return inputs.b == other and one is not None and bool(np.allclose(one.real(), 1))

    def _output(self, new_h: str, new_c: str) -> tuple[str, Function]:
        """The value of the output gate, and the function of the cell."""
        product = ops.Mul.Inputs.of(self._node(new_h, ops.Mul).inputs)
        for one, other in ((product.a, product.b), (product.b, product.a)):
            function, read = self._function(other)
            if read == new_c:
                return one, function
        raise _OtherError

    def gru(self, h: str, new_h: str) -> Cell:
        """A GRU, reset before or after its product."""
        total = ops.Add.Inputs.of(self._node(new_h, ops.Add).inputs)
        for n, change in ((total.a, total.b), (total.b, total.a)):
            found = self._change(n, change, h)
            if found is not None:
                break
        else:
            raise _OtherError
        gate, update = self._function(found)
        candidate, state = self._function(n)
        after = [each for each in self._addends(state) if self._is(each, ops.Mul)]
        if after:
            r, new = self._reset_after(state, after, h)
        else:
            r, new = self._reset_before(state, h)
        same, reset = self._function(r)
        if same != gate:
            raise _OtherError
        gates = [self._gate(update, h), self._gate(reset, h), new]
        return self._cell(gates, (gate, candidate), after=bool(after))

    def _change(self, n: str, change: str, h: str) -> str | None:
        """The value z of ``z * (h - n)``."""
        if not self._is(change, ops.Mul):
            return None
        inputs = ops.Mul.Inputs.of(self._graph.producers[change].inputs)
        for z, difference in ((inputs.a, inputs.b), (inputs.b, inputs.a)):
            if self._is(difference, ops.Sub):
                both = ops.Sub.Inputs.of(self._graph.producers[difference].inputs)
                if (both.a, both.b) == (h, n):
                    return z
        return None

    def _reset_after(self, state: str, after: Sequence[str], h: str) -> tuple[str, Gate]:
        """The reset gate's value and the new state's gate: it multiplies the product of h."""
        if len(after) > 1:
            raise _OtherError
        inputs = ops.Mul.Inputs.of(self._graph.producers[after[0]].inputs)
        for r, passed in ((inputs.a, inputs.b), (inputs.b, inputs.a)):
            if self._is(passed, ops.Gemm):
                rest = [each for each in self._addends(state) if each != after[0]]
                terms, b = self._sum(rest)
                own, rb = self._sum([passed])
                return r, self._terms([*terms, *own], h, b, rb)
        raise _OtherError

    def _reset_before(self, state: str, h: str) -> tuple[str, Gate]:
        """Reset gate and new state of a cell whose reset gate multiplies h itself."""
        terms, b = self._sum(self._addends(state))
        for term in terms:
            if (r := self._factor(term.source, h)) is not None:
                return r, self._terms(terms, term.source, b)
        raise _OtherError

    def rnn(self, h: str, new_h: str) -> Cell:
        """A simple recurrent cell."""
        function, gate = self._function(new_h)
        return self._cell([self._gate(gate, h)], (function,))

    # -- parts -----------------------------------------------------------------------------------

    def _cell(
        self,
        gates: Sequence[Gate],
        functions: tuple[Function, ...],
        *,
        coupled: bool = False,
        after: bool = False,
    ) -> Cell:
        """The cell, of gates that read the same."""
        sources = {gate.x.source for gate in gates}
        if len(sources) > 1 or len({function.clip for function in functions}) > 1:
            raise _OtherError
        return Cell(tuple(gates), functions, sources.pop(), coupled, after)

    def _is(self, name: str, kind: type) -> bool:
        made = self._graph.producers.get(name)
        return made is not None and isinstance(made.attrs, kind)

    def _node(self, name: str, kind: type) -> Node:
        if not self._is(name, kind):
            raise _OtherError
        return self._graph.producers[name]

    def _factor(self, name: str, other: str) -> str | None:
        """The factor that gives a value when it is multiplied by `other`."""
        if not self._is(name, ops.Mul):
            return None
        inputs = ops.Mul.Inputs.of(self._graph.producers[name].inputs)
        found = {inputs.a: inputs.b, inputs.b: inputs.a}
        return found.get(other)

    def _function(self, name: str) -> tuple[Function, str]:
        """The activation function that gives a value, and its operand before the clip."""
        made = self._graph.producers.get(name)
        if made is None:
            raise _OtherError
        match made.attrs:
            case ops.Unary(kind=kind, alpha=alpha, beta=beta) if kind in _NUMBERS:
                found, numbers = kind.value, (alpha, beta)[: _NUMBERS[kind]]
            case ops.Clip(low=0.0, high=high) if np.isinf(high):
                found, numbers = "Relu", ()
            case _:
                raise _OtherError
        operand, clip = made.input, 0.0
        if self._is(operand, ops.Clip):
            bounds = self._graph.producers[operand].attrs_as(ops.Clip)
            if bounds.low != -bounds.high or np.isinf(bounds.high):
                raise _OtherError
            operand, clip = self._graph.producers[operand].input, bounds.high
        return Function(found, numbers, clip), operand

    def _gate(self, name: str, h: str) -> Gate:
        """The gate before its function."""
        terms, b = self._sum(self._addends(name))
        return self._terms(terms, h, b)

    def _terms(self, terms: Sequence[Term], h: str, b: Array, rb: Array | None = None) -> Gate:
        """The gate of two terms, of which one reads h."""
        if len(terms) != 2 or sum(term.source == h for term in terms) != 1:
            raise _OtherError
        of_x, of_h = sorted(terms, key=lambda term: term.source == h)
        biases = (b, np.zeros(1) if rb is None else rb)
        units = (len(of_x.weights),)
        b, rb = (np.broadcast_to(np.asarray(each, np.float32), units) for each in biases)
        if (of_h.factor != 1).any() or of_h.weights.shape != units * 2:
            raise _OtherError
        return Gate(of_x, of_h, b, rb)

    def _addends(self, name: str) -> list[str]:
        """Values that are added up, whatever their rows are arranged in."""
        name = rows_of(self._graph, name)
        if not self._is(name, ops.Add):
            return [name]
        inputs = ops.Add.Inputs.of(self._graph.producers[name].inputs)
        return [*self._addends(inputs.a), *self._addends(inputs.b)]

    def _sum(self, names: Sequence[str]) -> tuple[list[Term], Array]:
        """Terms of a sum of products, and its constant part [units] or [1]."""
        terms: list[Term] = []
        bias: Array = np.zeros(1)
        for name in names:
            if self._graph.is_constant(name):
                bias = bias + self._graph.constants[name].real().reshape(-1)
                continue
            inputs = ops.layer_inputs(self._node(name, ops.Gemm))
            constant = self._graph.constants[inputs.w]
            if constant.pooled is not None:
                raise _OtherError
            if inputs.b is not None:
                bias = bias + self._graph.constants[inputs.b].real()
            start = 0
            for source, factor, shift in self._pieces(inputs.x):
                part = slice(start, start + len(factor))
                bias = bias + constant.real()[:, part].astype(np.float64) @ (factor * 0 + shift)
                own = constant.array[:, part]
                terms.append(Term(source, own, constant.quant, factor))
                start = part.stop
        return terms, bias

    def _pieces(self, name: str) -> Iterator[tuple[str, Array, Array]]:
        """Values that an operand is joined of, each with factors and shifts of its columns."""
        made, columns = self._graph.producers.get(name), self._graph.shape(name)[-1]
        match made.attrs if made is not None else None:
            case ops.Reshape() if rows_of(self._graph, name) != name:
                yield from self._pieces(rows_of(self._graph, name))
            case ops.Concat(axis=axis) if made and axis == len(self._graph.shape(name)) - 1:
                for each in made.inputs:
                    yield from self._pieces(each)
            case ops.Conv(group=group) if made and group == columns:
                inputs = ops.layer_inputs(made)
                own = self._graph.constants[inputs.w].real()
                if own.shape != (columns, 1, 1, 1):
                    raise _OtherError
                factor, start = own.reshape(-1), 0
                shift = (
                    np.zeros(columns)
                    if inputs.b is None
                    else self._graph.constants[inputs.b].real()
                )
                for source, inner, before in self._pieces(inputs.x):
                    part = slice(start, start + len(inner))
                    yield source, inner * factor[part], before * factor[part] + shift[part]
                    start = part.stop
            case _:
                yield name, np.ones(columns, np.float32), np.zeros(columns)

"""INTEGER graphs with every function of elements that kernels for NEON have, at all edges."""

from __future__ import annotations

import itertools

import numpy as np
from chain_nets import ChainMaker

from edgec.base.dtypes import DType
from edgec.ir import qops
from edgec.ir.graph import Graph

_NARROW, _WIDE = DType.INT8, DType.INT16
_SHAPES = ((1, 8), (1, 9), (2, 3, 16), (1, 5, 21))
"""Whole vectors, one element more, several, a rest."""


def _spread(m: ChainMaker, dtype: DType, number: int) -> str:
    """An operand that is spread over the others: along the inner axis, the outer ones, or all."""
    channels = m.shape[-1]
    shapes = ((channels,), (*m.shape[:-1], 1), (1,) * len(m.shape))
    return m.input(dtype, *shapes[number % len(shapes)])


def _of_two(m: ChainMaker, number: int) -> None:
    for a, b, y in itertools.product((_NARROW, _WIDE), repeat=3):
        pairs = [(m.input(a), m.input(b)), (m.input(a), _spread(m, b, number))]
        for first, second in pairs:
            m.product(first, second, y)
        if (a, b, y) in ((_NARROW,) * 3, (_WIDE,) * 3):
            m.sum(*pairs[0], y)
            m.sum(*pairs[1], y, subtracts=True)
            m.larger(m.input(a), m.input(b), largest=bool(number % 2))


def _of_one(m: ChainMaker, number: int) -> None:
    for x, y in itertools.product((_NARROW, _WIDE), repeat=2):
        m.rescaled(m.input(x), y)
    for dtype in (_NARROW, _WIDE):
        m.table(m.input(dtype))
    m.line(m.input(_WIDE), _WIDE, 0, -32768, 32767)
    m.line(m.input(_WIDE), _WIDE, number % 3, -2000, 30000)
    m.line(m.input(_WIDE), _NARROW, 2, -100, 90)


def _short(m: ChainMaker) -> None:
    """What ends in 16 by 15 bits, and sums of codes."""
    forms = {
        _NARROW: qops.Rescale16x15(3, 14, -127, 127),
        _WIDE: qops.Rescale16x15(0, 9, -32767, 32767, _WIDE),
    }
    for dtype, form in forms.items():
        a, b = m.input(dtype), m.input(dtype)
        product = m.short(qops.QMul(form, 23456, 77), a, b, dtype=dtype)
        m.short(qops.QRescale(form, -12345, 9), product, dtype=dtype)
    own = qops.Requant31(31, 0, -32768, 32767, _WIDE)
    m.short(qops.QRescale(own, 1 << 29), m.input(_WIDE), dtype=_WIDE)
    stream = qops.CodeSum.of_stream(_WIDE)
    first, second = (m.input(_WIDE) for _ in range(2))
    values = m.builder.values
    quant = values[first].quant
    assert quant is not None
    m.alike(second, quant)
    y = m.short(qops.QAdd(stream), first, second, dtype=_WIDE)
    m.alike(y, quant)


def elements(rules: str, seed: int = 3) -> Graph:
    """Every function, on shapes with and without a rest, alone or spread; nothing is joined."""
    m = ChainMaker(rules, seed)
    for number, shape in enumerate(_SHAPES):
        m.shape = shape
        _of_two(m, number)
        _of_one(m, number)
        if rules == "once":
            _short(m)
        else:
            # A shift to the left that one of the two functions of a single element does not take.
            twice = qops.TwoRoundings31((15,), 0, -32768, 32767, _WIDE)
            m.short(qops.QRescale(twice, 1573741), m.input(_WIDE), dtype=_WIDE)
    read = {name for node in m.builder.nodes.values() for name in node.inputs}
    ends = [node.output for node in m.builder.nodes.values() if node.output not in read]
    return m.graph(*ends)


def gates(rules: str, seed: int = 4) -> Graph:
    """A gated unit: tables of both types, products, sums, a constant operand; to be joined."""
    m = ChainMaker(rules, seed, (3, 20))
    outputs = []
    for dtype in (_NARROW, _WIDE):
        z, r, n, state = (m.input(dtype) for _ in range(4))
        gate = m.table(z)
        new = m.table(m.sum(n, m.product(m.table(r), m.input(dtype, 20), dtype), dtype))
        last = m.sum(m.rescaled(state, dtype), new, dtype, subtracts=rules == "twice")
        kept = m.product(gate, last, dtype)
        outputs.append(m.sum(new, kept, dtype))
        m.rng = np.random.default_rng(seed + 1)
    return m.graph(*outputs)

"""Einsum of one operand as diagonal, sum and transpose, of two as a matrix product."""

from __future__ import annotations

import math
import string
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from edgec.importers.common.parts import pick
from edgec.importers.common.scattered import check_places
from edgec.importers.common.tensors import Tensor, UnsupportedError
from edgec.importers.onnx.context import Context
from edgec.importers.onnx.node import OnnxNode
from edgec.importers.onnx.op_matmul import product
from edgec.ir import ops
from edgec.ir.graph import Constant
from edgec.ir.ops import ReduceKind

_REMEDY = "write it as MatMul, Transpose and ReduceSum"


def einsum(ctx: Context, node: OnnxNode) -> Tensor:
    """One or two operands: diagonals, sums, products of matrices."""
    equation = node.text("equation", "").replace(" ", "")
    if node.input_count not in (1, 2):
        raise UnsupportedError(f"{equation!r} is no product of two operands", _REMEDY)
    operands = [node.tensor(index) for index in range(node.input_count)]
    terms, out = _spelled_out(equation, [len(x.shape) for x in operands])
    if len(set(out)) != len(out) or not {*out} <= {*"".join(terms)}:
        raise UnsupportedError(f"the result of {equation!r} repeats an index", "correct the model")
    sizes = _sizes(terms, [x.shape for x in operands])
    found = [
        _summed(ctx, x, term, {*out}.union(*(t for j, t in enumerate(terms) if j != i)))
        for i, (x, term) in enumerate(zip(operands, terms, strict=True))
    ]
    y, order = found[0] if len(found) == 1 else _product(ctx, found[0], found[1], out, sizes)
    return ctx.transpose(y, [order.index(index) for index in out])


_Named = tuple[Tensor, str]
"""A tensor and the indices of its axes."""


def _spelled_out(equation: str, ranks: Sequence[int]) -> tuple[list[str], str]:
    """The indices of each operand and of the result, each axis with a letter of its own."""
    given, _, out = equation.partition("->")
    terms = given.split(",")
    if len(terms) != len(ranks):
        raise UnsupportedError(f"{equation!r} has not {len(ranks)} operands", "correct the model")
    free = [letter for letter in string.ascii_letters if letter not in equation]
    widths = [
        rank - len(term.replace("...", "")) if "..." in term else 0
        for term, rank in zip(terms, ranks, strict=True)
    ]
    most = max(widths)
    if min(widths) < 0 or most > len(free):
        raise UnsupportedError(f"{equation!r} does not fit its operands", "correct the model")
    every = "".join(free[:most])
    # Axes that stand for ... are counted from the last one.
    terms = [
        term.replace("...", every[most - width :])
        for term, width in zip(terms, widths, strict=True)
    ]
    if "->" not in equation:
        letters = "".join(terms)
        out = every + "".join(sorted(i for i in {*letters} - {*every} if letters.count(i) == 1))
    return terms, out.replace("...", every)


def _summed(ctx: Context, x: Tensor, term: str, needed: set[str]) -> _Named:
    """X with the diagonals of repeated indices, and sums over those that nobody needs."""
    single = "".join(dict.fromkeys(term))
    if single != term:
        check_places(math.prod(x.shape))
        places = np.arange(math.prod(x.shape)).reshape(x.shape)
        letters = {index: string.ascii_letters[i] for i, index in enumerate(single)}
        short = ["".join(letters[index] for index in each) for each in (term, single)]
        diagonal = np.einsum("->".join(short), places)
        x = pick(ctx, ctx.reshape(x, (places.size,)), 0, diagonal)
    lone = tuple(axis for axis, index in enumerate(single) if index not in needed)
    if lone and isinstance(x, Constant):
        x = Constant(x.name, x.real().sum(axis=lone))
    elif lone:
        x = ctx.emit(ops.Reduce(ReduceKind.SUM, lone, keepdims=False), x)
    return x, "".join(index for index in single if index in needed)


def _product(ctx: Context, a: _Named, b: _Named, out: str, sizes: dict[str, int]) -> _Named:
    indices = _indices(a[1], b[1], out)
    left = _operand(ctx, a, sizes, (indices.both, indices.left, indices.summed))
    right = _operand(ctx, b, sizes, (indices.both, indices.summed, indices.right))
    order = indices.both + indices.left + indices.right
    y = product(ctx, left, right)
    return ctx.reshape(y, [sizes[index] for index in order]), order


@dataclass(frozen=True, slots=True)
class _Indices:
    """Indices by where they are: in both operands and the result, in one operand, summed."""

    both: str
    left: str
    right: str
    summed: str


def _indices(left: str, right: str, out: str) -> _Indices:
    return _Indices(
        both="".join(i for i in left if i in right and i in out),
        left="".join(i for i in left if i not in right),
        right="".join(i for i in right if i not in left),
        summed="".join(i for i in left if i in right and i not in out),
    )


def _sizes(terms: Sequence[str], shapes: Sequence[tuple[int, ...]]) -> dict[str, int]:
    sizes: dict[str, int] = {}
    for term, shape in zip(terms, shapes, strict=True):
        if len(term) != len(shape):
            raise UnsupportedError(f"{term!r} does not fit {list(shape)}", "correct the model")
        for index, size in zip(term, shape, strict=True):
            if sizes.setdefault(index, size) != size:
                raise UnsupportedError(f"index {index!r} has two sizes", "correct the model")
    return sizes


def _operand(
    ctx: Context, named: _Named, sizes: dict[str, int], groups: tuple[str, str, str]
) -> Tensor:
    """A stack of matrices: the first group's axes, then one axis for each other group."""
    (x, term), (lead, rows, columns) = named, groups
    moved = ctx.transpose(x, [term.index(index) for index in lead + rows + columns])
    matrix = (math.prod(sizes[i] for i in group) for group in (rows, columns))
    return ctx.reshape(moved, (*(sizes[i] for i in lead), *matrix))

"""Einsum of two operands as a matrix product."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass

from edgec.importers.common.tensors import Tensor, UnsupportedError
from edgec.importers.onnx.context import Context
from edgec.importers.onnx.node import OnnxNode
from edgec.importers.onnx.op_matmul import product

_EQUATION = re.compile(r"([A-Za-z]+),([A-Za-z]+)->([A-Za-z]*)")
_REMEDY = "write it as MatMul, Transpose and ReduceSum"


def einsum(ctx: Context, node: OnnxNode) -> Tensor:
    """Two operands; no index twice in one of them; sums only over indices that both have."""
    equation = node.text("equation", "").replace(" ", "")
    found = _EQUATION.fullmatch(equation)
    if found is None or node.input_count != 2:
        raise UnsupportedError(f"{equation!r} is no product of two operands", _REMEDY)
    a, b = node.tensor(0), node.tensor(1)
    left, right, out = found.groups()
    sizes = _sizes((left, right), (a.shape, b.shape))
    indices = _indices(left, right, out)
    a = _operand(ctx, a, left, sizes, (indices.both, indices.left, indices.summed))
    b = _operand(ctx, b, right, sizes, (indices.both, indices.summed, indices.right))
    y = product(ctx, a, b)
    order = indices.both + indices.left + indices.right
    y = ctx.reshape(y, [sizes[index] for index in order])
    return ctx.transpose(y, [order.index(index) for index in out])


@dataclass(frozen=True, slots=True)
class _Indices:
    """Indices by where they are: in both operands and the result, in one operand, summed."""

    both: str
    left: str
    right: str
    summed: str


def _indices(left: str, right: str, out: str) -> _Indices:
    repeated = any(len(set(term)) != len(term) for term in (left, right, out))
    lone = [i for i in {*left} ^ {*right} if i not in out]
    if repeated or lone or not {*out} <= {*left, *right}:
        raise UnsupportedError("an index is repeated, or summed in one operand alone", _REMEDY)
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
    ctx: Context, x: Tensor, term: str, sizes: dict[str, int], groups: tuple[str, str, str]
) -> Tensor:
    """X as a stack of matrices: the first group's axes, then one axis for each other group."""
    lead, rows, columns = groups
    moved = ctx.transpose(x, [term.index(index) for index in lead + rows + columns])
    matrix = (math.prod(sizes[i] for i in group) for group in (rows, columns))
    return ctx.reshape(moved, (*(sizes[i] for i in lead), *matrix))

"""Functions of one variable where codes are looked up in tables: finite wherever a code can be."""

from __future__ import annotations

import numpy as np

from edgec.floatrun.ops_elementwise import Function, element_function
from edgec.ir import ops
from edgec.ir.ops import UnaryKind

_LARGEST_EXPONENT = 700.0
"""Largest argument of the exponential function: keeps it finite."""


def unary_function(attrs: ops.Unary | ops.Clip) -> Function:
    """The function of an operator on float64 arrays of what codes stand for."""
    function = element_function(attrs)
    if isinstance(attrs, ops.Clip):
        return function
    if attrs.kind is UnaryKind.EXP:
        return lambda x: function(np.minimum(x, _LARGEST_EXPONENT))
    root = attrs.kind is UnaryKind.POW and not attrs.alpha.is_integer()
    if root or attrs.kind is UnaryKind.SQRT:
        # The root of a negative number has no value; codes just below zero are rounding noise.
        return lambda x: function(np.maximum(x, 0.0))
    return function

"""Decision trees: thresholds as codes of the features, leaves as whole numbers of one scale."""

from __future__ import annotations

import numpy as np

from edgec.base.dtypes import Array
from edgec.base.errors import QuantizationError
from edgec.base.fixedpoint import INT8_MAX, INT8_MIN, INT16_MAX, round_half_up
from edgec.ir import ops, qops
from edgec.ir.operator import OperatorTable
from edgec.ir.qops.tree_ensemble import LEAF_BITS
from edgec.ir.qparams import QuantParams
from edgec.quant.convert.context import Conversion, Converter

_LARGEST_SUM = 2.0**30
"""Bound of the sums of leaves, which leaves room for rounding."""

CONVERTERS = OperatorTable[Converter]()


@CONVERTERS.entry(ops.TreeEnsemble)
def tree_ensemble(c: Conversion) -> None:
    """TreeEnsemble to QTreeEnsemble."""
    real = ops.TreeEnsemble.Inputs.of(c.node.inputs)
    x = c.operand(real.x)
    nodes, roots, leaves, base = (
        c.graph.constants[name].real64()
        for name in (real.nodes, real.roots, real.leaves, real.base)
    )
    unit, codes, start = _leaf_codes(leaves, base, len(roots))
    end = c.single31(unit / c.y.tensor_scale, np.abs(start).max() + len(roots) * INT16_MAX)
    if not isinstance(end.form, qops.Requant31):
        raise QuantizationError("trees end in 31 bits", where=c.node.name)
    rows, which = np.unique(codes, axis=0, return_inverse=True)
    inputs = qops.QTreeEnsemble.Inputs(
        x=x.name,
        nodes=c.constant("nodes", _integer_nodes(nodes, which.reshape(-1), x.params, c.node.name)),
        roots=c.int32("roots", roots),
        leaves=c.constant("leaves", rows.astype(np.int16)),
        base=c.int32("base", start),
    )
    c.emit(qops.QTreeEnsemble(end.form, end.multiplier), inputs)


def _leaf_codes(leaves: Array, base: Array, trees: int) -> tuple[float, Array, Array]:
    """The unit of the sums, the leaves in it, and what a sum starts from."""
    unit = max(
        float(np.abs(leaves).max()) / INT16_MAX,
        float(np.abs(base).max()) / (_LARGEST_SUM - trees * float(INT16_MAX)),
        float(np.finfo(np.float32).tiny),
    )
    return unit, round_half_up(leaves / unit), round_half_up(base / unit)


def _integer_nodes(nodes: Array, which: Array, quant: QuantParams, where: str) -> Array:
    """Rows of nodes in codes of the features; `which` has the new row of each leaf."""
    leaf = nodes[:, 0] < 0
    number = which[np.where(leaf, nodes[:, 1], 0).astype(np.int64)]
    threshold = threshold_codes(nodes[:, 1], quant)
    second = np.where(leaf, number & ((1 << LEAF_BITS) - 1), threshold)
    third = np.where(leaf, number >> LEAF_BITS, nodes[:, 2])
    found = np.stack([nodes[:, 0], second, third], axis=1)
    if np.abs(found).max() > INT16_MAX:
        raise QuantizationError(
            f"a tree has more than {INT16_MAX} nodes, or tests a feature beyond that number",
            where=where,
            hint="train smaller trees (max_depth)",
        )
    return found.astype(np.int16)


def threshold_codes(threshold: Array, quant: QuantParams) -> Array:
    """The largest code whose real value does not exceed each threshold.

    So ``code <= threshold code`` decides as ``real <= threshold`` does, for every code.  -129 and
    127 stand for thresholds below and above all codes.
    """
    scale, zero_point = quant.tensor_scale, quant.tensor_zero_point
    found = np.clip(np.floor(threshold / scale), -(2.0**40), 2.0**40) + zero_point
    found += (found + 1 - zero_point) * scale <= threshold
    found -= (found - zero_point) * scale > threshold
    return np.asarray(np.clip(found, INT8_MIN - 1, INT8_MAX), np.int64)

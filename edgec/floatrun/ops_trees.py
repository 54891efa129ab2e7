"""Decision trees on a batch of samples."""

from __future__ import annotations

import numpy as np

from edgec.base.dtypes import Array
from edgec.floatrun.operands import Rule
from edgec.ir import ops
from edgec.ir.operator import OperatorTable

RULES = OperatorTable[Rule]()


@RULES.entry(ops.TreeEnsemble)
def _tree_ensemble(_attrs: ops.TreeEnsemble, inputs: ops.TreeEnsemble.Inputs[Array]) -> Array:
    nodes, roots = inputs.nodes[0], inputs.roots[0].astype(np.int64)
    x = inputs.x.reshape(len(inputs.x), -1)
    feature, skip = nodes[:, 0].astype(np.int64), nodes[:, 2].astype(np.int64)
    at = np.broadcast_to(roots, (len(x), len(roots))).copy()
    row = np.arange(len(x))[:, None]
    while np.any(inner := feature[at] >= 0):
        yes = x[row, np.maximum(feature[at], 0)] <= nodes[at, 1]
        at += np.where(inner, np.where(yes, 1, skip[at]), 0)
    found = inputs.leaves[0][nodes[at, 1].astype(np.int64)].sum(axis=1)
    return np.asarray((inputs.base[0] + found).reshape(len(x), 1, -1))

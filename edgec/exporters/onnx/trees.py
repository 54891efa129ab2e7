"""Decision trees in ONNX: a TreeEnsembleRegressor of ai.onnx.ml."""

from __future__ import annotations

import numpy as np

from edgec.base.dtypes import Array
from edgec.exporters.onnx.codes import Exporter
from edgec.exporters.onnx.state import Emitter
from edgec.ir import ops
from edgec.ir.graph import Node
from edgec.ir.operator import OperatorTable

EXPORTERS = OperatorTable[Exporter]()


@EXPORTERS.entry(ops.TreeEnsemble)
def _tree_ensemble(e: Emitter, node: Node) -> None:
    inputs = ops.TreeEnsemble.Inputs.of(node.inputs)
    nodes, roots, leaves, base = (
        e.graph.constants[name].real()
        for name in (inputs.nodes, inputs.roots, inputs.leaves, inputs.base)
    )
    number = np.arange(len(nodes))
    tree = np.searchsorted(roots, number, side="right") - 1
    own = number - roots.astype(np.int64)[tree]
    leaf, outputs = nodes[:, 0] < 0, leaves.shape[1]
    at = np.repeat(np.flatnonzero(leaf), outputs)
    y = e.emit(
        node.name,
        "TreeEnsembleRegressor",
        [e.fetch(inputs.x)],
        domain="ai.onnx.ml",
        n_targets=outputs,
        base_values=base.tolist(),
        nodes_treeids=_ints(tree),
        nodes_nodeids=_ints(own),
        nodes_featureids=_ints(np.maximum(nodes[:, 0], 0)),
        nodes_modes=["LEAF" if end else "BRANCH_LEQ" for end in leaf],
        nodes_values=np.where(leaf, 0.0, nodes[:, 1]).tolist(),
        nodes_truenodeids=_ints(np.where(leaf, 0, own + 1)),
        nodes_falsenodeids=_ints(np.where(leaf, 0, own + nodes[:, 2])),
        target_treeids=_ints(tree[at]),
        target_nodeids=_ints(own[at]),
        target_ids=_ints(np.tile(np.arange(outputs), int(leaf.sum()))),
        target_weights=leaves[nodes[leaf, 1].astype(np.int64)].reshape(-1).tolist(),
    )
    e.store(node.output, y)


def _ints(array: Array) -> list[int]:
    return [int(number) for number in array]

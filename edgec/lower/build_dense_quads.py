"""Where the product of four rows by two filters serves, and its specification."""

from __future__ import annotations

import dataclasses
import math

from edgec.cores import Core
from edgec.ir.graph import Graph, Node
from edgec.lower.build_16x15 import narrow_of
from edgec.lower.code_range import is_symmetric
from edgec.lower.dense_weights import QUAD
from edgec.lower.spec import DenseQuads

_SCRATCH_LIMIT_BYTES = 16 << 10


def accepts(graph: Graph, node: Node, core: Core) -> bool:
    """Whether the core has the DSP extension, and x what `DenseQuads` asks for."""
    if True not in core.possible_dsp or graph.shape(node.inputs[0])[-1] % QUAD:
        return False
    spec = dense_quads(graph, node)
    enough = spec.rows > 1 and spec.scratch_bytes <= _SCRATCH_LIMIT_BYTES
    return enough and is_symmetric(graph, node.inputs[0])


def dense_quads(graph: Graph, node: Node) -> DenseQuads:
    """`DenseQuads` of a QGemm16x15."""
    *rows, depth = graph.shape(node.inputs[0])
    units = graph.shape(node.inputs[1])[0]
    return DenseQuads(math.prod(rows), depth, units, narrow_of(node.attrs))


def accepts_dual(graph: Graph, node: Node, core: Core) -> bool:
    """As `accepts`, on a core that issues two instructions."""
    return core.issues_two and accepts(graph, node, core)


def dense_quads_dual(graph: Graph, node: Node) -> DenseQuads:
    """`dense_quads` for such a core."""
    return dataclasses.replace(dense_quads(graph, node), dual_issue=True)

"""Runs integer graphs in numpy.

Owns: `run_graph` and its relatives.  What an operator computes stands with its definition in
`ir.qops`, independent of the C.  May import: layers 0 and 1.
"""

from edgec.interp.int_interp import (
    Change,
    Stream,
    run_graph,
    run_graph_batch,
    run_node,
    run_stream,
    state_after,
)

__all__ = [
    "Change",
    "Stream",
    "run_graph",
    "run_graph_batch",
    "run_node",
    "run_stream",
    "state_after",
]

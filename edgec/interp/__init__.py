"""The numpy oracle of every integer operator, written from the definitions in `ir.qops`.

Owns: `run_graph`, and one exact function per operator (`kernels_np_*`), independent of the C.  May
import: layers 0 and 1.
"""

from edgec.interp.int_interp import run_graph, run_graph_batch, run_node

__all__ = ["run_graph", "run_graph_batch", "run_node"]

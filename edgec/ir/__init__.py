"""Graphs between import and lowering: values, constants, nodes, and their parameters.

Owns: `Graph`, `Value`, `Constant`, `Node`, `QuantParams`; the two operator sets, real (`ops`) and
integer (`qops`); shape rules (`infer`), the written contract of each stage (`verify`) and the text
dump (`text`).  May import: layer 0 (`errors`, `dtypes`, `fixedpoint`).
"""

from edgec.ir.graph import Constant, Graph, Node, Value
from edgec.ir.qparams import QuantParams

__all__ = ["Constant", "Graph", "Node", "QuantParams", "Value"]

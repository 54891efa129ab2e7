"""The exporters of all operators of `ir.ops`: one home for what each becomes in ONNX."""

from __future__ import annotations

from collections.abc import Mapping

from edgec.base.errors import InternalError
from edgec.exporters.onnx import codes, elementwise, layers, move, reduce, transformer, trees
from edgec.exporters.onnx.common import Exporter
from edgec.exporters.onnx.state import Emitter
from edgec.ir.graph import Node
from edgec.ir.operator import Operator

Exporters = Mapping[type[Operator], Exporter]

EXPORTERS = layers.EXPORTERS.joined(
    codes.EXPORTERS,
    elementwise.EXPORTERS,
    move.EXPORTERS,
    reduce.EXPORTERS,
    transformer.EXPORTERS,
    trees.EXPORTERS,
)
"""What makes ONNX nodes of each real operator; `joined` adds others."""


def emit_node(emitter: Emitter, node: Node, exporters: Exporters = EXPORTERS) -> None:
    """Add what `node` becomes to the model.

    Raises:
        InternalError: there is no exporter for the operator.
    """
    exporter = exporters.get(type(node.attrs))
    if exporter is None:
        raise InternalError(f"operator {node.op} has no ONNX form", where=node.name)
    exporter(emitter, node)

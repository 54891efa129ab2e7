"""Checks nodes against ONNX's operator schemas, so that handlers meet attributes as specified."""

from __future__ import annotations

from typing import Any

import onnx
import onnx_ir as ir

from edgec.importers.common.boundary import library_call

_LATER = ("QuantizeLinear", "DequantizeLinear", "GroupNormalization")
_LATER_OPSET = 21
"""The later opset of these only adds to earlier ones, and files of earlier ones hold the additions
(axes of channels, 16 and 4 bits), as onnxruntime reads them; of GroupNormalization the earlier one
is deprecated, though it runs."""


class SchemaChecker:
    """Checks the nodes of one model.

    Only nodes that edgec translates are checked, one by one: the check of whole models also refuses
    what nobody relies on, such as outputs without a shape or a newer IR version.
    """

    def __init__(self, opset: int, ir_version: int) -> None:
        self._plain, self._later = (
            _context(version, ir_version) for version in (opset, max(opset, _LATER_OPSET))
        )

    def __call__(self, node: ir.Node) -> None:
        """Check one node.

        Raises:
            ImportModelError: a wrong number of inputs, or an attribute unknown, missing or of
                another type.
        """
        with library_call("the node breaks the rules of ONNX"):
            proto = ir.serde.serialize_node(node)
            proto.domain = ""
            later = node.op_type in _LATER
            onnx.checker.check_node(proto, self._later if later else self._plain)


def _context(opset: int, ir_version: int) -> Any:
    context = onnx.checker.C.CheckerContext()
    context.ir_version = min(ir_version, onnx.IR_VERSION)
    context.opset_imports = {"": opset}
    return context

"""Checks nodes against ONNX's operator schemas, so that handlers meet attributes as specified."""

from __future__ import annotations

import onnx
import onnx_ir as ir

from edgec.importers.common.boundary import library_call


class SchemaChecker:
    """Checks the nodes of one model.

    Only nodes that edgec translates are checked, one by one: the check of whole models also refuses
    what nobody relies on, such as outputs without a shape or a newer IR version.
    """

    def __init__(self, opset: int, ir_version: int) -> None:
        self._context = onnx.checker.C.CheckerContext()
        self._context.ir_version = min(ir_version, onnx.IR_VERSION)
        self._context.opset_imports = {"": opset}

    def __call__(self, node: ir.Node) -> None:
        """Check one node.

        Raises:
            ImportModelError: a wrong number of inputs, or an attribute unknown, missing or of
                another type.
        """
        with library_call("the node breaks the rules of ONNX"):
            proto = ir.serde.serialize_node(node)
            proto.domain = ""
            onnx.checker.check_node(proto, self._context)

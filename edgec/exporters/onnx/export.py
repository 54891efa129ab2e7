"""Graphs as standard ONNX: the real stage as a float model, the annotated stage as a QDQ model.

`EXPORTERS` joins the tables of this package: what each operator of `ir.ops` becomes in ONNX.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import onnx

from edgec.base.errors import InternalError
from edgec.exporters.onnx import (
    codes,
    elementwise,
    layers,
    loops,
    move,
    reduce,
    sound,
    transformer,
    trees,
)
from edgec.exporters.onnx.codes import Exporter, QdqEmitter
from edgec.exporters.onnx.loops import emit_turns
from edgec.exporters.onnx.names import tensor_names
from edgec.exporters.onnx.state import Emitter
from edgec.ir.graph import Graph, Node
from edgec.ir.operator import Operator
from edgec.ir.turns import Turns

Exporters = Mapping[type[Operator], Exporter]

EXPORTERS = layers.EXPORTERS.joined(
    codes.EXPORTERS,
    elementwise.EXPORTERS,
    loops.EXPORTERS,
    move.EXPORTERS,
    reduce.EXPORTERS,
    sound.EXPORTERS,
    transformer.EXPORTERS,
    trees.EXPORTERS,
)
"""Exporters of all real operators to ONNX nodes; `joined` adds others."""


def emit_node(emitter: Emitter, node: Node, exporters: Exporters = EXPORTERS) -> None:
    """Add what `node` becomes to the model.

    Raises:
        InternalError: there is no exporter for the operator.
    """
    exporter = exporters.get(type(node.attrs))
    if exporter is None:
        raise InternalError(f"operator {node.op} has no ONNX form", where=node.name)
    exporter(emitter, node)


__all__ = ["export_qdq", "export_real", "tensor_names"]


def export_real(
    graph: Graph,
    extra_outputs: Sequence[str] = (),
    *,
    model_layout: bool = False,
    exporters: Exporters = EXPORTERS,
) -> onnx.ModelProto:
    """A graph of the real stage as a float ONNX model (opset 20, fixed batch 1).

    Quantization pinned on values is ignored; weights that are integers stay so, followed by a
    DequantizeLinear.  The same graph gives the same bytes.

    Args:
        graph: REAL (or ANNOTATED) stage.
        extra_outputs: values that become model outputs after the graph's own, in this order;
            those that are outputs already are not repeated.  Always in the graph's layout.
        model_layout: True gives inputs and outputs the axes of the original model, undoing
            `graph.input_layouts` and `graph.output_layouts`; False those of the graph.
        exporters: exporter of each operator that the graph holds.

    Returns:
        A checked model.  Its tensors are called `tensor_names(graph)[name]`.

    Raises:
        InternalError: the graph is not of the real stage.
    """
    return _export(Emitter(graph), graph, extra_outputs, model_layout, exporters)


def export_qdq(graph: Graph, exporters: Exporters = EXPORTERS) -> onnx.ModelProto:
    """A graph of the annotated stage as QDQ ONNX (opset 20, fixed batch 1) for any ONNX runtime.

    Weights are int8 with per-channel DequantizeLinear, biases int32; each activation passes through
    QuantizeLinear and DequantizeLinear except between an operator and the Clip fused onto it.
    Inputs and outputs have the original model's axes; they are float unless the original's were
    integers (`ir.metadata`).

    Args:
        graph: ANNOTATED stage.
        exporters: exporter of each operator that the graph holds.

    Raises:
        InternalError: a value or a weight has no quantization.
    """
    return _export(QdqEmitter(graph), graph, (), True, exporters)


def _export(
    emitter: Emitter,
    graph: Graph,
    extra_outputs: Sequence[str],
    model_layout: bool,
    exporters: Exporters,
) -> onnx.ModelProto:
    input_layouts = graph.input_layouts if model_layout else {}
    output_layouts = graph.output_layouts if model_layout else {}
    for name in graph.inputs:
        emitter.add_input(name, input_layouts.get(name))

    def emit(item: Node | Turns) -> None:
        if isinstance(item, Turns):
            emit_turns(emitter, item, emit)
        else:
            emit_node(emitter, item, exporters)

    for item in graph.sequence:
        emit(item)
    for name in graph.outputs:
        emitter.add_output(name, output_layouts.get(name))
    for name in graph.state:
        emitter.add_output(graph.updates[name].output, None)
    for name in dict.fromkeys(extra_outputs):
        if name not in graph.outputs:
            emitter.add_output(name, None)
    return emitter.model()

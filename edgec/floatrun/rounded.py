"""Run a quantized graph in real arithmetic, every tensor rounded to its codes.

That is what QuantizeLinear and DequantizeLinear of the exported QDQ model say (`exporters.onnx`).
onnxruntime computes the same, but for its sums of float32, and of int8 on processors without VNNI,
which depend on the processor.
"""

from __future__ import annotations

from collections.abc import Mapping

from edgec.base.dtypes import Array
from edgec.floatrun.codes import nearest_codes
from edgec.floatrun.executor import Executor
from edgec.ir.fusion import fused_clip
from edgec.ir.graph import Graph, Node


def run_rounded(graph: Graph, codes: Mapping[str, Array]) -> dict[str, Array]:
    """Outputs of a graph whose operators compute with reals and give codes.

    Halves are rounded to even, as ONNX defines it.

    Args:
        graph: ANNOTATED stage.
        codes: for each graph input codes [S, ...], or whole numbers where it holds such.

    Returns:
        For each graph output codes, or whole numbers of an ArgMax, [S, ...shape of the value...].
    """

    def rounded(node: Node, output: Array, _known: Mapping[str, Array]) -> Array:
        # Nothing is rounded between an operator and the Clip that it absorbs.
        if graph.values[node.output].quant is None or fused_clip(graph, node) is not None:
            return output
        return graph.quant(node.output).dequantize64(_codes(graph, node.output, output))

    inputs = {
        name: array if graph.values[name].quant is None else graph.quant(name).dequantize64(array)
        for name, array in codes.items()
    }
    found = Executor(graph, graph.outputs).run(inputs, rounded)
    return {name: _codes(graph, name, array) for name, array in found.items()}


def _codes(graph: Graph, name: str, real: Array) -> Array:
    """Nearest codes of a value; what has no codes stays as it is."""
    quant = graph.values[name].quant
    return real if quant is None else nearest_codes(real, quant)

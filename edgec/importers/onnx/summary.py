"""What a model consists of, for `edgec inspect`; works for models that edgec cannot compile."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path

import onnx_ir as ir

from edgec.base.dtypes import DType
from edgec.importers.onnx.importer import translated
from edgec.importers.onnx.input_shapes import NO_SHAPES
from edgec.importers.onnx.load import load_model
from edgec.importers.onnx.tensors import Gathered, Tensor
from edgec.importers.onnx.translate import TranslatedNode, Translation
from edgec.ir.graph import Constant

Shape = tuple[int, ...] | None


@dataclass(frozen=True, slots=True)
class TensorSummary:
    """An input or output of the model; shape None where unknown."""

    name: str
    shape: Shape
    dtype: str


@dataclass(frozen=True, slots=True)
class PoolSummary:
    """The weight pool that a layer's weights come from.

    Attributes:
        vectors: number of vectors of the pool.
        group: weights of a vector.
        index_bits: bits that an index into the pool needs.
        indices: number of indices of the layer.
    """

    vectors: int
    group: int
    index_bits: int
    indices: int


@dataclass(frozen=True, slots=True)
class NodeSummary:
    """One node after clean-up; nodes that only look weights up in a pool are left out.

    Attributes:
        input_shapes, output_shapes: shapes of the tensors that are present; None where unknown.
        macs: multiply-accumulates of Conv, ConvTranspose, Gemm and MatMul, padding taps included;
            0 for all other operators and where shapes are unknown.
        parameters: elements of the constants that no earlier node reads; of weights from a pool
            those that the indices stand for.
        supported: True when the node can be compiled.
        reason, remedy: why not, and what to do; "" when supported.
        pool: the weight pool that its weights come from, if they do.
    """

    name: str
    op: str
    input_shapes: tuple[Shape, ...]
    output_shapes: tuple[Shape, ...]
    macs: int
    parameters: int
    supported: bool
    reason: str
    remedy: str
    pool: PoolSummary | None = None


@dataclass(frozen=True, slots=True)
class ModelSummary:
    """All nodes and the totals of a model."""

    name: str
    opset: int
    inputs: tuple[TensorSummary, ...]
    outputs: tuple[TensorSummary, ...]
    nodes: tuple[NodeSummary, ...]

    @property
    def macs(self) -> int:
        """Multiply-accumulates of one inference."""
        return sum(node.macs for node in self.nodes)

    @property
    def parameters(self) -> int:
        """Elements of all constants."""
        return sum(node.parameters for node in self.nodes)

    @property
    def supported(self) -> bool:
        """True when every node can be compiled."""
        return all(node.supported for node in self.nodes)


def inspect_model(path: Path, shapes: Mapping[str, tuple[int, ...]] = NO_SHAPES) -> ModelSummary:
    """Read a model and describe every node of it.

    Args:
        path: an ONNX file.
        shapes: shapes of inputs, as for `import_model`.

    Raises:
        ImportModelError: the file is no sound model.
        ConfigError: `shapes` does not fit the model.
    """
    model = load_model(path)
    opset = max(o.version for o in model.opset_import if o.domain in ("", "ai.onnx"))
    translation = translated(model, path.stem, shapes)
    tensors = translation.context.tensors
    counted: set[str] = set()
    pools = _pools(translation)
    nodes = tuple(
        replace(_node(node, tensors, counted), pool=pools.get(node.name))
        for node in translation.nodes
        if not _looks_up(node, tensors)
    )
    inputs = tuple(_tensor(name, tensors) for name in translation.context.builder.inputs)
    outputs = tuple(_tensor(name, tensors) for name in translation.context.builder.outputs)
    return ModelSummary(path.stem, opset, inputs, outputs, nodes)


def _tensor(name: str, tensors: Mapping[str, Tensor]) -> TensorSummary:
    found = tensors.get(name)
    if found is None:
        return TensorSummary(name, None, "unknown")
    return TensorSummary(name, found.shape, found.dtype.value)


def _looks_up(found: TranslatedNode, tensors: Mapping[str, Tensor]) -> bool:
    """True for the nodes between the indices of a pool and the weights that they stand for."""
    return all(isinstance(tensors.get(value.name or ""), Gathered) for value in found.node.outputs)


def _pools(translation: Translation) -> dict[str, PoolSummary]:
    """The pools in use, by the name of the ONNX node."""
    builder = translation.context.builder
    found = {}
    for node in builder.nodes.values():
        constants = [builder.constants[name] for name in node.inputs if name in builder.constants]
        for pooled in (c.pooled for c in constants if c.pooled is not None):
            pool = pooled.pool
            summary = PoolSummary(pool.size, pool.group, pool.index_bits, pooled.indices.size)
            found.update(dict.fromkeys(node.sources, summary))
    return found


def _node(found: TranslatedNode, tensors: Mapping[str, Tensor], counted: set[str]) -> NodeSummary:
    inputs = [value.name or "" for value in found.node.inputs if value is not None]
    outputs = [value.name or "" for value in found.node.outputs if value.name]
    input_shapes, output_shapes = (
        tuple(tensors[n].shape if n in tensors else None for n in names)
        for names in (inputs, outputs)
    )
    fresh = {c.name: c for c in _parameters(found, inputs, tensors) if c.name not in counted}
    counted.update(fresh)
    problem = found.problem
    return NodeSummary(
        name=found.name,
        op=found.op,
        input_shapes=input_shapes,
        output_shapes=output_shapes,
        macs=_macs(found.node, input_shapes, output_shapes),
        parameters=sum(math.prod(constant.shape) for constant in fresh.values()),
        supported=problem is None,
        reason=problem.reason if problem else "",
        remedy=problem.remedy if problem else "",
    )


def _parameters(
    found: TranslatedNode, inputs: list[str], tensors: Mapping[str, Tensor]
) -> list[Constant]:
    """The weights a node reads: neither shapes and axes nor scales and zero points."""
    if found.op in ("QuantizeLinear", "DequantizeLinear"):
        inputs = inputs[:1]
    constants = [tensors.get(name) for name in inputs]
    return [
        tensor
        for tensor in constants
        if isinstance(tensor, Constant) and tensor.dtype not in (DType.INT64, DType.BOOL)
    ]


def _macs(node: ir.Node, inputs: tuple[Shape, ...], outputs: tuple[Shape, ...]) -> int:
    """Multiply-accumulates of a node of ONNX's layouts."""
    if len(inputs) < 2 or not outputs:
        return 0
    x, weight, y = inputs[0], inputs[1], outputs[0]
    if x is None or weight is None or y is None:
        return 0
    match node.op_type:
        case "Conv":
            return math.prod(y) * math.prod(weight[1:])
        case "ConvTranspose":
            return math.prod(x) * math.prod(weight[1:])
        case "MatMul" if x:
            return math.prod(y) * x[-1]
        case "Gemm" if len(x) == 2:
            return math.prod(y) * x[0 if node.attributes.get_int("transA", 0) else 1]
        case _:
            return 0

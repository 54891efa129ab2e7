"""Summary of a model for `edgec inspect`; works for models that edgec cannot compile."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace

from edgec.base.dtypes import DType
from edgec.importers.common.attempt import TranslatedNode
from edgec.importers.common.builder import RealBuilder, SourceNode
from edgec.importers.common.tensors import Gathered, Tensor
from edgec.ir.graph import Constant

Shape = tuple[int, ...] | None
Macs = Callable[[str, tuple[Shape, ...], tuple[Shape, ...]], int]
"""Multiply-accumulates by operator, input and output shapes, in the layouts of a file format."""


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
        terms: indices of one vector of the layer, which is the sum of what they stand for.
    """

    vectors: int
    group: int
    index_bits: int
    indices: int
    terms: int = 1


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
    """All nodes and the totals of a model.

    Attributes:
        format: what kind of file it is.
        opset: version of ONNX's operators; 0 in files of other formats.
        facts: what else the file holds, a line each.
    """

    name: str
    format: str
    opset: int
    inputs: tuple[TensorSummary, ...]
    outputs: tuple[TensorSummary, ...]
    nodes: tuple[NodeSummary, ...]
    facts: tuple[str, ...] = ()

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


def summarize(
    builder: RealBuilder,
    nodes: tuple[TranslatedNode, ...],
    name: str,
    kind: tuple[str, int],
    macs: Macs,
) -> ModelSummary:
    """Describe a file whose nodes were all attempted.

    Args:
        builder: what was built of it.
        nodes: what became of its nodes.
        name: name of the model.
        kind: what kind of file it is, and the version of ONNX's operators, 0 in other files.
        macs: counts the work of a node.
    """
    tensors = builder.tensors
    counted: set[str] = set()
    pools = _pools(builder)
    kept = tuple(
        replace(_node(node, tensors, counted, macs), pool=pools.get(node.source.name))
        for node in nodes
        if not _looks_up(node, tensors)
    )
    inputs = tuple(_tensor(name, tensors) for name in builder.builder.inputs)
    outputs = tuple(_tensor(name, tensors) for name in builder.builder.outputs)
    return ModelSummary(name, *kind, inputs, outputs, kept)


def _tensor(name: str, tensors: Mapping[str, Tensor]) -> TensorSummary:
    found = tensors.get(name)
    if found is None:
        return TensorSummary(name, None, "unknown")
    return TensorSummary(name, found.shape, found.dtype.value)


def _looks_up(found: TranslatedNode, tensors: Mapping[str, Tensor]) -> bool:
    """True for the nodes between the indices of a pool and the weights that they stand for."""
    names = found.source.outputs
    return bool(names) and all(isinstance(tensors.get(name), Gathered) for name in names)


def _pools(builder: RealBuilder) -> dict[str, PoolSummary]:
    """The pools in use, by the name of the node in the file."""
    graph = builder.builder
    found = {}
    for node in graph.nodes.values():
        constants = [graph.constants[name] for name in node.inputs if name in graph.constants]
        for pooled in (c.pooled for c in constants if c.pooled is not None):
            pool = pooled.pool
            summary = PoolSummary(
                pool.size, pool.group, pool.index_bits, pooled.indices.size, pooled.terms
            )
            found.update(dict.fromkeys(node.sources, summary))
    return found


def _node(
    found: TranslatedNode, tensors: Mapping[str, Tensor], counted: set[str], macs: Macs
) -> NodeSummary:
    source = found.source
    outputs = [name for name in source.outputs if name]
    input_shapes, output_shapes = (
        tuple(tensors[n].shape if n in tensors else None for n in names)
        for names in (source.inputs, outputs)
    )
    fresh = {c.name: c for c in _parameters(source, tensors) if c.name not in counted}
    counted.update(fresh)
    problem = found.problem
    return NodeSummary(
        name=source.name,
        op=source.op,
        input_shapes=input_shapes,
        output_shapes=output_shapes,
        macs=macs(source.op, input_shapes, output_shapes),
        parameters=sum(math.prod(constant.shape) for constant in fresh.values()),
        supported=problem is None,
        reason=problem.reason if problem else "",
        remedy=problem.remedy if problem else "",
    )


def _parameters(source: SourceNode, tensors: Mapping[str, Tensor]) -> list[Constant]:
    """The weights a node reads: neither shapes and axes nor scales and zero points."""
    constants = [tensors.get(name) for name in source.weights]
    return [
        tensor
        for tensor in constants
        if isinstance(tensor, Constant) and tensor.dtype not in (DType.INT64, DType.BOOL)
    ]

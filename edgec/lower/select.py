"""The choice of a kernel for each node: a table of families, the first that fits wins.

A family for one core goes above the plain C one of its operator, with a predicate on the core; the
plain C family accepts every node of its operator and comes last.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType

from edgec.base.errors import InternalError, LoweringError
from edgec.base.fixedpoint import INT32_MAX
from edgec.ir import qops
from edgec.ir.graph import Graph, Node
from edgec.ir.weighted import POOLED
from edgec.lower import (
    build,
    build_16x15,
    build_dense_dsp,
    build_dense_quads,
    build_dense_triples,
    build_neon,
    build_pooled_narrow,
    build_transformer,
)
from edgec.lower.layer_end import ends_narrow
from edgec.lower.overlap import distances
from edgec.lower.pool_config import PoolKernelConfig
from edgec.lower.select_pooled import pooled_kernel
from edgec.lower.spec import KernelSpec
from edgec.lower.variable import is_variable, variable_spec
from edgec.memory import Overlap
from edgec.target.target import Target

Predicate = Callable[[Graph, Node, Target], bool]
Builder = Callable[[Graph, Node], KernelSpec]


@dataclass(frozen=True, slots=True)
class KernelFamily:
    """One row of the table.

    Attributes:
        op: class in `ir.qops`.
        accepts: whether the family serves this node on this target.
        build: its specification for a node.
    """

    op: type
    accepts: Predicate
    build: Builder


@dataclass(frozen=True, slots=True)
class KernelChoice:
    """The kernel of a node.

    Attributes:
        node: of the integer graph; never a `QReshape`, which needs no kernel.
        spec: what is generated.
        scratch_bytes: working memory of a call.
        overlaps: how far the output may lie over each input; names are those of the graph's values,
            aliases not yet resolved.
    """

    node: Node
    spec: KernelSpec
    scratch_bytes: int
    overlaps: tuple[Overlap, ...]


def _always(graph: Graph, node: Node, target: Target) -> bool:
    return True


def _wide_stream(test: Predicate) -> Predicate:
    return lambda graph, node, target: (
        build_16x15.has_wide_stream(node) and test(graph, node, target)
    )


def _pooled_narrow(op: type) -> tuple[KernelFamily, KernelFamily]:
    return (
        KernelFamily(op, build_pooled_narrow.accepts_dsp, build_pooled_narrow.pooled_decode_dsp),
        KernelFamily(op, build_pooled_narrow.accepts, build_pooled_narrow.pooled_decode),
    )


def _ends_narrow(graph: Graph, node: Node, target: Target) -> bool:
    return ends_narrow(node)


def _on_any_core(test: Callable[[Graph, Node], bool]) -> Predicate:
    return lambda graph, node, target: test(graph, node)


def _quads(op: type) -> tuple[KernelFamily, ...]:
    return (
        KernelFamily(op, build_dense_quads.accepts_dual, build_dense_quads.dense_quads_dual),
        KernelFamily(op, build_dense_quads.accepts_roomy, build_dense_quads.dense_quads_roomy),
        KernelFamily(op, build_dense_quads.accepts, build_dense_quads.dense_quads),
    )


def _triples(op: type) -> tuple[KernelFamily, KernelFamily]:
    return (
        KernelFamily(op, build_dense_triples.accepts_two, build_dense_triples.dense_triples_two),
        KernelFamily(op, build_dense_triples.accepts_four, build_dense_triples.dense_triples_four),
    )


def _dense(op: type) -> tuple[KernelFamily, ...]:
    """The kernels for single cores of layers with weights."""
    return (
        *_pooled_narrow(op),
        KernelFamily(op, build_neon.accepts_dense, build_neon.dense),
        *_quads(op),
        KernelFamily(op, build_dense_dsp.accepts, build_dense_dsp.dense_dsp),
        *_triples(op),
    )


FAMILIES: tuple[KernelFamily, ...] = (
    *_dense(qops.QConv),
    KernelFamily(qops.QConv, _on_any_core(build.is_gemm), build.gemm_of_conv),
    KernelFamily(qops.QConv, _on_any_core(build.is_depthwise), build.depthwise),
    KernelFamily(qops.QConv, _always, build.conv2d),
    *_dense(qops.QGemm),
    KernelFamily(qops.QGemm, _always, build.gemm),
    KernelFamily(qops.QConvTranspose, _always, build.conv_transpose),
    KernelFamily(qops.QMatMul, _always, build_16x15.matmul),
    KernelFamily(qops.QAdd, _always, build.add),
    KernelFamily(qops.QMul, _ends_narrow, build_16x15.mul),
    KernelFamily(qops.QMul, _always, build.mul),
    KernelFamily(qops.QLut, build_neon.accepts_lut, build_neon.lut),
    KernelFamily(qops.QLut, _always, build.lut),
    KernelFamily(qops.QPRelu, _always, build.prelu),
    KernelFamily(qops.QSoftmax, _always, build.softmax),
    KernelFamily(qops.QMaxPool, _always, build.max_pool),
    KernelFamily(qops.QAveragePool, _always, build.average_pool),
    KernelFamily(qops.QReduce, _ends_narrow, build_16x15.reduce),
    KernelFamily(qops.QReduce, _always, build.reduce),
    KernelFamily(qops.QTranspose, _always, build.transpose),
    KernelFamily(qops.QSlice, _always, build.slice_),
    KernelFamily(qops.QConcat, _always, build.concat),
    KernelFamily(qops.QPad, _always, build.pad),
    KernelFamily(qops.QResizeNearest, _always, build.resize_nearest),
    KernelFamily(qops.QResizeLinear, _always, build.resize_linear),
    KernelFamily(qops.QArgMax, _always, build.arg_max),
    KernelFamily(qops.QRescale, _wide_stream(build_neon.on_any), build_neon.rescale),
    KernelFamily(qops.QRescale, _always, build_16x15.rescale),
    KernelFamily(qops.QStreamAdd, _wide_stream(build_neon.accepts_add), build_neon.stream_add),
    KernelFamily(qops.QStreamAdd, _always, build_16x15.stream_add),
    KernelFamily(qops.QNorm, _wide_stream(build_neon.on_any), build_neon.norm),
    KernelFamily(qops.QNorm, _always, build_transformer.norm),
    KernelFamily(qops.QAttention, build_neon.accepts_attention, build_neon.attention_neon),
    KernelFamily(qops.QAttention, build_transformer.accepts_dual, build_transformer.attention_dual),
    KernelFamily(qops.QAttention, build_transformer.accepts_dsp, build_transformer.attention_dsp),
    KernelFamily(qops.QAttention, _always, build_transformer.attention),
    KernelFamily(qops.QEmbedding, _always, build_transformer.embedding),
    KernelFamily(qops.QSoftmaxOctaves, _always, build_transformer.softmax),
    KernelFamily(qops.QIsEqual, _always, build_transformer.is_equal),
)


def select_kernels(
    graph: Graph,
    target: Target,
    pool_configs: Mapping[str, PoolKernelConfig] = MappingProxyType({}),
) -> tuple[KernelChoice, ...]:
    """The kernel of every node that computes something, in the graph's order.

    Args:
        graph: INTEGER stage.
        target: the processor that runs them.
        pool_configs: the planner's decisions by names of nodes with pooled weights; one without
            gets `select_pooled.default_config`.

    Raises:
        LoweringError: no kernel serves a node, or a tensor is beyond what kernels can index.
    """
    sizes = {name: value.size_bytes for name, value in graph.values.items()}
    sizes |= {name: constant.array.nbytes for name, constant in graph.constants.items()}
    for name, size_bytes in sizes.items():
        if size_bytes > INT32_MAX:
            raise LoweringError(
                f"a tensor of {size_bytes} bytes is too large for 32-bit indices", where=name
            )
    return tuple(
        _choose(graph, node, target, pool_configs.get(node.name))
        for node in graph.nodes
        if not isinstance(node.attrs, qops.QReshape)
    )


def operands(node: Node) -> tuple[str, ...]:
    """The inputs of a node that its kernel reads as tensors, in the kernel's order."""
    return qops.tensors_of(node.attrs.Inputs.of(node.inputs))


def _choose(
    graph: Graph, node: Node, target: Target, config: PoolKernelConfig | None
) -> KernelChoice:
    if isinstance(node.attrs, POOLED):
        return _choice(graph, node, pooled_kernel(graph, node, config))
    for family in FAMILIES:
        if isinstance(node.attrs, family.op) and family.accepts(graph, node, target):
            spec = _of_all_lengths(graph, node, family.build(graph, node))
            if spec is not None:
                return _choice(graph, node, spec)
    raise LoweringError(
        f"no kernel serves the operator {node.op}",
        where=node.name,
        hint="this operator exists only before quantization, which is a bug of edgec",
    )


def _of_all_lengths(graph: Graph, node: Node, spec: KernelSpec) -> KernelSpec | None:
    """The specification itself, or in a model of variable length one that serves all lengths."""
    return variable_spec(graph, node, spec) if is_variable(graph, node) else spec


def _choice(graph: Graph, node: Node, spec: KernelSpec) -> KernelChoice:
    return KernelChoice(node, spec, spec.scratch_bytes, _overlaps(graph, node, spec))


def _overlaps(graph: Graph, node: Node, spec: KernelSpec) -> tuple[Overlap, ...]:
    names = operands(node)
    found = distances(spec)
    if len(found) != len(names):
        raise InternalError(f"{spec.family}: one distance per operand expected", where=node.name)
    return tuple(
        Overlap(node.output, name, distance)
        for name, distance in zip(names, found, strict=True)
        if distance is not None and name in graph.values
    )

"""What a kernel is called with: argument structs, and constants in the kernel's layout."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, field

import numpy as np

from edgec.base.dtypes import Array, frozen
from edgec.base.errors import InternalError
from edgec.base.fixedpoint import INT8_MAX, INT8_MIN, INT32_MAX, INT32_MIN
from edgec.ir import qops
from edgec.ir.graph import Graph, Node
from edgec.ir.ops import ReduceKind
from edgec.ir.pool import WeightPool
from edgec.ir.weighted import residual_of
from edgec.lower.build_pooled import builder_table, window_indices
from edgec.lower.build_pooled_dense import dense_constants
from edgec.lower.dense_weights import by_column, flipped_quads, interleaved, odd_sums
from edgec.lower.layer_end import requant31_of
from edgec.lower.neon_weights import packed, padded
from edgec.lower.params import (
    AveragePoolParams,
    ConstantRef,
    ConvParams,
    MulParams,
    Params,
    PoolParams,
    PReluParams,
    ReduceParams,
    ResizeParams,
    SoftmaxParams,
    SumParams,
)
from edgec.lower.pool_indices import stored_indices
from edgec.lower.program import ProgramConstant
from edgec.lower.spec import (
    Conv2D,
    DenseDsp,
    DenseNeon,
    DenseQuads,
    DenseTriples,
    Gemm,
    KernelSpec,
    PooledConv,
    PooledDecode,
    PooledDecodeDsp,
    PooledDirect,
)


@dataclass(slots=True)
class ConstantPool:
    """The constants of a program under construction; equal ones are kept once."""

    constants: list[ProgramConstant] = field(default_factory=list)
    _known: dict[tuple[str, str, bytes], ConstantRef] = field(default_factory=dict)

    def add(self, stem: str, array: Array, *, shared: bool = False) -> ConstantRef:
        """A reference to an equal array of the same stem, added if there is none.

        Args:
            stem, array, shared: of `ProgramConstant`.
        """
        key = (stem, str(array.dtype), hashlib.sha256(array.tobytes()).digest())
        if key not in self._known:
            self._known[key] = ConstantRef(len(self.constants))
            self.constants.append(ProgramConstant(stem, array, shared))
        return self._known[key]


def params_of(graph: Graph, node: Node, spec: KernelSpec, pool: ConstantPool) -> tuple[Params, ...]:
    """The argument structs of one call, in the kernel's order.

    Raises:
        InternalError: a number does not fit the type that the kernel has for it.
    """
    match node.attrs:
        case qops.QConv() | qops.QConvTranspose() | qops.QGemm():
            found: tuple[Params, ...] = _convolution(graph, node, spec, pool)
        case qops.QPooledConv() | qops.QPooledGemm():
            found = _pooled(graph, node, spec, pool)
        case qops.QAdd(params=addition):
            found = (_sum(addition),)
        case _:
            single = _single(graph, node, pool)
            found = () if single is None else (single,)
    for struct in found:
        _check_codes(struct, node)
    return found


def _single(graph: Graph, node: Node, pool: ConstantPool) -> Params | None:
    attrs = node.attrs
    match attrs:
        case qops.QMul():
            zero_points = [_zero_point(graph, name) for name in node.inputs[:2]]
            return MulParams(attrs.multiplier, *zero_points, **_end(requant31_of(node)))
        case qops.QPRelu():
            slopes = graph.constants[node.inputs[1]].array
            channels = graph.shape(node.inputs[0])[-1]
            table = pool.add("slopes", np.broadcast_to(slopes.reshape(-1), (channels,)))
            x_zero_point = _zero_point(graph, node.inputs[0])
            return PReluParams(table, attrs.multiplier, x_zero_point, **_end(requant31_of(node)))
        case qops.QSoftmax():
            table = pool.add("exponentials", graph.constants[node.inputs[1]].array)
            return SoftmaxParams(table, attrs.multiplier, **_end(attrs))
        case qops.QAveragePool():
            table = pool.add("multipliers", graph.constants[node.inputs[1]].array)
            x_zero_point = _zero_point(graph, node.inputs[0])
            return AveragePoolParams(table, x_zero_point, **_end(requant31_of(node)))
        case qops.QReduce() if attrs.kind is not ReduceKind.MAX:
            x_zero_point = _zero_point(graph, node.inputs[0])
            return ReduceParams(attrs.multiplier, x_zero_point, **_end(requant31_of(node)))
        case qops.QResizeNearest() | qops.QResizeLinear():
            rows, cols = (graph.constants[name].array for name in node.inputs[1:3])
            return ResizeParams(pool.add("rows", rows), pool.add("cols", cols))
        case _:
            return None


def _convolution(
    graph: Graph, node: Node, spec: KernelSpec, pool: ConstantPool
) -> tuple[Params, ...]:
    raw = isinstance(node.attrs, qops.QGemm) and node.attrs.raw
    weights, bias, multiplier = (graph.constants[name].array for name in node.inputs[1:4])
    x_zero_point = 0 if raw else _zero_point(graph, node.inputs[0])
    if isinstance(spec, Conv2D | Gemm | DenseDsp | DenseNeon | DenseQuads | DenseTriples):
        bias = _fold_zero_point(bias, weights, x_zero_point, node)
    if isinstance(spec, DenseQuads):
        bias = frozen(bias + odd_sums(weights), np.int32) if spec.any_code else bias
        weights = flipped_quads(weights)
    if isinstance(spec, DenseDsp):
        weights = interleaved(weights)
    if isinstance(spec, DenseTriples):
        weights = by_column(weights, spec.filters, spec.padded_depth)
    if isinstance(spec, DenseNeon):
        weights, bias, multiplier = packed(weights), padded(bias), padded(multiplier)
    own = ConvParams(
        weights=pool.add("weights", weights),
        bias=pool.add("bias", bias),
        multiplier=pool.add("multipliers", multiplier),
        x_zero_point=x_zero_point,
        **_end(requant31_of(node)),
    )
    return (own, *_residual(node))


def _pooled(graph: Graph, node: Node, spec: KernelSpec, pool: ConstantPool) -> tuple[Params, ...]:
    vectors, _, bias, multiplier = (graph.constants[name].array for name in node.inputs[1:5])
    match spec:
        case PooledConv():
            table = builder_table(spec, WeightPool(vectors))
            indices = stored_indices(spec, window_indices(graph, node))
        case PooledDecode() | PooledDecodeDsp() | PooledDirect():
            table, indices, bias = dense_constants(graph, node, spec)
        case _:
            raise InternalError(f"{spec.family} is no kernel for pooled weights", where=node.name)
    own = PoolParams(
        table=pool.add("pool_table", table, shared=True),
        indices=pool.add("indices", indices),
        bias=pool.add("bias", bias),
        multiplier=pool.add("multipliers", multiplier),
        x_zero_point=_zero_point(graph, node.inputs[0]),
        **_end(requant31_of(node)),
    )
    return (own, *_residual(node))


def _fold_zero_point(bias: Array, weights: Array, x_zero_point: int, node: Node) -> Array:
    """``bias - zx * sum(weights)``: then the kernel sums up x * w instead of (x - zx) * w.

    It fits int32, because it is the accumulator of the input x = 0; and so do all partial sums,
    which are accumulators of inputs with some x = 0 (`ir.qops` promises both).
    """
    sums = weights.astype(np.int64).reshape(weights.shape[0], -1).sum(axis=1)
    folded = bias.astype(np.int64) - x_zero_point * sums
    if np.any((folded < INT32_MIN) | (folded > INT32_MAX)):
        raise InternalError("an accumulator can overflow 32 bits", where=node.name)
    return frozen(folded, np.int32)


def _residual(node: Node) -> tuple[SumParams, ...]:
    """The struct of the addition at the end of a layer, if there is one."""
    residual = residual_of(node.attrs)
    return (_sum(residual),) if isinstance(residual, qops.AddParams) else ()


def _sum(params: qops.AddParams) -> SumParams:
    return SumParams(
        a_zero_point=params.a_zero_point,
        b_zero_point=params.b_zero_point,
        a_multiplier=params.a_multiplier,
        b_multiplier=params.b_multiplier,
        shift=params.shift,
        y_zero_point=params.y_zero_point,
        act_min=params.act_min,
        act_max=params.act_max,
    )


def _zero_point(graph: Graph, name: str) -> int:
    return graph.quant(name).tensor_zero_point


def _end(form: qops.Requant31 | qops.QSoftmax) -> dict[str, int]:
    """The last three fields of most structs, as keyword arguments."""
    return {"y_zero_point": form.zero_point, "act_min": form.low, "act_max": form.high}


def _check_codes(params: Params, node: Node) -> None:
    for name in (
        "x_zero_point",
        "a_zero_point",
        "b_zero_point",
        "y_zero_point",
        "act_min",
        "act_max",
    ):
        code = getattr(params, name, 0)
        if not INT8_MIN <= code <= INT8_MAX:
            raise InternalError(f"{name} = {code} is no int8 code", where=node.name)

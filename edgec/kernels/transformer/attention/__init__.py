"""Softmax attention in plain C, row by row of a head."""

from __future__ import annotations

import math
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

from edgec.base.errors import LoweringError
from edgec.ir import qops
from edgec.ir.graph import Graph, Node
from edgec.kernels.common.constants import ConstantPool, ConstantRef, Params
from edgec.kernels.common.extent import Extent, extent_of
from edgec.kernels.common.lengths import flagged
from edgec.kernels.family import Distances, KernelFamily, Lengths, template_beside
from edgec.target.target import Target

_WORD_BYTES = 4


@dataclass(frozen=True, slots=True)
class Columns:
    """The columns of q, k or v that the heads of a layer read.

    Attributes:
        stride: elements between two tokens.
        start: column of the first head.
        width: columns of a head.
    """

    stride: int
    start: int
    width: int


@dataclass(frozen=True, slots=True)
class Attention:
    """Softmax attention, row by row of a head: `ir.qops.QAttention`.

    Attributes:
        batch: leading axes.
        queries, keys: tokens of q, and of k and v.
        heads: side by side in the columns.
        q, k, v: what of the tensors belongs to the heads.
        exp_bits: bits of an exponential.
        mask_stride: entries of the mask (int32) between two batches; keys whose entry is 0 take no
            part.  None: there is no mask.
        variable: the queries and keys of a run are arguments; batch is 1.
        bias_steps: different numbers that are added to a head's logits; 0: none is.
        bias_stride: places (int16, [queries, keys]) of these numbers between two batches.
        trimmed: rows of large sums lose bits of their exponentials.
    """

    family: ClassVar[str] = "attention"
    template: ClassVar[Path] = template_beside(__file__, "attention")
    batch: int
    queries: int
    keys: int
    heads: int
    q: Columns
    k: Columns
    v: Columns
    exp_bits: int
    mask_stride: int | None
    variable: bool = False
    bias_steps: int = 0
    bias_stride: int = 0
    trimmed: bool = False

    @property
    def k_batch_stride(self) -> int:
        """Elements of k between two batches."""
        return self.keys * self.k.stride

    @property
    def v_batch_stride(self) -> int:
        """Elements of v between two batches."""
        return self.keys * self.v.stride

    @property
    def scratch_bytes(self) -> int:
        """The logits of a row, which its exponentials overwrite."""
        return self.keys * _WORD_BYTES

    @property
    def macs(self) -> int:
        """Multiply-accumulates of one call."""
        pairs = self.batch * self.heads * self.queries * self.keys
        return pairs * (self.q.width + self.v.width)

    def describe(self) -> str:
        """Operator and shapes in words, for a comment in C."""
        return f"Attention of {self.queries} queries to {self.keys} keys, {self.heads} heads"


def spec(graph: Graph, node: Node, _target: Target) -> Attention:
    """The specification for a QAttention."""
    attrs, inputs = node.attrs_as(qops.QAttention), qops.QAttention.Inputs.of(node.inputs)
    q, k, v = (graph.shape(name) for name in (inputs.q, inputs.k, inputs.v))
    batch = math.prod(q[:-2])
    has_own_bias = inputs.places is not None and graph.shape(inputs.places)[0] > 1
    return Attention(
        batch=batch,
        queries=q[-2],
        keys=k[-2],
        heads=attrs.heads,
        q=Columns(q[-1], attrs.q_start, attrs.width),
        k=Columns(k[-1], attrs.k_start, attrs.width),
        v=Columns(v[-1], attrs.v_start, attrs.value_width),
        exp_bits=attrs.exp_bits,
        mask_stride=_mask_stride(graph, node, batch, k[-2]),
        trimmed=attrs.trimmed,
        bias_steps=0 if inputs.steps is None else graph.shape(inputs.steps)[1],
        bias_stride=q[-2] * k[-2] if has_own_bias else 0,
    )


def _mask_stride(graph: Graph, node: Node, batch: int, keys: int) -> int | None:
    inputs = qops.QAttention.Inputs.of(node.inputs)
    if inputs.keys is None:
        return None
    entries = math.prod(graph.shape(inputs.keys))
    if entries not in (keys, batch * keys):
        raise LoweringError(
            f"a mask of {entries} entries serves neither all {batch} batches nor each of its own",
            where=node.name,
        )
    return keys if entries > keys else 0


@dataclass(frozen=True, slots=True)
class AttentionParams:
    """Attention: `edgec_attention_head_t` of each head, as int32."""

    c_type: ClassVar[str] = "edgec_attention_params_t"
    heads: ConstantRef


def overlap(spec: Attention) -> Distances:
    """The output overlaps none: q, k, v, the mask and the numbers that are added to logits."""
    constants = 2 if spec.bias_steps else 0
    return (None,) * ((3 if spec.mask_stride is None else 4) + constants)


def arguments(graph: Graph, node: Node, _spec: Attention, pool: ConstantPool) -> tuple[Params, ...]:
    """The numbers of each head."""
    heads = graph.constants[qops.QAttention.Inputs.of(node.inputs).heads].array
    return (AttentionParams(pool.add("heads", heads)),)


class AttentionLengths(Lengths[Any]):
    """The queries and the keys vary."""

    def spec(self, graph: Graph, node: Node, spec: Any) -> Any:
        """The specification, flagged as one for all lengths."""
        return flagged(spec)

    def sizes(self, graph: Graph, node: Node, spec: Attention) -> tuple[Extent, ...]:
        """Queries, then keys."""
        inputs = qops.QAttention.Inputs.of(node.inputs)
        queries = extent_of(graph, inputs.q, spec.queries)
        return (queries, extent_of(graph, inputs.k, spec.keys))


FAMILY = KernelFamily(
    spec_type=Attention,
    operators=(qops.QAttention,),
    spec=spec,
    overlap=overlap,
    arguments=arguments,
    lengths=AttentionLengths(),
)

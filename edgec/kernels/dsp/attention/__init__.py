"""Softmax attention on cores with the DSP extension, four queries at a time."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

from edgec.ir import qops
from edgec.ir.graph import Graph, Node
from edgec.kernels.common.code_range import is_symmetric
from edgec.kernels.common.dense import WORD
from edgec.kernels.common.spec import fields_of
from edgec.kernels.dsp.dense_4x2_s8_dsp.spec import TILE_BYTES, unrolled
from edgec.kernels.family import KernelFamily, template_beside
from edgec.kernels.transformer import attention as plain_attention
from edgec.kernels.transformer.attention import Attention, AttentionLengths
from edgec.target.target import Target

_FARTHEST_BYTES = 4095
"""Largest offset in the address of a load."""


@dataclass(frozen=True, slots=True)
class AttentionDsp(Attention):
    """`Attention` for cores with the DSP extension, four queries at a time:
    `edgec/dense/dense_4x2_s8_dsp.h`.

    The width of heads is a multiple of 4, that of values of 2; there are two keys or more and no
    mask; no code of q is -128.

    Attributes:
        dual_issue: the core issues a load together with a product.
    """

    family: ClassVar[str] = "attention_dsp"
    template: ClassVar[Path] = template_beside(__file__, "attention_dsp")
    dual_issue: bool = False

    @property
    def words(self) -> int:
        """Words of a query or key."""
        return self.q.width // WORD

    @property
    def unrolled(self) -> int:
        """Words in one turn of the loop of logits."""
        return unrolled(self.words, roomy=self.dual_issue)

    @property
    def pairs(self) -> int:
        """Pairs of keys; the last of an odd number begins a key earlier."""
        return -(-self.keys // 2)

    @property
    def odd(self) -> int:
        """1 for an odd number of keys."""
        return self.keys % 2

    @property
    def q_batch_stride(self) -> int:
        """Elements of q between two batches."""
        return self.queries * self.q.stride

    @property
    def key_pair_stride(self) -> int:
        """Elements of k between two pairs of keys."""
        return 2 * self.k.stride

    @property
    def last_keys_at(self) -> int:
        """Place of the last two keys in k, in elements."""
        return (self.keys - 2) * self.k.stride

    @property
    def last_logits_at(self) -> int:
        """Place of the logits of the last two keys, in logits: four queries by two keys a pair."""
        return 8 * (self.pairs - 1)

    @property
    def value_loops(self) -> int:
        """Turns of the loop of values, which takes four pairs."""
        return (self.pairs - self.odd) // 4

    @property
    def logits_at(self) -> int:
        """Place of the logits in scratch, in bytes, after the widened queries."""
        return (1 + self.words) * TILE_BYTES

    @property
    def sums_at(self) -> int:
        """Place of the sums of weighted values."""
        return self.logits_at + self.pairs * TILE_BYTES

    @property
    def scratch_bytes(self) -> int:
        """Four queries, their logits, and their sums."""
        return self.sums_at + self.v.width // 2 * TILE_BYTES

    def describe(self) -> str:
        """Operator, shapes and blocking in words, for a comment in C."""
        heads = f"{self.heads} heads, four queries at a time"
        return f"Attention of {self.queries} queries to {self.keys} keys, {heads}"


def accepts(graph: Graph, node: Node, target: Target) -> bool:
    """Check the conditions of `AttentionDsp`: no mask, aligned widths, short strides."""
    plain = plain_attention.spec(graph, node, target)
    return (
        target.has_dsp
        and plain.mask_stride is None
        and plain.keys > 1
        and plain.q.width % WORD == 0
        and plain.v.width % 2 == 0
        and plain.k.stride <= _FARTHEST_BYTES
        and plain.v.stride <= _FARTHEST_BYTES
        and is_symmetric(graph, qops.QAttention.Inputs.of(node.inputs).q)
    )


def spec(graph: Graph, node: Node, target: Target) -> AttentionDsp:
    """The specification for a QAttention that `accepts` accepts."""
    plain = plain_attention.spec(graph, node, target)
    return AttentionDsp(**fields_of(plain), dual_issue=target.dual_issue)


FAMILY = KernelFamily(
    spec_type=AttentionDsp,
    operators=(qops.QAttention,),
    spec=spec,
    overlap=plain_attention.overlap,
    accepts=accepts,
    arguments=plain_attention.arguments,
    lengths=AttentionLengths(),
)

"""Softmax attention on cores with NEON, four queries at a time."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

from edgec.base.fixedpoint import INT32_MAX, INT32_MIN
from edgec.ir import qops
from edgec.ir.graph import Graph, Node
from edgec.kernels.common.code_range import is_symmetric
from edgec.kernels.common.spec import fields_of
from edgec.kernels.family import KernelFamily, template_beside
from edgec.kernels.neon.weights import BLOCK_BYTES, LANES, ROWS, blocks_of, padded_rows
from edgec.kernels.transformer import attention as plain_attention
from edgec.kernels.transformer.attention import Attention, AttentionLengths
from edgec.target.target import Target

COLUMNS = 8
"""Columns of values, and logits, that are worked on together."""

_WORD_BYTES = 4


@dataclass(frozen=True, slots=True)
class AttentionNeon(Attention):
    """`Attention` for cores with NEON, four queries at a time: `edgec/attention/attention_neon.h`.

    Of a product of q and k, one factor is never -128.
    """

    family: ClassVar[str] = "attention_neon"
    template: ClassVar[Path] = template_beside(__file__, "attention_neon")

    @property
    def blocks(self) -> int:
        """Blocks of 16 columns of a query or key."""
        return blocks_of(self.q.width)

    @property
    def pads_width(self) -> bool:
        """The last block holds more than columns."""
        return self.q.width % LANES > 0

    @property
    def row(self) -> int:
        """Logits between two queries: a multiple of eight."""
        return -(-self.keys // COLUMNS) * COLUMNS

    @property
    def keys_at(self) -> int:
        """Place of the packed keys in scratch, in bytes, after four packed queries."""
        return self.blocks * BLOCK_BYTES

    @property
    def values_at(self) -> int:
        """Place of the packed values, int16."""
        return self.keys_at + padded_rows(self.keys) * self.blocks * LANES

    @property
    def logits_at(self) -> int:
        """Place of the logits of four queries."""
        columns = -(-self.v.width // COLUMNS) * COLUMNS
        return self.values_at + 2 * padded_rows(self.keys) * columns

    @property
    def valid_at(self) -> int:
        """Place of the mask as int16."""
        return self.logits_at + ROWS * self.row * _WORD_BYTES

    @property
    def scratch_bytes(self) -> int:
        """Four queries, the keys and values of a head, four rows of logits, and the mask."""
        return self.valid_at + (0 if self.mask_stride is None else 2 * self.row)

    def describe(self) -> str:
        """Operator, shapes and blocking in words, for a comment in C."""
        heads = f"{self.heads} heads, four queries at a time"
        return f"Attention of {self.queries} queries to {self.keys} keys, {heads}"


def accepts(graph: Graph, node: Node, target: Target) -> bool:
    """Check the conditions of `AttentionNeon`: 32 bits hold distances when they are doubled, and
    the logit from which on exponentials are 0.
    """
    attrs, inputs = node.attrs_as(qops.QAttention), qops.QAttention.Inputs.of(node.inputs)
    if not target.has_neon:
        return False
    multiplier, limit = graph.constants[inputs.heads].array[:, :2].T.astype("int64")
    farthest = multiplier * limit + (1 << 14) + ((15 - attrs.exp_bits) << 26)
    bias = None if inputs.steps is None else graph.constants[inputs.steps].array
    steps = 0 if bias is None else int(bias.min(initial=0))
    lowest = steps - 128 * 128 * attrs.width - int(limit.max())
    fits = int(farthest.max()) <= INT32_MAX and lowest >= INT32_MIN
    return fits and any(is_symmetric(graph, name) for name in (inputs.q, inputs.k))


def spec(graph: Graph, node: Node, target: Target) -> AttentionNeon:
    """The specification for a QAttention that `accepts` accepts."""
    return AttentionNeon(**fields_of(plain_attention.spec(graph, node, target)))


FAMILY = KernelFamily(
    spec_type=AttentionNeon,
    operators=(qops.QAttention,),
    spec=spec,
    overlap=plain_attention.overlap,
    accepts=accepts,
    arguments=plain_attention.arguments,
    lengths=AttentionLengths(),
)

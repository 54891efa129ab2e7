"""Specifications of the kernels that only transformers have."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from edgec.base.dtypes import DType
from edgec.lower.dense_weights import QUAD
from edgec.lower.spec_base import Plain
from edgec.lower.spec_dense_quads import BLOCK_BYTES, unrolled
from edgec.lower.spec_narrow import stored_type

_WORD_BYTES = 4


@dataclass(frozen=True, slots=True)
class Norm(Plain):
    """LayerNormalization or RMSNormalization: x [rows, channels] in three passes a row.

    Attributes:
        rows, channels: shape.
        centred: subtract the mean.
        square_shift, shift, low, high: of `ir.qops.QNorm`.
        dtype: of y, INT8 or INT16.
        variable: the rows of a run are an argument.
        shifted: x is int8 and has a left shift for each channel; else it is int16.
    """

    family: ClassVar[str] = "norm"
    rows: int
    channels: int
    centred: bool
    square_shift: int
    shift: int
    low: int
    high: int
    dtype: DType
    variable: bool = False
    shifted: bool = False

    @property
    def scratch_bytes(self) -> int:
        """A row as int16, if it is not."""
        return 2 * self.channels if self.shifted else 0

    @property
    def y_type(self) -> str:
        """C type of an element of y."""
        return stored_type(self.dtype)

    @property
    def has_pair_loop(self) -> bool:
        """Two elements at a time are stored by a loop that has these bounds."""
        return (self.low, self.high) in ((-127, 127), (-128, 127))

    @property
    def pairs(self) -> int:
        """Pairs of elements of a row."""
        return self.channels // 2

    @property
    def has_rest(self) -> bool:
        """The last element of a row has no partner."""
        return self.channels % 2 > 0

    @property
    def stores_singly(self) -> bool:
        """Some elements are stored one by one, outside the loop of pairs."""
        return self.has_rest or not self.has_pair_loop

    @property
    def raised(self) -> bool:
        """The lower bound of the loop of pairs is -127, not -128."""
        return self.low == -127

    def describe(self) -> str:
        """What the function computes, in words."""
        kind = "Layer" if self.centred else "Root mean square"
        return f"{kind} normalization of {self.rows} rows of {self.channels}"


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
        narrowed: rows of large sums lose bits of their exponentials.
    """

    family: ClassVar[str] = "attention"
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
    narrowed: bool = False

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
        """What the function computes, in words."""
        return f"Attention of {self.queries} queries to {self.keys} keys, {self.heads} heads"


@dataclass(frozen=True, slots=True)
class AttentionDsp(Attention):
    """The same for cores with the DSP extension, four queries at a time: `edgec/quads.h`.

    The width of heads is a multiple of 4, that of values of 2; there are two keys or more and no
    mask; no code of q is -128.

    Attributes:
        dual_issue: the core issues a load together with a product.
    """

    family: ClassVar[str] = "attention_dsp"
    dual_issue: bool = False

    @property
    def quads(self) -> int:
        """Words of a query or key."""
        return self.q.width // QUAD

    @property
    def unrolled(self) -> int:
        """Words in one turn of the loop of logits."""
        return unrolled(self.quads, roomy=self.dual_issue)

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
        """Place of the logits in scratch, in bytes, behind the widened queries."""
        return (1 + self.quads) * BLOCK_BYTES

    @property
    def sums_at(self) -> int:
        """Place of the sums of weighted values."""
        return self.logits_at + self.pairs * BLOCK_BYTES

    @property
    def scratch_bytes(self) -> int:
        """Four queries, their logits, and their sums."""
        return self.sums_at + self.v.width // 2 * BLOCK_BYTES

    def describe(self) -> str:
        """What the function computes, in words."""
        heads = f"{self.heads} heads, four queries at a time"
        return f"Attention of {self.queries} queries to {self.keys} keys, {heads}"


@dataclass(frozen=True, slots=True)
class Embedding(Plain):
    """Rows of a table by index: ids int32 [tokens], table [vocabulary, channels].

    Attributes:
        tokens, vocabulary, channels: shapes.
        dtype: of the table, INT8 or INT16.
        multiplier: of its entries.
        variable: the tokens of a run are an argument.
        y_dtype: of y, INT16 or INT8.
    """

    family: ClassVar[str] = "embedding"
    tokens: int
    vocabulary: int
    channels: int
    dtype: DType
    multiplier: int
    variable: bool = False
    y_dtype: DType = DType.INT16

    @property
    def y_type(self) -> str:
        """C type of an element of y."""
        return stored_type(self.y_dtype)

    @property
    def last_id(self) -> int:
        """The last row of the table."""
        return self.vocabulary - 1

    @property
    def is_copied(self) -> bool:
        """Entries of the table are elements of y."""
        return self.y_dtype is DType.INT8

    @property
    def table_type(self) -> str:
        """C type of an entry of the table."""
        return f"{self.dtype.value}_t"

    def describe(self) -> str:
        """What the function computes, in words."""
        return f"{self.tokens} rows of a table [{self.vocabulary}, {self.channels}]"


@dataclass(frozen=True, slots=True)
class NarrowSoftmax(Plain):
    """Softmax over the last axis: x int8 [rows, depth].

    Attributes:
        rows, depth: shape.
        distance_multiplier, distance_limit, exp_bits: of `ir.qops.QSoftmaxOctaves`.
        variable: the rows of a run are an argument.
    """

    family: ClassVar[str] = "narrow_softmax"
    rows: int
    depth: int
    distance_multiplier: int
    distance_limit: int
    exp_bits: int
    variable: bool = False

    def describe(self) -> str:
        """What the function computes, in words."""
        return f"Softmax of {self.rows} rows of {self.depth}"


@dataclass(frozen=True, slots=True)
class IsEqual(Plain):
    """Which of `count` integers are `value`: int32, 1 or 0.

    Attributes:
        variable: the elements of a run are an argument.
    """

    family: ClassVar[str] = "is_equal"
    count: int
    value: int
    variable: bool = False

    def describe(self) -> str:
        """What the function computes, in words."""
        return f"Comparison of {self.count} integers with {self.value}"

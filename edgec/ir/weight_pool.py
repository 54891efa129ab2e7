"""Weight pools: weights as indices into one small set of vectors (Li & Gupta, MLSys 2022).

A weight tensor, input channels innermost, is cut into vectors of `group` weights along the input
channels; each vector is an entry of the pool, or the sum of a few of them, the *terms* (additive
quantization: Babenko & Lempitsky, CVPR 2014).  The real weight is ``scale[o]`` times that vector,
where the scale belongs to the output channel.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from edgec.base.dtypes import Array, frozen
from edgec.base.errors import WeightPoolError
from edgec.base.fixedpoint import INT8_MAX, INT8_MIN
from edgec.base.limits import MAX_TERMS

GROUPS = (4, 8, 16)
"""Legal lengths of a pool vector."""
SIZE_MIN, SIZE_MAX = 2, 1024
"""Legal numbers of vectors of a pool."""


def index_bits(size: int) -> int:
    """Bits of an index into a pool of `size` vectors."""
    return max(1, (size - 1).bit_length())


@dataclass(frozen=True, slots=True, eq=False)
class WeightPool:
    """The vectors that a network shares.

    Attributes:
        vectors: int8 [S, G]; of every vector the positive entries sum up to at most 127 and the
            negative ones to no less than -128.  So the dot product with any pattern of bits fits
            int8, a look-up table of such products is exact in 8 bits, and the dot product with
            eight unsigned 8-bit activations (a *response*) fits int16.

    Raises:
        WeightPoolError: the vectors are not of that kind.
    """

    vectors: Array

    def __post_init__(self) -> None:
        vectors = frozen(self.vectors)
        object.__setattr__(self, "vectors", vectors)
        if vectors.ndim != 2 or vectors.dtype != np.int8:
            raise WeightPoolError("a pool is a two-dimensional int8 tensor [entries, group]")
        if not SIZE_MIN <= len(vectors) <= SIZE_MAX or vectors.shape[1] not in GROUPS:
            raise WeightPoolError(
                f"a pool of {vectors.shape[0]} vectors of {vectors.shape[1]} weights is not "
                "supported",
                hint=f"take {SIZE_MIN} to {SIZE_MAX} vectors of 4, 8 or 16 weights",
            )
        wide = vectors.astype(np.int64)
        if np.maximum(wide, 0).sum(1).max() > INT8_MAX or np.minimum(wide, 0).sum(1).min() < (
            INT8_MIN
        ):
            raise WeightPoolError(
                "the positive or the negative weights of a pool vector sum up to more than int8",
                hint="scale the pool down; `edgec compress` does",
            )

    @property
    def size(self) -> int:
        """Number of vectors, S."""
        return int(self.vectors.shape[0])

    @property
    def group(self) -> int:
        """Weights of a vector, G."""
        return int(self.vectors.shape[1])

    @property
    def index_bits(self) -> int:
        """Bits that an index needs."""
        return index_bits(self.size)


@dataclass(frozen=True, slots=True, eq=False)
class PooledWeights:
    """One layer's weights in a pool.

    Attributes:
        pool: the vectors.
        indices: uint16 [O, KH, KW, ceil(I / G) * terms], or [N, ceil(K / G) * terms] of a matrix
            product; the terms of a vector are neighbours.
        terms: pool vectors that are added up to one vector of the layer.

    Raises:
        WeightPoolError: an index is beyond the pool, or a sum is beyond int8.
    """

    pool: WeightPool
    indices: Array
    terms: int = 1

    def __post_init__(self) -> None:
        object.__setattr__(self, "indices", frozen(self.indices, np.uint16))
        if self.indices.size and int(self.indices.max()) >= self.pool.size:
            raise WeightPoolError(
                f"an index is {int(self.indices.max())}, but the pool has {self.pool.size} vectors"
            )
        if not 1 <= self.terms <= MAX_TERMS or self.indices.shape[-1] % self.terms:
            raise WeightPoolError(
                f"{self.indices.shape[-1]} indices cannot be sums of {self.terms} vectors each",
                hint=f"a vector of a layer is the sum of 1 to {MAX_TERMS} vectors of the pool",
            )
        if self.terms > 1 and not sums_fit(self.pool.vectors, self.indices, self.terms):
            raise WeightPoolError(
                f"a sum of {self.terms} vectors of the pool is beyond int8",
                hint="scale the pool down; `edgec compress` does",
            )

    def expand(self, channels: int) -> Array:
        """The int8 weights [..., channels]; entries of a last vector beyond them are dropped."""
        return expand(self.pool.vectors, self.indices, channels)


def expand(vectors: Array, indices: Array, channels: int) -> Array:
    """The weights that indices into a pool stand for.

    Args:
        vectors: int8 [S, G].
        indices: [..., ceil(channels / G) * terms], the terms of a vector side by side.
        channels: weights of a tap.

    Returns:
        int8 [..., channels].
    """
    terms = terms_of(indices.shape[-1], channels, vectors.shape[1])
    weights = added_up(vectors, indices, terms).reshape(*indices.shape[:-1], -1)
    return np.ascontiguousarray(weights[..., :channels].astype(np.int8))


def terms_of(indices: int, channels: int, group: int) -> int:
    """Terms of a vector, from the indices of a tap; 0 if they do not fit the channels."""
    terms, rest = divmod(indices, -(-channels // group))
    return terms if rest == 0 else 0


def added_up(vectors: Array, indices: Array, terms: int) -> Array:
    """Vectors of a layer, int16 [..., N, G], from indices [..., N * terms] into [S, G]."""
    each = indices.reshape(*indices.shape[:-1], -1, terms)
    return np.asarray(vectors.astype(np.int16)[each].sum(axis=-2, dtype=np.int16))


def sums_fit(vectors: Array, indices: Array, terms: int) -> bool:
    """Whether every weight of `added_up` is an int8."""
    found = added_up(vectors, indices, terms)
    low, high = int(found.min(initial=0)), int(found.max(initial=0))
    return low >= INT8_MIN and high <= INT8_MAX

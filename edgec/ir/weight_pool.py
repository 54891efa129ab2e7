"""Weight pools: weights as indices into one small set of vectors (Li & Gupta, MLSys 2022).

A weight tensor, input channels innermost, is cut into vectors of `group` weights along the input
channels; each vector is an entry of the pool.  The real weight is ``scale[o] * vectors[index]``,
where the scale belongs to the output channel.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from edgec.base.dtypes import Array, frozen
from edgec.base.errors import WeightPoolError
from edgec.base.fixedpoint import INT8_MAX, INT8_MIN

GROUPS = (4, 8, 16)
"""Legal lengths of a pool vector."""
SIZE_MIN, SIZE_MAX = 2, 1024
"""Legal numbers of vectors of a pool."""


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
        return max(1, (self.size - 1).bit_length())


@dataclass(frozen=True, slots=True, eq=False)
class PooledWeights:
    """One layer's weights in a pool.

    Attributes:
        pool: the vectors.
        indices: uint16 [O, KH, KW, ceil(I / G)], or [N, ceil(K / G)] of a matrix product.

    Raises:
        WeightPoolError: an index is beyond the pool.
    """

    pool: WeightPool
    indices: Array

    def __post_init__(self) -> None:
        object.__setattr__(self, "indices", frozen(self.indices, np.uint16))
        if self.indices.size and int(self.indices.max()) >= self.pool.size:
            raise WeightPoolError(
                f"an index is {int(self.indices.max())}, but the pool has {self.pool.size} vectors"
            )

    def expand(self, channels: int) -> Array:
        """The int8 weights [..., channels]; entries of a last vector beyond them are dropped."""
        return expand(self.pool.vectors, self.indices, channels)


def expand(vectors: Array, indices: Array, channels: int) -> Array:
    """The weights that `indices` [..., N] into `vectors` [S, G] stand for: [..., channels]."""
    weights = vectors[indices].reshape(*indices.shape[:-1], -1)
    return np.ascontiguousarray(weights[..., :channels])

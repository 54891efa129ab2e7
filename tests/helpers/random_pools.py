"""Random weight pools, and weights made of them."""

import numpy as np

from edgec.base.dtypes import Array
from edgec.ir.graph import Constant
from edgec.ir.qparams import QuantParams
from edgec.ir.weight_pool import PooledWeights, WeightPool

KINDS = ("any", "extremes", "positive", "zero")


def random_vectors(
    rng: np.random.Generator, size: int, group: int, kind: str = "any", terms: int = 1
) -> Array:
    """int8 [size, group]; positive (negative) entries of a vector sum up to 127 (-128) at most.

    Those of any sum of `terms` vectors do, too.

    extremes: one 127 and one -128 each; positive: no negative entries; zero: every other vector is
    all zero.
    """
    vectors = rng.normal(0, 1, (size, group))
    match kind:
        case "extremes":
            at = rng.permuted(np.tile(np.arange(group), (size, 1)), axis=1)
            vectors = 127.0 * (at == 0) - 128.0 * (at == 1)
        case "positive":
            vectors = np.abs(vectors)
        case "zero":
            vectors = vectors * (np.arange(size) % 2)[:, None]
    # Above 1 where a sum is beyond its bound.
    load = np.maximum(np.maximum(vectors, 0).sum(1) / 127, np.maximum(-vectors, 0).sum(1) / 128)
    return np.trunc(vectors / np.maximum(load, 1e-3)[:, None] / terms).astype(np.int8)


def random_pool(
    rng: np.random.Generator, size: int, group: int, kind: str = "any", terms: int = 1
) -> WeightPool:
    """A pool of `random_vectors`."""
    return WeightPool(random_vectors(rng, size, group, kind, terms))


def random_indices(
    rng: np.random.Generator, pool: Array, shape: tuple[int, ...], terms: int = 1
) -> Array:
    """uint16 [..., ceil(I/G) * terms] for weights of a shape [..., I]."""
    groups = -(-shape[-1] // pool.shape[1])
    return rng.integers(0, len(pool), (*shape[:-1], groups * terms)).astype(np.uint16)


def pooled_constant(
    rng: np.random.Generator,
    name: str,
    shape: tuple[int, ...],
    pool: WeightPool,
    terms: int = 1,
) -> Constant:
    """Weights [O, ..., I] of a REAL graph, from a pool."""
    weights = PooledWeights(pool, random_indices(rng, pool.vectors, shape, terms), terms)
    scale = tuple(float(np.float32(s)) for s in rng.uniform(0.002, 0.01, shape[0]))
    quant = QuantParams(scale, (0,) * shape[0], axis=0)
    return Constant(name, weights.expand(shape[-1]), quant, weights)

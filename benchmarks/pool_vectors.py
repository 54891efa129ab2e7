"""What vectors of 4, 8 and 16 weights leave of a network's weights, and how near to zero they get.

    python benchmarks/pool_vectors.py networks/resnet8_cifar10.onnx networks/*.pool.onnx

Of a float model: the squared error of weights after k-means, relative to the weights' own squares,
with each filter divided by its root mean square; of all pooled layers, and of each.  Bits are those
of an index a weight; with *signs* each weight has one of its own, and vectors are those of
magnitudes (SSVQ).  Of a pooled model: the vectors that are nearest to zero, and how many indices
stand for them.  No data are needed.
"""

from __future__ import annotations

import argparse
import math
from pathlib import Path
from typing import NamedTuple

import numpy as np

from edgec.base.dtypes import Array
from edgec.base.options import CompileOptions, WeightPoolOptions
from edgec.ir.graph import Graph
from edgec.layererror.objective import plain_objective
from edgec.weightpool.cluster import Cloud, cluster, joined, normalised
from edgec.weightpool.layers import choose_layers
from edgec.workflow.integer import real_model


class Shape(NamedTuple):
    """A way to store weights.

    Attributes:
        group: weights of a vector.
        size: vectors of the pool.
        signs: a bit for the sign of each weight; vectors hold magnitudes.
    """

    group: int
    size: int
    signs: bool = False

    @property
    def bits(self) -> float:
        """Stored for each weight."""
        return math.log2(self.size) / self.group + self.signs


SHAPES = (
    *(Shape(16, 256), Shape(8, 32), Shape(4, 8), Shape(8, 64), Shape(8, 128)),
    *(Shape(4, 16), Shape(8, 256), Shape(8, 1, signs=True)),
    *(Shape(4, 32), Shape(8, 4, signs=True), Shape(4, 64), Shape(8, 16, signs=True)),
)


def lost(cloud: Cloud, pool: Array) -> float:
    """The squared error of points, relative to their squares, both by their weights."""
    points, weights = cloud.points, cloud.weights
    squares = np.sum(points**2, axis=1)
    distance = np.sum(pool**2, axis=1) - 2 * points @ pool.T
    return float((weights * (distance.min(1) + squares)).sum() / (weights * squares).sum())


def print_errors(graph: Graph, seed: int) -> None:
    """The table of a float model."""
    print("| weights of a vector | vectors | signs | bits a weight | error | by layer |")
    print("|---:|---:|---|---:|---:|---|")
    for shape in SHAPES:
        options = WeightPoolOptions(size=max(shape.size, 2), group=shape.group)
        layers = choose_layers(graph, options).pooled
        found = [normalised(layer, plain_objective(layer)).points for layer in layers]
        clouds = [
            Cloud(np.abs(each) if shape.signs else each, np.ones(len(each))) for each in found
        ]
        whole = joined(clouds)
        pool = cluster(whole, shape.size, signed=False, rng=np.random.default_rng(seed))
        errors = [lost(each, pool) for each in clouds]
        signs = "yes" if shape.signs else ""
        print(
            f"| {shape.group} | {shape.size} | {signs} | {shape.bits:.3f} "
            f"| {lost(whole, pool):.3f} | {' '.join(f'{each:.2f}' for each in errors)} |",
            flush=True,
        )


def print_least(graph: Graph) -> None:
    """The vectors of a pooled model that are nearest to zero."""
    layers = [each.pooled for each in graph.constants.values() if each.pooled is not None]
    for vectors in {each.pool.vectors.tobytes(): each.pool.vectors for each in layers}.values():
        users = [each for each in layers if np.array_equal(each.pool.vectors, vectors)]
        indices = np.concatenate([each.indices.reshape(-1) for each in users])
        size = np.sqrt(np.mean(vectors.astype(np.float64) ** 2, axis=1))
        usual = math.sqrt(float(np.mean(size[indices] ** 2)))
        print(f"pool of {len(vectors)} vectors, {len(indices):,} indices, rms {usual:.1f}")
        for number in np.argsort(size, kind="stable")[:3]:
            share = float(np.mean(indices == number))
            print(f"  rms {size[number]:.1f}: {100 * share:.1f} % of the indices")


def main() -> None:
    """Command line."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("models", type=Path, nargs="+")
    parser.add_argument("--seed", type=int, default=0)
    args = parser.parse_args()
    for path in args.models:
        graph = real_model(path, None, CompileOptions()).graph
        print(f"\n{path.name}")
        if any(each.pooled is not None for each in graph.constants.values()):
            print_least(graph)
        else:
            print_errors(graph, args.seed)


if __name__ == "__main__":
    main()

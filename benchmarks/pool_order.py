"""What the order of channels is worth: the error that a pool leaves of the weights.

    python benchmarks/pool_order.py networks/resnet8_cifar10.onnx examples/digits_vit.onnx

The vectors of all layers that `compress` pools, relative to their filters and each layer counted
alike, are clustered three times.  Told is the mean share of their squares that is left.
"""

from __future__ import annotations

import argparse
import time
from pathlib import Path

import numpy as np
from pool_vectors import lost

from edgec.base.options import CompileOptions, WeightPoolOptions
from edgec.ir.graph import Graph
from edgec.layererror.objective import plain_objective
from edgec.weightpool import chosen_layers, with_best_order
from edgec.weightpool.cluster import cluster, joined, normalised
from edgec.workflow.integer import real_model

SEEDS = range(3)


def left(graph: Graph, options: WeightPoolOptions) -> float:
    """The share of the squared weights that the nearest vectors of a pool leave."""
    layers = chosen_layers(graph, options).pooled
    cloud = joined([normalised(layer, plain_objective(layer)) for layer in layers])
    generators = map(np.random.default_rng, SEEDS)
    pools = (cluster(cloud, options.size, signed=False, rng=rng) for rng in generators)
    return float(np.mean([lost(cloud, pool) for pool in pools]))


def main() -> None:
    """Print a Markdown table."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("models", type=Path, nargs="+")
    parser.add_argument("--pool-size", type=int, default=WeightPoolOptions().size)
    args = parser.parse_args()
    options = WeightPoolOptions(size=args.pool_size)
    print("| network | order of the file | found | seconds |\n|---|---:|---:|---:|")
    for path in args.models:
        graph = real_model(path, None, CompileOptions()).graph
        start = time.perf_counter()
        ordered = with_best_order(graph, options)
        seconds = time.perf_counter() - start
        shares = " | ".join(f"{left(each, options):.3f}" for each in (graph, ordered))
        print(f"| {path.stem} | {shares} | {seconds:.0f} |", flush=True)


if __name__ == "__main__":
    main()

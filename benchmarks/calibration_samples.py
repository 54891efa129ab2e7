"""How many calibration samples help: accuracy on other samples, by how many calibrated.

    python benchmarks/calibration_samples.py --data-dir FOLDER --networks resnet8 dscnn

For each number of samples three draws are quantized with the defaults, and the middle one of their
signal to noise ratios at the outputs (in dB) and of their shares of equal decisions is printed.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from data_folder import add_data_option, chosen_data_folder
from public_data import TASKS, Array

from edgec.base.options import CompileOptions
from edgec.floatrun.executor import Executor
from edgec.interp import run_graph_batch
from edgec.quant import sqnr_db
from edgec.workflow.integer import graph_side, integer_model, real_model

COUNTS = (1, 4, 8, 16, 32, 64, 100)
_DRAWS = 3
_JUDGED = 100
"""Samples that calibration has not seen, on which the integers are judged."""


def judged(path: Path, calibration: Array, others: Array) -> tuple[float, float]:
    """DB at the output, and the share of equal decisions in percent, on samples of their own."""
    real = real_model(path, None, CompileOptions())
    (name,) = real.imported.inputs
    integer = integer_model(path, {name: calibration}, CompileOptions()).integer
    data = graph_side(real.imported, real.graph, {name: others})
    (output,) = real.graph.outputs
    wanted = Executor(real.graph, [output]).run(data)[output].reshape(len(others), -1)
    codes = {each: integer.quant(each).quantize(array) for each, array in data.items()}
    found = run_graph_batch(integer, codes)[output]
    numbers = integer.quant(output).dequantize64(found).reshape(wanted.shape)
    equal = float(np.mean(numbers.argmax(axis=1) == wanted.argmax(axis=1)))
    return sqnr_db(wanted, numbers), 100 * equal


def rows(network: str, data: Path, counts: Sequence[int]) -> None:
    """Print the figures of a network."""
    task = TASKS[network]
    path = data / "models" / task.model
    pool = task.data(data, "calibration").x
    others = task.data(data, "validation").x[:_JUDGED]
    for count in counts:
        draws = [np.random.default_rng(seed).permutation(len(pool)) for seed in range(_DRAWS)]
        found = [judged(path, pool[draw[:count]], others) for draw in draws]
        decibels, equal = np.median(np.array(found), axis=0)
        print(f"{network}, {count} samples: {decibels:.1f} dB, {equal:.0f} %", flush=True)


def main() -> None:
    """Print the figures of all networks."""
    parser = argparse.ArgumentParser(description=__doc__)
    add_data_option(parser)
    parser.add_argument("--networks", nargs="*", default=["resnet8", "dscnn", "autoencoder"])
    parser.add_argument("--counts", nargs="*", type=int, default=COUNTS)
    arguments = parser.parse_args()
    data = chosen_data_folder(arguments)
    for network in arguments.networks:
        rows(network, data, arguments.counts)


if __name__ == "__main__":
    main()

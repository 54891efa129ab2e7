"""What `--precision auto` says that a choice gives, and what it gives on other inputs.

    python networks/samples.py train train.npz --limit 256
    python networks/samples.py validation others.npz --limit 100
    python benchmarks/precision_claims.py networks/mobilevit_cifar10.onnx train.npz others.npz \
        --counts 8 16 32 --target-db 36

Both are the signal to noise ratio of the worst output, in dB; the model has one input.
"""

from __future__ import annotations

import argparse
from pathlib import Path

import numpy as np

from edgec.base.dtypes import Array
from edgec.base.options import CompileOptions, Precision, QuantOptions
from edgec.floatrun.executor import Executor
from edgec.interp import run_graph_batch
from edgec.quant import sqnr_db
from edgec.workflow.integer import graph_side, quantized_model, real_model


def first_array(path: Path) -> Array:
    """The samples of a file with one input; labels come after it."""
    with np.load(path) as file:
        return np.asarray(file[file.files[0]])


def claimed_and_found(path: Path, samples: Array, others: Array, target_db: float) -> str:
    """A row: what is claimed, what other inputs have, and how many tensors are int16."""
    options = CompileOptions(quant=QuantOptions(precision=Precision.AUTO, target_db=target_db))
    (name,) = real_model(path, None, options).imported.inputs
    model = real_model(path, {name: samples}, options)
    found = quantized_model(model, options)
    report, integer = found.quantization.precision, found.integer
    assert report is not None
    data = graph_side(model.imported, model.graph, {name: others})
    outputs = [each for each in model.graph.outputs if integer.values[each].quant is not None]
    wanted = Executor(model.graph, outputs).run(data)
    codes = {
        each: array.astype(np.int32)
        if integer.values[each].quant is None
        else integer.quant(each).quantize(array)
        for each, array in data.items()
    }
    results = run_graph_batch(integer, codes)
    unseen = min(
        sqnr_db(
            wanted[each],
            integer.quant(each).dequantize64(results[each]).reshape(wanted[each].shape),
        )
        for each in outputs
    )
    chosen = f"{len(report.tensors)} of {report.candidates}"
    return f"| {path.stem} | {len(samples)} | {report.output_db:.1f} | {unseen:.1f} | {chosen} |"


def main() -> None:
    """Print a row for each number of samples."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("model", type=Path)
    parser.add_argument("samples", type=Path, help="calibration samples (.npz)")
    parser.add_argument("others", type=Path, help="inputs that calibration does not see (.npz)")
    parser.add_argument("--counts", nargs="+", type=int, default=[8, 16, 32])
    parser.add_argument("--target-db", type=float, default=30.0)
    options = parser.parse_args()
    samples, others = first_array(options.samples), first_array(options.others)
    print("| network | samples | claimed | unseen | int16 tensors |")
    print("|---|---:|---:|---:|---:|")
    for count in options.counts:
        print(claimed_and_found(options.model, samples[:count], others, options.target_db))


if __name__ == "__main__":
    main()

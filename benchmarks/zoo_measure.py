"""One model of the zoo, measured in a process of its own; prints a line of JSON.

    python benchmarks/zoo_measure.py edgec FOLDER    # compile for the host, run, compare
    python benchmarks/zoo_measure.py int16 FOLDER    # the same with --precision int16; or auto
    python benchmarks/zoo_measure.py sources FOLDER  # write the C, but do not build it
    python benchmarks/zoo_measure.py static FOLDER   # the library's static quantization, likewise

Both are judged by the same numbers: the worst signal-to-noise ratio of the float outputs, in dB,
against the float model on inputs that calibration has not seen.  For files of TensorFlow Lite the
float model and the other quantization are TensorFlow's, computed when the file was made.  Labels
have no such ratio: a network that gives nothing else has infinite dB if all are right, else none.
Seconds are those of processors, the compiler's among them, so that other work does not count.
"""

from __future__ import annotations

import json
import logging
import math
import os
import resource
import sys
from collections.abc import Mapping
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import onnxruntime
import onnxruntime_static

import edgec
from edgec.base.errors import EdgecError
from edgec.base.options import CompileOptions, Precision, QuantOptions
from edgec.quant import sqnr_db

Arrays = Mapping[str, np.ndarray]
_MIB = 1024


def session(path: Path) -> onnxruntime.InferenceSession:
    """The model as it is, without optimizations."""
    options = onnxruntime.SessionOptions()
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    options.log_severity_level = 3
    return onnxruntime.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])


def outputs(path: Path, data: Arrays) -> dict[str, np.ndarray]:
    """Outputs by name, sample after sample; states begin at 0 and go from run to run."""
    run = session(path)
    names = [output.name for output in run.get_outputs()]
    states = {i.name: np.zeros(i.shape, np.float32) for i in run.get_inputs() if i.name not in data}
    count = len(next(iter(data.values())))
    found = []
    for index in range(count):
        feeds = {name: array[index : index + 1] for name, array in data.items()}
        made = dict(zip(names, run.run(names, feeds | states), strict=True))
        states = {name: made.pop(f"{name}n") for name in states}
        found.append(made)
    return {name: np.concatenate([made[name] for made in found]) for name in found[0]}


def worst_db(wanted: Arrays, found: Arrays) -> float:
    """The least signal-to-noise ratio of the float outputs."""
    pairs = [(array, np.reshape(found[name], array.shape)) for name, array in wanted.items()]
    values = [sqnr_db(*pair) for pair in pairs if pair[0].dtype.kind == "f"]
    if values:
        return round(min(values), 1)
    return math.inf if all(np.array_equal(*pair) for pair in pairs) else -math.inf


def is_tflite(folder: Path) -> bool:
    """Whether the model is a file of TensorFlow Lite."""
    return (folder / "model.tflite").is_file()


def float_outputs(folder: Path, test: Arrays) -> dict[str, np.ndarray]:
    """What the float model computes."""
    if is_tflite(folder):
        return load(folder / "wanted.npz")
    return outputs(folder / "model.onnx", test)


def load(path: Path) -> dict[str, np.ndarray]:
    """The arrays of an .npz file."""
    with np.load(path) as file:
        return dict(file)


def measure_sources(folder: Path) -> dict[str, Any]:
    """Compile for the host, without the C compiler and so without a comparison."""
    return measure_edgec(folder, CompileOptions(build=False, verify=False))


def measure_precision(precision: Precision, folder: Path) -> dict[str, Any]:
    """Compile for the host and run the C, with int16 activations."""
    return measure_edgec(folder, CompileOptions(quant=QuantOptions(precision=precision)))


def measure_edgec(folder: Path, options: CompileOptions | None = None) -> dict[str, Any]:
    """Compile for the host and run the C, if the options build it."""
    data, test = load(folder / "data.npz"), load(folder / "test.npz")
    model = folder / ("model.tflite" if is_tflite(folder) else "model.onnx")
    try:
        result = edgec.compile_model(
            model, "host", calibration=data, out=folder / "out", options=options
        )
    except EdgecError as error:
        reason = " / ".join(line.strip() for line in str(error).splitlines()[:2])
        return {"result": "refused", "reason": reason[:300]}
    used = os.times()
    seconds = used.user + used.system + used.children_user + used.children_system
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / _MIB
    numbers = {"seconds": round(seconds, 1), "peak_mib": round(peak)}
    if options is not None and not options.build:
        return {"result": "compiled", "db": None, **numbers}
    found = result.run(test)
    wanted = float_outputs(folder, test)
    if not isinstance(found, Mapping):
        found = {next(iter(wanted)): found}
    return {"result": "compiled", "db": worst_db(wanted, found), **numbers}


def measure_static(folder: Path) -> dict[str, Any]:
    """The library's own static quantization."""
    if is_tflite(folder):
        return {"db": worst_db(load(folder / "wanted.npz"), load(folder / "static.npz"))}
    return measure_onnxruntime(folder)


def measure_onnxruntime(folder: Path) -> dict[str, Any]:
    """Quantize with onnxruntime."""
    data, test = load(folder / "data.npz"), load(folder / "test.npz")
    if any(value.name not in data for value in session(folder / "model.onnx").get_inputs()):
        return {"db": None}  # it calibrates no states
    target = folder / "static.onnx"
    onnxruntime_static.quantize(folder / "model.onnx", target, data)
    return {"db": worst_db(outputs(folder / "model.onnx", test), outputs(target, test))}


def main() -> None:
    """Measure what the command line names."""
    logging.disable(logging.WARNING)
    what, folder = sys.argv[1:]
    measure = {
        "edgec": measure_edgec,
        "int16": partial(measure_precision, Precision.INT16),
        "auto": partial(measure_precision, Precision.AUTO),
        "sources": measure_sources,
        "static": measure_static,
    }[what]
    print(json.dumps(measure(Path(folder))))


if __name__ == "__main__":
    main()

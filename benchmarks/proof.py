"""What integers cost the networks that `networks/` trains, judged as their users would.

    python benchmarks/proof.py unet detector           # needs no data folder
    python benchmarks/proof.py --data-dir FOLDER       # CIFAR-10, too (docs/data.md)

Each network in float (onnxruntime), compiled for this computer with int8 activations, with
`--precision auto` and with int16 activations (the generated C), and by onnxruntime's own static
quantization, run without its optimizations.  All options are defaults, calibration takes 256
samples.  The difference from float is in points, with its standard deviation by 200 draws of the
test samples, of which each sample brings what float and integers make of it.
"""

from __future__ import annotations

import argparse
import logging
import os
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import onnxruntime_static
from data_folder import DATA_VARIABLE, add_data_option
from proof_tasks import TASKS, Outputs, Split, Task

from edgec.base.errors import EdgecError
from edgec.base.options import CompileOptions, Precision, QuantOptions
from edgec.commands.compile import compile_model
from edgec.floatrun.float_model import FloatModel
from edgec.quant import sqnr_db

WAYS = ("int8", "auto", "int16", "onnxruntime")
_DRAWS = 200


@dataclass(frozen=True, slots=True, eq=False)
class Result:
    """Outputs of a network in one of the ways, and what is to be said of it."""

    outputs: Outputs
    note: str = ""


def by_edgec(task: Task, precision: Precision, calibration: Split, test: Split) -> Result:
    """Compile for this computer and run the C."""
    options = CompileOptions(quant=QuantOptions(precision=precision), verify=False)
    (name,) = FloatModel(task.model).input_names
    with tempfile.TemporaryDirectory() as folder:
        built = compile_model(
            task.model, "host", calibration={name: calibration.x}, out=Path(folder) / "build",
            options=options,
        )  # fmt: skip
        outputs = built.run({name: test.x})
    assert isinstance(outputs, dict)
    found = built.model.quantization.precision
    wide = "" if found is None else f"{len(found.tensors)} of {found.candidates} tensors int16"
    return Result(outputs, wide)


def by_onnxruntime(task: Task, calibration: Split, test: Split) -> Result:
    """Quantize with onnxruntime and run its file."""
    (name,) = FloatModel(task.model).input_names
    with tempfile.TemporaryDirectory() as folder:
        target = Path(folder) / "static.onnx"
        onnxruntime_static.quantize(task.model, target, {name: calibration.x})
        return Result(FloatModel(target, optimize=False).run({name: test.x}))


def by(way: str, task: Task, calibration: Split, test: Split) -> Result:
    """A network in one of `WAYS`."""
    if way == "onnxruntime":
        return by_onnxruntime(task, calibration, test)
    return by_edgec(task, Precision(way), calibration, test)


def deviation(task: Task, first: Sequence[Any], second: Sequence[Any]) -> float:
    """Standard deviation of the difference of two scores, by draws of the samples."""
    rng = np.random.default_rng(0)
    differences = []
    for _ in range(_DRAWS):
        drawn = rng.integers(len(first), size=len(first))
        scores = [task.score([records[i] for i in drawn]) for records in (first, second)]
        differences.append(scores[1] - scores[0])
    return float(np.std(differences))


def rows(name: str, ways: Sequence[str], part: str, most: int) -> Iterator[str]:
    """Lines of the Markdown table."""
    task = TASKS[name]
    calibration, test = task.samples("calibration", most), task.samples(part, most)
    model = FloatModel(task.model)
    exact = model.run({model.input_names[0]: test.x})
    truth = task.judged(exact, test.truth)
    yield f"| {name} | float | {task.measure} {task.score(truth):.2%} | | | | |"
    for way in ways:
        try:
            found = by(way, task, calibration, test)
        except EdgecError as error:
            yield f"| {name} | {way} | | | | | {error.what} |"
            continue
        records = task.judged(found.outputs, test.truth)
        points = 100 * (task.score(records) - task.score(truth))
        decibel = min(sqnr_db(exact[key], found.outputs[key]) for key in exact)
        yield (
            f"| {name} | {way} | {task.score(records):.2%} | "
            f"{points:+.2f} ± {100 * deviation(task, truth, records):.2f} | "
            f"{task.changed(exact, found.outputs):.2%} | {decibel:.1f} | {found.note} |"
        )


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("networks", nargs="*", default=list(TASKS), help=f"of {', '.join(TASKS)}")
    parser.add_argument("--ways", nargs="+", choices=WAYS, default=WAYS)
    parser.add_argument("--split", choices=("validation", "test"), default="test")
    parser.add_argument("--limit", type=int, default=5000, help="the first samples only")
    add_data_option(parser)
    arguments = parser.parse_args()
    if arguments.data_dir:
        os.environ[DATA_VARIABLE] = arguments.data_dir
    logging.disable(logging.WARNING)
    print("| network | | score | minus float | decisions changed | dB | |")
    print("|---|---|---:|---:|---:|---:|---|")
    for name in arguments.networks:
        for row in rows(name, arguments.ways, arguments.split, arguments.limit):
            print(row, flush=True)


if __name__ == "__main__":
    main()

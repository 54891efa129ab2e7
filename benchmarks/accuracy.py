"""How much accuracy quantization costs, for each choice of options, on public networks.

    python benchmarks/accuracy.py                      # all options, validation data
    python benchmarks/accuracy.py --defaults --split test --engine host

`--engine onnxruntime` runs the exported QDQ model, `interp` the numpy reference, `host` the C code
compiled for this computer; the last two agree bit for bit, the first almost always.
"""

from __future__ import annotations

import argparse
import logging
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import product
from pathlib import Path

import numpy as np
from data_folder import add_data_option, chosen_data_folder
from public_data import QDQ_TASKS, TASKS, Array, Split, Task

from edgec.base.options import Observer, QuantOptions
from edgec.codegen.library import emit_library
from edgec.exporters.onnx.export import export_qdq, tensor_names
from edgec.floatrun.activations import activations
from edgec.floatrun.executor import is_quantized
from edgec.floatrun.float_model import FloatModel
from edgec.importers.onnx.importer import import_model
from edgec.interp import run_graph_batch
from edgec.ir import Graph
from edgec.kernels.buffers import buffers_of
from edgec.kernels.select import select_kernels
from edgec.lower import lower
from edgec.memory import plan_memory
from edgec.passes import INTEGER_PASSES, REAL_PASSES, run_passes
from edgec.quant import annotate, sqnr_db, to_integer
from edgec.sim.host import HostModel
from edgec.target.board import load_board
from edgec.target.target import Target


@dataclass(frozen=True, slots=True)
class Row:
    """One line of the table; accuracies and agreement in percent, None without labels."""

    name: str
    options: str
    float_accuracy: float | None
    accuracy: float | None
    agreement: float
    sqnr_db: float
    seconds: float


def graph_side(graph: Graph, x: Array) -> dict[str, Array]:
    """Model-side samples as the graph's input takes them: axes moved, codes made real."""
    (name,) = graph.inputs
    moved = x.transpose(graph.input_layouts.get(name, tuple(range(x.ndim))))
    quant = graph.values[name].quant
    if x.dtype == np.int8 and quant is not None:
        moved = quant.dequantize(moved)
    return {name: np.ascontiguousarray(moved, np.float32)}


def real_values(graph: Graph, codes: Array) -> Array:
    """Real values of the output's codes, [N, ...]."""
    quant = graph.quant(graph.outputs[0])
    return quant.dequantize(codes)


def run_onnxruntime(annotated: Graph, split: Split) -> Array:
    """Outputs of the exported QDQ model as real values."""
    model = FloatModel(export_qdq(annotated), optimize=False)
    (x,), (y,) = annotated.inputs, annotated.outputs
    names = tensor_names(annotated)
    result = model.run({names[x]: split.x})[names[y]]
    return real_values(annotated, result) if result.dtype == np.int8 else result


def run_interp(annotated: Graph, split: Split) -> Array:
    """Outputs of the numpy reference as real values."""
    graph = run_passes(to_integer(annotated), INTEGER_PASSES).graph
    (x,), (y,) = graph.inputs, graph.outputs
    codes = graph.quant(x).quantize(graph_side(annotated, split.x)[x])
    return real_values(graph, run_graph_batch(graph, {x: codes})[y])


def run_host(annotated: Graph, split: Split) -> Array:
    """Outputs of the generated C, compiled for this computer, as real values."""
    graph = run_passes(to_integer(annotated), INTEGER_PASSES).graph
    board = load_board("host")
    choices = select_kernels(graph, Target.of(board))
    buffers, overlaps, _ = buffers_of(graph, choices)
    program = lower(graph, choices, plan_memory(buffers, overlaps))
    (x,), (y,) = graph.inputs, graph.outputs
    codes = graph.quant(x).quantize(graph_side(annotated, split.x)[x])
    with tempfile.TemporaryDirectory() as folder:
        emit_library(program, Path(folder) / "library")
        model = HostModel(Path(folder) / "library", Path(folder) / "build")
        outputs = model.run([codes.reshape(len(codes), -1)])
    shape = (len(codes), *graph.shape(y)[1:])
    return real_values(graph, np.asarray(outputs[0], np.int8).reshape(shape))


ENGINES = {"onnxruntime": run_onnxruntime, "interp": run_interp, "host": run_host}


def float_outputs(path: Path, split: Split) -> Array:
    """What the original file gives: in onnxruntime, or in float64 if it is quantized."""
    graph = import_model(path)
    if is_quantized(graph):
        (x,), (y,) = graph.inputs, graph.outputs
        batches = activations(graph, [y], {x: split.x})
        return np.concatenate([found[y].reshape(-1, *graph.shape(y)[1:]) for _, found in batches])
    model = FloatModel(path)
    return model.run({model.input_names[0]: split.x})[model.output_names[0]]


def percent(first: Array, second: Array) -> float:
    """Share of equal elements."""
    return 100.0 * float(np.mean(first == second))


def evaluate(
    task: Task, name: str, folder: Path, options: QuantOptions, split_name: str, engine: str
) -> Row:
    """Quantize one network with some options and measure it."""
    start = time.perf_counter()
    path = folder / "models" / task.model
    graph = run_passes(import_model(path), REAL_PASSES).graph
    calibration = graph_side(graph, task.data(folder, "calibration").x)
    annotated, _ = annotate(graph, calibration, options)
    split = task.data(folder, split_name)
    wanted = float_outputs(path, split)
    found = ENGINES[engine](annotated, split)
    if wanted.dtype == np.int8:
        wanted = annotated.quant(annotated.outputs[0]).dequantize(wanted)
    labels = split.y if task.labelled else None
    classes, float_classes = found.argmax(axis=1), wanted.argmax(axis=1)
    return Row(
        name=name,
        options=text(options),
        float_accuracy=None if labels is None else percent(float_classes, labels),
        accuracy=None if labels is None else percent(classes, labels),
        agreement=percent(classes, float_classes),
        sqnr_db=sqnr_db(wanted, found),
        seconds=time.perf_counter() - start,
    )


def text(options: QuantOptions) -> str:
    """Options in a few letters."""
    settings = options.settings()
    observer = settings.observer.value
    if settings.observer is Observer.PERCENTILE:
        observer += f" {settings.percentile:g}"
    parts = [observer]
    parts += ["equalize"] if settings.equalize else []
    parts += ["bias"] if settings.bias_correction else []
    return " + ".join(parts)


def all_options() -> Iterator[QuantOptions]:
    """Every observer with and without equalization and bias correction."""
    observers = [
        QuantOptions(observer=Observer.MINMAX),
        QuantOptions(observer=Observer.PERCENTILE, percentile=99.9),
        QuantOptions(observer=Observer.PERCENTILE, percentile=99.99),
        QuantOptions(observer=Observer.MSE),
        QuantOptions(observer=Observer.ENTROPY),
    ]
    for equalize, bias, options in product((False, True), (False, True), observers):
        yield replace(options, equalize=equalize, bias_correction=bias)


def show(row: Row) -> None:
    """Print one line of the table."""
    accuracies = [
        "      -" if value is None else f"{value:7.2f}"
        for value in (row.float_accuracy, row.accuracy)
    ]
    print(
        f"{row.name:12} {row.options:34} {accuracies[0]} {accuracies[1]} "
        f"{row.agreement:7.2f} {row.sqnr_db:7.2f} {row.seconds:6.1f}",
        flush=True,
    )


def main() -> None:
    """Parse the command line and print the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    add_data_option(parser)
    parser.add_argument("--split", choices=("validation", "test"), default="validation")
    parser.add_argument("--engine", choices=tuple(ENGINES), default="onnxruntime")
    parser.add_argument("--defaults", action="store_true", help="the default options alone")
    parser.add_argument("networks", nargs="*", help=f"of {', '.join([*TASKS, *QDQ_TASKS])}")
    arguments = parser.parse_args()
    folder = chosen_data_folder(arguments)
    logging.basicConfig(level=logging.WARNING)
    tasks = {**TASKS, **QDQ_TASKS}
    print(f"{'network':12} {'options':34}   float    int8   agree  SQNR dB     s")
    for name in arguments.networks or tasks:
        single = arguments.defaults or name in QDQ_TASKS
        for options in [QuantOptions()] if single else all_options():
            show(evaluate(tasks[name], name, folder, options, arguments.split, arguments.engine))


if __name__ == "__main__":
    main()

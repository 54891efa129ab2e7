"""Recurrent networks in integers: how exact, how fast, how large.

    python benchmarks/recurrent.py                        # all tables
    python benchmarks/recurrent.py --networks gru_imu     # accuracy of some networks
    python benchmarks/recurrent.py --only cycles

Networks of `zoo_recurrent.py` with random but sane weights, exported by PyTorch.  Accuracy is the
ratio of signal to error at the worst output in dB, beside the float model in onnxruntime, on
sequences that calibration has not seen; of a network with states, over one stream: its first step,
the first hundred and the last hundred of 10,000.  "dynamic" is onnxruntime's dynamic quantization,
which rounds weights only and computes gates in float; "TFLM" is the same network as an int8
`.tflite` file by the rules of TensorFlow Lite Micro (`recurrent_tflm.py`), which has an LSTM only.

Cycles are those of one step of a layer with as many inputs as units, by `edgec profile`, with
weights where the board has them (flash) and with weights in RAM; and bytes of activations.
"""

from __future__ import annotations

import argparse
import tempfile
from collections.abc import Iterator, Mapping
from pathlib import Path

import numpy as np
import onnx
import onnxruntime
import torch
from onnx import TensorProto, helper
from onnxruntime.quantization import quantize_dynamic
from recurrent_tflm import tflm_outputs
from zoo_make import make_sane
from zoo_measure import outputs
from zoo_recurrent import NETWORKS, Recurrent, inputs_of

import edgec
from edgec.base.errors import EdgecError
from edgec.base.options import CompileOptions, Effort, QuantOptions
from edgec.profile.run import profile
from edgec.quant import sqnr_db

Arrays = dict[str, np.ndarray]
_CALIBRATION, _TEST, _STREAM, _CALIBRATION_STREAM = 128, 64, 10_000, 1_000
_OPSET, _SEED = 17, 11
_GATES = {"LSTM": 4, "GRU": 3}
BOARDS = ("nucleo_g0b1re", "nucleo_f207zg", "nucleo_f446re", "nucleo_h7a3zi_q", "nucleo_u575zi_q")
UNITS = (32, 64, 128)
_STEPS = 4
_COLUMNS = 3
_BY_TFLM = "lstm_step"
"""The network that is computed by TensorFlow Lite Micro's rules, too."""


def made(name: str) -> torch.nn.Module:
    """The network with random weights."""
    torch.manual_seed(_SEED)
    module = NETWORKS[name].make()
    make_sane(module)
    return module.eval()


def exported(name: str, folder: Path) -> Path:
    """The network as PyTorch's exporter writes it."""
    found, module = NETWORKS[name], made(name)
    example = tuple(torch.from_numpy(array[:1]) for array in inputs_of(found, 1).values())
    states = list(found.states)
    names = ["y", *(f"{state}n" for state in states)] if states else None
    path = folder / f"{name}.onnx"
    torch.onnx.export(
        module,
        example,
        str(path),
        input_names=["x", *states],
        output_names=names,
        opset_version=_OPSET,
        dynamo=False,
    )
    return path


def samples(found: Recurrent) -> tuple[Arrays, Arrays]:
    """What is calibrated on, and what accuracy is judged by."""
    first = _CALIBRATION_STREAM if found.states else _CALIBRATION
    x = inputs_of(found, first + (_STREAM if found.states else _TEST))["x"]
    return {"x": x[:first]}, {"x": x[first:]}


def windows(found: Recurrent) -> Mapping[str, slice]:
    """The samples that a column is about."""
    if not found.states:
        return {"all": slice(None)}
    return {"1": slice(1), "100": slice(100), "10,000": slice(_STREAM - 100, _STREAM)}


def worst(wanted: Arrays, found: Arrays, part: slice) -> float:
    """Signal to error of the worst output, in dB."""
    return min(
        sqnr_db(array[part], found[name].reshape(array.shape)[part])
        for name, array in wanted.items()
    )


def accuracy(name: str, folder: Path) -> Iterator[str]:
    """The row of a network."""
    path, found = exported(name, folder), NETWORKS[name]
    data, test = samples(found)
    wanted = outputs(path, test)
    dynamic = folder / f"{name}_dynamic.onnx"
    quantize_dynamic(path, dynamic)
    rivals = {"edgec": None, "dynamic": outputs(dynamic, test)}
    try:
        built = edgec.compile_model(path, "host", calibration=data, out=folder / name)
        own = built.run(test)
    except EdgecError as error:
        yield f"| {name} | refused: {str(error).splitlines()[0]} |"
        return
    if not isinstance(own, Mapping):
        own = {next(iter(wanted)): own}
    rivals["edgec"] = dict(own)
    if name == _BY_TFLM:
        first = next(iter(wanted))
        by_rules = tflm_outputs(name, made(name), data["x"], test["x"], folder)
        rivals["TFLM"] = {**wanted, first: by_rules}
    for label, part in windows(found).items():
        cells = [f"{worst(wanted, given, part):.1f}" for given in rivals.values() if given]
        yield f"| {name} | {label} | {' | '.join([*cells, ''][:_COLUMNS])} |"


def layer(op: str, units: int, folder: Path) -> tuple[Path, Arrays]:
    """A model of one layer with as many inputs as units, and sequences for it."""
    rng = np.random.default_rng(_SEED)
    rows, size = _GATES[op] * units, 1 / np.sqrt(units)
    shapes = {"W": (1, rows, units), "R": (1, rows, units), "B": (1, 2 * rows)}
    stored = {n: rng.uniform(-size, size, s).astype(np.float32) for n, s in shapes.items()}
    more = {"linear_before_reset": 1} if op == "GRU" else {}
    node = helper.make_node(op, ["x", *stored], ["", "h"], hidden_size=units, **more)
    graph = helper.make_graph(
        [node],
        "layer",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, [_STEPS, 1, units])],
        [helper.make_tensor_value_info("h", TensorProto.FLOAT, [1, 1, units])],
        [onnx.numpy_helper.from_array(array, name) for name, array in stored.items()],
    )
    opsets = [helper.make_opsetid("", _OPSET)]
    path = folder / f"{op}_{units}.onnx"
    onnx.save(helper.make_model(graph, opset_imports=opsets, ir_version=8), path)
    return path, {"x": rng.normal(size=(32, _STEPS, 1, units)).astype(np.float32)}


def cycles(op: str, units: int, board: str, folder: Path) -> str:
    """Cycles a step and a multiply-accumulate, and RAM, of a layer on a board."""
    path, data = layer(op, units, folder)
    options = CompileOptions(quant=QuantOptions(effort=Effort.FAST), verify=False, force=True)
    built = edgec.compile_model(path, board, calibration=data, out=folder / "out", options=options)
    macs = _GATES[op] * units * 2 * units
    cells = []
    for memory in ("flash", "sram"):
        step = profile(built.folder, memory=memory).total.cycles / _STEPS
        cells.append(f"{step:,.0f} | {step / macs:.2f}")
    memory = built.report.memory
    cells.append(f"{memory.arena_bytes + memory.state_bytes:,}")
    return f"| {op} {units} | {board} | {' | '.join(cells)} |"


def main() -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--networks", nargs="*", default=list(NETWORKS), choices=list(NETWORKS))
    parser.add_argument("--boards", nargs="*", default=BOARDS)
    parser.add_argument("--units", nargs="*", type=int, default=UNITS)
    parser.add_argument("--only", choices=["accuracy", "cycles"])
    arguments = parser.parse_args()
    onnxruntime.set_default_logger_severity(3)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        if arguments.only != "cycles":
            print("| network | steps | edgec dB | dynamic dB | TFLM dB |\n|---|---|---|---|---|")
            for each in arguments.networks:
                for row in accuracy(each, folder):
                    print(row, flush=True)
        if arguments.only != "accuracy":
            print("| layer | board | cycles a step, flash | a MAC | cycles, RAM | a MAC | bytes |")
            print("|---|---|---|---|---|---|---|")
            for board in arguments.boards:
                for op in _GATES:
                    for units in arguments.units:
                        print(cycles(op, units, board, folder), flush=True)


if __name__ == "__main__":
    main()

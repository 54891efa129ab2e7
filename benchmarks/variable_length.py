"""Cycles of a model of variable length, and of the same model built for each length alone.

    python benchmarks/variable_length.py                     # nucleo_l4r5zi nucleo_g0b1re

Random weights; memory that never waits.  A transformer: one block of 64 channels and 4 heads after
a table of words, up to 128 tokens.  An LSTM of 64 units and 16 features, up to 128 steps, of which
the last state counts.
"""

from __future__ import annotations

import argparse
import tempfile
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import onnx
from dynamic_onnx import Sizes, ids, write_bert
from onnx import TensorProto, helper, numpy_helper

from edgec.base.dtypes import Array
from edgec.base.options import CompileOptions, MaxLength
from edgec.commands.compile import compile_model
from edgec.profile import profile

SIZES = Sizes(width=64, heads=4, most=128, words=1000)
UNITS, FEATURES = 64, 16
LENGTHS = (8, 16, 32, 64, 128)
SAMPLES = 16


def write_lstm(path: Path, steps: int | None = None) -> Path:
    """An LSTM whose last state is the output; None: a number of steps that runs choose."""
    rng = np.random.default_rng(5)
    sizes = {"W": (1, 4 * UNITS, FEATURES), "R": (1, 4 * UNITS, UNITS), "B": (1, 8 * UNITS)}
    weights = [
        numpy_helper.from_array((rng.normal(size=size) / 8).astype(np.float32), name)
        for name, size in sizes.items()
    ]
    node = helper.make_node("LSTM", ["x", "W", "R", "B"], ["", "h"], "lstm", hidden_size=UNITS)
    given = helper.make_tensor_value_info("x", TensorProto.FLOAT, [steps or "steps", 1, FEATURES])
    found = helper.make_tensor_value_info("h", TensorProto.FLOAT, [1, 1, UNITS])
    graph = helper.make_graph([node], "lstm", [given], [found], weights)
    opsets = [helper.make_opsetid("", 17)]
    onnx.save(helper.make_model(graph, opset_imports=opsets, ir_version=9), path)
    return path


def sequences(steps: int) -> Array:
    """Random walks, float32 [SAMPLES, steps, 1, FEATURES]."""
    steps_of = np.random.default_rng(6).normal(size=(SAMPLES, steps, 1, FEATURES))
    return (np.cumsum(steps_of, axis=1) / 8).astype(np.float32)


@dataclass(frozen=True, slots=True)
class Network:
    """A network of any length.

    Attributes:
        write: writes the file for a length, or for all.
        shape: shape of its input at a length.
        data: calibration data by input, at a length.
    """

    write: Callable[[Path, int | None], Path]
    shape: Callable[[int], tuple[int, ...]]
    data: Callable[[int], Mapping[str, Array]]


NETWORKS = {
    "transformer": Network(
        lambda path, length: write_bert(path, length or "seq", sizes=SIZES),
        lambda length: (1, length),
        lambda length: {"ids": ids(SAMPLES, length, words=SIZES.words)},
    ),
    "lstm": Network(
        write_lstm, lambda length: (length, 1, FEATURES), lambda length: {"x": sequences(length)}
    ),
}


def compiled(
    network: Network, model: Path, board: str, length: int, options: CompileOptions, folder: Path
) -> Path:
    """The build folder of a model, calibrated on samples of one length."""
    compile_model(model, board, calibration=network.data(length), out=folder, options=options)
    return folder


def table(network: Network, board: str, root: Path) -> None:
    """Print the cycles of each length on a board."""
    root.mkdir()
    options = CompileOptions(verify=False, max_length=MaxLength(LENGTHS[-1]))
    dynamic = network.write(root / "dynamic.onnx", None)
    variable = compiled(network, dynamic, board, LENGTHS[-1], options, root / "variable")
    for length in LENGTHS:
        fixed = network.write(root / "fixed.onnx", length)
        (name,) = network.data(length)
        options = CompileOptions(verify=False, shapes={name: network.shape(length)})
        alone = compiled(network, fixed, board, length, options, root / str(length))
        one = profile(variable, memory="ideal", length=length).total.cycles
        other = profile(alone, memory="ideal").total.cycles
        print(f"| {length} | {one:,} | {other:,} | {one / other:.3f} |", flush=True)


def main() -> None:
    """Command line."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("boards", nargs="*", default=["nucleo_l4r5zi", "nucleo_g0b1re"])
    parser.add_argument("--network", action="append", choices=NETWORKS, help="default: all")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        for network in given.network or NETWORKS:
            for board in given.boards:
                print(f"\n| {network}, {board}, length | variable, cycles | built for it | ratio |")
                print("|---|---|---|---|")
                table(NETWORKS[network], board, Path(name) / f"{network}-{board}")


if __name__ == "__main__":
    main()

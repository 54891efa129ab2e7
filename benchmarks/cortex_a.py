"""Instructions and memory of one inference on Cortex-A, beside LiteRT with XNNPACK.

    python benchmarks/cortex_a.py                        # edgec alone, both roundings
    python benchmarks/cortex_a.py --litert build/arm64   # and LiteRT, one thread, under QEMU
    python benchmarks/cortex_a.py --boards raspberry_pi_5 --networks dscnn
    python benchmarks/cortex_a.py --int16                # float files, int8 and int16 activations

edgec's instructions are those of `edgec profile`.  LiteRT runs in QEMU's emulation of a process,
with a plugin that counts (`benchmarks/count_instructions.c`): the difference between two numbers of
runs, divided by their difference.  Its folder holds `root`, a file system of Debian for arm64 with
Python 3.11, and `site`, the packages `ai-edge-litert` and `numpy` for it; docs/linux-boards.md says
how to make both.

Memory: edgec's arena, which holds all activations and all working memory, and the constants; of
LiteRT, by how much the heap grows from before the interpreter is made to after the runs, and the
model file.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import onnxruntime
from data_folder import add_data_option, chosen_data_folder, needed_data_folder

from edgec.base.options import CompileOptions, Effort, Precision, QuantOptions
from edgec.base.rounding import Rounding
from edgec.commands.compile import compile_model
from edgec.profile import count_instructions
from edgec.target.board import load_board

NETWORKS = {
    "resnet8": "mlperf_resnet8_cifar10_int8.tflite",
    "vww": "mlperf_mobilenetv1_025_vww96_int8.tflite",
    "dscnn": "mlperf_dscnn_kws_int8.tflite",
    "ic02": "mlperf_resnet8_large_cifar10_int8.tflite",
    "autoencoder": "mlperf_autoencoder_toycar_int8.tflite",
}
FLOAT_NETWORKS = {
    "resnet8": "mlperf_resnet8_cifar10.onnx",
    "vww": "mlperf_mobilenetv1_025_vww96.onnx",
    "dscnn": "mlperf_dscnn_kws.onnx",
    "autoencoder": "mlperf_autoencoder_toycar.onnx",
}
BOARDS = ("raspberry_pi_2", "raspberry_pi_3", "raspberry_pi_5")
HERE = Path(__file__).resolve().parent
FEW, MANY = 10, 110
"""Runs of LiteRT; the first ones are not like the others."""
_PARTS = {"cortex-a53": "0xd03", "cortex-a72": "0xd08", "cortex-a76": "0xd0b"}
"""Part numbers in the Main ID Register (technical reference manuals)."""
_FEATURES = "fp asimd evtstrm crc32 cpuid"
_DOT_FEATURES = " atomics fphp asimdhp asimdrdm lrcpc dcpop asimddp"


@dataclass(frozen=True, slots=True)
class Cost:
    """Instructions of one inference, and bytes of memory."""

    instructions: float
    size_bytes: int

    def cell(self) -> str:
        """Millions of instructions, and KB."""
        return f"{self.instructions / 1e6:.3f} ({self.size_bytes / 1024:.0f} KB)"


def of_edgec(
    model: Path,
    board: str,
    options: CompileOptions,
    samples: Mapping[str, np.ndarray] | None = None,
) -> Cost:
    """An inference of edgec's firmware; `samples`: calibration data."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name) / "built"
        memory = compile_model(
            model, board, calibration=samples, out=folder, options=options
        ).report.memory
        counted = count_instructions(folder).total
        return Cost(counted.instructions, memory.arena_bytes + memory.weight_bytes)


def of_litert(model: Path, core: str, folder: Path, plugin: Path) -> Cost:
    """An inference of LiteRT on an emulated core."""
    runs = {count: _run_litert(model, core, folder, plugin, count) for count in (FEW, MANY)}
    (few, _), (many, grown) = runs[FEW], runs[MANY]
    return Cost((many - few) / (MANY - FEW), grown + model.stat().st_size)


def _run_litert(model: Path, core: str, folder: Path, plugin: Path, count: int) -> tuple[int, int]:
    root = folder / "root"
    command: list[str | Path] = ["qemu-aarch64", "-cpu", core, "-L", root, "-plugin", plugin]
    command += [root / "usr/bin/python3.11", HERE / "cortex_a_litert.py", folder / "site"]
    # Addresses of objects decide how long Python's look-ups take; hashes are the same in all runs.
    environment = {**os.environ, "PYTHONHASHSEED": "0"}
    done = subprocess.run(
        [*command, model, str(count)], env=environment, capture_output=True, text=True, check=False
    )
    lines = [*done.stdout.splitlines(), *done.stderr.splitlines()]
    words = dict(line.split(": ") for line in lines if line.count(": ") == 1)
    try:
        return int(words["executed instructions"]), int(words["grown by bytes"])
    except (KeyError, ValueError):
        raise SystemExit(f"LiteRT did not run under QEMU:\n{done.stderr[-2000:]}") from None


def describe_processor(folder: Path, core: str) -> None:
    """Write the files in which LiteRT looks for the processor.

    QEMU's emulation of a process shows those of this computer, unless they are below the root.
    """
    root, board_has_dot = folder / "root", core == "cortex-a76"
    (root / "proc").mkdir(parents=True, exist_ok=True)
    cpus = root / "sys/devices/system/cpu"
    cpus.mkdir(parents=True, exist_ok=True)
    for name in ("possible", "present"):
        (cpus / name).write_text("0-3\n")
    facts = {
        "processor": "0",
        "BogoMIPS": "38.40",
        "Features": _FEATURES + (_DOT_FEATURES if board_has_dot else ""),
        "CPU implementer": "0x41",
        "CPU architecture": "8",
        "CPU variant": "0x0",
        "CPU part": _PARTS[core],
        "CPU revision": "4",
    }
    text = "".join(f"{name}\t: {value}\n" for name, value in facts.items())
    (root / "proc/cpuinfo").write_text(text)


def show(boards: Sequence[str], networks: Sequence[str], litert: Path | None) -> None:
    """Print a Markdown table of each board."""
    models = needed_data_folder() / "models"
    with tempfile.TemporaryDirectory() as name:
        plugin = Path(name) / "count.so"
        if litert is not None:
            source = HERE / "count_instructions.c"
            subprocess.run(["gcc", "-shared", "-fPIC", "-O2", source, "-o", plugin], check=True)
        for board in boards:
            core = load_board(board).core
            beside = litert if core.is_aarch64 else None
            print(
                f"\n| {core.value}, million instructions | edgec | as TensorFlow Lite Micro |",
                end="",
            )
            print(" LiteRT |" if beside else "")
            print("|---|---:|---:|" + ("---:|" if beside else ""))
            if beside is not None:
                describe_processor(beside, core.value)
            for network in networks:
                model = models / NETWORKS[network]
                costs = [
                    of_edgec(model, board, CompileOptions(rounding=each))
                    for each in (Rounding.EDGEC, Rounding.TFLM)
                ]
                if beside is not None:
                    costs.append(of_litert(model, core.value, beside, plugin))
                print(f"| {network} | {' | '.join(cost.cell() for cost in costs)} |", flush=True)


def inputs_of(model: Path) -> dict[str, tuple[int, ...]]:
    """Shapes of the inputs of an ONNX file, their first axis left as one."""
    session = onnxruntime.InferenceSession(model, providers=["CPUExecutionProvider"])
    return {
        each.name: tuple(size if isinstance(size, int) else 1 for size in each.shape)
        for each in session.get_inputs()
    }


def show_int16(boards: Sequence[str], networks: Sequence[str]) -> None:
    """Print a Markdown table of each board: float networks with int8 and int16 activations."""
    models = needed_data_folder() / "models"
    for board in boards:
        print(f"\n| {load_board(board).core.value}, million instructions | int8 | int16 | times |")
        print("|---|---:|---:|---:|")
        for network in networks:
            model = models / FLOAT_NETWORKS[network]
            # Numbers of instructions do not hang on the data, which are noise.
            samples = {
                name: np.random.default_rng(1).normal(size=(4, *shape[1:])).astype(np.float32)
                for name, shape in inputs_of(model).items()
            }
            narrow, wide = (
                of_edgec(
                    model,
                    board,
                    CompileOptions(
                        quant=QuantOptions(precision=precision, effort=Effort.FAST), verify=False
                    ),
                    samples,
                )
                for precision in (Precision.INT8, Precision.INT16)
            )
            times = wide.instructions / narrow.instructions
            print(f"| {network} | {narrow.cell()} | {wide.cell()} | {times:.2f} |", flush=True)


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--boards", nargs="+", default=BOARDS, help="boards with Linux")
    parser.add_argument("--networks", nargs="+", help="default: all")
    parser.add_argument("--litert", type=Path, help="folder with LiteRT for arm64")
    parser.add_argument("--int16", action="store_true", help="int16 activations of float files")
    add_data_option(parser)
    arguments = parser.parse_args()
    chosen_data_folder(arguments)
    if arguments.int16 and arguments.litert is not None:
        parser.error("--litert is for integer files, --int16 for float files: take one of them")
    litert = None if arguments.litert is None else arguments.litert.resolve()
    if litert is not None and not all((litert / part).is_dir() for part in ("root", "site")):
        parser.error(f"{litert} holds no root and site; docs/linux-boards.md says how to make them")
    known = FLOAT_NETWORKS if arguments.int16 else NETWORKS
    networks = arguments.networks or list(known)
    if unknown := [each for each in networks if each not in known]:
        parser.error(f"no network {unknown[0]!r} here: take {', '.join(known)}")
    if arguments.int16:
        show_int16(arguments.boards, networks)
    else:
        show(arguments.boards, networks, litert)


if __name__ == "__main__":
    main()

"""How much processor time and memory edgec itself takes, each command a process of its own.

    python benchmarks/compile_speed.py                              # networks that need no data
    python benchmarks/compile_speed.py --data-dir FOLDER            # networks of this folder, too
    python benchmarks/compile_speed.py --networks mobilenetv2 digits

Processor time is that of the command and of the compilers it starts.  It is printed in seconds and
in units of one product of matrices by numpy, 200 GFLOP of float64 on one thread, which is measured
first and after every command: other programs on the computer slow both down alike.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import large_networks
import numpy as np
from data_folder import add_data_option, chosen_data_folder, data_folder

_EXAMPLES = Path(__file__).resolve().parents[1] / "examples"
_SAMPLES = 16
_UNIT = """
import time, numpy
a = numpy.random.default_rng(0).normal(size=(4642, 4642))
start = time.process_time()
a @ a
print(time.process_time() - start)
"""
_ONE_THREAD = {"OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1", "MKL_NUM_THREADS": "1"}


@dataclass(frozen=True, slots=True)
class Cost:
    """Resources of one command.

    Attributes:
        seconds: processor time, user and system, with child processes.
        bytes: the most memory that one of the processes held.
    """

    seconds: float
    bytes: int


def unit_seconds() -> float:
    """Processor time of the product."""
    argv = [sys.executable, "-c", _UNIT]
    environment = {**os.environ, **_ONE_THREAD}
    return float(subprocess.run(argv, check=True, capture_output=True, env=environment).stdout)


def cost_of(arguments: list[str], compiled: str) -> Cost:
    """Run edgec; a command that is refused counts like any other.

    Args:
        arguments: the command line.
        compiled: folder of compiled modules, which a user's second command finds.
    """
    environment = {**os.environ, "PYTHONPYCACHEPREFIX": compiled}
    environment.pop("PYTHONDONTWRITEBYTECODE", None)
    process = subprocess.Popen(
        [sys.executable, "-m", "edgec", *arguments],
        env=environment,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    _, _, used = os.wait4(process.pid, 0)
    process.returncode = 0  # it has been waited for
    scale = 1 if sys.platform == "darwin" else 1024
    return Cost(used.ru_utime + used.ru_stime, used.ru_maxrss * scale)


def _compiled(model: Path, folder: Path, *more: str) -> list[str]:
    out = ["--out", str(folder / "out"), "--force", "--no-cache"]
    return ["compile", str(model), *out, *more]


def _large(name: str) -> Callable[[Path, Path | None], list[str]]:
    def command(folder: Path, _data: Path | None) -> list[str]:
        model, samples = folder / f"{name}.onnx", folder / "samples.npz"
        large_networks.write_network(name, model)
        np.savez(samples, x=large_networks.images(_SAMPLES))
        given = ["--calibration", str(samples), "--board", "host", "--no-build"]
        return _compiled(model, folder, *given)

    return command


def _digits(folder: Path, _data: Path | None) -> list[str]:
    samples = str(_EXAMPLES / "digits_calibration.npz")
    given = ["--calibration", samples, "--board", "nucleo_f446re"]
    return _compiled(_EXAMPLES / "digits_resnet.onnx", folder, *given)


def _music(data: Path | None) -> Path | None:
    model = None if data is None else data / "models" / "basic_pitch_nmp.tflite"
    return model if model is not None and model.is_file() else None


def _music_inspected(_folder: Path, data: Path | None) -> list[str]:
    model = _music(data)
    return [] if model is None else ["inspect", str(model)]


def _music_compiled(folder: Path, data: Path | None) -> list[str]:
    model = _music(data)
    return [] if model is None else _compiled(model, folder, "--board", "host", "--no-build")


def _missing(folder: Path, _data: Path | None) -> list[str]:
    return ["compile", str(folder / "missing.onnx"), "--board", "nucleo_f446re"]


_COMMANDS: dict[str, Callable[[Path, Path | None], list[str]]] = {
    "missing_file": _missing,
    "digits": _digits,
    "basic_pitch_inspect": _music_inspected,
    "basic_pitch": _music_compiled,
    **{name: _large(name) for name in large_networks.NETWORKS},
}
"""The arguments of edgec by network; none where its file is not there."""


def main() -> None:
    """Parse the command line, measure, print."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    add_data_option(parser)
    parser.add_argument("--networks", nargs="*", choices=_COMMANDS, default=[*_COMMANDS])
    arguments = parser.parse_args()
    data = chosen_data_folder(arguments) if arguments.data_dir or data_folder() else None
    with tempfile.TemporaryDirectory() as compiled:
        # Modules are compiled once.
        cost_of(
            _compiled(_EXAMPLES / "digits_mlp.onnx", Path(compiled), "--board", "host"), compiled
        )
        _measure(arguments.networks, data, compiled)


def _measure(networks: list[str], data: Path | None, compiled: str) -> None:
    before = unit_seconds()
    print(f"unit: {before:.2f} s")
    print(f"{'':20} {'seconds':>8} {'units':>6} {'MB':>6}")
    for name in networks:
        with tempfile.TemporaryDirectory() as folder:
            argv = _COMMANDS[name](Path(folder), data)
            if not argv:
                print(f"{name:20} its file is not there")
                continue
            cost = cost_of(argv, compiled)
        after = unit_seconds()
        units = cost.seconds / ((before + after) / 2)
        print(f"{name:20} {cost.seconds:8.1f} {units:6.2f} {cost.bytes / 1e6:6.0f}", flush=True)
        before = after


if __name__ == "__main__":
    main()

"""How long `edgec evaluate --on host` takes: ResNet-8 on 5,000 CIFAR-10 images, as a user runs it.

    python benchmarks/host_speed.py [--images 5000] [--board host]

Every line is a process of its own, start of Python included.  The host's C compiler runs in
`evaluate`.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
from data_folder import add_data_option, chosen_data_folder
from public_data import TASKS

_TASK = TASKS["resnet8"]


def timed(what: str, *arguments: str | Path) -> str:
    """Run edgec, print how long it took, return its standard output."""
    start = time.perf_counter()
    argv = [sys.executable, "-m", "edgec", *map(str, arguments)]
    done = subprocess.run(argv, check=True, stdout=subprocess.PIPE, text=True)
    print(f"{what:44} {time.perf_counter() - start:6.2f} s", flush=True)
    return done.stdout


def main() -> None:
    """Parse the command line, measure, print."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    add_data_option(parser)
    parser.add_argument("--images", type=int, default=5000)
    parser.add_argument("--board", default="host", help="whose kernels run on this computer")
    arguments = parser.parse_args()
    data = chosen_data_folder(arguments)
    print(f"{os.cpu_count()} processors")
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        test = _TASK.data(data, "test")
        np.savez(folder / "test.npz", x=test.x[: arguments.images], y=test.y[: arguments.images])
        np.savez(folder / "calibration.npz", x=_TASK.data(data, "calibration").x)
        model, out = data / "models" / _TASK.model, folder / "out"
        options = ["--board", arguments.board, "--calibration", folder / "calibration.npz"]
        options += ["--out", out, "--no-cache"]
        timed(
            "compile (200 samples, checked, no firmware)", "compile", model, *options, "--no-build"
        )
        evaluate = ["evaluate", out, "--data", folder / "test.npz", "--on", "host", "--json"]
        timed(f"evaluate on {arguments.images} images", *evaluate)
        result = json.loads(timed("the same again", *evaluate))
        print(f"accuracy {result['accuracy']:.2%}, float {result['float_accuracy']:.2%}")


if __name__ == "__main__":
    main()

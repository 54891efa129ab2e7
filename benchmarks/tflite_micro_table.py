"""TensorFlow Lite Micro beside edgec on MLPerf Tiny's four int8 files, as docs/tflite.md shows it.

    python benchmarks/tflite_micro_table.py [--samples 200] [--board nucleo_l4r5zi]

Needs the package `tflite_micro`.  Its interpreter runs on this computer: outputs and the arena are
its own; a tensor's pointer has 64 bits here, so its arena on a microcontroller is a little smaller.
Cycles are edgec's, in memory without wait states.
"""

from __future__ import annotations

import argparse
import logging
import tempfile
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from data_folder import add_data_option, chosen_data_folder
from tflite_micro.python.tflite_micro import runtime

from edgec.base.options import CompileOptions
from edgec.base.rounding import Rounding
from edgec.commands.compile import CompileResult, compile_model
from edgec.profile import profile

FILES = (
    "mlperf_resnet8_cifar10_int8",
    "mlperf_dscnn_kws_int8",
    "mlperf_mobilenetv1_025_vww96_int8",
    "mlperf_autoencoder_toycar_int8",
)
_ARENA_BYTES = 4 << 20
_COLUMNS = (
    *("network", "file B", "TFLM arena B", "edgec flash B", "RAM B", "M cycles"),
    *("M cycles, --rounding edgec", "equal outputs"),
)


@dataclass(frozen=True, slots=True)
class Row:
    """One network.

    Attributes:
        equal: output elements that are the same, and all of them.
    """

    name: str
    file_bytes: int
    arena_bytes: int
    built: CompileResult
    cycles: tuple[int, int]
    equal: tuple[int, int]

    def cells(self) -> tuple[str, ...]:
        """The row of the table."""
        memory = self.built.report.memory
        numbers = (
            self.file_bytes,
            self.arena_bytes,
            memory.flash_bytes or 0,
            memory.ram_bytes or 0,
        )
        cycles = tuple(f"{count / 1e6:.3f}" for count in self.cycles)
        return (
            self.name,
            *(f"{n:,}" for n in numbers),
            *cycles,
            "{:,} of {:,}".format(*self.equal),
        )


def measured(path: Path, board: str, samples: int, root: Path) -> Row:
    """Everything about one file."""
    builds = {
        rounding: compile_model(
            path,
            board,
            out=root / f"{path.stem}-{rounding.value}",
            options=CompileOptions(verify=False, rounding=rounding),
        )
        for rounding in Rounding
    }
    cycles = [profile(builds[each].folder).ideal_cycles for each in (Rounding.TFLM, Rounding.EDGEC)]
    built = builds[Rounding.TFLM]
    arena, equal = _beside_micro(path, built, samples)
    name = path.stem.removeprefix("mlperf_").removesuffix("_int8")
    return Row(name, path.stat().st_size, arena, built, (cycles[0], cycles[1]), equal)


def _beside_micro(path: Path, built: CompileResult, samples: int) -> tuple[int, tuple[int, int]]:
    """Least arena of TensorFlow Lite Micro, and output elements that equal edgec's."""
    micro = runtime.Interpreter.from_file(str(path), arena_size=_ARENA_BYTES)
    rng = np.random.default_rng(0)
    shape = built.report.inputs[0].shape
    x = rng.integers(-128, 128, (samples, *shape[1:])).astype(np.int8)
    found = built.run(x)
    same = 0
    for sample, ours in zip(x, np.asarray(found), strict=True):
        micro.set_input(sample[np.newaxis], 0)
        micro.invoke()
        same += int(np.count_nonzero(micro.get_output(0).ravel() == ours.ravel()))
    return _least_arena(path), (same, np.asarray(found).size)


def _least_arena(path: Path) -> int:
    """The smallest arena that TensorFlow Lite Micro runs in, to 16 bytes."""
    low, high = 0, _ARENA_BYTES
    while high - low > 16:
        middle = (low + high) // 32 * 16
        try:
            runtime.Interpreter.from_file(str(path), arena_size=middle)
            high = middle
        except RuntimeError:
            low = middle
    return high


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--board", default="nucleo_l4r5zi")
    parser.add_argument("--samples", type=int, default=200)
    add_data_option(parser)
    arguments = parser.parse_args()
    folder = chosen_data_folder(arguments)
    logging.disable(logging.WARNING)
    print(f"| {' | '.join(_COLUMNS)} |\n|---|{'---:|' * (len(_COLUMNS) - 1)}")
    with tempfile.TemporaryDirectory() as name:
        for stem in FILES:
            path = folder / "models" / f"{stem}.tflite"
            row = measured(path, arguments.board, arguments.samples, Path(name))
            print(f"| {' | '.join(row.cells())} |", flush=True)


if __name__ == "__main__":
    main()

"""ResNet-8 or ResNet-10 by every compression: accuracy, flash, RAM and cycles.

    python benchmarks/few_bits_networks.py --data-dir FOLDER
    python benchmarks/few_bits_networks.py --network resnet10
    python benchmarks/few_bits_networks.py --ways binary --boards nucleo_g0b1re raspberry_pi_3

int8, weights of 4, 3 and 2 bits and ternary ones (`edgec compress --bits`, without training), the
files of networks/ with pools, with trained ternary weights and with fewer channels, and the binary
network of networks/.  Accuracy is that of the generated C on this computer, on validation images;
calibration is on training images.  Flash and RAM are those of the firmware, cycles the estimate of
its report; of a board with Linux, which cannot be the first, they are constants, arena, and
instructions that are executed.  `docs/assets/few-bits.svg` is drawn from the table of
docs/few-bits.md (`make pictures`).
"""

from __future__ import annotations

import argparse
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from data_folder import add_data_option, chosen_data_folder, needed_data_folder
from public_data import Split, cifar_part, normalised_pixels

from edgec.base.options import CompileOptions, FewBitsOptions, WeightBits
from edgec.commands.compile import compile_model
from edgec.commands.compress_bits import BitsOptions, narrow_model
from edgec.commands.compress_jobs import Job
from edgec.profile import count_instructions
from edgec.target.board import load_board

NETWORKS = Path(__file__).resolve().parents[1] / "networks"
FILES = {
    "int8": "{}_cifar10.onnx",
    "pools": "{}_cifar10.pool.onnx",
    "sums of pools": "{}_sums_cifar10.pool.onnx",
    "ternary weights, trained": "{}_ternary_cifar10.bits.onnx",
    "fewer channels, int8": "{}_narrow_cifar10.onnx",
    "binary, another network": "binary_cifar10.onnx",
}
"""Names of files in networks/, with the network's for the braces."""
BITS = {bits.title: bits for bits in WeightBits}
CALIBRATION = 256
IMAGES = 1000


@dataclass(frozen=True, slots=True)
class Row:
    """One network on one board.

    Attributes:
        way: how it is compressed.
        board: where.
        accuracy: share of the images told right.
        flash, ram: bytes of the firmware; with Linux of constants and of the arena.
        cost: cycles of a run, estimated; with Linux instructions.
    """

    way: str
    board: str
    accuracy: float
    flash: int
    ram: int
    cost: str

    def text(self) -> str:
        """A line of the Markdown table."""
        return (
            f"| {self.way} | {self.board} | {self.accuracy:.2%} | {self.flash:,} | {self.ram:,} | "
            f"{self.cost} |"
        )


def written(folder: Path, name: str, samples: Split) -> Path:
    """A file of samples and their labels."""
    path = folder / f"{name}.npz"
    labels = {} if samples.y is None else {"y": samples.y}
    np.savez(path, x=normalised_pixels(samples.x), **labels)
    return path


def narrow(bits: WeightBits, model: Path, data: Path, folder: Path) -> Path:
    """A network with weights of few bits, not trained."""
    output = folder / f"{bits.value}.bits.onnx"
    calibration = written(folder, "few", cifar_part(data, "cifar10_train_0", CALIBRATION))
    narrow_model(Job(model, output, calibration), BitsOptions(FewBitsOptions(bits)))
    return output


def measured(
    way: str, model: Path, boards: Sequence[str], samples: tuple[Split, Split], folder: Path
) -> Iterator[Row]:
    """A row for each board; accuracy is the same on all of them."""
    calibration, validation = samples
    accuracy = 0.0
    for number, board in enumerate(boards):
        result = compile_model(
            model, board, calibration={"input": normalised_pixels(calibration.x)},
            out=folder / "build", options=CompileOptions(verify=False),
        )  # fmt: skip
        if not number:
            found = np.asarray(result.run(normalised_pixels(validation.x), on="host"))
            accuracy = float(np.mean(found.argmax(1) == validation.y))
        report = result.report
        memory, speed = report.memory, report.speed
        if load_board(board).linux is not None:
            executed = count_instructions(folder / "build").total.instructions
            cost = f"{executed / 1e6:.1f} M instructions"
            yield Row(way, board, accuracy, memory.weight_bytes, memory.arena_bytes, cost)
            continue
        cost = "" if speed is None else f"{speed.cycles / 1e6:.1f} M"
        yield Row(way, board, accuracy, memory.flash_bytes or 0, memory.ram_bytes or 0, cost)


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    names = (*FILES, *BITS)
    parser.add_argument("--network", choices=("resnet8", "resnet10"), default="resnet8")
    parser.add_argument("--ways", nargs="+", default=names, help="words that names begin with")
    parser.add_argument("--boards", nargs="+", default=["nucleo"])
    parser.add_argument("--images", type=int, default=IMAGES, help="validation images")
    add_data_option(parser)
    args = parser.parse_args()
    chosen_data_folder(args)
    data = needed_data_folder() / "data"
    parts = (("cifar10_train_0", CALIBRATION), ("cifar10_train_1", args.images))
    samples = tuple(cifar_part(data, part, count) for part, count in parts)
    print(f"| {args.network} | board | accuracy | flash | RAM | cycles |\n|---|---|" + "---:|" * 4)
    for way in names:
        if not way.startswith(tuple(args.ways)):
            continue
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name)
            model = NETWORKS / FILES.get(way, FILES["int8"]).format(args.network)
            if not model.exists():
                continue
            if way in BITS:
                model = narrow(BITS[way], model, data, folder)
            for row in measured(way, model, args.boards, samples, folder):
                print(row.text(), flush=True)


if __name__ == "__main__":
    main()

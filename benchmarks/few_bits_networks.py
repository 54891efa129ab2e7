"""ResNet-8 by every compression: accuracy, flash, RAM and cycles, and a picture of them.

    python benchmarks/few_bits_networks.py --data-dir FOLDER
    python benchmarks/few_bits_networks.py --boards nucleo nucleo_g0b1re
    python benchmarks/few_bits_networks.py --train 10000 --epochs 1 --ways ternary
    python benchmarks/few_bits_networks.py --svg front.svg

int8, weights of 4, 3 and 2 bits and ternary ones (`edgec compress --bits`, without training unless
`--train` gives the number of training images), the files with pools of networks/, and the binary
network of networks/ where its file is there.  Accuracy is that of the generated C on this computer,
on validation images; calibration is on training images.  Flash and RAM are those of the firmware,
cycles the estimate of its report.
"""

from __future__ import annotations

import argparse
import html
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
from edgec.commands.training import Training

NETWORKS = Path(__file__).resolve().parents[1] / "networks"
FLOAT = NETWORKS / "resnet8_cifar10.onnx"
FILES = {
    "int8": FLOAT,
    "pools": NETWORKS / "resnet8_cifar10.pool.onnx",
    "sums of pools": NETWORKS / "resnet8_sums_cifar10.pool.onnx",
    "fewer channels, int8": NETWORKS / "resnet8_narrow_cifar10.onnx",
    "binary (another network)": NETWORKS / "binary_cifar10.onnx",
}
BITS = {bits.title: bits for bits in WeightBits}
CALIBRATION = 256
IMAGES = 1000
KIB = 1024


@dataclass(frozen=True, slots=True)
class Row:
    """One network on one board.

    Attributes:
        way: how it is compressed.
        board: where.
        accuracy: share of the images told right.
        flash, ram: bytes of the firmware.
        cycles: of a run, estimated; None where the board has no estimate.
    """

    way: str
    board: str
    accuracy: float
    flash: int
    ram: int
    cycles: int | None

    def text(self) -> str:
        """A line of the Markdown table."""
        cycles = "" if self.cycles is None else f"{self.cycles / 1e6:.1f} M"
        return (
            f"| {self.way} | {self.board} | {self.accuracy:.2%} | {self.flash:,} | {self.ram:,} | "
            f"{cycles} |"
        )


def written(folder: Path, name: str, samples: Split) -> Path:
    """A file of samples and their labels."""
    path = folder / f"{name}.npz"
    labels = {} if samples.y is None else {"y": samples.y}
    np.savez(path, x=normalised_pixels(samples.x), **labels)
    return path


def narrow(bits: WeightBits, data: Path, args: argparse.Namespace, folder: Path) -> Path:
    """ResNet-8 with weights of few bits, trained if that is asked for."""
    output, train = folder / f"{bits.value}.bits.onnx", None
    if args.train:
        train = written(folder, "train", cifar_part(data, "cifar10_train_0", args.train))
    calibration = written(folder, "few", cifar_part(data, "cifar10_train_0", CALIBRATION))
    how = Training(epochs=args.epochs, augment=bool(args.train), device="cpu")
    job = Job(FLOAT, output, calibration, train)
    narrow_model(job, BitsOptions(FewBitsOptions(bits), how))
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
        memory, speed = result.report.memory, result.report.speed
        cycles = None if speed is None else speed.cycles
        yield Row(way, board, accuracy, memory.flash_bytes or 0, memory.ram_bytes or 0, cycles)


def picture(rows: Sequence[Row]) -> str:
    """An SVG of accuracy over flash: a point for each row."""
    width, height, left, low = 760, 420, 70, 370
    most = max(row.flash for row in rows) * 1.08
    least = int(min(row.accuracy for row in rows) * 20) / 20
    top = max(row.accuracy for row in rows) + 0.01

    def place(row: Row) -> tuple[float, float]:
        x = left + row.flash / most * (width - left - 20)
        return x, low - (row.accuracy - least) / (top - least) * (low - 30)

    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}">',
        "<style>text { font: 13px sans-serif; fill: #1f2328; } .axis { stroke: #57606a; }"
        " .point { fill: #3f51b5; } .paper { fill: #ffffff; }"
        " @media (prefers-color-scheme: dark) { text { fill: #e6edf3; } .paper { fill: #161b22; }"
        " .axis { stroke: #9da7b3; } .point { fill: #8c9eff; } }</style>",
        f'<rect class="paper" width="{width}" height="{height}"/>',
        f'<path class="axis" fill="none" d="M{left} 20V{low}H{width - 10}"/>',
        f'<text x="{width // 2 - 90}" y="{height - 12}">flash of the firmware, KB</text>',
        '<text x="8" y="16">images told right</text>',
    ]
    for share in np.arange(least, top, 0.05):
        y = low - (share - least) / (top - least) * (low - 30)
        parts.append(f'<text x="18" y="{y + 4:.0f}">{share:.0%}</text>')
    for kib in range(0, int(most // KIB), 25):
        x = left + kib * KIB / most * (width - left - 20)
        parts.append(f'<text x="{x - 8:.0f}" y="{low + 18}">{kib}</text>')
    for row in rows:
        x, y = place(row)
        parts.append(f'<circle class="point" cx="{x:.1f}" cy="{y:.1f}" r="5"/>')
        parts.append(f'<text x="{x + 8:.1f}" y="{y + 4:.1f}">{html.escape(row.way)}</text>')
    return "\n".join([*parts, "</svg>", ""])


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    names = (*FILES, *BITS)
    parser.add_argument("--ways", nargs="+", default=names, help="words that names begin with")
    parser.add_argument("--boards", nargs="+", default=["nucleo"])
    parser.add_argument("--images", type=int, default=IMAGES, help="validation images")
    parser.add_argument("--train", type=int, default=0, help="training images for --bits")
    parser.add_argument("--epochs", type=int, default=1, help="passes over them")
    parser.add_argument("--svg", type=Path, help="draw the first board's rows to this file")
    add_data_option(parser)
    args = parser.parse_args()
    chosen_data_folder(args)
    data = needed_data_folder() / "data"
    parts = (("cifar10_train_0", CALIBRATION), ("cifar10_train_1", args.images))
    samples = tuple(cifar_part(data, part, count) for part, count in parts)
    print("| ResNet-8 | board | accuracy | flash | RAM | cycles |\n|---|---|" + "---:|" * 4)
    rows: list[Row] = []
    for way in names:
        if not way.startswith(tuple(args.ways)):
            continue
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name)
            model = narrow(BITS[way], data, args, folder) if way in BITS else FILES[way]
            if not model.exists():
                continue
            for row in measured(way, model, args.boards, samples, folder):
                print(row.text(), flush=True)
                rows += [row] if row.board == args.boards[0] else []
    if args.svg is not None and rows:
        args.svg.write_text(picture(rows), encoding="utf-8")


if __name__ == "__main__":
    main()

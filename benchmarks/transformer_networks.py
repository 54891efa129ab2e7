"""Trained transformers of this repository, all in integers: accuracy, memory and cycles.

    python benchmarks/transformer_networks.py --data-dir FOLDER
    python benchmarks/transformer_networks.py digits_vit           # needs no data folder
    python benchmarks/transformer_networks.py --boards nucleo_h7a3zi_q nucleo_g0b1re --images 0

For each network: a residual stream of int16, one of int8, and weights from a pool that was made
without training.  Accuracy is that of the generated C on this computer: CIFAR-10's 5,000 test
images, or the 540 held-out digits.  Sizes are those of firmware, cycles those of `edgec profile`.
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

from edgec.base.options import CompileOptions, QuantOptions, Residual, WeightPoolOptions
from edgec.commands.compile import CompileResult, compile_model
from edgec.commands.compress import CompressOptions, compress_models
from edgec.commands.compress_jobs import Job
from edgec.floatrun.float_model import FloatModel
from edgec.profile import profile
from edgec.quant import sqnr_db

ROOT = Path(__file__).resolve().parents[1]
EXAMPLES = ROOT / "examples"
NETWORKS = {
    "digits_vit": EXAMPLES / "digits_vit.onnx",
    "cct_cifar10": ROOT / "networks" / "cct_cifar10.onnx",
}
CALIBRATION = 256
BOARDS = ("mps2_an386",)
IMAGES = 5000


@dataclass(frozen=True, slots=True)
class Way:
    """How a network is compiled: its residual stream, and whether its weights come from a pool."""

    label: str
    residual: Residual
    pooled: bool = False


WAYS = (
    Way("int16 stream", Residual.INT16),
    Way("int8 stream", Residual.INT8),
    Way("pooled after training", Residual.INT16, pooled=True),
)


def samples(name: str, count: int) -> tuple[Split, Split]:
    """Calibration samples, and test samples with labels."""
    if name == "digits_vit":
        test = np.load(EXAMPLES / "digits_test.npz")
        calibration = np.load(EXAMPLES / "digits_calibration.npz")["x"]
        return Split(calibration), Split(test["x"][:count], test["y"][:count])
    data = needed_data_folder() / "data"
    parts = (("cifar10_train_0", CALIBRATION), ("cifar10_test_5000", count))
    first, second = (cifar_part(data, part, images) for part, images in parts)
    return Split(normalised_pixels(first.x)), Split(normalised_pixels(second.x), second.y)


def pooled(model: Path, calibration: Split, folder: Path) -> Path:
    """The network with a pool, without training."""
    (name,) = FloatModel(model).input_names
    data, output = folder / "calibration.npz", folder / f"{model.stem}.pool.onnx"
    np.savez(data, **{name: calibration.x})
    compress_models([Job(model, output, data)], CompressOptions(pool=WeightPoolOptions()))
    return output


def rows(name: str, boards: Sequence[str], count: int, folder: Path) -> Iterator[str]:
    """Lines of the Markdown table."""
    original = FloatModel(NETWORKS[name])
    calibration, test = samples(name, count)
    for way in WAYS:
        path = pooled(NETWORKS[name], calibration, folder) if way.pooled else NETWORKS[name]
        for board in boards:
            options = CompileOptions(quant=QuantOptions(residual=way.residual), verify=False)
            result = compile_model(
                path, board, calibration={original.input_names[0]: calibration.x},
                out=folder / "build", options=options,
            )  # fmt: skip
            quality = agreement(original, result, test) if count else "| | | "
            memory, found = result.report.memory, profile(result.folder)
            yield (
                f"| {name}, {way.label} | {board} | {quality} | {memory.flash_bytes or 0:,} | "
                f"{memory.weight_bytes:,} | {memory.arena_bytes:,} | "
                f"{found.total_cycles:,} | {found.ideal_cycles:,} |"
            )


def agreement(original: FloatModel, result: CompileResult, test: Split) -> str:
    """Accuracy of float and of integers, equal decisions, signal to noise of the logits."""
    (wanted,) = original.run({original.input_names[0]: test.x}).values()
    found = np.asarray(result.run(test.x, on="host"))
    shares = [np.mean(logits.argmax(1) == test.y) for logits in (wanted, found)]
    equal = np.mean(wanted.argmax(1) == found.argmax(1))
    return f"{shares[0]:.2%} | {shares[1]:.2%} | {equal:.2%} | {sqnr_db(wanted, found):.1f}"


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("networks", nargs="*", default=list(NETWORKS), help=" or ".join(NETWORKS))
    parser.add_argument("--boards", nargs="+", default=BOARDS)
    parser.add_argument("--images", type=int, default=IMAGES, help="test images; 0: none")
    add_data_option(parser)
    arguments = parser.parse_args()
    if arguments.networks != ["digits_vit"]:
        chosen_data_folder(arguments)
    print("| network | board | float | integer | equal | dB | flash | weights | arena | cycles | "
          "with memory that never waits |\n|---|---|" + "---:|" * 9)  # fmt: skip
    for name in arguments.networks:
        with tempfile.TemporaryDirectory() as folder:
            for row in rows(name, arguments.boards, arguments.images, Path(folder)):
                print(row, flush=True)


if __name__ == "__main__":
    main()

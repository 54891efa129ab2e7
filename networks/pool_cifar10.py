"""Compresses the weights of a network of this folder and fine-tunes it on CIFAR-10.

python networks/pool_cifar10.py resnet8
(or resnet8_sums, resnet8_ternary, resnet10, resnet10_sums, resnet14_sums, cct)

It writes RECIPE_cifar10.pool.onnx, or RECIPE_cifar10.bits.onnx where weights have few bits, by
`edgec compress --train` on the training images; accuracy is that of the validation images.  The
same command again goes on where it was interrupted.
"""

from __future__ import annotations

import argparse
import signal
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

import cifar10
import numpy as np

HERE = Path(__file__).parent


@dataclass(frozen=True)
class Recipe:
    """How a network is compressed and fine-tuned.

    Attributes:
        network: the float network of this folder that is compressed.
        epochs: passes over the training images.
        teacher: the float network of this folder that it learns from; None: from itself.
        options: more for `edgec compress`.
        suffix: of the file, before ".onnx".
    """

    network: str
    epochs: int
    teacher: str | None = None
    options: tuple[str, ...] = ()
    suffix: str = "pool"


ALL_BUT_THE_FIRST = ("--layers=*_139*", "--layers=*_14*", "--layers=*_15*", "--layers=*linear*")
RECIPES = {
    "resnet8": Recipe("resnet8", 60, "resnet10", ("--views=4", "--no-reorder", *ALL_BUT_THE_FIRST)),
    "resnet8_sums": Recipe(
        "resnet8", 36, "resnet10", ("--views=4", "--ratio=4.5", *ALL_BUT_THE_FIRST)
    ),
    "resnet8_ternary": Recipe("resnet8", 2, None, ("--bits=ternary",), "bits"),
    "resnet10": Recipe("resnet10", 12, None, ("--views=4",)),
    "resnet10_sums": Recipe("resnet10", 18, None, ("--views=4", "--ratio=8")),
    "resnet14_sums": Recipe("resnet14", 18, None, ("--views=4", "--ratio=8")),
    "cct": Recipe("cct", 40),
}


def written(args: argparse.Namespace, folder: Path, split: str) -> Path:
    """A file with the images of a split, as the networks take them."""
    images = cifar10.load(args.data_dir, split)
    path = folder / f"{split}.npz"
    np.savez(path, x=cifar10.normalise(images.x).numpy(), y=images.y.numpy())
    return path


def command(args: argparse.Namespace, train: Path, validation: Path) -> list[str]:
    """What is run."""
    recipe = RECIPES[args.recipe]
    model = args.network or HERE / f"{recipe.network}_cifar10.onnx"
    output = args.output or HERE / f"{args.recipe}_cifar10.{recipe.suffix}.onnx"
    found = [sys.executable, "-m", "edgec", "compress", str(model), "-o", str(output)]
    found += ["--train", str(train), "--augment", "--eval", str(validation)]
    found += ["--epochs", str(args.epochs or recipe.epochs), "--seed", str(args.seed)]
    found += ["--device", args.device, *recipe.options]
    teacher = args.teacher or (recipe.teacher and HERE / f"{recipe.teacher}_cifar10.onnx")
    found += ["--teacher", str(teacher)] if teacher else []
    return found + (["--pool-size", str(args.pool_size)] if args.pool_size else [])


def main(arguments: list[str] | None = None) -> int:
    """Command line."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("recipe", choices=RECIPES)
    cifar10.add_data_option(parser)
    parser.add_argument("--network", type=Path, help="float ONNX; default: the recipe's own")
    parser.add_argument("--epochs", type=int, help="default: the recipe's own")
    parser.add_argument("--pool-size", type=int, help="vectors; default: the recipe's own")
    parser.add_argument("--teacher", type=Path, help="default: the recipe's own")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--device", default="auto", choices=("auto", "cpu", "cuda"))
    parser.add_argument("-o", "--output", type=Path, help="default: see above")
    args = parser.parse_args(arguments)
    args.data_dir = cifar10.chosen_folder(parser, args)
    with tempfile.TemporaryDirectory() as name:
        train, validation = (written(args, Path(name), split) for split in ("train", "validation"))
        return subprocess.run(command(args, train, validation), check=False).returncode


if __name__ == "__main__":
    # An exception, so that the images in the temporary folder do not stay.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    sys.exit(main())

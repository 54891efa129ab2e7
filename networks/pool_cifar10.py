"""Pools the weights of a network of this folder and fine-tunes it on CIFAR-10.

python networks/pool_cifar10.py resnet8   (or resnet10, cct)

It writes NETWORK_cifar10.pool.onnx by `edgec compress --train` on the training images; accuracy is
that of the validation images.  The same command again goes on where it was interrupted.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
from pathlib import Path

import cifar10
import numpy as np

HERE = Path(__file__).parent
EPOCHS = {"resnet8": 32, "resnet10": 37, "cct": 40}
"""Networks, and how long they are fine-tuned."""


def written(args: argparse.Namespace, folder: Path, split: str) -> Path:
    """A file with the images of a split, as the networks take them."""
    images = cifar10.load(args.data_dir, split)
    path = folder / f"{split}.npz"
    np.savez(path, x=cifar10.normalise(images.x).numpy(), y=images.y.numpy())
    return path


def command(args: argparse.Namespace, train: Path, validation: Path) -> list[str]:
    """What is run."""
    model = HERE / f"{args.network}_cifar10.onnx"
    output = args.output or HERE / f"{args.network}_cifar10.pool.onnx"
    found = [sys.executable, "-m", "edgec", "compress", str(model), "-o", str(output)]
    found += ["--train", str(train), "--augment", "--eval", str(validation)]
    found += ["--epochs", str(args.epochs or EPOCHS[args.network]), "--seed", str(args.seed)]
    found += ["--pool-size", str(args.pool_size), "--device", args.device]
    return found + (["--teacher", str(args.teacher)] if args.teacher else [])


def main(arguments: list[str] | None = None) -> int:
    """Command line."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("network", choices=sorted(EPOCHS))
    cifar10.add_data_option(parser)
    parser.add_argument("--epochs", type=int, help=f"default: {EPOCHS}")
    parser.add_argument("--pool-size", type=int, default=64, help="vectors")
    parser.add_argument("--teacher", type=Path, help="another float network, e.g. the ResNet-10")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--device", default="auto", help="auto, cpu or cuda")
    parser.add_argument("-o", "--output", type=Path, help="default: NETWORK_cifar10.pool.onnx")
    args = parser.parse_args(arguments)
    args.data_dir = cifar10.chosen_folder(parser, args)
    with tempfile.TemporaryDirectory() as name:
        train, validation = (written(args, Path(name), split) for split in ("train", "validation"))
        return subprocess.run(command(args, train, validation), check=False).returncode


if __name__ == "__main__":
    sys.exit(main())

"""Writes CIFAR-10 images as the networks take them, for `edgec compress` and `edgec evaluate`.

python networks/samples.py train FILE.npz   (or validation, test)
"""

from __future__ import annotations

import argparse
from pathlib import Path

import cifar10
import numpy as np


def main() -> None:
    """Command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("split", choices=("train", "validation", "test"))
    parser.add_argument("file", type=Path)
    cifar10.add_data_option(parser)
    parser.add_argument("--limit", type=int, help="the first images only")
    args = parser.parse_args()
    images = cifar10.load(cifar10.chosen_folder(parser, args), args.split)
    x, y = images.x[: args.limit], images.y[: args.limit]
    np.savez(args.file, x=cifar10.normalise(x).numpy(), y=y.numpy())


if __name__ == "__main__":
    main()

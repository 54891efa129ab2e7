"""Writes CIFAR-10 images as the networks take them, for `edgec compress` and `edgec evaluate`.

python networks/samples.py train FILE.npz   (or validation, test)
"""

from __future__ import annotations

import argparse
from pathlib import Path

import cifar10
import numpy as np

HERE = Path(__file__).resolve().parent


def main() -> None:
    """Command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("split", choices=("train", "validation", "test"))
    parser.add_argument("file", type=Path)
    parser.add_argument("--data", type=Path, default=HERE.parents[1] / "shared" / "data")
    parser.add_argument("--limit", type=int, help="the first images only")
    args = parser.parse_args()
    images = cifar10.load(args.data, args.split)
    x, y = images.x[: args.limit], images.y[: args.limit]
    np.savez(args.file, x=cifar10.normalise(x).numpy(), y=y.numpy())


if __name__ == "__main__":
    main()

"""CIFAR-10 for training: read from the data folder (docs/data.md), split, normalised, augmented.

The validation images are 5,000 of the 50,000 training images (the first 5,000 of the second
file); every choice is made on them.  The test images are read once, for the number reported.
"""

from __future__ import annotations

import argparse
import os
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch
from PIL import Image
from torch.nn import functional

MEAN = (0.485, 0.456, 0.406)
STD = (0.229, 0.224, 0.225)
VALIDATION = 5000
DATA_VARIABLE = "EDGEC_DATA_DIR"


@dataclass(frozen=True, slots=True)
class Images:
    """Images and labels.

    Attributes:
        x: uint8 [N, 3, 32, 32].
        y: int64 [N].
    """

    x: torch.Tensor
    y: torch.Tensor


def add_data_option(parser: argparse.ArgumentParser) -> None:
    """Add `--data-dir`, which `chosen_folder` reads."""
    parser.add_argument(
        "--data-dir",
        type=Path,
        help=f"folder of CIFAR-10 (docs/data.md); default: ${DATA_VARIABLE}",
    )


def chosen_folder(parser: argparse.ArgumentParser, args: argparse.Namespace) -> Path:
    """The folder of `--data-dir` or of the environment; without one the parser stops the script."""
    folder = args.data_dir or os.environ.get(DATA_VARIABLE)
    if not folder:
        parser.error(f"no data folder: give --data-dir or set {DATA_VARIABLE} (docs/data.md)")
    return Path(folder)


def _read(folder: Path, name: str) -> Images:
    mosaic = np.asarray(Image.open(folder / f"{name}.webp").convert("RGB"))
    rows, columns = mosaic.shape[0] // 32, mosaic.shape[1] // 32
    tiles = mosaic.reshape(rows, 32, columns, 32, 3).transpose(0, 2, 4, 1, 3)
    labels = np.load(folder / f"{name}_labels.npz")["y"].astype(np.int64)
    images = np.ascontiguousarray(tiles.reshape(-1, 3, 32, 32)[: len(labels)])
    return Images(torch.from_numpy(images), torch.from_numpy(labels))


def load(folder: Path, split: str) -> Images:
    """The "train", "validation" or "test" images of a data folder (docs/data.md)."""
    folder = folder / "data"
    if split == "test":
        return _read(folder, "cifar10_test_5000")
    second = _read(folder, "cifar10_train_1")
    if split == "validation":
        return Images(second.x[:VALIDATION], second.y[:VALIDATION])
    first = _read(folder, "cifar10_train_0")
    return Images(
        torch.cat([first.x, second.x[VALIDATION:]]), torch.cat([first.y, second.y[VALIDATION:]])
    )


def normalise(x: torch.Tensor) -> torch.Tensor:
    """uint8 [N, 3, 32, 32] -> float (x / 255 - mean) / std, which is what the networks take."""
    mean = torch.tensor(MEAN, device=x.device).view(1, 3, 1, 1)
    std = torch.tensor(STD, device=x.device).view(1, 3, 1, 1)
    return (x.float() / 255 - mean) / std


def augment(x: torch.Tensor, generator: torch.Generator) -> torch.Tensor:
    """Mirrored at random and shifted by up to 4 pixels; uint8 in and out, [N, 3, 32, 32]."""
    n = x.shape[0]
    padded = functional.pad(x, (4, 4, 4, 4))
    dy, dx = torch.randint(0, 9, (2, n, 1), generator=generator)
    mirrored = torch.rand(n, 1, generator=generator) < 0.5
    rows = dy + torch.arange(32)
    columns = dx + torch.where(mirrored, 31 - torch.arange(32), torch.arange(32))
    index = torch.arange(n).view(n, 1, 1, 1)
    channel = torch.arange(3).view(1, 3, 1, 1)
    return padded[index, channel, rows.view(n, 1, 32, 1), columns.view(n, 1, 1, 32)]

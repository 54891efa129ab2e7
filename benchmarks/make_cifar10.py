"""Writes the CIFAR-10 files of the data folder from the public archive (docs/data.md).

    python benchmarks/make_cifar10.py cifar-10-python.tar.gz --data-dir FOLDER

The archive is that of https://www.cs.toronto.edu/~kriz/cifar.html.  `cifar10_order.npz` says which
of its images come in which order: the CRC-32 of each image's class and pixels.  77 training images
were decoded from JPEG in the files that edgec was measured with; images of the same class that are
left over take their places.
"""

from __future__ import annotations

import argparse
import pickle
import tarfile
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from PIL import Image
from public_data import Array

ORDER = Path(__file__).with_name("cifar10_order.npz")
BATCHES = {
    "data_batch": ("cifar10_train_0", "cifar10_train_1"),
    "test_batch": ("cifar10_test_5000",),
}
"""How the names of the archive's batches begin -> files that their images are for."""
COLUMNS = {"cifar10_train_0": 125, "cifar10_train_1": 125, "cifar10_test_5000": 100}
"""Images in a row of a mosaic."""
SIDE = 32
CLASSES = 10


def fingerprint(image: Array, label: int) -> int:
    """Of an image uint8 [32, 32, 3] and its class."""
    return zlib.crc32(image.tobytes(), label)


def batches(archive: Path, start: str) -> Iterator[tuple[Array, int]]:
    """Images uint8 [32, 32, 3] and classes of the batches whose names begin so.

    Raises:
        SystemExit: the archive holds none.
    """
    found = False
    with tarfile.open(archive) as tar:
        for member in sorted(tar.getmembers(), key=lambda item: item.name):
            if not Path(member.name).name.startswith(start):
                continue
            found = True
            file = tar.extractfile(member)
            assert file is not None
            batch: dict[str, Any] = pickle.load(file, encoding="latin1")
            images = np.asarray(batch["data"], np.uint8).reshape(-1, 3, SIDE, SIDE)
            for image, label in zip(images.transpose(0, 2, 3, 1), batch["labels"], strict=True):
                yield np.ascontiguousarray(image), int(label)
    if not found:
        raise SystemExit(f"{archive}: no {start}; is it cifar-10-python.tar.gz?")


def ordered(pairs: list[tuple[Array, int]], marks: list[Array]) -> list[Array]:
    """Images in the order of their fingerprints, uint8 [N, 32, 32, 3] for each array of these.

    Image i of a file has class i % 10.  Where no image has the fingerprint, one of its class that
    no fingerprint asks for takes the place, in the order of the archive.
    """
    images = {fingerprint(image, label): image for image, label in pairs}
    asked = {int(mark) for part in marks for mark in part}
    spare: dict[int, list[Array]] = {label: [] for label in range(CLASSES)}
    for image, label in reversed(pairs):
        if fingerprint(image, label) not in asked:
            spare[label].append(image)

    def place(index: int, mark: int) -> Array:
        return images[mark] if mark in images else spare[index % CLASSES].pop()

    return [np.stack([place(i, int(mark)) for i, mark in enumerate(part)]) for part in marks]


def write(images: Array, folder: Path, name: str) -> None:
    """One lossless mosaic, and its classes."""
    columns = COLUMNS[name]
    tiles = images.reshape(-1, columns, SIDE, SIDE, 3).swapaxes(1, 2)
    mosaic = Image.fromarray(tiles.reshape(-1, columns * SIDE, 3))
    mosaic.save(folder / f"{name}.webp", lossless=True, quality=50, method=2)
    classes = np.arange(len(images), dtype=np.uint8) % CLASSES
    np.savez_compressed(folder / f"{name}_labels.npz", y=classes)


def convert(archive: Path, folder: Path) -> None:
    """Write all files into the folder `data` of the data folder."""
    order = np.load(ORDER)
    target = folder / "data"
    target.mkdir(parents=True, exist_ok=True)
    for start, names in BATCHES.items():
        pairs = list(batches(archive, start))
        for name, images in zip(names, ordered(pairs, [order[n] for n in names]), strict=True):
            write(images, target, name)


def main() -> None:
    """Command line."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("archive", type=Path, help="cifar-10-python.tar.gz")
    parser.add_argument("--data-dir", type=Path, required=True, help="folder to write to")
    arguments = parser.parse_args()
    convert(arguments.archive, arguments.data_dir)


if __name__ == "__main__":
    main()

"""The conversion of CIFAR-10's public archive gives the files that edgec was measured with."""

from __future__ import annotations

import io
import pickle
import sys
import tarfile
from pathlib import Path

import make_cifar10
import numpy as np
import pytest
from data_folder import needed_data_folder
from public_data import cifar_part

from edgec.base.dtypes import Array


def write_archive(path: Path, parts: dict[str, tuple[Array, Array]]) -> None:
    """An archive like the public one: batches of uint8 [N, 3072], channels first, and labels."""
    with tarfile.open(path, "w:gz", compresslevel=1) as tar:
        for name, (images, labels) in parts.items():
            rows = images.transpose(0, 3, 1, 2).reshape(len(images), -1)
            content = pickle.dumps({"data": rows, "labels": labels.tolist()}, protocol=2)
            entry = tarfile.TarInfo(f"cifar-10-batches-py/{name}")
            entry.size = len(content)
            tar.addfile(entry, io.BytesIO(content))


def test_images_come_in_their_order_and_spare_ones_fill_gaps(tmp_path, monkeypatch):
    rng = np.random.default_rng(0)
    images = rng.integers(0, 256, (60, 32, 32, 3)).astype(np.uint8)
    labels = np.arange(60) % 10
    marks = np.array(
        [make_cifar10.fingerprint(x, int(y)) for x, y in zip(images, labels, strict=True)],
        np.uint32,
    )
    marks[3] = 1  # of no image: number 3 itself is asked for by nobody then, and fills the gap
    names = ("cifar10_train_0", "cifar10_train_1", "cifar10_test_5000")
    order = dict(zip(names, (marks[:20], marks[20:40], marks[40:]), strict=True))
    np.savez(tmp_path / "order.npz", **order)
    monkeypatch.setattr(make_cifar10, "ORDER", tmp_path / "order.npz")
    monkeypatch.setattr(make_cifar10, "COLUMNS", dict.fromkeys(names, 5))
    mixed = rng.permutation(40)
    write_archive(
        tmp_path / "archive.tar.gz",
        {
            "data_batch_1": (images[mixed[:25]], labels[mixed[:25]]),
            "data_batch_2": (images[mixed[25:]], labels[mixed[25:]]),
            "test_batch": (images[:39:-1], labels[:39:-1]),
        },
    )
    argv = ["make_cifar10.py", str(tmp_path / "archive.tar.gz"), "--data-dir", str(tmp_path)]
    monkeypatch.setattr(sys, "argv", argv)
    make_cifar10.main()
    found = [cifar_part(tmp_path / "data", name, None) for name in names]
    np.testing.assert_array_equal(np.concatenate([part.x for part in found]), images)
    np.testing.assert_array_equal(np.concatenate([part.y for part in found]), labels)


def test_another_archive_is_refused(tmp_path):
    write_archive(tmp_path / "other.tar.gz", {})
    with pytest.raises(SystemExit, match=r"is it cifar-10-python\.tar\.gz"):
        make_cifar10.convert(tmp_path / "other.tar.gz", tmp_path)


@pytest.mark.data
@pytest.mark.slow
@pytest.mark.parametrize("name", make_cifar10.COLUMNS)
def test_the_order_is_that_of_the_data_folder(name):
    part = cifar_part(needed_data_folder() / "data", name, None)
    found = [
        make_cifar10.fingerprint(np.ascontiguousarray(x), int(y))
        for x, y in zip(part.x, part.y, strict=True)
    ]
    np.testing.assert_array_equal(found, np.load(make_cifar10.ORDER)[name])

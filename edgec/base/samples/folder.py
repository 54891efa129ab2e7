"""Folders of samples: the files in them, and the classes that their subfolders name."""

from __future__ import annotations

import itertools
import logging
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from edgec.base.dtypes import Array
from edgec.base.errors import ConfigError

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Folder:
    """Files of samples.

    Attributes:
        path: the folder.
        files: in the order of the samples: sorted by name, and where there are classes, the first
            file of each class, then the second of each, and so on, so that the first samples are of
            all classes.
        classes: names of the subfolders, sorted: class i is classes[i]; empty without subfolders.
        labels: number of the class of each file; empty without subfolders.
    """

    path: Path
    files: tuple[Path, ...]
    classes: tuple[str, ...] = ()
    labels: tuple[int, ...] = ()

    @property
    def listing(self) -> str:
        """Number of files and classes in the folder, for messages."""
        classes = f" of {len(self.classes)} classes" if self.classes else ""
        return f"{len(self.files)} files{classes}"

    @property
    def why_no_labels(self) -> str:
        """Reason why the folder has no labels; empty where it has some."""
        return "" if self.classes else "the folder has no subfolders, one for each class"

    def in_order_of(self, classes: tuple[str, ...]) -> Folder:
        """The folder with the numbers that the model has for the classes of its subfolders.

        Args:
            classes: names of the model's classes in its order; empty: it names none.
        """
        if not self.classes or self.classes == classes or not classes:
            return self
        if not set(self.classes) <= set(classes):
            _log.warning("%s: its subfolders are not named as the model's classes", self.path)
            return self
        _log.warning("%s: classes have the numbers of the model's own labels", self.path)
        numbers = [classes.index(name) for name in self.classes]
        labels = tuple(numbers[label] for label in self.labels)
        return Folder(self.path, self.files, self.classes, labels)

    def labelled(self, samples: Array) -> dict[str, Array]:
        """Samples "x", one for each file, with their labels "y" if there are classes."""
        labels = {"y": np.array(self.labels, np.int64)} if self.classes else {}
        return {"x": samples, **labels}


def open_folder(path: Path, suffixes: frozenset[str], more: str = "") -> Folder:
    """The files with one of the suffixes, in the folder itself or in its subfolders.

    Args:
        path: the folder.
        suffixes: how names of samples end, in small letters.
        more: what the hint says of other files where there are no samples.

    Raises:
        ConfigError: there are none, or they are in both places, or a class has none.
    """
    entries = _visible(path)
    folders = [entry for entry in entries if entry.is_dir()]
    files = _with_suffix(path, entries, suffixes)
    if files and folders:
        raise ConfigError(
            "holds samples beside subfolders",
            hint="give a folder of files, or a folder with one subfolder for each class",
        )
    hint = f"give files of {', '.join(sorted(suffixes))}{more and '; '}{more}"
    if not folders:
        if not files:
            raise ConfigError("the folder holds no samples", hint=hint)
        return Folder(path, tuple(files))
    classes = [_with_suffix(folder, _visible(folder), suffixes) for folder in folders]
    for folder, found in zip(folders, classes, strict=True):
        if not found:
            raise ConfigError(f"class {folder.name!r} has no samples", hint=hint)
    turns = [
        (file, label)
        for row in itertools.zip_longest(*classes)
        for label, file in enumerate(row)
        if file is not None
    ]
    return Folder(
        path,
        tuple(file for file, _ in turns),
        tuple(folder.name for folder in folders),
        tuple(label for _, label in turns),
    )


def _visible(path: Path) -> list[Path]:
    """Entries of a folder, sorted by name, without hidden files."""
    return sorted(entry for entry in path.iterdir() if not entry.name.startswith("."))


def _with_suffix(path: Path, entries: list[Path], suffixes: frozenset[str]) -> list[Path]:
    """The files with one of the suffixes; a warning tells how many others there are."""
    files = [entry for entry in entries if entry.is_file()]
    found = [file for file in files if file.suffix.lower() in suffixes]
    if len(found) < len(files):
        _log.warning("%s: %d files are no samples and not read", path, len(files) - len(found))
    return found

"""Where the public networks and data are: `--data-dir`, or the environment variable.

docs/data.md says what the folder holds and where its files come from.
"""

from __future__ import annotations

import argparse
import os
from pathlib import Path

DATA_VARIABLE = "EDGEC_DATA_DIR"
_HELP = f"folder of public networks and data (docs/data.md); default: ${DATA_VARIABLE}"


def data_folder() -> Path | None:
    """The folder that the environment variable names; None where it names none."""
    name = os.environ.get(DATA_VARIABLE)
    return Path(name) if name else None


def needed_data_folder() -> Path:
    """The folder that the environment variable names.

    Raises:
        SystemExit: it names none, or what it names is not there.
    """
    folder = data_folder()
    if folder is None:
        raise SystemExit(f"no data folder: give --data-dir or set {DATA_VARIABLE} (docs/data.md)")
    if not folder.is_dir():
        raise SystemExit(f"no such data folder: {folder} (docs/data.md says how to get its files)")
    return folder


def add_data_option(parser: argparse.ArgumentParser) -> None:
    """Add `--data-dir`, read by `chosen_data_folder`."""
    parser.add_argument("--data-dir", help=_HELP)


def chosen_data_folder(arguments: argparse.Namespace) -> Path:
    """The folder of `--data-dir` or of the environment; it is in the environment from here on.

    Raises:
        SystemExit: neither names a folder that is there.
    """
    if arguments.data_dir:
        os.environ[DATA_VARIABLE] = arguments.data_dir
    return needed_data_folder()

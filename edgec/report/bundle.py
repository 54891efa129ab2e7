"""`bundle.json`: what `edgec bundle` made; `edgec flash` reads it.  Data, JSON and a table."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pydantic import TypeAdapter, ValidationError
from rich.console import Console

from edgec.base.errors import ConfigError
from edgec.base.swap import recover
from edgec.base.version import __version__
from edgec.report.console import count
from edgec.report.model import BUNDLE_JSON, Report
from edgec.report.tables import table
from edgec.target.board import Board

_MAX_BYTES = 1 << 20


@dataclass(frozen=True, slots=True)
class BundledModel:
    """A model of a bundle.

    Attributes:
        name: name of the model.
        folder: the build folder it came from.
        weight_bytes: its constants, those shared with other models included.
        arena_bytes: the working memory it needs alone.
        checked: its emulated output was compared with that of its library on this computer.
    """

    name: str
    folder: str
    weight_bytes: int
    arena_bytes: int
    checked: bool


@dataclass(frozen=True, slots=True)
class Bundle:
    """A finished bundle.

    Attributes:
        board: what it was built for.
        models: in the order in which the firmware numbers them.
        arena_bytes: the arena that they share.
        flash_bytes, ram_bytes: what the firmware takes; None on the host.
        shared_bytes: flash saved by storing equal pools once; None on the host.
    """

    board: Board
    models: tuple[BundledModel, ...]
    arena_bytes: int
    flash_bytes: int | None
    ram_bytes: int | None
    shared_bytes: int | None

    def to_json(self) -> dict[str, Any]:
        """Plain JSON data."""
        return {"edgec": __version__, **_ADAPTER.dump_python(self, mode="json")}

    def write(self, folder: Path) -> None:
        """Write `bundle.json` into `folder`."""
        text = json.dumps(self.to_json(), indent=1)
        (folder / BUNDLE_JSON).write_text(text + "\n", "utf-8")


_ADAPTER: TypeAdapter[Bundle] = TypeAdapter(Bundle)


def board_of(folder: Path) -> Board:
    """The board of a build folder or of a bundle.

    Raises:
        ConfigError: it is neither, or damaged.
    """
    recover(folder)
    path = folder / BUNDLE_JSON
    if not path.is_file():
        return Report.read(folder).board
    try:
        if path.stat().st_size > _MAX_BYTES:
            raise ValueError("it is too large")
        data = json.loads(path.read_text("utf-8"))
        return TypeAdapter(Board).validate_python(data["board"])
    except (OSError, ValueError, KeyError, TypeError, ValidationError) as error:
        raise ConfigError(
            "not a bundle of this version of edgec", where=str(path), hint="bundle it again"
        ) from error


def print_bundle(bundle: Bundle, out: Console) -> None:
    """A bundle as a table."""
    rows = [
        (
            number,
            model.name,
            count(model.weight_bytes),
            count(model.arena_bytes),
            "equal" if model.checked else "not run",
        )
        for number, model in enumerate(bundle.models)
    ]
    columns = (">number", "model", ">weights", ">arena", "emulated against alone")
    out.print(table(f"Firmware for {bundle.board.name}", columns, rows))
    out.print(f"shared arena {bundle.arena_bytes:,} bytes")
    if bundle.flash_bytes is not None and bundle.ram_bytes is not None:
        saved = f", {bundle.shared_bytes:,} saved by sharing" if bundle.shared_bytes else ""
        out.print(f"flash {bundle.flash_bytes:,} bytes{saved}; RAM {bundle.ram_bytes:,} bytes")

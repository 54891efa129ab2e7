"""The commands `edgec boards`, `edgec boards show` and `edgec boards new`."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from edgec.cli.options import OUT, Json
from edgec.cli.values import board_names
from edgec.report import console
from edgec.report.tables import table

if TYPE_CHECKING:
    from edgec.target.board import Board

BoardName = Annotated[
    str,
    typer.Argument(
        metavar="BOARD",
        help="Name, alias, or path of a board file.",
        autocompletion=board_names,
    ),
]


def boards(context: typer.Context, json: Json = False) -> None:
    """List the boards that edgec builds firmware for; show one; write a file for a new one."""
    from edgec.target.board import list_boards

    if context.invoked_subcommand is not None:
        return
    found = list_boards()
    if json:
        console.print_json([board.to_json() for board in found])
        return
    columns = ("board", "alias", "core", ">MHz", ">flash", ">RAM", "emulator", "name")
    console.out.print(table("Boards", columns, board_rows(found)))
    console.print_next("edgec", "compile", "MODEL.onnx", "--board", "nucleo")


def show_board(board: BoardName, json: Json = False) -> None:
    """Show everything about a board: its file, what follows from it, what was checked."""
    from edgec.commands.boards import described
    from edgec.target.board import load_board

    found = load_board(board)
    data = described(found)
    if json:
        console.print_json(data)
        return
    sources = data.pop("sources")
    console.out.print(table(found.title, ("key", "value"), list(_rows(data))))
    documents = [(each["document"], each["section"], ", ".join(each["keys"])) for each in sources]
    console.out.print(table("Sources", ("document", "section", "keys"), documents))
    console.print_next("edgec", "compile", "MODEL.onnx", "--board", board)


def new_board(
    name: Annotated[
        str, typer.Argument(metavar="ID", help="The new board's name, such as my_board.")
    ],
    like: Annotated[
        str,
        typer.Option(
            metavar="BOARD",
            help="A board with a microcontroller of the same family.",
            autocompletion=board_names,
        ),
    ],
    manifest: Annotated[
        Path | None,
        typer.Option(
            "--from", metavar="MANIFEST.json", help="PlatformIO's manifest of the new board."
        ),
    ] = None,
    out: Annotated[
        Path | None, typer.Option(*OUT, metavar="FILE", help="File to write (default: ID.toml).")
    ] = None,
) -> None:
    """Write a board file for a new board, with a comment on each key.

    A copy of the file of a board of the same family, with what PlatformIO's manifest says.

    Lines with CHECK are for you: compare them with the manuals.
    """
    from edgec.commands.boards import write_new_board

    done = write_new_board(name, like, manifest, out)
    console.out.print(f"written to {done.path}", markup=False)
    for number, line in done.to_check:
        console.out.print(f"  line {number}: {line.lstrip('# ')}", markup=False)
    path = str(done.path)
    where = path if "/" in path else f"./{path}"
    console.print_next("edgec", "compile", "MODEL.onnx", "--board", where)


def _rows(data: dict[str, Any], path: str = "") -> list[tuple[str, str]]:
    """A row for each number and text of JSON data: its dotted key and its value."""
    rows: list[tuple[str, str]] = []
    for name, value in data.items():
        key = f"{path}{name}"
        if value is None or value in ("", [], {}):
            continue
        if isinstance(value, dict):
            rows += _rows(value, f"{key}.")
        elif isinstance(value, list) and isinstance(value[0], dict):
            for each in value:
                rows += _rows(each, f"{key}.{each.get('name', '')}.")
        else:
            rows.append((key, _shown(name, value)))
    return rows


def _shown(name: str, value: Any) -> str:
    if isinstance(value, list):
        return " ".join(str(each) for each in value)
    if isinstance(value, bool) or not isinstance(value, int):
        return str(value).lower() if isinstance(value, bool) else str(value)
    return f"0x{value:08X}" if name == "origin" or name.startswith("PORT_") else f"{value:,}"


def board_rows(boards: Sequence[Board]) -> list[tuple[str, ...]]:
    """One row per board: name, aliases, core, MHz, flash, RAM, emulator, title."""
    return [
        (
            board.name,
            ", ".join(board.aliases),
            board.core.value,
            f"{board.clock_hz / 1e6:.0f}" if board.clock_hz else "",
            memory_size(board.flash_bytes),
            memory_size(board.ram_bytes),
            board.emulator.kind if board.emulator.kind != "none" else "",
            board.title,
        )
        for board in boards
    ]


def memory_size(size: int | None) -> str:
    """A size in bytes as text with its unit; empty for None."""
    if size is None:
        return ""
    return f"{size // 1024} KB" if size < 64 << 20 else f"{size >> 20} MB"

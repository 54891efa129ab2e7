"""The commands `edgec boards`, `edgec boards show` and `edgec boards new`."""

from __future__ import annotations

import textwrap
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


def boards(
    context: typer.Context,
    find: Annotated[
        str | None,
        typer.Option(
            "--find",
            metavar="TEXT",
            help="List the boards of a vendor, or with this in their name or MCU, such as f446.",
        ),
    ] = None,
    json: Json = False,
) -> None:
    """List the boards that edgec builds firmware for; show one; write a file for a new one."""
    from edgec.target.board import list_boards, load_board
    from edgec.target.board_search import boards_like

    if context.invoked_subcommand is not None:
        return
    found: Sequence[Board] = list_boards()
    if find is not None:
        found = boards_like(find, found) or (load_board(find),)
    if json:
        console.print_json([board.to_json() for board in found])
        return
    if find is None and not console.is_verbose():
        _print_by_vendor(found)
    else:
        columns = ("board", "alias", "core", ">MHz", ">flash", ">RAM", "emulator", "name")
        optional = ("emulator", "alias", "core", "name")
        console.out.print(table("Boards", columns, board_rows(found), optional=optional))
    board = found[0].name if find is not None else "nucleo"
    console.print_next("edgec", "compile", "MODEL.onnx", "--board", board)


def _print_by_vendor(found: Sequence[Board]) -> None:
    """Print the names of boards, a block for each vendor."""
    vendors: dict[str, list[str]] = {}
    for board in found:
        vendor = board.vendor if len(board.vendor) < _VENDOR else board.title
        vendors.setdefault(vendor, []).append(board.name)
    width = console.out.width
    is_narrow = width < 2 * _LINE // 3
    indent = 2 if is_narrow else _VENDOR
    for vendor, names in vendors.items():
        room = min(_LINE, width - 1) - indent
        lines = textwrap.wrap(", ".join(names), room, break_on_hyphens=False)
        if is_narrow:
            lines.insert(0, "")
        for number, line in enumerate(lines):
            console.out.print(f"{vendor if number == 0 else '':<{indent}}{line}")
    console.print_prose(
        "A part of a name, a vendor or an MCU will do: --board f446. Memory and clocks: edgec "
        "boards --find stm32, or -v; another Cortex-M: edgec boards new. ESP32, RISC-V, AVR: the C "
        "library runs there, edgec export."
    )


_VENDOR = 20
"""Characters of the column of vendors."""
_LINE = 78


def show_board(board: BoardName, json: Json = False) -> None:
    """Show everything about a board: its file, what follows from it, what was checked."""
    from edgec.commands.boards import described
    from edgec.target.board import load_board

    found = load_board(board)
    data = described(found)
    if json:
        console.print_json(data)
        return
    if not console.is_verbose():
        _print_board(found)
        console.print_next("edgec", "compile", "MODEL.onnx", "--board", board)
        return
    sources = data.pop("sources")
    console.out.print(table(found.title, ("key", "value"), list(_rows(data))))
    documents = [(each["document"], each["section"], ", ".join(each["keys"])) for each in sources]
    console.out.print(table("Sources", ("document", "section", "keys"), documents))
    console.print_next("edgec", "compile", "MODEL.onnx", "--board", board)


def _print_board(board: Board) -> None:
    """Print what most people ask of a board; `-v` shows its whole file."""
    from edgec.commands.boards import checked_by

    clock = f" at {board.clock_hz / 1e6:g} MHz" if board.clock_hz else ""
    flash, ram = memory_size(board.flash_bytes), memory_size(board.ram_bytes)
    sizes = [
        text for text in (f"flash {flash}" if flash else "", f"RAM {ram}" if ram else "") if text
    ]
    serial = board.console
    lines = {
        "names": ", ".join((board.name, *board.aliases)),
        "chip": f"{board.mcu} ({board.core.value}{clock})",
        "memory": ", ".join(filter(None, sizes)),
        "serial": "" if serial is None else f"{serial.uart}, {serial.baud} baud: {serial.pins}",
        "upload": ", ".join(board.upload.tools),
        "checked": checked_by(board),
    }
    console.out.print(f"[bold]{console.safe(board.title)}[/]")
    for label, text in lines.items():
        if text:
            console.print_labelled(label, console.safe(text))
    console.out.print("-v shows all keys of the board's file and the documents they are from")


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

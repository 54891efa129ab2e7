"""What the shell completes in the place of an option's value."""

from __future__ import annotations

from collections.abc import Iterator


def board_names(incomplete: str) -> Iterator[tuple[str, str]]:
    """Names and aliases of boards that begin like `incomplete`, each with the board's title."""
    from edgec.target.board import list_boards

    for board in list_boards():
        for name in (board.name, *board.aliases):
            if name.startswith(incomplete):
                yield name, board.title

"""Boards by what people type: an MCU, a vendor, a part of a name; an answer for other chips."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from edgec.target.board import Board

_LEAST = 3
"""Characters of a text that is looked for within names."""
_WHOLE = 6
"""Characters of a name from which on it is recognised within a longer text."""
_FAMILY = 7
"""Characters of an STM32 that name its family: STM32F4, STM32WB."""
_VENDORS = {"st": "STMicroelectronics", "nordic": "nrf", "nxp": "MIMXRT", "rp": "Raspberry Pi"}
"""Short names of vendors to what their boards have."""
_LIBRARY = (
    "edgec builds firmware for Arm Cortex; its C library runs here, too: edgec compile MODEL "
    "--board host, then edgec export DIR --as {form}"
)
_FOREIGN = (
    (r"esp32|esp8266|esp-?idf|espressif|xtensa", "idf"),
    (r"atmega|attiny|arduino ?(uno|mega|nano$)|^uno$|avr", "arduino"),
    (r"risc-?v|rv32|gd32vf|ch32v|hifive|kendryte|k210|milk-?v|bl60", "cmake"),
    (r"msp430|pic(16|18|24|32)|dspic|8051|stm8", "c"),
)
"""Processors that are no Arm Cortex, to the form of library that is used there."""
_NICKNAMES = (
    (r"blue ?pill|maple mini", "stm32f1"),
    (r"black ?pill|feather (stm32)?f405|pyboard", "stm32f4"),
    (r"micro ?bit ?v?2|nrf52|xiao (ble|nrf)|feather nrf|nicla sense", "nrf52"),
    (r"nrf51", "nrf51"),
    (r"pico ?2|rp235\d", "rp2350"),
    (r"pico|rp2040|xiao rp|feather rp", "rp2040"),
    (r"teensy ?(4|mm)|imxrt106|mimxrt106", "imxrt1060"),
)
"""Boards and chips by what people call them, to the port of their family."""
_CORTEX_M = (
    r"stm32|nucleo|nrf5|rp2\d|imxrt|mimxrt|teensy|pico|samd|same|lpc|kinetis|ra[246]m|r7fa|efm32|"
    r"efr32|psoc|cc13|cc26|gd32|at32|max32"
)
"""Chips with a Cortex-M."""


def boards_like(text: str, boards: Sequence[Board]) -> list[Board]:
    """The boards that a text may mean.

    Args:
        text: what a user typed, such as "f446", "arduino nano 33" or "STM32F446RE".
        boards: all of them.

    Returns:
        Those whose name, alias, title, MCU or vendor holds the text, or else those whose name,
        alias, title or MCU the text begins with; only letters and digits count, large or small.
    """
    if _foreign(text) is not None:
        return []
    wanted = _plain(_VENDORS.get(text.strip().lower(), text)).rstrip("x")
    if len(wanted) < _LEAST:
        return []
    names = {board.name: [_plain(each) for each in _names(board)] for board in boards}
    same = [board for board in boards if wanted in names[board.name][:-1]]
    if same:
        return same
    within = [board for board in boards if any(wanted in each for each in names[board.name])]
    if within:
        return within
    return [
        board
        for board in boards
        if any(_is_whole(each) and wanted.startswith(each) for each in names[board.name][:-1])
    ]


def _is_whole(name: str) -> bool:
    """Whether a name says which board it is: a family's name, such as nucleo, has no digits."""
    return len(name) >= _WHOLE and any(letter.isdigit() for letter in name)


def other_chip(text: str, boards: Sequence[Board]) -> str:
    """Advice for a chip that edgec has no board of; "" where the text is no chip that it knows.

    Args:
        text: what a user typed.
        boards: all that edgec has.
    """
    form = _foreign(text)
    if form is not None:
        return _LIBRARY.format(form=form)
    alike = _of_family(_spaced(text), boards)
    if alike:
        more = f" (or {', '.join(alike[1:])})" if alike[1:] else ""
        return (
            "a board of a family that is there is one file: "
            f"edgec boards new NAME --like {alike[0]}{more}, then its memories and pins"
        )
    if re.search(_CORTEX_M, _spaced(text)):
        return (
            "`edgec boards` lists all; another board of a family among them is one file: "
            "edgec boards new NAME --like BOARD"
        )
    return ""


def _of_family(spaced: str, boards: Sequence[Board]) -> list[str]:
    """Names of the boards with a microcontroller of the family that a text is about."""
    for pattern, port in _NICKNAMES:
        if re.search(pattern, spaced):
            return _known_first(board for board in boards if board.port == port)
    found = re.search(r"(?:stm32|nucleo[ -]?|disco(?:very)?[ -]?)([a-z]{1,2}\d?)", spaced)
    if found is None:
        return []
    chip = f"STM32{found[1].upper()}"
    return _known_first(b for b in boards if len(chip) >= _FAMILY and b.mcu.startswith(chip))


def _known_first(boards: Iterable[Board]) -> list[str]:
    """Their names, Nucleos first: most people know those of a family."""
    return sorted((board.name for board in boards), key=lambda name: not name.startswith("nucleo"))


def _foreign(text: str) -> str | None:
    """The form of library for a processor that is no Arm Cortex; None for other texts."""
    spaced = _spaced(text)
    return next((form for pattern, form in _FOREIGN if re.search(pattern, spaced)), None)


def _spaced(text: str) -> str:
    return " ".join(text.lower().replace("_", " ").split())


def _names(board: Board) -> tuple[str, ...]:
    return (board.name, *board.aliases, board.title, board.mcu, board.vendor)


def _plain(text: str) -> str:
    return "".join(sign for sign in text.lower() if sign.isalnum())

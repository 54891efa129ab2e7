"""Figures of a build that a search compares, and which of them boards of a kind have.

Of all figures less is better.  A board with Linux has no cycle model, and its programs lie in files
and in memory that the system hands out, so that neither time nor flash nor RAM can be counted; its
instructions, weights and arena can.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from edgec.base.errors import ConfigError
from edgec.base.names import shown
from edgec.target.board import Board

_NUMBER = re.compile(r"([0-9]{1,9}(?:\.[0-9]{1,9})?)([KkMm]?)")
_UNITS = {"": 1, "K": 1 << 10, "M": 1 << 20}


@dataclass(frozen=True, slots=True)
class Figure:
    """One figure.

    Attributes:
        name: what `--select` and `--fit` call it.
        word: what sentences call it.
        heading: title of the column in tables.
        axis: its unit, as the text of an axis.
        said: a number of a table with its unit.
        form: format of a number in tables.
        worst: what a proposal is told of a setting that cannot be built, and the largest limit.
        record: its name in records; "": `name`.
        note: what a reader of the figure has to know, a sentence; "": nothing.
        in_bytes: its limits may end in K and M, 1024 and 1024 * 1024 bytes.
    """

    name: str
    word: str
    heading: str
    axis: str
    said: str
    form: str = "{:,.0f}"
    worst: float = 1e9
    record: str = ""
    note: str = ""
    in_bytes: bool = False

    @property
    def key(self) -> str:
        """Name in records, such as those of `--json`."""
        return self.record or self.name

    def number(self, text: str) -> float | None:
        """The number of a limit, such as ``64K`` or ``0.5``; None: it is none."""
        found = _NUMBER.fullmatch(text)
        if found is None or (found[2] and not self.in_bytes):
            return None
        return float(found[1]) * _UNITS[found[2].upper()]

    def text(self, value: float | None) -> str:
        """A value as tables show it; "" where nobody knows it."""
        return "" if value is None else self.form.format(value)


DROP = Figure("drop", "accuracy", "points lost", "points lost", "{} points", "{:.2f}", 100.0)
TIME = Figure("ms", "time", "ms", "milliseconds", "{} ms", "{:,.3f}", 1e6)
FLASH = Figure("flash", "flash", "flash", "bytes of flash", "flash {} B", in_bytes=True)
RAM = Figure("ram", "RAM", "RAM", "bytes of RAM", "RAM {} B", in_bytes=True)
ENERGY = Figure(
    name="uj",
    word="energy",
    heading="µJ",
    axis="microjoules",
    said="{} µJ",
    record="microjoules",
    note="Energy is an estimate from one current of a data sheet.",
)
INSTRUCTIONS = Figure(
    name="mi",
    word="instructions",
    heading="M instr.",
    axis="millions of instructions",
    said="{} M instr.",
    form="{:,.5g}",
    worst=1e6,
    note="Instructions are counted exactly; caches and speculation make time another thing.",
)
WEIGHTS = Figure("weights", "weights", "weights", "bytes of weights", "weights {} B", in_bytes=True)
ARENA = Figure("arena", "arena", "arena", "bytes of the arena", "arena {} B", in_bytes=True)


@dataclass(frozen=True, slots=True)
class Figures:
    """The figures of boards of one kind.

    Attributes:
        boards: the boards, as sentences call them.
        objectives: lost accuracy, speed, bytes that are stored, bytes that are written to.
        others: figures that a front knows as well, but no proposal is told.
    """

    boards: str
    objectives: tuple[Figure, Figure, Figure, Figure]
    others: tuple[Figure, ...] = ()

    @property
    def all(self) -> tuple[Figure, ...]:
        """All figures, in the order of tables and records."""
        return (*self.objectives, *self.others)

    @property
    def names(self) -> tuple[str, ...]:
        """Names of all figures."""
        return tuple(each.name for each in self.all)

    def check_here(self, name: str, where: str) -> None:
        """Refuse a figure that only boards of another kind have; any other word is let through.

        Args:
            name: name of the figure.
            where: the option that asks for it.

        Raises:
            ConfigError: these boards do not have it; says what they have in its place.
        """
        if name in self.names or name not in KNOWN:
            return
        what = f"a search for {self.boards} has no {name} ({KNOWN[name].axis})"
        other = next(each for each in KINDS.values() if name in each.names)
        place = other.names.index(name)
        instead = self.all[place] if place < len(self.all) else self.objectives[1]
        raise ConfigError(what, where=where, hint=f"give {instead.name} ({instead.axis})")


MICROCONTROLLERS = "microcontrollers"
LINUX = "boards with Linux"
KINDS = {
    MICROCONTROLLERS: Figures(MICROCONTROLLERS, (DROP, TIME, FLASH, RAM), (ENERGY,)),
    LINUX: Figures(LINUX, (DROP, INSTRUCTIONS, WEIGHTS, ARENA)),
}
"""Figures by the kind of boards that have them."""
KNOWN = {each.name: each for kind in KINDS.values() for each in kind.all}
"""All figures by name."""


def kind_of(boards: Sequence[Board]) -> str:
    """The kind of the boards of a search, a key of `KINDS`.

    Raises:
        ConfigError: the host, whose instructions nobody counts, or boards of both kinds.
    """
    for board in boards:
        if board.is_host:
            raise ConfigError(
                "has no figures that could be compared",
                where=f"--board {board.name}",
                hint="choose another one: edgec boards",
            )
    with_linux = [board.name for board in boards if board.linux is not None]
    without = [board.name for board in boards if board.linux is None]
    if with_linux and without:
        raise ConfigError(
            f"{without[0]} is compared by time, and {with_linux[0]}, a board with Linux, by "
            "instructions, which are not the same thing",
            where="--board",
            hint="search for each of them by itself",
        )
    return LINUX if with_linux else MICROCONTROLLERS


def limits_of(text: str, figures: Figures) -> dict[str, float]:
    """Limits of all trials, ``flash=64K,drop=1``, by the name of their figure.

    Args:
        text: what `--fit` says.
        figures: those of the boards of the search.

    Raises:
        ConfigError: not of that form, a figure that is no objective of the search, a figure twice,
            or a number that limits nothing.
    """
    where, found = "--fit", dict[str, float]()
    objectives = {each.name: each for each in figures.objectives}
    like = f"{', '.join(f'{name}=' for name in objectives)} are limits of {figures.boards}"
    for part in text.split(","):
        name, _, value = part.strip().partition("=")
        figures.check_here(name, where)
        if name not in objectives:
            raise ConfigError(f"{shown(name)!r} is no limit of a search", where=where, hint=like)
        figure = objectives[name]
        number = figure.number(value)
        if number is None or name in found:
            raise ConfigError(f"cannot read {part[:40]!r}", where=where, hint=like)
        if number > figure.worst or (number == 0 and figure is not DROP):
            raise ConfigError(
                f"{part[:40]!r} limits nothing that could be built",
                where=where,
                hint=f"give more than 0 and up to {figure.worst:,.0f}",
            )
        found[name] = number
    return found

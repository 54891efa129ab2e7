"""The parts of the loops of plain C that compute a few filters of a row together, counted."""

from __future__ import annotations

from typing import Protocol

from edgec.kernels.common.parts import Ended, unmeasured


class Reading(Ended, Protocol):
    """A specification of a kernel that reads int8 or int16."""

    @property
    def reads_int16(self) -> bool:
        """Whether x is int16."""


class Loops(Reading, Protocol):
    """A specification of such a kernel."""

    @property
    def depth(self) -> int:
        """Weights of one filter."""

    @property
    def block(self) -> int:
        """Filters computed together."""

    @property
    def rest(self) -> int:
        """Filters that are left after the last full block."""

    @property
    def out_elements(self) -> int:
        """Elements of y."""

    @property
    def adds(self) -> bool:
        """There is a residual."""


def loop_parts(spec: Loops, rows: int, filters: int) -> dict[str, float]:
    """The loops over blocks of filters.

    Args:
        spec: its blocks.
        rows: rows of x, each for all filters of its group.
        filters: in a group.
    """
    found: dict[str, float] = {}
    kind = read_kind(spec)
    for size, blocks in ((spec.block, filters // spec.block), (spec.rest, 1)):
        if size:
            found[f"{kind}{size} filters"] = rows * blocks
            found[f"{kind}product of {size} filters"] = rows * blocks * spec.depth
    return (
        found
        | {
            ("output" if spec.typed is None else "wide output"): spec.out_elements,
            "addition": spec.out_elements if spec.adds else 0,
        }
        | unmeasured(spec)
    )


def read_kind(spec: Reading) -> str:
    """What the names of parts that read x begin with: loops of int16 are other code."""
    return "wide " if spec.reads_int16 else ""

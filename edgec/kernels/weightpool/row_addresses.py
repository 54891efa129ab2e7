"""Addresses of rows of a look-up table in compiled code."""

from __future__ import annotations

_ROWS_IN_REGISTERS = 4
"""Addresses of rows of a look-up table that compiled code keeps in registers."""


def spilled_rows(rows: int) -> int:
    """How many of `rows` addresses are loaded again for every use."""
    return max(0, rows - _ROWS_IN_REGISTERS)

"""Levels of optimization of a C compiler."""

from __future__ import annotations

import enum


class CompilerLevel(enum.StrEnum):
    """A level, as GCC and Clang call it."""

    NONE = "-O0"
    SIZE = "-Os"
    SPEED = "-O2"

"""Arguments of kernels that differ between layers: the structs of `edgec/params.h` as data.

Each struct is a frozen dataclass beside the families that take it; its fields and their order are
those of the C struct.
"""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import Field, dataclass
from typing import Any, ClassVar, Protocol


@dataclass(frozen=True, slots=True)
class ConstantRef:
    """A constant of the program, by its index in `Program.constants`."""

    index: int


class Params(Hashable, Protocol):
    """An argument struct: a frozen dataclass of integers and references to constants.

    `c_type` is the name of the C struct.
    """

    c_type: ClassVar[str]
    __dataclass_fields__: ClassVar[dict[str, Field[Any]]]

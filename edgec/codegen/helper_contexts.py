"""What the templates of a model's helper functions get: one dataclass a function."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from edgec.base.dtypes import Array
from edgec.codegen.cnames import LibraryNames


@dataclass(frozen=True, slots=True)
class QuantizeContext:
    """Fills an input from real numbers that share a scale.

    Attributes:
        function: its name.
        number: position among the inputs.
        shape: as C reads it, e.g. `[1, 32, 32, 3]`.
        scale: members of an `edgec_scale_t`.
        kind: `s8` or `s16`, the codes.
        count: how many numbers there are, an expression of `length` where the run decides.
        max_length: the run decides; the macro of the longest is there.
    """

    template: ClassVar[str] = "helpers/quantize.h.j2"
    names: LibraryNames
    function: str
    number: int
    shape: str
    scale: str
    kind: str
    count: str
    max_length: bool


@dataclass(frozen=True, slots=True)
class FeaturesContext:
    """Fills an input whose features have a scale each: `scales` and `zero_points` are C lists."""

    template: ClassVar[str] = "helpers/features.h.j2"
    names: LibraryNames
    function: str
    number: int
    shape: str
    features: int
    scales: str
    zero_points: str


@dataclass(frozen=True, slots=True, eq=False)
class PixelsContext:
    """Fills an input from bytes.

    Attributes:
        meaning: what the model takes for a pixel, in words.
        c_type: type of a code.
        tables: codes of 0 to 255, one table for all channels or one a channel; empty: `code` needs
            none.
        channel_elements: elements of one channel after the other, where each has a table; or 0.
        code: code of element `i` where channels are alike, an expression.
    """

    template: ClassVar[str] = "helpers/pixels.h.j2"
    names: LibraryNames
    function: str
    number: int
    shape: str
    meaning: str
    c_type: str
    tables: tuple[Array, ...]
    channel_elements: int
    code: str


@dataclass(frozen=True, slots=True)
class DequantizeContext:
    """The real numbers of an output.

    Attributes:
        real: type in which the product is exact enough, `float` or `double`.
        scale: literal of that type.
        count, max_length: as in `QuantizeContext`.
    """

    template: ClassVar[str] = "helpers/dequantize.h.j2"
    names: LibraryNames
    function: str
    number: int
    shape: str
    c_type: str
    real: str
    scale: str
    count: str
    max_length: bool


@dataclass(frozen=True, slots=True)
class ArgmaxContext:
    """The largest element of an output.

    Attributes:
        classes: elements that are compared, the last axis.
        positions: there are several such groups.
        last: number of the last of them.
    """

    template: ClassVar[str] = "helpers/argmax.h.j2"
    names: LibraryNames
    function: str
    number: int
    c_type: str
    kind: str
    classes: int
    positions: bool
    last: int


@dataclass(frozen=True, slots=True)
class ExampleContext:
    """A function that runs the model once.

    Attributes:
        result: what it returns.
        parameters: its parameters.
        before: statements that fill the inputs.
        after: statement that hands out the result.
    """

    template: ClassVar[str] = "helpers/example.c.j2"
    names: LibraryNames
    result: str
    parameters: tuple[str, ...]
    before: tuple[str, ...]
    after: str

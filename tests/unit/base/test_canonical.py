"""`base.digests`: equal data give equal bytes, different data different ones."""

import enum
from dataclasses import dataclass, field, fields, is_dataclass, replace

import numpy as np
import pytest
from lower_samples import lowered, small_net

from edgec.base.digests import canonical, canonical_digest
from edgec.base.errors import InternalError


class Colour(enum.Enum):
    RED = 1


class Number(enum.IntEnum):
    ONE = 1


@dataclass(frozen=True)
class Point:
    x: int
    hidden: int = field(default=0, repr=False)


@dataclass(frozen=True)
class Other:
    x: int
    hidden: int = 0


DIFFERENT = [
    *(None, True, 1, 1.0, "1", b"1", 1e-300, 1.0 + 2**-52, float("inf"), -0.0, 0.0, ""),
    *((), (1,), ((1,),), (1, (2,)), ((1, 2),), ((1,), 2), ("ab", "c"), ("a", "bc"), frozenset()),
    *({"a": 1}, {"a": "1"}, {"b": 1}, frozenset({1, 2}), (1, 2)),
    *(Colour.RED, Number.ONE, Point(1), Point(1, 5), Other(1)),
    *(np.zeros(2, np.int8), np.zeros(2, np.int16), np.zeros((2, 1), np.int8), np.ones(2, np.int8)),
]


def test_different_data_have_different_forms():
    forms = [canonical(value) for value in DIFFERENT]
    assert len(set(forms)) == len(forms)


def test_equal_data_have_equal_forms():
    assert canonical({"a": 1, "b": 2}) == canonical({"b": 2, "a": 1})
    assert canonical({"x", "y", "z"}) == canonical({"z", "y", "x"})
    assert canonical([1, 2]) == canonical((1, 2))
    assert canonical(np.int16(5)) == canonical(5)
    matrix = np.arange(6, dtype="<i4").reshape(2, 3)
    assert canonical(matrix) == canonical(matrix.astype(">i4")) == canonical(matrix.copy("F"))


def test_form_is_what_the_docs_say():
    point = b"record Point 4\nstr 1\nxint 1\n7str 6\nhiddenint 1\n0"
    assert canonical(Point(7)) == point
    assert canonical((None, 0.5)) == b"list 2\nNoneType 4\nNonefloat 20\n0x1.0000000000000p-1"
    assert canonical(np.array([1], ">i2")) == b"array <i2 [1] 2\n\x01\x00"


@pytest.mark.parametrize("value", [object(), Point, 1j, np.array([object()]), lambda: 0])
def test_unknown_types_are_errors(value: object):
    with pytest.raises(InternalError, match="canonical"):
        canonical((1, value))


def test_every_field_of_a_program_counts():
    """Each field of every kernel, step, tensor and port changes the digest."""
    program = lowered(small_net()).program
    digest = canonical_digest(program)
    assert program.digest == canonical_digest(replace(program, digest=""))
    for name in ("kernels", "steps", "tensors", "inputs"):
        first, *rest = getattr(program, name)
        for changed in variants(first):
            other = replace(program, **{name: (changed, *rest)})
            assert canonical_digest(other) != digest, changed


def variants(record: object) -> list[object]:
    """The record with one of its plain fields changed at a time, those of its parts included."""
    found: list[object] = []
    for each in fields(record):  # type: ignore[arg-type]
        value = getattr(record, each.name)
        match value:
            case bool():
                changes: list[object] = [not value]
            case int():
                changes = [value + 1]
            case str():
                changes = [value + "x"]
            case _ if is_dataclass(value):
                changes = variants(value)
            case _:
                changes = []
        found += [changed(record, each.name, change) for change in changes]
    return found


def changed(record: object, name: str, value: object) -> object:
    """A copy whose checks do not run: the field need not make sense."""
    copy = object.__new__(type(record))
    for each in fields(record):  # type: ignore[arg-type]
        object.__setattr__(copy, each.name, getattr(record, each.name))
    object.__setattr__(copy, name, value)
    return copy

"""What an operator says of itself: its operands by name, shape, work, layout and contract.

Every operator of a graph, real (`ir.ops`) or integer (`ir.qops`), is one frozen dataclass in a
module of its own that derives from `Operator`; its fields are the attributes.  Beside it stands the
record of its operands, derived from `Operands`: one field an operand, in the order in which a node
lists them.  That record is the only place where this order is written down.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, fields
from typing import Any, ClassVar, Generic, Self, TypeVar

from edgec.base.errors import InternalError

Shape = tuple[int, ...]
T = TypeVar("T")
U = TypeVar("U")


@dataclass(frozen=True, slots=True)
class Operands(Generic[T]):
    """The operands of one operator, of whatever the caller holds of each: names, shapes, arrays.

    A derived class has a field `T` for an operand that is always there, `T | None = None` for an
    optional one, and may end with one field `tuple[T, ...] = ()` for any number of them.  A node
    that lacks an optional operand has the name "" in its place, unless nothing follows.
    """

    @classmethod
    def of(cls, items: Sequence[T | None]) -> Self:
        """The record of `items`, one per operand in the order of the fields; None: absent.

        Raises:
            ValueError: there are too few or too many of them.
        """
        own = fields(cls)
        variadic = bool(own) and str(own[-1].type).startswith("tuple")
        single = own[:-1] if variadic else own
        rest = tuple(items[len(single) :])
        if rest and not variadic:
            raise ValueError(f"{len(items)} inputs are given, {len(single)} is the most")
        padded = [*items[: len(single)], *(None for _ in single[len(items) :])]
        for field, item in zip(single, padded, strict=True):
            if item is None and "None" not in str(field.type):
                raise ValueError(f"the input {field.name!r} is absent")
        found: dict[str, Any] = {f.name: item for f, item in zip(single, padded, strict=True)}
        return cls(**found, **({own[-1].name: rest} if variadic else {}))

    def items(self) -> Iterator[tuple[str, T]]:
        """(field, item) of every operand that is there, in order; of a tuple one pair an item."""
        for field in fields(self):
            item = getattr(self, field.name)
            if isinstance(item, tuple) and str(field.type).startswith("tuple"):
                yield from ((field.name, each) for each in item)
            elif item is not None:
                yield field.name, item

    def present(self) -> tuple[T, ...]:
        """Every operand that is there, in order."""
        return tuple(item for _, item in self.items())


def names_of(operands: Operands[str]) -> tuple[str, ...]:
    """The names as `Node.inputs` lists them: "" for an absent operand that others follow."""
    names: list[str] = []
    for field in fields(operands):
        item = getattr(operands, field.name)
        names += item if isinstance(item, tuple) else [item or ""]
    while names and not names[-1]:
        names.pop()
    return tuple(names)


class Operator:
    """Base of the operators of a graph.

    Derived classes are frozen dataclasses.  Methods take the operands as the class's own record;
    a `ValueError` that they raise says what is wrong, and the caller adds where.
    """

    __slots__ = ()

    Inputs: ClassVar[type[Operands[Any]]]
    """The record of the operands."""

    @property
    def op(self) -> str:
        """Name of the operator, e.g. `Conv`."""
        return type(self).__name__

    def infer_shape(self, inputs: Any) -> Shape:
        """Shape of the output.

        Args:
            inputs: the operands' shapes, a record of `Inputs`.

        Raises:
            ValueError: the operator cannot take operands of these shapes.
        """
        raise InternalError(f"no shape rule for {self.op}")

    def macs(self, inputs: Any, output: Shape) -> int:
        """Multiply-accumulates; padding taps count, as in MLPerf's figures.

        Args:
            inputs: the operands' shapes, a record of `Inputs`.
            output: shape of the output.
        """
        return 0


def operands(kind: type[Operands[Any]], names: Sequence[str], get: Callable[[str], U]) -> Any:
    """A record of `kind` with ``get(name)`` for each operand that is there.

    Raises:
        ValueError: as `Operands.of`.
    """
    return kind.of([get(name) if name else None for name in names])

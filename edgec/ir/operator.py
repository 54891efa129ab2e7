"""Definition of an operator: operands by name, shape rule, multiply-accumulates, contract.

Every operator of a graph, real (`ir.ops`) or integer (`ir.qops`), is one frozen dataclass that
derives from `Operator`; its fields are the attributes.  Inside it stands the record of its
operands, `Inputs`, derived from `Operands`: one field an operand, in the order in which a node
lists them.  That record is the only place where this order is written down::

    @dataclass(frozen=True, slots=True)
    class Conv(RealOperator):
        @dataclass(frozen=True, slots=True)
        class Inputs(Operands[T]):
            x: T
            w: T
            b: T | None = None

        strides: Pair = (1, 1)

How others work with it:

* ``Conv.Inputs.of(node.inputs)`` has the names by operand, ``Conv.Inputs.of(graph.shapes(node))``
  the shapes; what is absent is None.  mypy knows the type of each.
* ``Conv.Inputs(x, w, b).names()`` is what a node lists; `GraphBuilder.node` takes the record.
* ``isinstance(node.attrs, Conv)`` tells operators apart, and mypy then knows the attributes;
  ``node.attrs_as(Conv)`` is for code that only ever gets a Conv.  ``node.input`` is the name of the
  operand of an operator that has one.
* An operator with the operands of another derives from a common base that holds the record.

Tables with one entry for each operator class, written beside the function that is entered.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, fields
from functools import cache
from typing import Any, ClassVar, Generic, NamedTuple, Self, TypeVar

from edgec.base.errors import InternalError
from edgec.ir.turns import Border

Shape = tuple[int, ...]
T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Operands(Generic[T]):
    """The operands of one operator, of whatever the caller holds of each: names, shapes, arrays.

    A derived class has a field `T` for an operand that is always there, `T | None = None` for an
    optional one, and may end with one field `tuple[T, ...] = ()` for any number of them.
    """

    @classmethod
    def of(cls, items: Sequence[T | None]) -> Self:
        """The record of `items`, one per operand in the order of the fields.

        Args:
            items: None, or the empty name, where an optional operand is absent; absent ones at the
                end may be left out.

        Raises:
            ValueError: an operand that must be there is absent, or there are too many.
        """
        single, variadic = _layout(cls)
        rest = items[len(single) :]
        if variadic is None and len(rest) > 0:
            raise ValueError(f"{len(items)} operands are given, {len(single)} is the most")
        found: dict[str, Any] = {}
        for index, (name, optional) in enumerate(single):
            item = items[index] if index < len(items) else None
            absent = item is None or (isinstance(item, str) and not item)
            if absent and not optional:
                raise ValueError(f"the operand {name!r} is absent")
            found[name] = None if absent else item
        if variadic is not None:
            found[variadic] = tuple(rest)
        return cls(**found)

    def items(self) -> tuple[tuple[str, T], ...]:
        """(field, item) of every operand that is there, in order; a pair for each of a tuple."""
        single, variadic = _layout(type(self))
        found = [(name, getattr(self, name)) for name, _ in single]
        if variadic is not None:
            found += [(variadic, item) for item in getattr(self, variadic)]
        return tuple((name, item) for name, item in found if item is not None)

    def present(self) -> tuple[T, ...]:
        """Every operand that is there, in order."""
        return tuple(item for _, item in self.items())

    def names(self: Operands[str]) -> tuple[str, ...]:
        """The operands as `Node.inputs` lists them: "" for an absent one that others follow."""
        single, variadic = _layout(type(self))
        found = [getattr(self, name) or "" for name, _ in single]
        found += getattr(self, variadic) if variadic is not None else ()
        while found and not found[-1]:
            found.pop()
        return tuple(found)


class _Layout(NamedTuple):
    """Fields of a record: (name, whether it may be absent) of each, and the one for the rest."""

    single: tuple[tuple[str, bool], ...]
    variadic: str | None


def _find_layout(record: Any) -> _Layout:
    own = fields(record)
    variadic = own[-1].name if own and str(own[-1].type).startswith("tuple") else None
    single = own[:-1] if variadic else own
    return _Layout(tuple((f.name, "None" in str(f.type)) for f in single), variadic)


_layout: Callable[[Any], _Layout] = cache(_find_layout)


class Operator:
    """Base of the operators of a graph, frozen dataclasses all of them.

    Methods take the operands as the class's own record.  A `ValueError` that they raise says what
    is wrong; the caller adds where.
    """

    __slots__ = ()

    Inputs: ClassVar[type[Operands[Any]]]
    """The record of the operands."""
    CONSTANTS: ClassVar[frozenset[str]] = frozenset()
    """Names of the operands that must be constants."""
    KEEPS_INTEGERS: ClassVar[bool] = False
    """Whether the operator only moves elements, so that indices and masks stay int32."""

    @property
    def op(self) -> str:
        """Name of the operator, e.g. `Conv`."""
        return type(self).__name__

    @property
    def title(self) -> str:
        """Name of the operator in messages: the one that the user's file has for it."""
        return self.op

    @property
    def gives_integers(self) -> bool:
        """Whether the output is int32 without a quantization: indices, or a mask."""
        return False

    @property
    def border(self) -> Border | None:
        """The begin or end of a loop that the operator is (`ir.turns`); None for others."""
        return None

    @property
    def updates(self) -> bool:
        """Whether the operator gives a carried value the number that the next turn reads."""
        return False

    def infer_shapes(self, inputs: Any) -> tuple[Shape, ...]:
        """Shapes of all outputs; an operator with one output has `infer_shape` alone.

        Args:
            inputs: the operands' shapes, a record of `Inputs`.

        Raises:
            ValueError: the operator cannot take operands of these shapes.
        """
        return (self.infer_shape(inputs),)

    def infer_shape(self, inputs: Any) -> Shape:
        """Shape of the only output.

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

    def verify_outputs(self, inputs: Any, outputs: tuple[Any, ...]) -> None:
        """Check what the operator asks of all its outputs; with one output `verify` does it.

        Args:
            inputs: the operands as `ir.graph.Value` or `ir.graph.Constant`, a record of `Inputs`.
            outputs: each `ir.graph.Value` that it computes.

        Raises:
            ValueError: the first violation found.
        """
        self.verify(inputs, *outputs)

    def verify(self, inputs: Any, output: Any) -> None:
        """Check what the operator asks beyond shapes, e.g. element types.

        Args:
            inputs: the operands as `ir.graph.Value` or `ir.graph.Constant`, a record of `Inputs`.
            output: the `ir.graph.Value` that it computes.

        Raises:
            ValueError: the first violation found.
        """

    def shortened(self, axis: int, less: int) -> Self:
        """The operator whose output is shorter by `less` along `axis`.

        Only attributes that repeat the output's shape differ.
        """
        return self

    def in_fewer_turns(self, loops: Set[str], less: int) -> Self:
        """The operator in a run in which the loops of these names have `less` turns less.

        Only operators at the border of a loop differ.
        """
        return self


Entry = TypeVar("Entry")


class OperatorTable(Mapping[type[Operator], Entry]):
    """An entry an operator class.

    A module that handles some operators has a table, and each of its functions says above itself
    for which operators it stands; the package joins the tables of its modules::

        EXPORTERS = OperatorTable[Exporter]()

        @EXPORTERS.entry(ops.Conv)
        def conv(e: Emitter, node: Node) -> None: ...

    So there is no list of operators beside the functions.  A caller adds entries from outside with
    `joined`; a table itself is not changed once its module is imported.
    """

    def __init__(self) -> None:
        self._entries: dict[type[Operator], Entry] = {}

    def entry(self, *kinds: type[Operator]) -> Callable[[Entry], Entry]:
        """A decorator: enter what follows for these operators.

        Raises:
            InternalError: one of them has an entry already.
        """

        def enter(found: Entry) -> Entry:
            self._add(dict.fromkeys(kinds, found))
            return found

        return enter

    def joined(self, *others: Mapping[type[Operator], Entry]) -> OperatorTable[Entry]:
        """A table with the entries of this one and of others.

        Raises:
            InternalError: two of them have an entry for one operator.
        """
        table = OperatorTable[Entry]()
        for entries in (self, *others):
            table._add(entries)
        return table

    def _add(self, entries: Mapping[type[Operator], Entry]) -> None:
        for kind, found in entries.items():
            if kind in self._entries:
                raise InternalError(f"operator {kind.__name__} is entered twice")
            self._entries[kind] = found

    def __getitem__(self, kind: type[Operator]) -> Entry:
        return self._entries[kind]

    def __iter__(self) -> Iterator[type[Operator]]:
        return iter(self._entries)

    def __len__(self) -> int:
        return len(self._entries)

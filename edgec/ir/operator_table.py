"""What a package has for each operator, entered where it is written and found by the class."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import TypeVar

from edgec.base.errors import InternalError
from edgec.ir.operator import Operator

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

"""Variables of a TensorFlow Lite file: names of what lasts from run to run.

VAR_HANDLE gives a handle of a variable; READ_VARIABLE and ASSIGN_VARIABLE take one.  All handles of
one name are of one variable.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from edgec.importers.common.builder import SourceNode
from edgec.importers.common.tensors import Tensor
from edgec.ir.graph import Constant, Value


@dataclass(slots=True, eq=False)
class Variable:
    """One variable, as far as the file was translated.

    Attributes:
        container, name: what the file calls it; no container fits every other one.
        start: its elements after a reset, as a network that is called once assigns them; None:
            codes at their zero point, or 0.
        before: what it holds before a run, if an operator reads that.
        now: what an operator assigned in the run; None: nothing yet.
        assigned_by: that operator.
    """

    container: str | None
    name: str
    start: Constant | None = None
    before: Tensor | None = None
    now: Tensor | None = None
    assigned_by: SourceNode | None = None

    @property
    def held(self) -> Tensor | None:
        """One value that it holds, like which all others are; None if none is known."""
        return next((x for x in (self.start, self.before, self.now) if x is not None), None)


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Handle(Constant):
    """A variable as a tensor of the file, without elements."""

    variable: Variable


@dataclass(slots=True, eq=False)
class Variables:
    """The variables of a file."""

    found: list[Variable] = field(default_factory=list)

    def called(self, container: str | None, name: str) -> Variable:
        """The variable of a name.

        Source: TensorFlow Lite Micro, micro/micro_resource_variable.cc, FindId.

        Args:
            container: name of a group of variables; None: any.
            name: its name in the group.
        """
        for each in self.found:
            if each.name == name and (container is None or container == each.container):
                return each
        self.found.append(Variable(container, name))
        return self.found[-1]

    def rename(self, value: Value, renamed: Value) -> None:
        """Know a value by its other name."""
        for each in self.found:
            if isinstance(each.before, Value) and each.before.name == value.name:
                each.before = renamed

    def handle(self, tensor: str, container: str | None, name: str) -> Handle:
        """A tensor that is a handle of a variable."""
        variable = self.called(container, name)
        return Handle(tensor, np.zeros(0, np.float32), variable=variable)

"""Every error edgec reports to a user, each with the exit code of the command line.

An error is data first (fields) and text second: what went wrong, where (node, file, key) and one
hint.  Code raises the most specific class; `edgec.cli` prints the text and exits with `exit_code`.

Options that would have no effect are errors, too.  Whoever knows the facts writes a table: a row
for each option and each condition under which alone it has an effect.  `refuse_without_effect` is
the one place that turns a row into an error.
"""

from __future__ import annotations

import dataclasses
import errno
import signal
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from edgec.base.names import printable


def system_reason(error: OSError) -> str:
    """Reason that the operating system gave for an error, in words."""
    if error.errno in (errno.ENOSPC, errno.EDQUOT):
        return "the disk is full"
    if error.errno == errno.EFBIG:
        return "the limit on the size of files is reached (ulimit -f)"
    return error.strerror or str(error)


class EdgecError(Exception):
    """Base of all errors a user can cause or fix.

    Attributes:
        what: one sentence, what went wrong.
        where: the node, file or key it concerns; empty when there is none.
        hint: one sentence, what to do about it; empty when there is nothing to say.
    """

    exit_code = 1

    def __init__(self, what: str, *, where: str = "", hint: str = "") -> None:
        super().__init__(what)
        self.what = what
        self.where = where
        self.hint = hint

    def to_json(self) -> dict[str, Any]:
        """The error as plain JSON data, as `--json` prints it."""
        return {
            "kind": type(self).__name__,
            "what": self.what,
            "where": self.where,
            "hint": self.hint,
            "exit_code": self.exit_code,
            **self.details(),
        }

    def details(self) -> dict[str, Any]:
        """Fields of this kind of error besides message, place and hint, as plain JSON data."""
        return {}

    def __str__(self) -> str:
        text = f"{self.where}: {self.what}" if self.where else self.what
        return f"{text}\n  hint: {self.hint}" if self.hint else text


class ConfigError(EdgecError):
    """Bad option, board file, calibration file or data file."""

    exit_code = 2


class ImportModelError(EdgecError):
    """The model cannot be read or holds something edgec does not support."""

    exit_code = 3


@dataclass(frozen=True, slots=True)
class UnsupportedNode:
    """One node that cannot be compiled, as listed by `UnsupportedModelError`."""

    name: str
    op: str
    shape: str
    reason: str
    remedy: str


class UnsupportedModelError(ImportModelError):
    """All unsupported nodes of a model at once.

    Attributes:
        nodes: one entry per unsupported node, in graph order.
    """

    def __init__(self, nodes: tuple[UnsupportedNode, ...]) -> None:
        causes: dict[tuple[str, str], list[UnsupportedNode]] = {}
        for node in nodes:
            causes.setdefault((node.reason, node.remedy), []).append(node)
        lines = [
            f"  {_listed(found)}: {printable(reason)}\n    remedy: {printable(remedy)}"
            for (reason, remedy), found in causes.items()
        ]
        count = f"{len(nodes)} node{'s' if len(nodes) > 1 else ''}"
        super().__init__(f"{count} cannot be compiled:\n" + "\n".join(lines))
        self.nodes = nodes

    def details(self) -> dict[str, Any]:
        """One entry for each node."""
        return {"nodes": [dataclasses.asdict(node) for node in self.nodes]}


_LISTED = 3
"""Nodes of one cause that a message names one by one."""


def _listed(nodes: Sequence[UnsupportedNode]) -> str:
    """The nodes of one cause, the first of them by name."""
    text = ", ".join(printable(f"{n.name} ({n.op}, {n.shape})") for n in nodes[:_LISTED])
    more = dict.fromkeys(n.op for n in nodes[_LISTED:])
    return (
        f"{text} and {len(nodes) - _LISTED} more ({printable(', '.join(more))})" if more else text
    )


class QuantizationError(EdgecError):
    """The model cannot be quantized as asked."""

    exit_code = 4


class WeightPoolError(EdgecError):
    """The model cannot be weight-pool-compressed as asked."""

    exit_code = 5


class MemoryPlanError(EdgecError):
    """The tensors do not fit, or a plan failed its check."""

    exit_code = 6


class LoweringError(EdgecError):
    """No kernel serves an operator."""

    exit_code = 7


class CodegenError(EdgecError):
    """C code or the project folder could not be written."""

    exit_code = 8


class BuildError(EdgecError):
    """The compiler, the linker or PlatformIO failed."""

    exit_code = 9


class SimulationError(EdgecError):
    """The built code could not be run, or did not agree with the reference."""

    exit_code = 10


@dataclass(frozen=True, slots=True)
class BudgetFigure:
    """A figure of the firmware that is over its budget.

    Attributes:
        name: "flash_bytes", "ram_bytes" or "time_ms".
        found: what the firmware takes.
        budget: what the user allows.
    """

    name: str
    found: float
    budget: float


class BudgetError(EdgecError):
    """The firmware is larger or slower than the user allows.

    Attributes:
        figures: those that are exceeded.
    """

    exit_code = 11

    def __init__(
        self, what: str, figures: tuple[BudgetFigure, ...] = (), *, where: str = "", hint: str = ""
    ) -> None:
        super().__init__(what, where=where, hint=hint)
        self.figures = figures

    def details(self) -> dict[str, Any]:
        """The figures that are exceeded."""
        return {"figures": [dataclasses.asdict(figure) for figure in self.figures]}


@dataclass(frozen=True, slots=True)
class FigureValues:
    """A figure that got worse than the tolerance allows.

    Attributes:
        name: which figure, such as "flash_bytes".
        committed: its value in the file of figures.
        found: its value in the new build; None where it is not measured any more.
        allowed: how much worse it may be, as text.
    """

    name: str
    committed: float | None
    found: float | None
    allowed: str


class RegressionError(EdgecError):
    """A build is larger, slower or less right than the committed figures allow.

    Attributes:
        figures: those that got worse.
    """

    exit_code = 12

    def __init__(
        self, what: str, figures: tuple[FigureValues, ...] = (), *, where: str = "", hint: str = ""
    ) -> None:
        super().__init__(what, where=where, hint=hint)
        self.figures = figures

    def details(self) -> dict[str, Any]:
        """The figures that got worse."""
        return {"figures": [dataclasses.asdict(figure) for figure in self.figures]}


class TrainingError(EdgecError):
    """The network cannot be trained as asked."""

    exit_code = 13


class UsageError(EdgecError):
    """The command line names no command, lacks an argument or has one that cannot be read."""

    exit_code = 2


class InterruptedByUser(EdgecError):
    """Ctrl-C ended the command, or the signal SIGTERM or SIGHUP did.

    Attributes:
        exit_code: 128 and the number of the signal, as shells count.
    """

    exit_code = 130

    def __init__(self, number: int = signal.SIGINT) -> None:
        name = "interrupted" if number == signal.SIGINT else f"ended by {_signal_name(number)}"
        super().__init__(f"{name}; earlier results are as they were")
        self.exit_code = 128 + number


def _signal_name(number: int) -> str:
    return signal.Signals(number).name


class InternalError(EdgecError):
    """A broken invariant: a bug of edgec, never the user's fault."""

    exit_code = 70


@dataclass(frozen=True, slots=True)
class Effect:
    """A condition under which alone an option has an effect.

    Attributes:
        option: its name on the command line, e.g. "--observer".
        given: the user asked for it.
        holds: the condition is met.
        why: why the option has no effect where the condition is not met.
        hint: what to do then.
    """

    option: str
    given: bool
    holds: bool
    why: str
    hint: str = "leave the option out"


def refuse_without_effect(table: Iterable[Effect]) -> None:
    """Refuse options that were given and have no effect.

    Raises:
        ConfigError: names every option that the first unmet condition concerns, and says why.
    """
    idle = [row for row in table if row.given and not row.holds]
    if idle:
        options = dict.fromkeys(row.option for row in idle if row.why == idle[0].why)
        raise ConfigError(idle[0].why, where=", ".join(options), hint=idle[0].hint)

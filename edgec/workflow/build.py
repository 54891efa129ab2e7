"""A finished build as a Python object: it runs samples, and shows its answer in a notebook."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from io import StringIO
from pathlib import Path

from numpy.typing import ArrayLike
from rich.console import Console

from edgec.base.dtypes import Array
from edgec.base.errors import ConfigError
from edgec.report.answer import print_answer
from edgec.report.model import Report
from edgec.workflow.session import open_session

_COLUMNS = 110
"""Characters of a line in a notebook."""


@dataclass(frozen=True, slots=True, eq=False)
class Build:
    """A folder that `edgec compile` or `compile_model` wrote.

    Attributes:
        folder: the output folder.
        report: what `report.json` says.
    """

    folder: Path
    report: Report

    def run(
        self,
        x: ArrayLike | Mapping[str, ArrayLike],
        on: str = "host",
        bits: int | None = None,
        port: str | None = None,
    ) -> Array | dict[str, Array]:
        """Run the compiled model on samples.

        Args:
            x: samples [N, ...] as the model takes them; by name if it has several inputs.
            on: "host", "emulator" or "device".
            bits: most bits that layers with pooled weights see of an activation, of a model
                compiled with `runtime_bits`; None: as compiled.
            port: serial port of the device; None: found by itself.

        Returns:
            What the model would give, [N, ...]; by name when `x` is given by name.

        Raises:
            ConfigError: the samples do not fit the model, or its widths are fixed.
            SimulationError: the run failed.
        """
        session = open_session(self.folder, on, bits, port)
        if isinstance(x, Mapping):
            return session.run(x)
        if len(self.report.inputs) != 1 or len(self.report.outputs) != 1:
            raise ConfigError("the model has several inputs or outputs; give samples by name")
        (given,), (wanted,) = self.report.inputs, self.report.outputs
        return session.run({given.name: x})[wanted.name]

    def _repr_html_(self) -> str:
        """HTML of the answer of `edgec compile`: does it fit, how fast, how accurate, checked."""
        console = Console(
            record=True,
            file=StringIO(),
            width=_COLUMNS,
            force_terminal=True,
            color_system="standard",
            highlight=False,
        )
        print_answer(self.report, self.folder, console)
        return console.export_html(inline_styles=True, code_format="<pre>{code}</pre>")


def load(folder: Path | str) -> Build:
    """The build in a folder.

    Args:
        folder: what `edgec compile` wrote, such as "build/digits".

    Raises:
        ConfigError: there is no build, or it is damaged or of another version.
    """
    return Build(Path(folder), Report.read(Path(folder)))

"""Figures of a build, kept in a file beside the project and compared with a later build."""

from __future__ import annotations

import dataclasses
import json
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

from pydantic import Field, TypeAdapter, ValidationError
from pydantic.dataclasses import dataclass as checked_dataclass

from edgec.base.errors import ConfigError
from edgec.base.output_file import write_whole
from edgec.base.version import __version__

SCHEMA = 1
_MAX_BYTES = 64 << 10
_Count = Annotated[int, Field(ge=0)]


@checked_dataclass(frozen=True, slots=True, config={"strict": True, "extra": "forbid"})
class Figures:
    """Size, cycles and accuracy of a build; None: not measured.

    Attributes:
        flash_bytes: the image in flash.
        ram_bytes: arena, stack and variables.
        weight_bytes, arena_bytes: the parts of these two that every build has.
        cycles: what one inference takes, as `edgec profile` estimates it.
        instructions: that one inference executes, on boards with Linux.
        macs: multiply-accumulates of one inference.
        accuracy: share of labelled samples that are decided right, 0 to 1.
        sqnr_db: signal-to-quantization-noise ratio of the last layer for which it is known.
    """

    flash_bytes: _Count | None = None
    ram_bytes: _Count | None = None
    weight_bytes: _Count | None = None
    arena_bytes: _Count | None = None
    cycles: _Count | None = None
    instructions: _Count | None = None
    macs: _Count | None = None
    accuracy: Annotated[float, Field(ge=0, le=1)] | None = None
    sqnr_db: Annotated[float, Field(allow_inf_nan=False)] | None = None


@checked_dataclass(frozen=True, slots=True, config={"strict": True, "extra": "forbid"})
class FigureFile:
    """The figures of a build and what they are figures of.

    Attributes:
        schema: version of the file's form.
        edgec: version of edgec that made the build.
        model, board: what was compiled, and for which board.
        samples: number of labelled samples of the accuracy; 0 without one.
        figures: what was measured.
    """

    schema: int
    edgec: str
    model: str
    board: str
    samples: _Count
    figures: Figures

    @classmethod
    def of(cls, model: str, board: str, samples: int, figures: Figures) -> FigureFile:
        """The figures of a build by this version of edgec."""
        return cls(SCHEMA, __version__, model, board, samples, figures)

    def to_json(self) -> dict[str, Any]:
        """Plain JSON data, without figures that are not known."""
        data = dataclasses.asdict(self)
        known = {name: value for name, value in data["figures"].items() if value is not None}
        return {**data, "figures": known}

    def write(self, path: Path) -> None:
        """Write the file.

        Raises:
            ConfigError: it cannot be written.
        """
        write_whole(path, (json.dumps(self.to_json(), indent=2) + "\n").encode())

    @classmethod
    def read(cls, path: Path) -> FigureFile:
        """The figures in a file.

        Raises:
            ConfigError: there is no such file, or it is damaged or of another version.
        """
        hint = "`edgec check --update` writes it; commit it with the model"
        try:
            if path.stat().st_size > _MAX_BYTES:
                raise ValueError("it is too large")
            found = _ADAPTER.validate_json(path.read_text("utf-8"))
            if found.schema != SCHEMA:
                raise ValueError("another version")
        except FileNotFoundError as error:
            raise ConfigError(
                "there are no figures to compare with", where=str(path), hint=hint
            ) from error
        except (OSError, ValueError, RecursionError, ValidationError) as error:
            what = "holds no figures of this version of edgec"
            raise ConfigError(what, where=str(path), hint=hint) from error
        return found


_ADAPTER: TypeAdapter[FigureFile] = TypeAdapter(FigureFile)


@dataclass(frozen=True, slots=True)
class FigureKind:
    """Comparison and presentation of a figure.

    Attributes:
        name: field of `Figures`.
        title: for people.
        tolerance: key of the tolerance that holds for it.
        unit: "bytes", "", "%" (a share of 1) or "dB".
        more_is_better: a fall is a change for the worse, not a rise.
    """

    name: str
    title: str
    tolerance: str
    unit: str = ""
    more_is_better: bool = False

    def text(self, value: float | None) -> str:
        """A value for people; empty for None."""
        if value is None:
            return ""
        if self.unit == "%":
            return f"{value:.2%}"
        return f"{value:.1f} dB" if self.unit == "dB" else f"{value:,.0f}"


KINDS = (
    FigureKind("flash_bytes", "flash B", "flash", "bytes"),
    FigureKind("ram_bytes", "RAM B", "ram", "bytes"),
    FigureKind("weight_bytes", "weights B", "flash", "bytes"),
    FigureKind("arena_bytes", "arena B", "ram", "bytes"),
    FigureKind("cycles", "cycles", "cycles"),
    FigureKind("instructions", "instructions", "cycles"),
    FigureKind("macs", "MACs", "cycles"),
    FigureKind("accuracy", "accuracy", "accuracy", "%", more_is_better=True),
    FigureKind("sqnr_db", "SQNR", "db", "dB", more_is_better=True),
)

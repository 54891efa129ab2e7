"""`edgec export`: the library of a compiled model for another build system."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from edgec.base.errors import ConfigError, system_reason
from edgec.base.label_file import read_labels
from edgec.base.output_dir import staged_output
from edgec.base.version import __version__
from edgec.codegen.cnames import LibraryNames, library_names
from edgec.codegen.files import write_tree
from edgec.codegen.formats.layout import exported, layout
from edgec.codegen.formats.record import Format
from edgec.codegen.formats.registry import FORMATS
from edgec.codegen.library import labels_header
from edgec.commands.output_folder import BUILD_ROOT
from edgec.report.model import REPORT_JSON, Report
from edgec.workflow.labels import check_labels, labelled_output
from edgec.workflow.session import LIBRARY_DIR


@dataclass(frozen=True, slots=True)
class Export:
    """A library that was written.

    Attributes:
        form: its format.
        names: its names in C.
        folder: where it is.
        files: paths of its files in the folder, in order.
        size_bytes: their bytes.
        labels: names of classes that it holds.
    """

    form: Format
    names: LibraryNames
    folder: Path
    files: tuple[str, ...]
    size_bytes: int
    labels: int

    def to_json(self) -> dict[str, Any]:
        """Plain JSON data."""
        return {
            "edgec": __version__,
            "format": self.form.name,
            "library": self.names.prefix,
            "header": self.names.header,
            "folder": str(self.folder),
            "files": list(self.files),
            "size_bytes": self.size_bytes,
            "labels": self.labels,
        }


def export_library(
    folder: Path,
    form: str,
    *,
    out: Path | None = None,
    labels: Path | None = None,
    force: bool = False,
) -> Export:
    """Write the library of a compiled model in a format.

    Args:
        folder: a folder that `edgec compile` wrote.
        form: name of the format, one of `FORMATS`.
        out: output folder; default: `build/<name>-<format>`.
        labels: a text file with the name of a class on each line; default: the model's labels.
        force: replace generated files that were edited by hand.

    Raises:
        ConfigError: the format is unknown, `folder` holds no library, the labels do not fit the
            model, or `out` holds something else.
        CodegenError: a file cannot be written.
    """
    chosen = _format(form)
    report = Report.read(folder)
    names = library_names(report.model)
    files = _library_files(folder, names)
    given = () if labels is None else read_labels(labels)
    output = _labelled(report, given, labels)
    words = given or report.outputs[output].labels
    check_labels(words, str(labels or folder))
    if words:
        files[f"include/{names.labels}"] = labels_header(names, report.model, words, output)
    target = out or BUILD_ROOT / f"{names.name}-{chosen.name}"
    _check_apart(folder, target, force=force)
    sources = [Path(path).name for path in files if path.endswith(".c")]
    written = layout(chosen, exported(report, sources, len(words), output), files)
    with staged_output(target, force=force) as staging:
        write_tree(staging, written)
    size = sum(len(text.encode("utf-8")) for text in written.values())
    return Export(chosen, names, target, tuple(sorted(written)), size, len(words))


def _format(name: str) -> Format:
    if name not in FORMATS:
        raise ConfigError(
            f"{name!r} is no format of libraries",
            where="--as",
            hint=f"choose one of {', '.join(FORMATS)}",
        )
    return FORMATS[name]


def _library_files(folder: Path, names: LibraryNames) -> dict[str, str]:
    """The C of a generated library, by path inside it."""
    library = folder / LIBRARY_DIR
    needed = (library / "include" / names.header, library / "src" / f"{names.prefix}.c")
    if not all(path.is_file() for path in needed):
        raise ConfigError("holds no library", where=str(folder), hint="compile it again")
    found = [
        path
        for pattern in ("include/**/*.h", "src/*.c", "src/*.h")
        for path in sorted(library.glob(pattern))
    ]
    try:
        return {path.relative_to(library).as_posix(): path.read_text("utf-8") for path in found}
    except (OSError, UnicodeDecodeError) as error:
        reason = system_reason(error) if isinstance(error, OSError) else "it is no text"
        raise ConfigError(
            f"the library cannot be read: {reason}", where=str(library), hint="compile it again"
        ) from error


def _labelled(report: Report, given: Sequence[str], labels: Path | None) -> int:
    """Number of the output that the labels belong to; without any, of the first output."""
    if labels is not None:
        shapes = [(port.library_shape, port.library_dtype) for port in report.outputs]
        return labelled_output(shapes, given, labels)
    have = (number for number, port in enumerate(report.outputs) if port.labels)
    return next(have, 0)


def _check_apart(folder: Path, target: Path, *, force: bool) -> None:
    """An export must not replace a build, nor lie where the next compilation writes."""
    if target.resolve().is_relative_to(folder.resolve()):
        raise ConfigError(
            "the output folder lies in the build folder that is exported",
            where=str(target),
            hint="choose another --out",
        )
    if (target / REPORT_JSON).is_file() and not force:
        raise ConfigError(
            "the output folder is a build folder of edgec compile",
            where=str(target),
            hint="choose another --out, or --force to discard that build",
        )

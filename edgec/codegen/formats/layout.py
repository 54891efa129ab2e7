"""A library in a format: `exported`, the facts for its templates, and `layout`, its files."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from pathlib import PurePosixPath

from edgec.base.resources import licence
from edgec.base.version import __version__
from edgec.codegen.about import stack_text
from edgec.codegen.cliterals import c_float, harmless_text
from edgec.codegen.cnames import LibraryNames, library_names
from edgec.codegen.env import render
from edgec.codegen.formats.record import ExportContext as Context
from edgec.codegen.formats.record import Exported, ExportedPort, Format
from edgec.codegen.includes import closure
from edgec.report.model import Report, TensorReport

_LICENCE = "LICENSE"
_RUNTIME = re.compile(r"include/edgec_[0-9a-f]{8}/(.+)")


def exported(report: Report, sources: Sequence[str], labels: int, output: int) -> Exported:
    """The facts of a library, from the report of its compilation.

    Args:
        report: what its compilation found out.
        sources: file names of its C sources.
        labels: how many names of classes it has.
        output: number of the output that they belong to, or that examples look at.
    """
    names = library_names(report.model)
    return Exported(
        names=names,
        title=harmless_text(report.model),
        version=__version__,
        digest=harmless_text(report.digest, 16),
        arena_bytes=report.memory.arena_bytes,
        weight_bytes=report.memory.weight_bytes,
        state_bytes=report.memory.state_bytes,
        sources=tuple(sources),
        inputs=tuple(_port(names, "INPUT", *port) for port in enumerate(report.inputs)),
        outputs=tuple(_port(names, "OUTPUT", *port) for port in enumerate(report.outputs)),
        labels=labels,
        labelled=output,
        warm_up=_warm_up(report),
        stack=stack_text(report.memory.run_stack, report.board.core.value),
    )


def _warm_up(report: Report) -> int:
    """Runs before the first output."""
    if report.steps is not None:
        return report.steps.warm_up
    return max(port.runs for port in report.inputs) - 1


def _port(names: LibraryNames, kind: str, number: int, port: TensorReport) -> ExportedPort:
    macro = f"{names.macro}_{kind}_{number}_ZERO_POINT"
    return ExportedPort(
        number=number,
        name=harmless_text(port.name),
        c_type=f"{port.library_dtype}_t",
        shape=str(list(port.run_shape)),
        meaning=_meaning(port),
        rest="0" if port.feature_scales else macro,
    )


def _meaning(port: TensorReport) -> str:
    if port.feature_scales:
        return "each feature has its own scale, which the function that quantizes it knows"
    if port.scale == 0.0:
        return "the number itself"
    return f"{c_float(port.scale)} x (code - ({port.zero_point}))"


def layout(form: Format, library: Exported, files: Mapping[str, str]) -> dict[str, str]:
    """The text of every file of a library in a format, by path.

    Args:
        form: the format.
        library: its facts.
        files: those of the generated library that are C, by their paths in it; runtime headers that
            no other file includes stay out.
    """
    runtime = {found[1]: name for name in files if (found := _RUNTIME.fullmatch(name))}
    own = {path: text for path, text in files.items() if path not in runtime.values()}
    kept = closure(own.values(), {name: files[path] for name, path in runtime.items()})
    moved = {_moved(form, path): text for path, text in own.items()}
    moved |= {_moved(form, runtime[name]): files[runtime[name]] for name in kept}
    context = Context(library)
    prefix = library.names.prefix
    for path, template in form.templates.items():
        moved[path.replace("{prefix}", prefix)] = render(template, context)
    return moved | {_LICENCE: licence()}


def _moved(form: Format, path: str) -> str:
    """Path of a generated library's file in the layout of a format."""
    folder = {"include": form.headers, "src": form.code}[PurePosixPath(path).parts[0]]
    return "/".join((folder, *PurePosixPath(path).parts[1:]))

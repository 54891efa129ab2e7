"""The generated library of a build, compiled for this computer and loaded into this process.

That is for code which this process has generated itself.  The library of a build folder may have
been changed by anybody: it runs in a process of its own (`sim.host_process`).
"""

from __future__ import annotations

import hashlib
import platform
import re
from collections.abc import Sequence
from pathlib import Path

from edgec.base.errors import SimulationError
from edgec.base.resources import data_dir
from edgec.base.system import LIBRARY_SUFFIX
from edgec.sim.loaded import LoadedModel
from edgec.target.board import Board
from edgec.toolchain.cc import HostCompiler, compile_shared, host_compiler

_SYMBOL = re.compile(r"\bextern\s+const\s+edgec_model_t\s+(edgec_\w+_model)\s*;")


def runs_natively(board: Board) -> bool:
    """Whether this computer can run what is generated for a board: NEON kernels have no other form.

    All else is C for any processor.
    """
    return not board.core.has_neon or platform.machine() in ("aarch64", "arm64")


class HostModel(LoadedModel):
    """A generated library, compiled for this computer and loaded.

    The compiled library stays in `build_dir` under a name that depends on all that went into it, so
    that the next `HostModel` of the same sources starts at once.

    Args:
        library_dir: the folder that `codegen.emit_library` wrote.
        build_dir: where the compiled library goes; created.
        flags: compiler options.
        compiler: default: the first C compiler found.

    Raises:
        BuildError: no compiler, or it reports errors.
        SimulationError: the folder holds no generated library, or it cannot be loaded.
    """

    def __init__(
        self,
        library_dir: Path,
        build_dir: Path,
        *,
        flags: Sequence[str] = ("-O2",),
        compiler: HostCompiler | None = None,
    ) -> None:
        symbol = model_symbol(library_dir)
        super().__init__(shared_library(library_dir, build_dir, flags, compiler), symbol)


def model_symbol(library_dir: Path) -> str:
    """Name of the `edgec_model_t` that a library exports, from its headers.

    Raises:
        SimulationError: there is none, or more than one.
    """
    headers = sorted((library_dir / "include").glob("*.h"))
    found: set[str] = set()
    for header in headers:
        found.update(_SYMBOL.findall(header.read_text("utf-8", "replace")))
    if len(found) != 1:
        raise SimulationError(
            f"{len(found)} models found in the library's headers, expected one",
            where=str(library_dir),
            hint="point at the folder of a generated library",
        )
    return found.pop()


def shared_library(
    library_dir: Path,
    build_dir: Path,
    flags: Sequence[str] = ("-O2",),
    compiler: HostCompiler | None = None,
) -> Path:
    """The compiled library of a folder, from `build_dir` if its sources have not changed.

    Raises:
        BuildError: no compiler, or it reports errors.
    """
    found = compiler or host_compiler()
    host_dir = data_dir("firmware") / "host"
    runtime = host_dir.parent / "runtime" / "include"
    includes = (library_dir / "include", host_dir, runtime)
    sources = (*sorted((library_dir / "src").glob("*.c")), host_dir / "edgec_batch.c")
    digest = hashlib.sha256(
        repr((str(found.path), found.version, found.words, tuple(flags))).encode()
    )
    headers = (path for folder in (*includes, library_dir / "src") for path in folder.rglob("*.h"))
    for path in (*sources, *sorted(headers)):
        digest.update(f"\n{path.name} {path.stat().st_size}\n".encode())
        digest.update(path.read_bytes())
    output = build_dir / f"host-{digest.hexdigest()[:16]}{LIBRARY_SUFFIX}"
    if not output.is_file():
        compile_shared(sources, includes, output, flags, found)
    return output

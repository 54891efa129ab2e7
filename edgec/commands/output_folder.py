"""Output folder of a compilation: its default, and what a build that failed leaves beside it.

Quantization may have taken minutes, and a compiler that fails takes nothing back of it.  The output
folder stays as it was; the parts that are finished go into a folder beside it.
"""

from __future__ import annotations

import contextlib
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from edgec.base.errors import BuildError, ConfigError, MemoryPlanError
from edgec.base.output_dir import staged_output
from edgec.target.board import Board, load_board
from edgec.toolchain.build_place import PROJECT_DIR

BUILD_ROOT = Path("build")


def default_folder(model: Path, board: Board | str, root: Path | None = None) -> Path:
    """The output folder of a model and a board, where nobody names another.

    Args:
        model: the file of the model.
        board: a board, its name or alias, or its TOML file.
        root: what it lies in; None: the current folder.

    Raises:
        ConfigError: there is no such board, or its file is bad.
    """
    target = board if isinstance(board, Board) else load_board(board)
    return (root or Path()) / BUILD_ROOT / f"{model.stem}-{target.name}"


_SUFFIX = "-unbuilt"


@contextmanager
def keeping(staging: Path, folder: Path, complete: Callable[[], object]) -> Iterator[None]:
    """Keep what is in a work folder if the build in the block fails.

    Args:
        staging: the work folder, on the file system of the output folder.
        folder: the output folder.
        complete: writes what a compilation writes after the build, such as its report.

    Raises:
        BuildError, MemoryPlanError: those of the block; the hint says where everything is.
    """
    try:
        yield
    except (BuildError, MemoryPlanError) as error:
        place = folder.with_name(f"{folder.resolve().name}{_SUFFIX}")
        # Why the build failed is what matters, not why its parts could not be kept.
        with contextlib.suppress(ConfigError, OSError):
            shutil.rmtree(staging / PROJECT_DIR / ".pio", ignore_errors=True)
            complete()
            with staged_output(place) as kept:
                for entry in sorted(staging.iterdir()):
                    shutil.move(entry, kept / entry.name)
            error.where = error.where.replace(str(staging), str(place))
            said = f"the C library, its project and the report are in {place}"
            error.hint = f"{error.hint}; {said}" if error.hint else said
        raise

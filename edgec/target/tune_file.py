"""Tune files (`edgec.tune.toml`): kernels of layers as they were measured, by target.

`edgec tune` writes them and `edgec compile` reads them.  A file holds targets, and for each the
layers that were measured on it, of any number of networks.  It names kernels and nothing else: all
kernels of a layer compute the same numbers, so a wrong file costs time and never an output bit.
"""

from __future__ import annotations

import functools
import json
import logging
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path
from typing import Annotated

from pydantic import Field, TypeAdapter, ValidationError
from pydantic.dataclasses import dataclass

from edgec.base.digests import canonical_digest, digest_of_files
from edgec.base.errors import ConfigError
from edgec.base.limits import MAX_TUNE_BYTES
from edgec.base.names import printable, shown
from edgec.base.options import Optimize, TunedKernels
from edgec.base.output_file import write_whole
from edgec.base.resources import data_dir
from edgec.base.toml_file import read_toml
from edgec.target.board import Board
from edgec.target.memory_map import STRICT

TUNE_FILE = "edgec.tune.toml"
_VERSION = 1
_HEAD = """\
# Kernels of layers, as `edgec tune` measured them.  `edgec compile` takes them for equal layers of
# any network on an equal target.  Delete it, or parts of it, and estimates choose again.
"""
_HINT = "edgec tune writes these files; docs/tune.md describes them"
_SOURCES = frozenset({".py", ".j2", ".h", ".c"})
_DIGITS = 12
_log = logging.getLogger(__name__)

_Text = Annotated[str, Field(min_length=1, max_length=900, pattern=r"^[ -~]+$")]
_Name = Annotated[str, Field(max_length=900)]
_Cycles = Annotated[int, Field(ge=0, le=1 << 60)]


@dataclass(frozen=True, slots=True, config=STRICT)
class TunedEntry:
    """A layer that was measured.

    Attributes:
        layer: its signature (`kernels.tuned`).
        kernel: the kernel that was measured to be the fastest.
        cycles: what a run spends in it; of several equal layers of a network the mean.
        estimated: the kernel that estimates choose.
        estimated_cycles: cycles of that one, measured.
        model: name of the network that it was measured in.
    """

    layer: _Text
    kernel: _Text
    cycles: _Cycles
    estimated: _Text
    estimated_cycles: _Cycles
    model: _Name


@dataclass(frozen=True, slots=True, config=STRICT)
class TunedTarget:
    """The layers that were measured on a target.

    Attributes:
        target: all that cycles depend on, in words (`target_words`).
        board: name of the board that they were measured on.
        kernels: digest of the code of all kernels (`kernels_digest`).
        layers: the layers, each once.
    """

    target: _Text
    board: _Text
    kernels: Annotated[str, Field(pattern=r"^[0-9a-f]{12}$")]
    layers: tuple[TunedEntry, ...] = ()


@dataclass(frozen=True, slots=True, config=STRICT)
class _File:
    version: int
    targets: tuple[TunedTarget, ...] = ()


def target_words(board: Board, optimize: Optimize) -> str:
    """All of a board that the cycles of a layer depend on, in words.

    Args:
        board: a microcontroller.
        optimize: what is preferred where fast code and small code differ.
    """
    words = [board.core.value, f"fpu {board.fpu.value}", *(["dsp"] if board.dsp else [])]
    flash = None if board.memory is None else board.memory.flash
    if flash is not None:
        words.append(f"flash of {flash.wait_states} wait states")
        words.append(f"caches of {flash.instruction_cache_bytes} and {flash.data_cache_bytes}")
        # Its place and size cost nothing; lines, ways and prefetch do.
        timing = replace(flash, origin=0, size_bytes=1 << 20, boot_bytes=0)
        words.append(f"timing {canonical_digest(timing)[:_DIGITS]}")
    return ", ".join((*words, f"optimize {optimize.value}"))


@functools.cache
def kernels_digest() -> str:
    """Digest of the code of all kernels: measurements of others say nothing about these."""
    package = Path(__file__).resolve().parents[1]
    folders = (package / "kernels", package / "templates", data_dir("firmware") / "runtime")
    found = [digest_of_files(each, lambda path: path.suffix in _SOURCES) for each in folders]
    return canonical_digest(found)[:_DIGITS]


def read_tune_file(path: Path) -> tuple[TunedTarget, ...]:
    """The targets of a tune file.

    Raises:
        ConfigError: it cannot be read, or is no tune file of this version.
    """
    data = read_toml(path, "tune file", _HINT, MAX_TUNE_BYTES)
    if data.get("version") != _VERSION:
        raise ConfigError(f"is no tune file of version {_VERSION}", where=str(path), hint=_HINT)
    try:
        found = TypeAdapter(_File).validate_python(data).targets
    except ValidationError as error:
        first = error.errors()[0]
        key = shown(".".join(str(part) for part in first["loc"]))
        raise ConfigError(f"{key}: {first['msg']}", where=str(path), hint=_HINT) from error
    words = [each.target for each in found]
    if len(words) != len(set(words)):
        raise ConfigError("has a target twice", where=str(path), hint=_HINT)
    for each in found:
        layers = [entry.layer for entry in each.layers]
        if len(layers) != len(set(layers)):
            raise ConfigError(
                f"has a layer of {shown(each.board)} twice", where=str(path), hint=_HINT
            )
    return found


def fresh_entries(
    targets: Iterable[TunedTarget], board: Board, optimize: Optimize
) -> tuple[TunedEntry, ...]:
    """Entries that hold for a target and the kernels of today."""
    words = target_words(board, optimize)
    return tuple(
        entry
        for each in targets
        if each.target == words and each.kernels == kernels_digest()
        for entry in each.layers
    )


def kernels_of(path: Path, board: Board, optimize: Optimize, *, asked: bool) -> TunedKernels | None:
    """Kernels that a tune file has for a target; None: it has none.

    Args:
        path: the file.
        board: the target.
        optimize: what is preferred where fast code and small code differ.
        asked: the user named it, so that it must have something for the target.  Else it happens to
            lie there, and what it holds of other kernels is told in a warning.

    Raises:
        ConfigError: it cannot be read, or was asked for and has nothing for the target.
    """
    targets = read_tune_file(path)
    found = fresh_entries(targets, board, optimize)
    if found:
        chosen = sorted((entry.layer, entry.kernel) for entry in found)
        return TunedKernels(path.name, tuple(chosen))
    words = target_words(board, optimize)
    stale = any(each.target == words for each in targets)
    what = f"has nothing measured for {board.name} and --optimize {optimize.value}"
    if stale:
        what = f"was measured for {board.name} with kernels of another edgec"
    hint = _hint(path, board, optimize)
    if asked:
        raise ConfigError(what, where=str(path), hint=hint)
    if stale:
        _log.warning("%s: %s, and is not used; edgec tune measures again", path.name, what)
    return None


def _hint(path: Path, board: Board, optimize: Optimize) -> str:
    """The command that measures what a file has not; `edgec tune` refuses the smallest code."""
    if optimize is Optimize.SIZE:
        return "leave out --tune, or --optimize size, for which nothing is measured"
    option = "" if optimize is Optimize.SPEED else f" --optimize {optimize.value}"
    return f"measure: edgec tune MODEL --board {board.name}{option} --tune {path}"


def with_entries(
    targets: Iterable[TunedTarget],
    board: Board,
    optimize: Optimize,
    entries: Iterable[TunedEntry],
) -> tuple[TunedTarget, ...]:
    """The targets of a file with what was measured: it takes the place of what is stale.

    Args:
        targets: those of the file so far.
        board: what was measured on.
        optimize: how code was made.
        entries: what was measured.
    """
    words, kept = target_words(board, optimize), {each.target: each for each in targets}
    known = {each.layer: each for each in fresh_entries(kept.values(), board, optimize)}
    known |= {each.layer: each for each in entries}
    layers = tuple(known[layer] for layer in sorted(known))
    kept[words] = TunedTarget(words, board.name, kernels_digest(), layers)
    return tuple(kept.values())


def write_tune_file(path: Path, targets: Iterable[TunedTarget]) -> None:
    """Write a tune file, as a whole or not at all.

    Raises:
        ConfigError: it cannot be written.
    """
    lines = [_HEAD, f"version = {_VERSION}"]
    for target in targets:
        lines += ["", "[[targets]]", *_keys(target, ("target", "board", "kernels"))]
        for entry in target.layers:
            names = ("layer", "kernel", "cycles", "estimated", "estimated_cycles", "model")
            lines += ["", "[[targets.layers]]", *_keys(entry, names)]
    write_whole(path, ("\n".join(lines) + "\n").encode("utf-8"))


def _keys(record: object, names: Iterable[str]) -> list[str]:
    """Lines of a table; JSON's strings without control characters are strings of TOML."""

    def value(found: object) -> str:
        plain = printable(found) if isinstance(found, str) else found
        return json.dumps(plain, ensure_ascii=False)

    return [f"{name} = {value(getattr(record, name))}" for name in names]

"""The samples that a command is given, with `--normalize` and `--resample`.

Not in `options`: `--help` needs neither numpy nor the readers.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from edgec.base.errors import Effect, refuse_without_effect
from edgec.base.samples import Normalize, SampleFile


def sample_file(path: Path, normalize: str | None, resample: bool = False) -> SampleFile:
    """The samples that a user must name."""
    parsed = None if normalize is None else Normalize.parse(normalize)
    return SampleFile(path, parsed, resample=resample)


def samples_of(
    path: Path | None, normalize: str | None, resample: bool = False
) -> SampleFile | None:
    """The samples that a user may name; None without any.

    Raises:
        ConfigError: there is something to normalize by, or to resample, and no samples.
    """
    _refuse_idle(normalize, given=path is not None)
    why = "there are no recordings to resample"
    refuse_without_effect([Effect("--resample", resample, path is not None, why)])
    return None if path is None else sample_file(path, normalize, resample)


def samples_of_each(
    options: Sequence[Sequence[Path]], normalize: str | None
) -> list[list[SampleFile]]:
    """Samples that several options name, all normalized alike.

    Raises:
        ConfigError: there is something to normalize by, and nothing to normalize.
    """
    _refuse_idle(normalize, given=any(options))
    return [[sample_file(path, normalize) for path in paths] for paths in options]


def _refuse_idle(normalize: str | None, *, given: bool) -> None:
    why = "there are no images or recordings to normalize"
    refuse_without_effect([Effect("--normalize", normalize is not None, given, why)])


def words_of(path: Path, normalize: str | None, resample: bool = False) -> tuple[object, ...]:
    """The words that name the same samples in a command for the user, after --data or its like."""
    words = () if normalize is None else ("--normalize", normalize)
    return (path, *words, *(("--resample",) if resample else ()))

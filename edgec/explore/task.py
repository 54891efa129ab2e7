"""The task of a search, as plain data that is kept with its trials and read by every worker."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from edgec.base.digests import canonical_digest, file_digest
from edgec.base.errors import ConfigError, system_reason
from edgec.base.options import CompileOptions, StatePairs, WeightPoolOptions
from edgec.base.samples import Normalize, SampleFile
from edgec.base.version import __version__
from edgec.commands.compile_cached import program_digest
from edgec.explore.figures import KINDS, Figures, limits_of
from edgec.explore.space import Space
from edgec.target.board import load_board

VERSION = "version of edgec"
"""Key of `Task.identity`."""


@dataclass(frozen=True, slots=True)
class Task:
    """Everything that a worker needs to run a trial.

    Attributes:
        models: absolute paths by the names that trials call them.
        calibration: samples that choose scales and weights; absolute.
        data: samples with labels that judge trials; absolute.
        normalize: what `--normalize` says of `calibration`; None: nothing.
        data_normalize: the same of `data`.
        float_share: share of `data` that the first model tells right in float.
        labelled: the labels are the user's; otherwise they are the first model's own decisions.
        space: values of each knob.
        kind: kind of its boards, a key of `KINDS`.
        limits: text of `--fit`; "": none.
        seed: number that all random choices follow from.
        shapes, state, values: what `--shape`, `--state` and `--value` say, each as its text.
        note: which samples were used for what, a sentence.
    """

    models: Mapping[str, str]
    calibration: str
    data: str
    normalize: str | None
    data_normalize: str | None
    float_share: float
    labelled: bool
    space: Space
    kind: str
    limits: str
    seed: int
    shapes: Mapping[str, tuple[int, ...]]
    state: tuple[str, ...]
    values: Mapping[str, tuple[float, ...]]
    note: str

    def to_text(self) -> str:
        """The task as JSON."""
        return json.dumps(dataclasses.asdict(self))

    @classmethod
    def from_text(cls, text: str) -> Task:
        """The task that `to_text` wrote.

        Raises:
            ConfigError: the text is of another version.
        """
        try:
            found: dict[str, Any] = json.loads(text)
            for name in ("space", "shapes", "values"):
                found[name] = {key: tuple(each) for key, each in found[name].items()}
            return cls(**{**found, "state": tuple(found["state"])})
        except (ValueError, TypeError, KeyError, AttributeError) as error:
            raise ConfigError("the study was made by another version of edgec") from error

    @property
    def options(self) -> CompileOptions:
        """Options of every build, before those of its setting."""
        return CompileOptions(
            shapes=self.shapes,
            state=StatePairs.parse(self.state),
            values=self.values,
            verify=False,
        )

    @property
    def figures(self) -> Figures:
        """Figures that are measured of each build, and what they are called."""
        return KINDS[self.kind]

    @property
    def bounds(self) -> Mapping[str, float]:
        """Limits by figure."""
        return limits_of(self.limits, self.figures) if self.limits else {}

    @property
    def calibration_file(self) -> SampleFile:
        """Calibration data."""
        return sample_file(Path(self.calibration), self.normalize)

    @property
    def data_file(self) -> SampleFile:
        """Data that judge trials."""
        return sample_file(Path(self.data), self.data_normalize)

    def identity(self) -> dict[str, str]:
        """Digests of all that makes trials comparable, by what they are of.

        Raises:
            ConfigError: a file cannot be read on this machine.
        """
        with _readable():
            models = [_model_digest(Path(each)) for each in self.models.values()]
            data = [_digest(Path(each)) for each in (self.calibration, self.data)]
            version = edgec_identity()
        boards = [load_board(each) for each in self.space["board"]]
        rest = (self.normalize, self.data_normalize, dict(self.space), self.limits, self.seed)
        given = (dict(self.shapes), self.state, dict(self.values))
        return {
            VERSION: version,
            "model": canonical_digest(models),
            "data": canonical_digest(data),
            "boards": canonical_digest(boards),
            "options": canonical_digest((rest, given)),
        }

    def pool_key(self, model: str, pool: WeightPoolOptions) -> str:
        """Digest of all that the pooled weights of a model follow from, and of nothing else.

        Args:
            model: the name that trials call it.
            pool: recipe of the pool.

        Raises:
            ConfigError: a file cannot be read on this machine.
        """
        with _readable():
            own = _model_digest(Path(self.models[model])), _digest(Path(self.calibration))
        given = self.normalize, dict(self.shapes), self.state, dict(self.values)
        return canonical_digest(("pooled", edgec_identity(), own, given, pool))


@contextmanager
def _readable() -> Iterator[None]:
    """Say of a file that cannot be read what workers need."""
    try:
        yield
    except OSError as error:
        raise ConfigError(
            f"cannot be read on this machine: {system_reason(error)}",
            where=str(error.filename or ""),
            hint="workers need the same paths: a shared folder, or copies at the same places",
        ) from error


def edgec_identity() -> str:
    """Version and digest of the edgec that runs."""
    return f"{__version__} {program_digest()[:12]}"


def sample_file(path: Path, normalize: str | None) -> SampleFile:
    """Samples on disk, with what `--normalize` says of them; None: nothing."""
    return SampleFile(path, None if normalize is None else Normalize.parse(normalize))


def _digest(path: Path) -> str:
    if not path.is_dir():
        return file_digest(path)
    files = sorted(each for each in path.rglob("*") if each.is_file())
    return canonical_digest([(f.relative_to(path).as_posix(), file_digest(f)) for f in files])


def _model_digest(path: Path) -> str:
    """Digest of a model, with the files that hold some of its weights."""
    from edgec.importers.formats import files_beside  # noqa: PLC0415  (takes seconds)

    beside = (path.parent / each for each in files_beside(path))
    return canonical_digest([file_digest(each) for each in (path, *beside)])


def check_same(kept: Mapping[str, str], own: Mapping[str, str], place: str) -> None:
    """Refuse a study that is not comparable.

    Args:
        kept: `Task.identity` of the study.
        own: that of this machine or command.
        place: the storage, for the message.

    Raises:
        ConfigError: they differ; says in what.
    """
    other = [name for name in own if kept.get(name) != own[name]]
    if not other:
        return
    if other[0] == VERSION:
        raise ConfigError(
            f"was made with edgec {kept.get(other[0], '?')}; this is {own[other[0]]}",
            where=place,
            hint="install the same edgec everywhere, or choose another --storage or --study",
        )
    verb = "are" if other[0] in ("boards", "options", "data") else "is"
    raise ConfigError(
        f"holds another study: its {', '.join(other)} {verb} not the same",
        where=place,
        hint="choose another --storage or --study, or continue with the same words as before",
    )

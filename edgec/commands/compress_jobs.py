"""Jobs of `edgec compress`: models, their data, and the files to write."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from edgec.base.errors import ConfigError
from edgec.base.output_file import check_writable
from edgec.base.samples import SampleFile, Samples

SUFFIX = ".pool.onnx"


@dataclass(frozen=True, slots=True)
class Job:
    """One model and its data.

    Attributes:
        model: ONNX file.
        output: file to write.
        calibration: typical inputs on disk, or None.
        train: inputs and labels on disk to fine-tune on, or None.
        evaluation: inputs and labels on disk to measure accuracy on, or None.
    """

    model: Path
    output: Path
    calibration: Samples | None = None
    train: Samples | None = None
    evaluation: Samples | None = None

    @property
    def reads(self) -> tuple[Path, ...]:
        """All files and folders that are read."""
        samples = (self.calibration, self.train, self.evaluation)
        return (self.model, *(SampleFile.of(each).path for each in samples if each is not None))


def jobs_of(
    models: Sequence[Path],
    output: Path | None,
    calibration: Sequence[Samples] = (),
    train: Sequence[Samples] = (),
    evaluation: Sequence[Samples] = (),
    *,
    suffix: str = SUFFIX,
) -> tuple[Job, ...]:
    """Jobs from what a user names.

    Args:
        models: ONNX files.
        output: the file to write, or with several models the folder; None: beside each model.
        calibration, train, evaluation: data, none, one for all models or one for each.
        suffix: what the names of files beside the models end in.

    Raises:
        ConfigError: another number of data files.
    """
    several = len(models) > 1
    data = [
        _for_each(files, len(models), option)
        for option, files in (
            ("--calibration", calibration),
            ("--train", train),
            ("--eval", evaluation),
        )
    ]
    outputs = []
    for model in models:
        folder = output if output is not None and several else model.parent
        named = folder / f"{model.name.removesuffix('.onnx')}{suffix}"
        outputs.append(named if several or output is None else output)
    return tuple(
        Job(model, out, *files) for model, out, *files in zip(models, outputs, *data, strict=True)
    )


def _for_each(files: Sequence[Samples], count: int, option: str) -> list[Samples | None]:
    if not files:
        return [None] * count
    if len(files) == 1:
        return [files[0]] * count
    if len(files) != count:
        raise ConfigError(
            f"{len(files)} data files for {count} model{'s' if count > 1 else ''}",
            where=option,
            hint="give one file for all models, or one for each in the same order",
        )
    return list(files)


def check_jobs(jobs: Sequence[Job], teacher: Path | None = None) -> None:
    """Outputs that can be written, and are neither inputs nor each other.

    Args:
        jobs: what is to be done.
        teacher: another model that is read.

    Raises:
        ConfigError: they are not; there is no job.
    """
    if not jobs:
        raise ConfigError("there is no model to compress")
    if len({job.output.resolve() for job in jobs}) < len(jobs):
        raise ConfigError(
            "the file to write is the same for two models",
            where=str(jobs[0].output),
            hint="choose another --output",
        )
    reads = [teacher, *(path for job in jobs for path in job.reads)]
    for job in jobs:
        check_writable(job.output, reads)


def check_search(jobs: Sequence[Job], page: Path | None = None) -> None:
    """Check the inputs of a search for the smallest pools.

    Args:
        jobs: what is to be done.
        page: file to draw to, or None.

    Raises:
        ConfigError: several models, no samples to measure on, samples to train on, or a page that
            cannot be written or would take the place of a model or of data.
    """
    if len(jobs) > 1:
        raise ConfigError(
            "the smallest pools are found for one model at a time",
            where="--max-drop",
            hint="compress one model after the other, or give --pool-size",
        )
    if jobs[0].evaluation is None:
        raise ConfigError(
            "pools are chosen by accuracy, and there are no samples to measure it on",
            where="--max-drop",
            hint="give samples with labels with --eval",
        )
    if jobs[0].train is not None:
        raise ConfigError(
            "every pool that is tried would have to be trained",
            where="--max-drop",
            hint="find a size without --train first, then train it with --pool-size and --pools",
        )
    if page is None:
        return
    check_writable(page, jobs[0].reads)
    if page.resolve() == jobs[0].output.resolve():
        raise ConfigError(
            "the page would take the place of the model",
            where=f"--html {page}",
            hint="choose another file for the page",
        )

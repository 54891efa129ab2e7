"""`edgec compress`: ONNX models in, ONNX models whose weights are indices into a pool out."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np

from edgec.base.dtypes import Array
from edgec.base.errors import ConfigError
from edgec.base.options import CompileOptions, Progress, WeightPoolOptions, no_progress
from edgec.base.output_file import check_writable, write_whole
from edgec.base.samples import SampleFile, Samples
from edgec.base.work_folder import temporary_folder
from edgec.exporters.onnx.export import export_real
from edgec.ir.graph import Graph
from edgec.quant import keeps_activation_bits
from edgec.weightpool import CompressionReport, compress_graphs, report_of
from edgec.weightpool.finetune import Augmentation, FinetuneOptions, TrainingData, finetune
from edgec.workflow.accuracy import Accuracy, LabelledData, labelled_data, measured
from edgec.workflow.integer import RealModel, real_model

SUFFIX = ".pool.onnx"
TRAINING_CALIBRATION = 512
"""Training samples that calibrate where no calibration data are given."""
_SHARED = (
    "other models use the same pool: it is counted here in full, but `edgec bundle` stores it once"
)


@dataclass(frozen=True, slots=True)
class Training:
    """How to fine-tune.

    Attributes:
        epochs: passes over the data; 0: as many as the recipe says.
        augment: mirror and shift images at random.
        device: "auto", "cpu" or "cuda".
        seed: seed of the random numbers.
    """

    epochs: int = 0
    augment: bool = False
    device: str = "auto"
    seed: int = 0


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


@dataclass(frozen=True, slots=True)
class Compression:
    """A compressed model on disk.

    Attributes:
        model: what was compressed.
        output: the file.
        file_bytes: its size.
        report: layers, errors, sizes.
        accuracy: on the evaluation data, or None.
        epochs: epochs of fine-tuning; 0 without it.
    """

    model: Path
    output: Path
    file_bytes: int
    report: CompressionReport
    accuracy: Accuracy | None
    epochs: int = 0

    def to_json(self) -> dict[str, Any]:
        """Plain JSON data."""
        report: dict[str, Any] = json.loads(json.dumps(dataclasses.asdict(self.report)))
        for layer, row in zip(self.report.layers, report["layers"], strict=True):
            row["bits_per_weight"] = layer.bits_per_weight
        sizes = self.report.sizes
        report["sizes"] |= {
            "int8_bytes": sizes.int8_bytes,
            "pooled_bytes": sizes.pooled_bytes,
            "compression": sizes.compression,
            "weight_compression": sizes.weight_compression,
        }
        return {
            "model": str(self.model),
            "output": str(self.output),
            "file_bytes": self.file_bytes,
            "epochs": self.epochs,
            "accuracy": None if self.accuracy is None else dataclasses.asdict(self.accuracy),
            **report,
        }


@dataclass(frozen=True, slots=True, eq=False)
class _Loaded:
    """A job with its model and data in memory."""

    job: Job
    model: RealModel
    train: LabelledData | None
    evaluation: LabelledData | None

    @property
    def calibration(self) -> Mapping[str, Array] | None:
        """The user's calibration data, else some training samples."""
        if self.model.calibration is not None or self.train is None:
            return self.model.calibration
        return {name: x[:TRAINING_CALIBRATION] for name, x in self.train.inputs.items()}


@dataclass(frozen=True, slots=True)
class CompressOptions:
    """Options of `compress_models`.

    Attributes:
        pool: the weight pool.
        training: fine-tuning of the jobs that have training data.
        compilation: shapes; quantization of the accuracy that is measured.
    """

    pool: WeightPoolOptions = field(default_factory=WeightPoolOptions)
    training: Training = Training()
    compilation: CompileOptions = field(default_factory=CompileOptions)


def compress_models(
    jobs: Sequence[Job],
    options: CompressOptions | None = None,
    progress: Progress = no_progress,
) -> tuple[Compression, ...]:
    """Compress models; several of them share one pool.

    Each file is replaced as a whole when everything has succeeded, or not at all.

    Args:
        jobs: models and their data.
        options: pool, fine-tuning, quantization.
        progress: told what is being done.

    Raises:
        EdgecError: a model cannot be imported, pooled or trained, data do not fit, PyTorch is
            missing, a file cannot be written.
    """
    options = options or CompressOptions()
    _check_jobs(jobs)
    _check_training(jobs, options.training)
    loaded = [_loaded(job, options, progress) for job in jobs]
    pooled = compress_graphs(
        [each.model.graph for each in loaded],
        [each.calibration for each in loaded],
        _pool_options(loaded, options.pool),
        progress,
    )
    shared = len(jobs) > 1
    found = [
        _finished(each, graph, report, options, progress, shared=shared)
        for each, (graph, report) in zip(loaded, pooled, strict=True)
    ]
    for compression, data in found:
        write_whole(compression.output, data)
        _checkpoint(compression.output).unlink(missing_ok=True)
    return tuple(compression for compression, _ in found)


def jobs_of(
    models: Sequence[Path],
    output: Path | None,
    calibration: Sequence[Samples] = (),
    train: Sequence[Samples] = (),
    evaluation: Sequence[Samples] = (),
) -> tuple[Job, ...]:
    """Jobs from what a user names.

    Args:
        models: ONNX files.
        output: the file to write, or with several models the folder; None: beside each model.
        calibration, train, evaluation: data, none, one for all models or one for each.

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
        named = folder / f"{model.name.removesuffix('.onnx')}{SUFFIX}"
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


def _check_jobs(jobs: Sequence[Job]) -> None:
    """Outputs that can be written, and are neither inputs nor each other."""
    if not jobs:
        raise ConfigError("there is no model to compress")
    outputs = [job.output.resolve() for job in jobs]
    if len(set(outputs)) < len(jobs) or set(outputs) & {job.model.resolve() for job in jobs}:
        raise ConfigError(
            "the file to write is a model to read, or the same for two models",
            where=str(jobs[0].output),
            hint="choose another --output",
        )
    for job in jobs:
        check_writable(job.output)


def _check_training(jobs: Sequence[Job], training: Training) -> None:
    """What fine-tuning will need is there: PyTorch, the device."""
    if not any(job.train for job in jobs):
        return
    if find_spec("torch") is None:
        raise ConfigError(
            "fine-tuning needs PyTorch, which is not installed",
            where="--train",
            hint="pip install '.[train]' in the checkout of edgec, or leave --train out",
        )
    from edgec.weightpool.finetune.train import chosen_device  # noqa: PLC0415  (imports PyTorch)

    chosen_device(_recipe(training, jobs[0].output, shared=False).device)


def _loaded(job: Job, options: CompressOptions, progress: Progress) -> _Loaded:
    model = real_model(job.model, job.calibration, options.compilation, progress)
    train = None if job.train is None else _training_data(job.train, model)
    evaluation = None if job.evaluation is None else labelled_data(job.evaluation, model)
    return _Loaded(job, model, train, evaluation)


def _training_data(samples: Samples, model: RealModel) -> LabelledData:
    """Labelled data of more than one class."""
    data = labelled_data(samples, model)
    if len(np.unique(data.labels)) == 1:
        raise ConfigError(
            f"all {len(data.labels)} samples are of class {data.labels[0]}: "
            "nothing can be learned from them",
            where=f"{SampleFile.of(samples).path}: y",
            hint="give samples of all classes",
        )
    return data


def _finished(
    each: _Loaded,
    graph: Graph,
    report: CompressionReport,
    options: CompressOptions,
    progress: Progress,
    *,
    shared: bool,
) -> tuple[Compression, bytes]:
    """Fine-tuning, export, and accuracy of what was exported."""
    job, epochs = each.job, 0
    if each.train is not None:
        whole = keeps_activation_bits(each.model.graph)
        recipe = _recipe(options.training, job.output, shared=shared, whole=whole)
        epochs = recipe.epochs
        data = TrainingData(each.train.inputs, each.train.labels)
        graph = finetune(each.model.graph, graph, data, recipe, progress)
        report = report_of(each.model.graph, graph, each.calibration, options.pool)
    if shared:
        report = dataclasses.replace(report, notes=(*report.notes, _SHARED))
    exported = export_real(graph, model_layout=True).SerializeToString(deterministic=True)
    accuracy = None
    if each.evaluation is not None:
        with temporary_folder() as folder:
            path = folder / job.output.name
            write_whole(path, exported)
            again = real_model(path, None, CompileOptions())
        pooled = dataclasses.replace(again, calibration=each.calibration)
        before = dataclasses.replace(each.model, calibration=each.calibration)
        accuracy = measured(before, pooled, each.evaluation, options.compilation, progress)
    found = Compression(job.model, job.output, len(exported), report, accuracy, epochs)
    return found, exported


def _pool_options(loaded: Sequence[_Loaded], pool: WeightPoolOptions) -> WeightPoolOptions:
    """Ranges as they are before fine-tuning: it chooses them itself, and has to see all values.

    A transformer's activations always have 8 bits.
    """
    wide = any(each.train is not None or keeps_activation_bits(each.model.graph) for each in loaded)
    return dataclasses.replace(pool, range_bits=8) if wide else pool


def _recipe(
    training: Training, output: Path, *, shared: bool, whole: bool = False
) -> FinetuneOptions:
    recipe = FinetuneOptions(
        bits=(8,) if whole else FinetuneOptions().bits,
        train_pool=not shared,
        augmentation=Augmentation() if training.augment else None,
        seed=training.seed,
        device=training.device,
        checkpoint=_checkpoint(output),
    )
    return dataclasses.replace(recipe, epochs=training.epochs) if training.epochs else recipe


def _checkpoint(output: Path) -> Path:
    """The folder where fine-tuning keeps its state, so that an interrupted run continues."""
    return output.with_name(f"{output.name}.checkpoint")

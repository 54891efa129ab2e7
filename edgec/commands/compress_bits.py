"""`edgec compress --bits`: an ONNX model in, one with weights of few bits out."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from edgec.base.dtypes import Array
from edgec.base.options import FewBitsOptions, IntegerOptions, Progress, no_progress
from edgec.base.output_file import write_whole
from edgec.commands.compress_jobs import Job, check_jobs
from edgec.commands.training import (
    TRAINING_CALIBRATION,
    Training,
    checkpoint_of,
    teacher_graph,
    training_data,
)
from edgec.finetune import need_pytorch
from edgec.finetune.options import Augmentation, TrainingData
from edgec.finetune.pooled import FinetuneOptions, finetune
from edgec.weightpool import NarrowReport, narrow_layers, narrow_report, narrowed
from edgec.workflow.accuracy import Accuracy, LabelledData, labelled_data, measured
from edgec.workflow.exported import exported, read_again
from edgec.workflow.integer import RealModel, real_model
from edgec.workflow.known_samples import seen_before

SUFFIX = ".bits.onnx"


@dataclass(frozen=True, slots=True)
class BitsOptions:
    """Options of `narrow_model`.

    Attributes:
        weights: numbers that weights are, and layers.
        training: fine-tuning, where the job has training data.
        compilation: shapes; quantization of the accuracy that is measured.
    """

    weights: FewBitsOptions
    training: Training = field(default_factory=Training)
    compilation: IntegerOptions = field(default_factory=IntegerOptions)


@dataclass(frozen=True, slots=True)
class Narrowing:
    """A model with weights of few bits on disk.

    Attributes:
        model: the model before.
        output: the file.
        file_bytes: its size.
        report: layers, errors, sizes.
        accuracy: on the evaluation data (`pooled` is that of the new file); None without.
        epochs: epochs of fine-tuning; 0 without it.
    """

    model: Path
    output: Path
    file_bytes: int
    report: NarrowReport
    accuracy: Accuracy | None
    epochs: int = 0

    def to_json(self) -> dict[str, Any]:
        """Plain JSON data."""
        found = self.accuracy
        accuracy = None
        if found is not None:
            shares = {"real": found.real, "int8": found.int8, "narrow": found.pooled[0]}
            accuracy = {**shares, "n": found.n}
        report = dataclasses.asdict(self.report)
        return {
            "model": str(self.model),
            "output": str(self.output),
            "file_bytes": self.file_bytes,
            "epochs": self.epochs,
            "accuracy": accuracy,
            **json.loads(json.dumps(report, default=lambda item: item.value)),
        }


def narrow_model(job: Job, options: BitsOptions, progress: Progress = no_progress) -> Narrowing:
    """Give a model weights of few bits, train it if there are data, and write the file.

    Args:
        job: the model, its data, and the file to write.
        options: how.
        progress: told what is being done.

    Raises:
        EdgecError: the model cannot be imported, no layer can be given few bits, data do not fit,
            PyTorch is missing, or the file cannot be written.
    """
    how = options.training
    check_jobs([job], how.teacher)
    if job.train is not None:
        need_pytorch(how.device, how.devices)
    model = real_model(job.model, job.calibration, options.compilation, progress)
    narrow_layers(model.graph, options.weights)
    train = teacher = None
    if job.train is not None:
        train = training_data(job.train, model, how)
        teacher = teacher_graph(how, job.train, model, options.compilation, progress)
    evaluation = None if job.evaluation is None else labelled_data(job.evaluation, model)
    notes = seen_before(
        None if evaluation is None else evaluation.inputs,
        None if train is None else train.inputs,
        model.calibration,
    )
    calibration = _calibration(model, train)
    graph, epochs = narrowed(model.graph, calibration, options.weights, progress), 0
    if train is not None:
        recipe = _recipe(options, job.output)
        epochs = recipe.epochs
        labelled = TrainingData(train.inputs, train.labels)
        graph = finetune(model.graph, graph, labelled, recipe, progress, teacher)
    report = narrow_report(model.graph, graph, calibration, options.weights)
    data = exported(graph)
    accuracy = None
    if evaluation is not None:
        again = read_again(data, job.output.name)
        after = dataclasses.replace(again, calibration=calibration)
        before = dataclasses.replace(model, calibration=calibration)
        accuracy = measured(before, after, evaluation, options.compilation, progress)
    write_whole(job.output, data)
    if epochs:
        checkpoint_of(job.output).unlink(missing_ok=True)
    report = dataclasses.replace(report, notes=(*report.notes, *notes))
    return Narrowing(job.model, job.output, len(data), report, accuracy, epochs)


def _calibration(model: RealModel, train: LabelledData | None) -> Mapping[str, Array] | None:
    """The user's calibration data, else some training samples."""
    if model.calibration is not None or train is None:
        return model.calibration
    return {name: x[:TRAINING_CALIBRATION] for name, x in train.inputs.items()}


def _recipe(options: BitsOptions, output: Path) -> FinetuneOptions:
    training = options.training
    recipe = FinetuneOptions(
        bits=(8,),
        levels=options.weights.bits.levels,
        augmentation=Augmentation() if training.augment else None,
        views=training.views,
        seed=training.seed,
        device=training.device,
        devices=training.devices,
        checkpoint=checkpoint_of(output),
    )
    return dataclasses.replace(recipe, epochs=training.epochs) if training.epochs else recipe

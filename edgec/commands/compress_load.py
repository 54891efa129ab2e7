"""A job of `edgec compress` in memory, its fine-tuning, and the accuracy of what it writes."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from edgec.base.dtypes import Array
from edgec.base.options import IntegerOptions, Progress
from edgec.commands.compress_jobs import Job
from edgec.commands.training import (
    TRAINING_CALIBRATION,
    Training,
    checkpoint_of,
    teacher_graph,
    training_data,
)
from edgec.finetune.options import Augmentation, TrainingData
from edgec.finetune.pooled import FinetuneOptions, finetune
from edgec.ir.graph import Graph
from edgec.workflow.accuracy import Accuracy, LabelledData, labelled_data, measured
from edgec.workflow.exported import read_again
from edgec.workflow.integer import RealModel, real_model
from edgec.workflow.known_samples import seen_before


@dataclass(frozen=True, slots=True, eq=False)
class Loaded:
    """A job with its models and data in memory, and what the report should say of them."""

    job: Job
    model: RealModel
    train: LabelledData | None
    evaluation: LabelledData | None
    teacher: Graph | None = None
    notes: tuple[str, ...] = ()

    @property
    def calibration(self) -> Mapping[str, Array] | None:
        """The user's calibration data, else some training samples."""
        if self.model.calibration is not None or self.train is None:
            return self.model.calibration
        return {name: x[:TRAINING_CALIBRATION] for name, x in self.train.inputs.items()}


def loaded(
    job: Job,
    training: Training,
    compilation: IntegerOptions,
    progress: Progress,
    check: Callable[[Graph], object] = lambda _: None,
) -> Loaded:
    """A job's files, all of them read and checked before anything takes its time.

    Args:
        job: the model and its data.
        training: fine-tuning, where the job has training data.
        compilation: shapes.
        progress: told what is being done.
        check: called with the graph before data are read; raises if nothing can be done with it.

    Raises:
        EdgecError: the model cannot be imported, or data do not fit it.
    """
    model = real_model(job.model, job.calibration, compilation, progress)
    check(model.graph)
    train = teacher = None
    if job.train is not None:
        train = training_data(job.train, model, training)
        teacher = teacher_graph(training, job.train, model, compilation, progress)
    evaluation = None if job.evaluation is None else labelled_data(job.evaluation, model)
    notes = seen_before(
        None if evaluation is None else evaluation.inputs,
        None if train is None else train.inputs,
        model.calibration,
    )
    return Loaded(job, model, train, evaluation, teacher, notes)


def recipe_of(job: Job, training: Training, recipe: FinetuneOptions) -> FinetuneOptions:
    """A recipe of fine-tuning with what the user asks for in it."""
    recipe = dataclasses.replace(
        recipe,
        augmentation=Augmentation() if training.augment else None,
        views=training.views,
        renew=training.renew,
        seed=training.seed,
        device=training.device,
        devices=training.devices,
        checkpoint=checkpoint_of(job.output),
    )
    return dataclasses.replace(recipe, epochs=training.epochs) if training.epochs else recipe


def tuned(
    each: Loaded, graph: Graph, recipe: FinetuneOptions, progress: Progress
) -> tuple[Graph, int]:
    """A compressed graph, fine-tuned where the job has training data, and the epochs of that."""
    if each.train is None:
        return graph, 0
    labelled = TrainingData(each.train.inputs, each.train.labels)
    graph = finetune(each.model.graph, graph, labelled, recipe, progress, each.teacher)
    return graph, recipe.epochs


def accuracy_of(
    each: Loaded, data: bytes, compilation: IntegerOptions, progress: Progress
) -> Accuracy | None:
    """The accuracy of the model before and as it was exported; None without samples for it."""
    if each.evaluation is None:
        return None
    again = read_again(data, each.job.output.name)
    after = dataclasses.replace(again, calibration=each.calibration)
    before = dataclasses.replace(each.model, calibration=each.calibration)
    return measured(before, after, each.evaluation, compilation, progress)

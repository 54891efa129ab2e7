"""Training in integers for `edgec quantize`: what it needs, and what is checked of its result."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from edgec.base.dtypes import Array
from edgec.base.errors import InternalError, TrainingError
from edgec.base.options import IntegerOptions, Progress
from edgec.base.output_file import write_whole
from edgec.base.samples import Samples
from edgec.base.work_folder import temporary_folder
from edgec.commands.training import (
    TRAINING_CALIBRATION,
    Training,
    checkpoint_of,
    teacher_graph,
    training_data,
)
from edgec.exporters.onnx.export import export_qdq
from edgec.finetune import need_pytorch
from edgec.finetune.integers import IntegerRecipe, TrainingReport, finetune
from edgec.finetune.options import Augmentation, TrainingData
from edgec.interp import run_graph_batch
from edgec.ir.graph import Graph
from edgec.ir.searched import is_open
from edgec.quant import QuantReport, to_integer
from edgec.quant.scales.groups import pinned_by_model
from edgec.workflow.calibration_check import calibration_warnings
from edgec.workflow.integer import IntegerModel, RealModel, integer_model

_CHECKED = 32
"""Samples on which the integers of the file are compared with those that were trained."""


@dataclass(frozen=True, slots=True)
class IntegerTraining:
    """Data and settings of a training in integers.

    Attributes:
        data: inputs and labels on disk.
        how: teacher, epochs, augmentation, device, seed.
    """

    data: Samples
    how: Training = field(default_factory=Training)


@dataclass(frozen=True, slots=True, eq=False)
class Prepared:
    """Models and data in memory.

    Attributes:
        model: the model, with the samples that calibrate it.
        teacher: REAL stage.
        data: what to train on.
        recipe: how.
    """

    model: RealModel
    teacher: Graph
    data: TrainingData
    recipe: IntegerRecipe


@dataclass(frozen=True, slots=True, eq=False)
class IntegersTrained:
    """A quantized network after training.

    Attributes:
        annotated: ANNOTATED stage: what is written.
        integer: INTEGER stage, as `edgec compile` makes it of what is written.
        report: what quantization did.
        training: what training did.
    """

    annotated: Graph
    integer: Graph
    report: QuantReport
    training: TrainingReport


def prepared(
    train: IntegerTraining,
    model: RealModel,
    output: Path,
    options: IntegerOptions,
    progress: Progress,
) -> Prepared:
    """Read what training needs, and refuse early what cannot be trained.

    Args:
        train: what to train on.
        model: the model, with calibration data or without.
        output: the file that will be written; the checkpoint lies beside it.
        options: shapes.
        progress: told what is being done.

    Raises:
        ConfigError: PyTorch or the device is missing, data that do not fit.
        TrainingError: a network that is not trained in integers, a teacher that does not fit.
    """
    need_pytorch(train.how.device)
    _refuse_untrainable(model.graph)
    data = training_data(train.data, model, train.how)
    teacher = teacher_graph(train.how, train.data, model, options, progress) or model.graph
    if model.calibration is None:
        few = {name: x[:TRAINING_CALIBRATION] for name, x in data.inputs.items()}
        model = dataclasses.replace(model, calibration=few)
    return Prepared(model, teacher, TrainingData(data.inputs, data.labels), _recipe(train, output))


def trained(task: Prepared, ready: IntegerModel, progress: Progress) -> IntegersTrained:
    """Train a quantized network, and check that its file says what was trained.

    Args:
        task: from `prepared`.
        ready: its model, quantized.
        progress: told what is being done.

    Raises:
        ConfigError, TrainingError: see `finetune.integers.finetune`.
    """
    real, annotated = ready.balanced, ready.annotated
    if real is None or annotated is None:
        raise InternalError("there is no annotated graph to train", where=task.model.graph.name)
    found = finetune(annotated, real, task.teacher, task.data, task.recipe, progress)
    few = {name: x[:_CHECKED] for name, x in task.data.inputs.items()}
    integer, checked, unequal = _of_file(found.graph, few)
    training = dataclasses.replace(
        found.report,
        checked=found.report.checked + checked,
        unequal=found.report.unequal + unequal,
    )
    if not training.epoch:
        return IntegersTrained(annotated, ready.integer, ready.quantization, training)
    # Losses measured at the start are not those of the trained network.
    model = task.model
    report = dataclasses.replace(
        ready.quantization,
        warnings=calibration_warnings(model.graph, model.calibration, model.about.normalize),
        layers=(),
        losses=(),
        decisions=None,
        weights=None,
    )
    return IntegersTrained(found.graph, integer, report, training)


def _refuse_untrainable(graph: Graph) -> None:
    hint = "leave --train out: `edgec quantize` and `edgec compile` need no labels"
    for node in graph.nodes:
        if is_open(graph, node):
            raise TrainingError(
                f"networks with {node.attrs.title} are not trained in integers",
                where=node.name,
                hint="leave --train out: `edgec compile` quantizes the float model",
            )
    pinned = pinned_by_model(graph)
    if pinned:
        raise TrainingError("the model is quantized already", where=pinned[0], hint=hint)
    pooled = [name for name, constant in graph.constants.items() if constant.pooled is not None]
    if pooled:
        raise TrainingError(
            "the weights are in a pool, which rounding would break up",
            where=pooled[0],
            hint="train the pool: `edgec compress --train`",
        )


def _recipe(train: IntegerTraining, output: Path) -> IntegerRecipe:
    how = train.how
    recipe = IntegerRecipe(
        augmentation=Augmentation() if how.augment else None,
        views=how.views,
        renew=how.renew,
        seed=how.seed,
        device=how.device,
        checkpoint=checkpoint_of(output),
    )
    return dataclasses.replace(recipe, epochs=how.epochs) if how.epochs else recipe


def _of_file(annotated: Graph, samples: dict[str, Array]) -> tuple[Graph, int, int]:
    """Compile the exported file: integer graph, number of outputs compared, number unequal."""
    with temporary_folder() as folder:
        path = folder / "trained.onnx"
        write_whole(path, export_qdq(annotated).SerializeToString(deterministic=True))
        again = integer_model(path, None, IntegerOptions()).integer
    wanted = _outputs(to_integer(annotated), samples)
    found = _outputs(again, samples)
    return again, wanted.size, int((wanted != found).sum())


def _outputs(graph: Graph, samples: dict[str, Array]) -> Array:
    """The codes of all outputs, one after the other."""
    codes = {name: graph.quant(name).quantize(x) for name, x in samples.items()}
    found = run_graph_batch(graph, codes)
    return np.concatenate([found[name].reshape(-1) for name in graph.outputs])

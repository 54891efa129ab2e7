"""Parts of commands that train: settings, labelled data, the checkpoint beside the output."""

from __future__ import annotations

import math
from dataclasses import dataclass
from pathlib import Path

from edgec.base.errors import Effect, TrainingError, refuse_without_effect
from edgec.base.options import IntegerOptions, Progress, check_seed
from edgec.base.samples import SampleFile, Samples
from edgec.finetune.options import IMAGE_AXES, check_views, need_classes
from edgec.ir.graph import Graph
from edgec.workflow.accuracy import LabelledData, labelled_data
from edgec.workflow.integer import RealModel, real_model

TRAINING_CALIBRATION = 512
"""Training samples that calibrate where no calibration data are given."""


@dataclass(frozen=True, slots=True)
class Training:
    """Settings of fine-tuning.

    Attributes:
        epochs: passes over the data; 0: as many as the recipe says.
        augment: mirror and shift images at random.
        device: "auto", "cpu" or "cuda".
        devices: how many of them share each batch.
        views: ways in which the samples are varied, for each of which the teacher is asked once; 0:
            they are varied anew in each epoch.
        renew: each time that all of these have been seen, one is drawn anew.
        seed: seed of the random numbers.
        teacher: a float model to learn from, with the same inputs and classes; None: the model
            itself, as it was before.
    """

    epochs: int = 0
    augment: bool = False
    device: str = "auto"
    seed: int = 0
    teacher: Path | None = None
    devices: int = 1
    views: int = 0
    renew: bool = False

    def __post_init__(self) -> None:
        check_seed(self.seed)


def training_data(samples: Samples, model: RealModel, how: Training) -> LabelledData:
    """Labelled data of more than one class.

    Args:
        samples: inputs and labels on disk.
        model: what is trained.
        how: images are varied only where there are some.

    Raises:
        ConfigError: see `labelled_data`; all samples are of one class, images shall be varied and
            no input takes any, or there are more views than memory holds.
    """
    graph = model.graph
    has_images = any(len(graph.shape(name)) == IMAGE_AXES for name in graph.inputs)
    refuse_without_effect(
        [
            Effect("--augment", how.augment, has_images, "the network reads no images"),
            Effect(
                f"--views {how.views}",
                how.views > 1,
                how.augment,
                "without --augment there is one view of the samples",
                "give --views 1, or add --augment",
            ),
            Effect("--renew", how.renew, how.views > 0, "images are drawn anew in each epoch"),
            Effect("--renew", how.renew, how.augment, "images stay as they are", "add --augment"),
        ]
    )
    data = labelled_data(samples, model)
    need_classes(data.labels, f"{SampleFile.of(samples).path}: y")
    check_views(how.views, len(data.labels), math.prod(graph.shape(graph.outputs[0])))
    return data


def teacher_graph(
    how: Training,
    samples: Samples,
    model: RealModel,
    options: IntegerOptions,
    progress: Progress,
) -> Graph | None:
    """The teacher, REAL stage; None where the model learns from itself.

    Args:
        how: names the teacher's file.
        samples: inputs and labels on disk, which both read.
        model: what learns; inputs of the teacher are called as those of the model.
        options: shapes.
        progress: told what is being done.

    Raises:
        TrainingError: the teacher's inputs are not those of the model.
        EdgecError: it cannot be imported, or the labels do not fit.
    """
    if how.teacher is None:
        return None
    found = real_model(how.teacher, None, options, progress)
    graph, wanted = found.graph, model.graph
    same = all(
        graph.shape(name) == wanted.shape(name)
        and graph.input_layouts.get(name) == wanted.input_layouts.get(name)
        and graph.input_features.get(name) == wanted.input_features.get(name)
        for name in wanted.inputs
        if name in graph.inputs
    )
    if graph.inputs != wanted.inputs or not same:
        raise TrainingError(
            "the teacher does not read its inputs as the model does",
            where=str(how.teacher),
            hint="give a float model with inputs of the same names, shapes and axes",
        )
    # Both read one file of samples: it says whether its labels fit.
    labelled_data(samples, found)
    return graph


def checkpoint_of(output: Path) -> Path:
    """The file where fine-tuning keeps its state, so that an interrupted run continues."""
    return output.with_name(f"{output.name}.checkpoint")

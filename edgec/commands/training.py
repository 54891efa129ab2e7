"""What commands that train share: how to train, labelled data, the checkpoint beside the output."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from edgec.base.effect import Effect, refuse_without_effect
from edgec.base.options import check_seed
from edgec.base.samples import SampleFile, Samples
from edgec.finetune.options import IMAGE_AXES, need_classes
from edgec.workflow.accuracy import LabelledData, labelled_data
from edgec.workflow.integer import RealModel

TRAINING_CALIBRATION = 512
"""Training samples that calibrate where no calibration data are given."""


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

    def __post_init__(self) -> None:
        check_seed(self.seed)


def training_data(samples: Samples, model: RealModel, how: Training) -> LabelledData:
    """Labelled data of more than one class.

    Args:
        samples: inputs and labels on disk.
        model: what is trained.
        how: images are varied only where there are some.

    Raises:
        ConfigError: see `labelled_data`; all samples are of one class, or images shall be varied
            and no input takes any.
    """
    graph = model.graph
    has_images = any(len(graph.shape(name)) == IMAGE_AXES for name in graph.inputs)
    refuse_without_effect(
        [Effect("--augment", how.augment, has_images, "the network reads no images")]
    )
    data = labelled_data(samples, model)
    need_classes(data.labels, f"{SampleFile.of(samples).path}: y")
    return data


def checkpoint_of(output: Path) -> Path:
    """The file where fine-tuning keeps its state, so that an interrupted run continues."""
    return output.with_name(f"{output.name}.checkpoint")

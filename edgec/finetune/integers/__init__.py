"""Training in the integers that firmware computes.

Owns: the recipe and what it reports (`options`), the student, which runs the integer graph itself
and passes gradients through its roundings (`codes`, `layer`, `network`), and the course of the
training (`train`).
"""

from __future__ import annotations

from edgec.base.options import Progress, no_progress
from edgec.finetune import need_pytorch
from edgec.finetune.integers.options import IntegerRecipe, Trained, TrainingReport
from edgec.finetune.options import TrainingData
from edgec.ir.graph import Graph

__all__ = ["IntegerRecipe", "Trained", "TrainingReport", "finetune"]


def finetune(
    annotated: Graph,
    real: Graph,
    teacher: Graph,
    data: TrainingData,
    recipe: IntegerRecipe | None = None,
    progress: Progress = no_progress,
) -> Trained:
    """Train a quantized network in its integers, towards a float network.

    The forward pass of each step is that of the integer graph (`quant.to_integer`), bit for bit;
    gradients pass its roundings straight through.  Trained are the weights, in units of their
    codes, the biases, the scale of each output channel, and the scales of activations that
    calibration chose.  Zero points, tables and other constants stay as they are, and so do the
    scales of inputs and of functions with a known range.  Some samples are held back: the epoch
    with the most of them told right is kept (of equal ones the one of least loss), or the start.

    Args:
        annotated: ANNOTATED stage: the start.
        real: REAL stage that it stands for, channels scaled (`quant.Quantized.real`):
            between codes, weights start where these have them.
        teacher: REAL stage, with inputs of the same names and shapes.
        data: training samples with the number of their class.
        recipe: how; the defaults are the ones measured in docs/quantization.md.
        progress: told about every epoch.

    Returns:
        The annotated graph with trained constants and scales, and what happened.

    Raises:
        ConfigError: PyTorch or the device is missing, data that do not fit, too few of them to
            hold some back, a checkpoint of another run.
        TrainingError: an operator that cannot be trained, nothing to train, a loss that is no
            number.
    """
    recipe = recipe or IntegerRecipe()
    need_pytorch(recipe.device)
    from edgec.finetune.integers.train import trained  # noqa: PLC0415  (imports PyTorch)

    return trained(annotated, real, teacher, data, recipe, progress)

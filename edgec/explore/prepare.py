"""Samples of a search: some choose scales, others judge trials beside the float network."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np

from edgec.base.errors import ConfigError, WeightPoolError
from edgec.base.options import IntegerOptions, WeightPoolOptions
from edgec.base.samples import SampleFile, load_given, save_npz
from edgec.weightpool.layers import choose_layers
from edgec.workflow.accuracy import float_classes
from edgec.workflow.integer import graph_side, input_specs, real_model

_EVERY = 4
"""Without data of their own, trials are judged on every fourth sample of the calibration data."""
_FEWEST = 8


@dataclass(frozen=True, slots=True)
class Prepared:
    """Samples of a search.

    Attributes:
        calibration: samples that choose scales and weights.
        data: samples with labels that judge trials.
        float_share: share of `data` that the float model tells right.
        labelled: the labels are the user's; otherwise they are the float model's decisions.
        note: what was used for what, a sentence.
    """

    calibration: SampleFile
    data: SampleFile
    float_share: float
    labelled: bool
    note: str


def can_pool(model: Path, options: IntegerOptions) -> bool:
    """Whether a model has a layer whose weights can be pooled.

    Args:
        model: its file.
        options: shapes and fixed inputs of the model.

    Raises:
        EdgecError: the model cannot be read.
    """
    if model.suffix.lower() != ".onnx":  # pools are made of float weights
        return False
    try:
        choose_layers(real_model(model, None, options).graph, WeightPoolOptions())
    except WeightPoolError:
        return False
    return True


def prepared(
    model: Path,
    calibration: SampleFile,
    data: SampleFile | None,
    folder: Path,
    options: IntegerOptions,
) -> Prepared:
    """Split what has to be split, and let the float model decide what has no labels.

    Args:
        model: the first model; its float form is what trials are held against.
        calibration: the user's calibration data.
        data: the user's data to judge on; None: a quarter of the calibration data does.
        folder: gets the files `calibration.npz` and `validation.npz`, where they are needed.
        options: shapes and fixed inputs of the model.

    Raises:
        EdgecError: the model cannot be read, or the samples do not fit or are too few.
    """
    real = real_model(model, None, options)
    specs = input_specs(real.imported, real.about)
    names = real.about.labels.get(real.graph.outputs[0], ())
    samples, labels = load_given(calibration if data is None else data, specs, names)
    count = len(next(iter(samples.values())))
    said = f"Scales and weights: all of {calibration.path.name}"
    if data is None:
        if count < _FEWEST:
            raise ConfigError(
                f"{count} samples are too few to choose by and to judge by",
                where=str(calibration.path),
                hint=f"give {_FEWEST} or more, or others with --data",
            )
        judges = np.arange(count) % _EVERY == _EVERY - 1
        chosen = {name: array[~judges] for name, array in samples.items()}
        samples = {name: array[judges] for name, array in samples.items()}
        labels = None if labels is None else labels[judges]
        calibration = SampleFile(save_npz(folder / "calibration.npz", chosen))
        said = f"Scales and weights: {count - judges.sum()} of the {count} calibration samples"
    wanted = float_classes(real, graph_side(real.imported, real.graph, samples))
    share = 1.0 if labels is None else float(np.mean(wanted == labels))
    if data is None or labels is None:
        found = {**samples, "y": wanted if labels is None else labels}
        data = SampleFile(save_npz(folder / "validation.npz", found))
    by = "their labels" if labels is not None else "the float model's decisions (no labels)"
    note = f"{said}; trials: {len(wanted)} other samples, by {by}"
    return Prepared(calibration, data, share, labels is not None, note)

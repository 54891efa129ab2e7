"""What `validate` runs: samples of the user with or without labels, or pseudo-random ones."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from edgec.base.dtypes import Array
from edgec.base.errors import ConfigError
from edgec.base.samples import SampleFile, load_labelled, load_samples
from edgec.report.model import Report, TensorReport
from edgec.workflow.session import input_specs

_NOISE_SAMPLES = 3
_SEED = 20240521


@dataclass(frozen=True, slots=True, eq=False)
class ValidationInputs:
    """Samples to run.

    Attributes:
        samples: [N, ...] by input name, as the model takes them.
        labels: int64 [N], numbers of classes; None: not known.
        words: where they come from.
    """

    samples: Mapping[str, Array]
    labels: Array | None
    words: str

    @property
    def count(self) -> int:
        """Number of samples."""
        return len(next(iter(self.samples.values())))


def read_inputs(report: Report, file: SampleFile, limit: int | None) -> ValidationInputs:
    """Samples on disk, with their labels if the file has them.

    Raises:
        ConfigError: they do not fit the model.
    """
    specs = input_specs(report.inputs)
    samples: Mapping[str, Array] = load_samples(file, specs)
    labels = None
    try:
        if not any(spec.name == "y" for spec in specs):  # else the array is an input
            _, labels = load_labelled(file, specs, _classes(report))
    except ConfigError as error:
        if not error.what.startswith("no labels: "):
            raise
    return ValidationInputs(
        {name: array[:limit] for name, array in samples.items()},
        None if labels is None else labels[:limit],
        file.path.name,
    )


def noise_inputs(report: Report) -> ValidationInputs:
    """Pseudo-random samples that are always the same and reach all codes; tokens are all 1."""
    generator = np.random.default_rng(_SEED)
    samples = {tensor.name: _noise(tensor, generator) for tensor in report.inputs}
    return ValidationInputs(samples, None, "pseudo-random inputs, always the same")


def _noise(tensor: TensorReport, generator: np.random.Generator) -> Array:
    shape = (_NOISE_SAMPLES, *tensor.shape[1:])
    if tensor.library_dtype == "int32":  # a token of every table, and masks that hide nothing
        return np.ones(shape, np.int32)
    if tensor.dtype != "float32":
        limits = np.iinfo(tensor.dtype)
        return generator.integers(int(limits.min), int(limits.max) + 1, shape).astype(tensor.dtype)
    quant = tensor.quant
    limits = np.iinfo(quant.dtype.numpy)
    low, high = (np.float64(edge) for edge in (limits.min, limits.max))
    scale, zero = np.asarray(quant.scale), np.asarray(quant.zero_point)
    real = (generator.uniform(low, high, shape) - zero) * scale
    return np.asarray(real, np.float32)


def _classes(report: Report) -> tuple[str, ...]:
    return next((tensor.labels for tensor in report.outputs if tensor.labels), ())

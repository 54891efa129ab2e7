"""Inputs and outputs of `validate`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from edgec.base.dtypes import Array
from edgec.base.errors import ConfigError
from edgec.base.samples import InputSpec, SampleFile, load_given
from edgec.report.model import Report, TensorReport
from edgec.workflow.codes import decode, to_model
from edgec.workflow.evaluation import check_labels, classes_of, decision, original_outputs
from edgec.workflow.model_samples import (
    about_outputs,
    fitting,
    runs_without_output,
    stacked,
)
from edgec.workflow.output_metrics import Distance, distance
from edgec.workflow.session import length_of

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
    labels = None

    def read(specs: Sequence[InputSpec]) -> Mapping[str, Array]:
        nonlocal labels
        samples, labels = load_given(file, specs, _classes(report))
        return samples

    samples = fitting(report, read)
    if limit is not None:
        limit += runs_without_output(report, samples)
    return ValidationInputs(
        {name: array[:limit] for name, array in samples.items()},
        None if labels is None else labels[:limit],
        file.path.name,
    )


def noise_inputs(report: Report) -> ValidationInputs:
    """Pseudo-random samples that are always the same and reach all codes; tokens are all 1."""
    generator = np.random.default_rng(_SEED)
    samples = {each.name: noise(each, generator, _NOISE_SAMPLES) for each in report.inputs}
    return ValidationInputs(samples, None, "pseudo-random inputs, always the same")


def noise(tensor: TensorReport, generator: np.random.Generator, count: int) -> Array:
    """Pseudo-random samples [count, ...] of an input that reach all its codes; tokens are 1."""
    shape = (count, *tensor.shape[1:])
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


@dataclass(frozen=True, slots=True)
class OutputValidation:
    """One output of the model, over all samples.

    Attributes:
        name: its name, untrusted.
        largest_gap: largest difference to the reference in codes; 0: equal bit for bit.
        distance: from the float model, in real numbers; None for numbers of classes.
        accuracy: share of samples whose decision is the label; None without labels, and for outputs
            that decide nothing.
        float_accuracy: the same of the float model.
        agreement: share of samples whose largest element, or number of a class, is that of the
            float model; None for outputs that decide nothing.
        classes: whether the output is known to be about classes, so that this is a decision.
    """

    name: str
    largest_gap: int
    distance: Distance | None
    accuracy: float | None = None
    float_accuracy: float | None = None
    agreement: float | None = None
    classes: bool = False


def validate_outputs(
    folder: Path,
    report: Report,
    given: ValidationInputs,
    wanted: Sequence[Sequence[Array]],
    found: Sequence[Sequence[Array]],
) -> tuple[OutputValidation, ...]:
    """Every output of a model.

    Args:
        folder: build folder.
        report: its report, of the length of these samples.
        given: what was run.
        wanted, found: for each sample, flat codes of each output, of reference and target.
    """
    deciding = _deciding(report)
    given = replace(given, **about_outputs(report, given.samples, given.labels))
    length = length_of(report.inputs, given.samples)
    less = report.max_length - length if length is not None else 0
    inputs = {each.name: to_model(given.samples[each.name], each) for each in report.inputs}
    originals = original_outputs(folder, report, inputs, report.outputs, None)
    results = []
    for number, tensor in enumerate(report.outputs):
        ours, theirs = (np.stack([each[number] for each in runs]) for runs in (found, wanted))
        gap = int(np.abs(ours.astype(np.int64) - theirs.astype(np.int64)).max(initial=0))
        real = decode(stacked(ours, tensor, less), tensor)
        original = _newest(report, tensor, originals[number])
        output = _output(given, tensor, (gap, real), original, tensor is deciding)
        results.append(replace(output, classes=_is_about_classes(report, output, tensor)))
    return tuple(results)


def _newest(report: Report, tensor: TensorReport, original: Array) -> Array:
    """Results of the original; of a stream with one for each frame, those of the last run."""
    axis = None if report.stream is None else report.stream.axes.get(tensor.name)
    if axis is None:
        return original
    place = tensor.layout.index(axis) if tensor.layout else axis
    whole = original.reshape(len(original), *tensor.shape[1:])
    return np.moveaxis(np.moveaxis(whole, axis, -1)[..., -tensor.library_shape[place] :], -1, axis)


def _output(
    given: ValidationInputs,
    tensor: TensorReport,
    found: tuple[int, Array],
    original: Array,
    decides: bool,
) -> OutputValidation:
    gap, real = found
    far = None if tensor.dtype == "int64" else distance(real, original)
    if not decides:
        return OutputValidation(tensor.name, gap, far)
    ours, theirs = classes_of(real), classes_of(original)
    accuracy = float_accuracy = None
    if given.labels is not None:
        check_labels(given.labels, tensor, Path(given.words))
        accuracy, float_accuracy = (float(np.mean(e == given.labels)) for e in (ours, theirs))
    agreement = float(np.mean(ours == theirs))
    return OutputValidation(tensor.name, gap, far, accuracy, float_accuracy, agreement)


def _is_about_classes(report: Report, output: OutputValidation, tensor: TensorReport) -> bool:
    """Whether labels, names of classes or the report say that an output scores or names classes."""
    if output.agreement is None:
        return False
    told = report.decisions is not None and report.decisions.classes
    return told or output.accuracy is not None or bool(tensor.labels) or tensor.dtype == "int64"


def _deciding(report: Report) -> TensorReport | None:
    try:
        return decision(report)
    except ConfigError:
        return None

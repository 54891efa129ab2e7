"""The input that a profile runs: the user's first sample, or noise that is always the same."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from edgec.base.dtypes import Array
from edgec.base.errors import ConfigError
from edgec.base.samples import SampleFile, Samples, load_samples
from edgec.report.model import Report, TensorReport
from edgec.workflow.codes import encode
from edgec.workflow.model_samples import fitting, steps_of
from edgec.workflow.session import length_of

_SEED = 20240522


@dataclass(frozen=True, slots=True, eq=False)
class ProfileInput:
    """One inference's inputs.

    Attributes:
        arrays: int8 or int16 (int32 of token ids and masks), one per model input, as the library
            takes them.
        words: what they are.
        length: length of the run; None where all runs have the same.
        earlier: inputs of the runs before it, after a reset: those without an output, of a front
            end, which skips frames that are not whole.
    """

    arrays: tuple[Array, ...]
    words: str
    length: int | None = None
    earlier: tuple[tuple[Array, ...], ...] = ()


def profile_input(
    report: Report,
    samples: Samples | Mapping[str, Array] | None,
    length: int | None = None,
) -> ProfileInput:
    """The first of the samples, or pseudo-random codes without any.

    Args:
        report: the report of the build.
        samples: on disk, or [N, ...] by input name.
        length: length of the run, for a model of variable length; None: that of the samples, or
            the longest if there are no samples.

    Raises:
        ConfigError: samples that do not fit the model, or have another length.
    """
    tensors = report.inputs
    if samples is None:
        less = {t.shape[t.length_axis] - (length or 0) for t in tensors if t.length_axis}
        missing = less.pop() if less and length is not None else 0
        words = "pseudo-random input, always the same" + _tokens(length)
        arrays = _noise(tensors, missing)
        waits = 0 if report.front_end is None else report.front_end.warm_up
        return ProfileInput(arrays, words, length, (arrays,) * waits)
    words = "first sample of the given inputs"
    if isinstance(samples, SampleFile | Path | str):
        words = f"first sample of {SampleFile.of(samples).path.name}"
        file = samples
        samples = fitting(report, lambda specs: load_samples(file, specs))
    found = length_of(tensors, samples)
    if length not in (None, found):
        raise ConfigError(f"the samples have the length {found}, not {length}", where="--length")
    steps = steps_of(report, samples)
    count = 1 if report.front_end is None else int(steps.rows[0]) + 1
    codes = [encode(steps.inputs[t.name][:count], t) for t in tensors]
    *earlier, arrays = zip(*codes, strict=True)
    return ProfileInput(arrays, words + _tokens(found), found, tuple(earlier))


def _tokens(length: int | None) -> str:
    return "" if length is None else f", {length} tokens"


def _noise(tensors: Sequence[TensorReport], less: int) -> tuple[Array, ...]:
    generator = np.random.default_rng(_SEED)
    found = []
    for tensor in tensors:
        shape = tensor.library_shape_less(less)
        if tensor.library_dtype == "int32":  # token ids, and masks that hide nothing
            found.append(generator.integers(1, 128, shape).astype(np.int32))
        else:
            limits = np.iinfo(tensor.library_dtype)
            codes = generator.integers(int(limits.min), int(limits.max) + 1, shape)
            found.append(codes.astype(tensor.library_dtype))
    return tuple(found)

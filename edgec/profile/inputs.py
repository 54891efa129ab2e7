"""The input that a profile runs: the user's first sample, or noise that is always the same."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from edgec.dtypes import Array
from edgec.report import TensorReport
from edgec.samples import InputSpec, load_samples
from edgec.session import encode

_SEED = 20240522


@dataclass(frozen=True, slots=True, eq=False)
class ProfileInput:
    """One inference's inputs.

    Attributes:
        arrays: int8, one per model input, as the library takes them.
        words: what they are.
    """

    arrays: tuple[Array, ...]
    words: str


def profile_input(
    tensors: Sequence[TensorReport], samples: Path | Mapping[str, Array] | None
) -> ProfileInput:
    """The first of the samples, or pseudo-random codes without any.

    Args:
        tensors: the model's inputs.
        samples: .npz file, or [N, ...] by input name.

    Raises:
        ConfigError: samples that do not fit the model.
    """
    if samples is None:
        return ProfileInput(_noise(tensors), "pseudo-random input, always the same")
    words = "first sample of the given inputs"
    if isinstance(samples, Path):
        words = f"first sample of {samples.name}"
        samples = load_samples(samples, [InputSpec(t.name, t.shape) for t in tensors])
    return ProfileInput(tuple(encode(samples[t.name][:1], t)[0] for t in tensors), words)


def _noise(tensors: Sequence[TensorReport]) -> tuple[Array, ...]:
    generator = np.random.default_rng(_SEED)
    return tuple(
        generator.integers(-128, 128, tensor.library_shape).astype(np.int8) for tensor in tensors
    )

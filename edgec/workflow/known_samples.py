"""Samples to measure on that a network has seen before, whatever their files are called.

Samples are compared by what the network reads, one by one, so that a copy of a file, another format
of it, or some of its samples in another order are noticed as well.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping

import numpy as np

from edgec.base.dtypes import Array
from edgec.base.errors import ConfigError

Inputs = Mapping[str, Array]
"""Graph-side samples [N, ...] by input."""


def known_samples(evaluation: Inputs, seen: Inputs) -> int:
    """Count the samples of `evaluation` that are, bit for bit, among those of `seen`.

    Args:
        evaluation, seen: samples of the same graph.
    """
    before = set(_digests(seen))
    return sum(each in before for each in _digests(evaluation))


def seen_before(
    evaluation: Inputs | None, train: Inputs | None, calibration: Inputs | None
) -> tuple[str, ...]:
    """Warnings where samples to measure on are among those that a network is made from.

    Calibration reads no labels, so samples that calibrate are no reason to refuse anything.

    Args:
        evaluation: samples to measure on; None: nothing is measured.
        train, calibration: samples to train on and to calibrate with; None: there are none.

    Raises:
        ConfigError: all samples of `evaluation` are trained on.
    """
    if evaluation is None:
        return ()
    return (
        *_trained_on(evaluation, train),
        *_warning(evaluation, calibration, "--calibration", "which the result is fitted to"),
    )


def _trained_on(evaluation: Inputs, train: Inputs | None) -> tuple[str, ...]:
    if train is not None and known_samples(evaluation, train) == _count(evaluation):
        raise ConfigError(
            "accuracy on samples that were trained on says nothing",
            where="--eval",
            hint="give samples that are in no other file, or leave --eval out",
        )
    return _warning(evaluation, train, "--train", "which are trained on")


def _warning(evaluation: Inputs, seen: Inputs | None, option: str, what: str) -> tuple[str, ...]:
    known = 0 if seen is None else known_samples(evaluation, seen)
    if not known:
        return ()
    return (
        f"{known:,} of the {_count(evaluation):,} samples of --eval are also in {option}, {what}: "
        "the accuracy on new samples is likely lower",
    )


def _count(samples: Inputs) -> int:
    return len(next(iter(samples.values())))


def _digests(samples: Inputs) -> Iterator[bytes]:
    """A digest of each sample: of all its inputs, in the order of their names."""
    arrays = [np.ascontiguousarray(samples[name]) for name in sorted(samples)]
    for index in range(_count(samples)):
        digest = hashlib.blake2b(digest_size=16)
        for array in arrays:
            digest.update(array[index].tobytes())
        yield digest.digest()

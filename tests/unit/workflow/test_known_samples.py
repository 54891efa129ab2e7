"""Samples to measure on that were seen before, whatever their files are called."""

import numpy as np
import pytest

from edgec.base.errors import ConfigError
from edgec.workflow.known_samples import known_samples, seen_before


def samples(*numbers: int) -> dict[str, np.ndarray]:
    return {
        "a": np.array([[n, n + 1] for n in numbers], np.float32),
        "b": np.array([[7 * n] for n in numbers], np.int32),
    }


def test_samples_are_known_in_any_order_and_only_with_all_inputs() -> None:
    assert known_samples(samples(3, 1, 2), samples(1, 2, 3, 4)) == 3
    assert known_samples(samples(3, 1, 5), samples(1, 2, 3, 4)) == 2
    other = samples(1, 2) | {"b": np.array([[0], [14]], np.int32)}
    assert known_samples(other, samples(1, 2)) == 1
    assert known_samples(samples(-1), samples(0, 1)) == 0


def test_what_was_all_trained_on_is_refused() -> None:
    with pytest.raises(ConfigError, match="trained on says nothing"):
        seen_before(samples(2, 1), samples(1, 2, 3), None)


def test_some_samples_are_warned_of() -> None:
    (trained,) = seen_before(samples(1, 9), samples(1, 2), samples(3))
    assert trained.startswith("1 of the 2 samples of --eval are also in --train, ")
    (calibrated,) = seen_before(samples(1, 2), None, samples(1, 2))
    assert calibrated.startswith("2 of the 2 samples of --eval are also in --calibration, ")


def test_other_samples_are_no_matter() -> None:
    assert seen_before(samples(1), samples(2), samples(3)) == ()
    assert seen_before(samples(1), None, None) == ()
    assert seen_before(None, samples(1), samples(1)) == ()

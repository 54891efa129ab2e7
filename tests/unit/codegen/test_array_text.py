"""Arrays as C text: made from many elements at a time, the same as word by word."""

from __future__ import annotations

import numpy as np
import pytest

from edgec.codegen.cliterals import c_array, c_int, c_list

LIMITS = {
    "small": (np.int8, -128, 127),
    "bytes": (np.uint8, 0, 255),
    "wide": (np.int16, -32768, 32767),
    "sums": (np.int32, -(2**31), 2**31 - 1),
    "few": (np.int32, -3, 3),
}


@pytest.mark.parametrize("indent", [0, 4])
@pytest.mark.parametrize("kind", LIMITS)
def test_an_array_is_the_list_of_its_words(kind: str, indent: int) -> None:
    dtype, low, high = LIMITS[kind]
    rng = np.random.default_rng(0)
    for count in (0, 1, 2, 19, 20, 300, (1 << 16) - 1, 1 << 16, (1 << 16) + 1, 140_000):
        array = rng.integers(low, high, count, endpoint=True).astype(dtype)
        array[::7] = low
        words = [c_int(value) for value in array.tolist()]
        assert c_array(array, indent) == c_list(words, indent)


def test_the_shape_of_an_array_does_not_matter() -> None:
    array = np.arange(-60, 60, dtype=np.int8)
    assert c_array(array.reshape(2, 3, 20)[:, ::-1]) == c_list(
        [str(v) for v in array.reshape(2, 3, 20)[:, ::-1].ravel()]
    )

"""Samples of a model with state: the steps of streams, one stream after the other."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from edgec.base.dtypes import Array
from edgec.base.errors import ConfigError

RESETS = "edgec.reset"
"""Beside the arrays of inputs: bool [N], before which samples the state of a model is reset."""
RESETS_IN_FILES = "reset"
"""Name of the array in a file of samples."""


def resets_of(given: Array | None, count: int) -> Array:
    """Before which samples the state is reset: before the first in any case.

    Args:
        given: a number a sample, 1 where a stream begins; None: all are one stream.
        count: number of samples.

    Returns:
        bool [N].

    Raises:
        ConfigError: the array has another form.
    """
    found = np.zeros(count, bool) if given is None else np.array(given)
    if found.shape != (count,) or found.dtype.kind not in "biu":
        raise ConfigError(
            f"the array is {found.dtype} {list(found.shape)}",
            where=f"'{RESETS_IN_FILES}' of the data",
            hint=f"give {count} numbers, one a sample: 1 where a stream begins, else 0",
        )
    found = found.astype(bool)
    found[:1] = True
    return found


def streams(resets: Array) -> Iterator[slice]:
    """The samples of each stream."""
    first = np.flatnonzero(resets)
    for start, end in zip(first, [*first[1:], len(resets)], strict=True):
        yield slice(int(start), int(end))

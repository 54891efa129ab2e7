"""Float activations of a graph on calibration data, with the same bits on every computer."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import numpy as np

from edgec.base.dtypes import Array, DType
from edgec.base.errors import ConfigError
from edgec.floatrun.executor import Executor
from edgec.ir.graph import Graph

BATCH_SAMPLES = 16
"""Samples whose activations are in memory at a time, at most."""
_BATCH_BYTES = 128 << 20
"""Activations of a batch take no more, unless those of one sample do."""


def checked_calibration(graph: Graph, calibration: Mapping[str, Array]) -> dict[str, Array]:
    """Calibration data as float32 (token ids and masks: int32), checked against the graph's inputs.

    Args:
        graph: says names and shapes.
        calibration: graph input name to [N, ...]; integers are converted.

    Raises:
        ConfigError: an input is missing, unknown, empty, of a wrong shape or type, not finite, or
            the inputs differ in their number of samples.
    """
    expected = "; ".join(f"{n}: {_text(graph, n)}" for n in graph.inputs)
    for name in calibration:
        if name not in graph.inputs:
            raise ConfigError(
                f"the model has no input {name!r}", where="calibration", hint=f"expected {expected}"
            )
    checked = {}
    for name in graph.inputs:
        if name not in calibration:
            raise ConfigError(
                f"no data for input {name!r}", where="calibration", hint=f"expected {expected}"
            )
        checked[name] = _checked_array(graph, name, np.asarray(calibration[name]), expected)
    if len({len(array) for array in checked.values()}) > 1:
        raise ConfigError("the inputs hold different numbers of samples", where="calibration")
    return checked


def _text(graph: Graph, name: str) -> str:
    dtype = graph.values[name].dtype.value
    return f"{dtype} [N, " + ", ".join(str(size) for size in graph.shape(name)[1:]) + "]"


def _checked_array(graph: Graph, name: str, array: Array, expected: str) -> Array:
    where, hint = f"calibration data of {name!r}", f"expected {expected}"
    if array.dtype.kind not in "fiu":
        raise ConfigError(f"the elements are {array.dtype}", where=where, hint=hint)
    if array.ndim == 0 or array.shape[1:] != graph.shape(name)[1:]:
        raise ConfigError(f"the shape is {list(array.shape)}", where=where, hint=hint)
    if len(array) == 0:
        raise ConfigError("there are no samples", where=where, hint=hint)
    if graph.values[name].dtype is DType.INT32:
        return np.ascontiguousarray(array, np.int32)
    with np.errstate(over="ignore"):
        real = np.ascontiguousarray(array, np.float32)
    bad = ~np.isfinite(real.reshape(len(real), -1)).all(axis=1)
    if bad.any():
        raise ConfigError(
            f"sample {int(np.argmax(bad))} holds NaN or infinite numbers", where=where, hint=hint
        )
    return real


def activations(
    graph: Graph, names: Sequence[str], data: Mapping[str, Array]
) -> Iterator[tuple[int, dict[str, Array]]]:
    """Float activations, a few samples at a time.

    Args:
        graph: REAL stage.
        names: values wanted.
        data: checked calibration data.

    Yields:
        The number of samples done and, for each name, [samples, ...value shape...]: what float64
        gives, rounded to float32; whole numbers and codes as int32 and as they are.
    """
    executor = Executor(graph, names)
    total = len(next(iter(data.values())))
    step = batch_samples(executor)
    for start in range(0, total, step):
        results = executor.run({name: x[start : start + step] for name, x in data.items()})
        batch = {name: as_float32(results[name]) for name in names}
        yield min(start + step, total), batch


def batch_samples(executor: Executor) -> int:
    """Samples that an executor runs at a time."""
    return min(max(_BATCH_BYTES // executor.sample_bytes, 1), BATCH_SAMPLES)


def as_float32(values: Array) -> Array:
    """What float64 gives, rounded to float32; whole numbers and codes as they are."""
    if values.dtype.kind != "f":
        return values
    with np.errstate(over="ignore"):  # infinite numbers are found where they matter
        return values.astype(np.float32)

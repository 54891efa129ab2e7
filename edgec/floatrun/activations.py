"""Float activations of a graph on calibration data, with the same bits on every computer.

Float activations of a graph whose nodes are decided one after the other.

`activations` runs a network from its inputs on.  Who looks at one layer after the other, and
changes it, would run the first layers again for every later one.  A `Walk` keeps what nodes from
the present one on will read, so that a pass over a network runs each node about once.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import numpy as np

from edgec.base.dtypes import Array, DType
from edgec.base.errors import ConfigError
from edgec.base.streams import RESETS, resets_of
from edgec.floatrun.executor import Executor
from edgec.ir.graph import Graph

BATCH_SAMPLES = 16
"""Samples whose activations are in memory at a time, at most."""
MANY_SAMPLES = 64
"""The same where nothing depends on how many come at once: small networks take no longer for all
of these."""
_BATCH_BYTES = 128 << 20
"""Activations of a batch take no more, unless those of one sample do."""


def checked_calibration(graph: Graph, calibration: Mapping[str, Array]) -> dict[str, Array]:
    """Calibration data as float32 (token ids and masks: int32), checked against the graph's inputs.

    Args:
        graph: says names and shapes.
        calibration: graph input name to [N, ...]; integers are converted.  For a model with state
            the samples are steps, and `RESETS`, [N], says which of them begin a stream.

    Returns:
        An array for each input; for a model with state `RESETS`, too, bool [N].

    Raises:
        ConfigError: an input is missing, unknown, empty, of a wrong shape or type, not finite, or
            the inputs differ in their number of samples.
    """
    expected = "; ".join(f"{n}: {_text(graph, n)}" for n in graph.inputs)
    for name in calibration:
        if name not in graph.inputs and not (name == RESETS and graph.has_state):
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
    if graph.has_state:
        checked[RESETS] = resets_of(calibration.get(RESETS), len(next(iter(checked.values()))))
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
    graph: Graph, names: Sequence[str], data: Mapping[str, Array], most: int = BATCH_SAMPLES
) -> Iterator[tuple[int, dict[str, Array]]]:
    """Float activations, a few samples at a time.

    Args:
        graph: REAL stage.
        names: values wanted.
        data: checked calibration data.
        most: samples at a time.

    Yields:
        The number of samples done and, for each name, [samples, ...value shape...], of a value of
        a loop [samples * turns, ...]: what float64
        gives, rounded to float32; whole numbers and codes as int32 and as they are.
    """
    executor = Executor(graph, names)
    total = len(next(iter(data.values())))
    step = batch_samples(executor, most)
    for start in range(0, total, step):
        results = executor.run({name: x[start : start + step] for name, x in data.items()})
        batch = {name: as_float32(results[name]) for name in names}
        yield min(start + step, total), batch


def batch_samples(executor: Executor, most: int = BATCH_SAMPLES) -> int:
    """Samples that an executor runs at a time, `most` at most."""
    return min(max(_BATCH_BYTES // executor.sample_bytes, 1), most)


def as_float32(values: Array) -> Array:
    """Float64 results rounded to float32; whole numbers and codes unchanged."""
    if values.dtype.kind != "f":
        return values
    with np.errstate(over="ignore"):  # infinite numbers are found where they matter
        return values.astype(np.float32)


_MOST_BYTES = 512 << 20
"""Most bytes of kept values; beyond them the next node is computed from the inputs on."""


class Walk:
    """A pass over a network, from its first node to its last."""

    def __init__(self, graph: Graph, data: Mapping[str, Array]) -> None:
        """Begin at the inputs.

        Args:
            graph: REAL stage; later graphs have the nodes of this one, with other constants.
            data: checked calibration data.
        """
        self._data = dict(data)
        self._known = dict(data)
        self._count = len(next(iter(data.values())))
        self._step = batch_samples(Executor(graph, graph.outputs))

    def activations(
        self, graph: Graph, names: Sequence[str], place: int
    ) -> Iterator[dict[str, Array]]:
        """Values of a few samples at a time, bit for bit those of `activations`.

        Args:
            graph: the network as it is now.
            names: values wanted.
            place: number of the present node; no node before it will be changed.

        Yields:
            For each name [samples, ...value shape...], as `activations` gives it.
        """
        known = [name for name in self._known if name in graph.values]
        cut = graph.replace(
            nodes=tuple(
                node for node in graph.nodes if self._known.keys().isdisjoint(node.outputs)
            ),
            inputs=tuple(known),
            outputs=tuple(names),
            output_layouts={},
        ).pruned()
        kept = self._read_from(graph, cut, place)
        executor = Executor(cut, (*names, *kept))
        parts: dict[str, list[Array]] = {name: [] for name in kept}
        for start in range(0, self._count, self._step):
            here = {name: x[start : start + self._step] for name, x in self._known.items()}
            results = executor.run(here)
            for name, part in parts.items():
                part.append(results[name])
            yield {name: as_float32(results[name]) for name in names}
        found = {name: np.concatenate(part) for name, part in parts.items()}
        self._known = self._data | found

    def forget(self, graph: Graph, name: str) -> None:
        """Drop a value whose node was changed, and all that depends on it.

        Args:
            graph: the network as it is now.
            name: output of the node.
        """
        waiting, gone = [name], {name}
        while waiting:
            each = waiting.pop()
            self._known.pop(each, None)
            # Once each: paths double at every branch, so that walking all of them would never end.
            found = {node.output for node in graph.consumers[each]} - gone
            gone |= found
            waiting += found

    def _read_from(self, graph: Graph, cut: Graph, place: int) -> tuple[str, ...]:
        """Values of `cut` that nodes from `place` on read; none where they take too much memory."""
        later = {name for node in graph.nodes[place:] for name in node.inputs}
        if graph.has_state:
            return ()  # each value depends on all samples before it
        kept = tuple(
            name
            for name in cut.values
            if name in later and name not in self._data and cut.scopes.values.get(name) is None
        )
        size = sum(8 * graph.values[name].elements for name in kept) * self._count
        return kept if size <= _MOST_BYTES else ()

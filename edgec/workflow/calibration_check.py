"""Do calibration data look like what a network was trained on?

Wrong data pass through quantization without a trace: ranges fit the data, and the accuracy is lost
when the right data come.  The biases of the first layers remember the scale of the training data:
sums of weights and inputs are of their size.  docs/quantization.md has the figures of real
networks that the limits were chosen from.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from types import MappingProxyType

import numpy as np

from edgec.base.dtypes import Array
from edgec.base.names import shown
from edgec.base.samples import Normalize
from edgec.floatrun.executor import Executor
from edgec.ir import ops
from edgec.ir.graph import Graph, Node
from edgec.quant.cnn.fit_weights import LEAST_SAMPLES
from edgec.quant.common.report import CalibrationSource, QuantReport

_SAMPLES = 8
_MOST_RATIO, _LEAST_RATIO = 40.0, 0.04
"""Spread of a first layer's sums over the size of its biases; real networks: 0.12 to 6.9."""
_SMALLEST = 1e-30
"""Values that are all smaller than this are no measurements."""
_MOST_BESIDE_OTHERS = 100.0
"""Largest value of a sample over that of the median sample."""
_MOST_EQUAL = 0.5
"""Share of samples that say what an earlier one has said."""
_BEYOND_PIXELS = 0.05
"""Largest distance of data beyond the range of normalized pixels, as a part of that range."""


def calibration_warnings(
    graph: Graph,
    samples: Mapping[str, Array] | None,
    normalize: Mapping[str, Normalize] = MappingProxyType({}),
) -> tuple[str, ...]:
    """Warnings about calibration data, a sentence each.

    Args:
        graph: REAL stage, cleaned.
        samples: real graph-side samples [N, ...] by input, or None.
        normalize: how pixels become the numbers of an input, where the model's file says that.
    """
    if samples is None:
        return ()
    floats = {name: array for name, array in samples.items() if array.dtype.kind == "f"}
    odd = [text for name, array in floats.items() for text in _odd_input(name, array)]
    odd += [
        text
        for name, array in floats.items()
        if name in normalize
        for text in _no_pixels(name, array, normalize[name])
    ]
    odd = odd or list(_repeated(samples))
    # A layer's sums say nothing new about data that are odd by themselves.
    return tuple(odd or _odd_layers(graph, samples))


def few_samples_warnings(report: QuantReport) -> tuple[str, ...]:
    """A sentence where a user's samples are too few to find ranges.

    Args:
        report: how they were found.
    """
    found = report.in_force
    ranges = found.observer is not None or found.residual is not None
    if report.source is not CalibrationSource.USER or not ranges or report.samples >= LEAST_SAMPLES:
        return ()
    return (
        f"{_samples(report.samples)} few: give {LEAST_SAMPLES} or more, better some hundred, of "
        "all kinds that the device will meet",
    )


def _samples(count: int) -> str:
    return "1 calibration sample is" if count == 1 else f"{count} calibration samples are"


def _odd_input(name: str, array: Array) -> Iterator[str]:
    """Warnings from the data of one input [N, ...] alone."""
    where = f"calibration data of {shown(name)!r}"
    low, high = float(array.min()), float(array.max())
    largest = np.abs(array.reshape(len(array), -1).astype(np.float64)).max(axis=1)
    if low == high and array.size > 1:
        yield f"{where}: all {array.size:,} values are {low:g}"
    elif largest.max() < _SMALLEST:
        yield f"{where}: all values are below {_SMALLEST:g}, the largest is {largest.max():.3g}"
    elif largest.max() > _MOST_BESIDE_OTHERS * max(float(np.median(largest)), _SMALLEST):
        yield (
            f"{where}: sample {int(largest.argmax())} reaches {largest.max():.4g}, half of the "
            f"samples do not reach {np.median(largest) * 1.001:.4g}: are all scaled alike?"
        )


def _no_pixels(name: str, array: Array, normalize: Normalize) -> Iterator[str]:
    """Data of an input that pixels, as the model's file normalizes them, cannot become."""
    ends = np.array([[0.0], [255.0]])
    bounds = (ends * normalize.scale - np.array(normalize.mean)) / np.array(normalize.std)
    low, high = float(bounds.min()), float(bounds.max())
    room = _BEYOND_PIXELS * (high - low)
    found = float(array.min()), float(array.max())
    if found[0] < low - room or found[1] > high + room or found[1] - found[0] < room:
        yield (
            f"calibration data of {shown(name)!r} lie in [{found[0]:.4g}, {found[1]:.4g}]; pixels "
            f"as the model's file normalizes them lie in [{low:.4g}, {high:.4g}]"
        )


def _repeated(samples: Mapping[str, Array]) -> Iterator[str]:
    """Samples that come again and again."""
    arrays = [np.ascontiguousarray(array) for array in samples.values()]
    count = len(arrays[0])
    different = len({b"".join(array[i].tobytes() for array in arrays) for i in range(count)})
    if count - different > _MOST_EQUAL * count:
        yield f"calibration data: of {count} samples only {different} differ from each other"


def _odd_layers(graph: Graph, samples: Mapping[str, Array]) -> Iterator[str]:
    """First layers whose sums are of another size than their biases."""
    layers = list(_first_layers(graph))
    few = {name: array[:_SAMPLES] for name, array in samples.items()}
    found = Executor(graph, [node.output for node in layers]).run(few) if layers else {}
    low = min((float(a.min()) for a in samples.values()), default=0.0)
    high = max((float(a.max()) for a in samples.values()), default=0.0)
    for node in layers:
        ratio = _ratio(graph, node, found[node.output])
        if not _LEAST_RATIO <= ratio <= _MOST_RATIO:
            size = "small" if ratio < _LEAST_RATIO else "large"
            yield (
                f"calibration data in [{low:.4g}, {high:.4g}] look too {size} for the network: in "
                f"layer {shown(node.name)!r} the sums spread {ratio:.3g} times as far as its biases"
                f" ({_LEAST_RATIO:g} to {_MOST_RATIO:g} would be usual); are they scaled as in "
                "training?"
            )


def _first_layers(graph: Graph) -> Iterator[Node]:
    """Layers with biases that no other layer with weights comes before, of float inputs."""
    reached = {name for name in graph.inputs if graph.values[name].quant is None}
    for node in graph.nodes:
        if not any(name in reached for name in node.inputs):
            continue
        if not isinstance(node.attrs, ops.Weighted):
            reached.add(node.output)
            continue
        bias = ops.layer_inputs(node).b
        if bias is not None and bool(np.any(graph.constants[bias].real64())):
            yield node


def _ratio(graph: Graph, node: Node, sums: Array) -> float:
    """Spread of a layer's channels over the size of its biases."""
    bias = graph.constants[ops.layer_inputs(node).b or ""].real64()
    spread = sums.reshape(-1, sums.shape[-1]).std(axis=0)
    return float(np.sqrt(np.mean(spread**2) / np.mean(bias**2)))

"""Noise at the outputs by the codes of one tensor, in a network that is exact otherwise.

The network runs once in float64.  A trial puts other numbers into one tensor and computes again
what depends on it.  Such noises are nearly independent, so those of all tensors add up to that of
the quantized network: in MLPerf's visual wake words, ResNet-8 and MCUNet to within 1 dB.

Causes of noise in the codes of a tensor, each with the figure that shows it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from edgec.base.dtypes import Array, DType
from edgec.base.streams import RESETS
from edgec.floatrun.executor import Executor
from edgec.ir import ops
from edgec.ir.graph import Graph, Node
from edgec.ir.infer import macs
from edgec.ir.qparams import QuantParams
from edgec.ir.turns import turns_between
from edgec.passes.edit import unreshaped
from edgec.quant.common.params import activation_params, range_of
from edgec.quant.common.report import Cause

_MOST_SAMPLES = 8
"""Samples that a tensor is tried on, at most: those that the quality of layers is measured on."""
_TRIAL_WORK = 4e9
"""Multiply-accumulates of all trials where several samples are tried: two seconds or three.  What
is done never depends on how fast the computer is."""
_MOST_WORK = 1.6e10
"""Multiply-accumulates of all trials on one sample beyond which a network is not tried."""
_ELEMENT_WORK = 16
"""Multiply-accumulates that take the time of one element of an operator's output."""


def trial_samples(graph: Graph, names: Sequence[str], available: int) -> int:
    """Number of samples that trials may take: 1 to 8, 0 for a network that is too large.

    Args:
        graph: REAL stage.
        names: a tensor for each trial.
        available: samples that there are.
    """
    own = {
        n.name: turns_between(None, graph.scopes.nodes[n.name])
        * (macs(graph, n) + _ELEMENT_WORK * sum(graph.values[o].elements for o in n.outputs))
        for n in graph.nodes
    }
    work = sum(own[node.name] for name in names for node in _readers(graph, name))
    if work > _MOST_WORK:
        return 0
    return max(min(int(_TRIAL_WORK / max(work, 1)), _MOST_SAMPLES, available), 1)


def _readers(graph: Graph, name: str) -> list[Node]:
    """The nodes whose results depend on a value."""
    changed, nodes = {name}, []
    for node in graph.nodes:
        if not changed.isdisjoint(node.inputs):
            nodes.append(node)
            changed.update(node.outputs)
    return nodes


def named_by(real: Graph, output: str) -> Node | None:
    """The node that gives an output its elements, whatever their shape; None for an input."""
    return real.producers.get(unreshaped(real, output))


def with_scores(real: Graph) -> tuple[str, ...]:
    """The outputs, and in place of numbers of classes the scores that they are chosen by.

    A number of a class says nothing of how near another one was.

    Args:
        real: REAL stage.
    """
    names = []
    for name in real.outputs:
        node = named_by(real, name)
        chosen = node is not None and isinstance(node.attrs, ops.ArgMax)
        names.append(node.input if node is not None and chosen else name)
    return tuple(dict.fromkeys(names))


def judged(real: Graph) -> tuple[str, ...]:
    """Tensors to compare: `with_scores`, and in place of probabilities their logits.

    Most errors of logits do nothing to probabilities near 0 and 1, and a few do all.

    Args:
        real: REAL stage.
    """
    names = []
    for name in with_scores(real):
        node = real.producers.get(name)
        logits = node is not None and (
            isinstance(node.attrs, ops.Softmax | ops.LogSoftmax)
            or (isinstance(node.attrs, ops.Unary) and node.attrs.kind is ops.UnaryKind.SIGMOID)
        )
        names.append(node.input if node is not None and logits else name)
    return tuple(dict.fromkeys(names))


class OutputNoise:
    """A float network on samples, and what becomes of changes in it."""

    def __init__(self, graph: Graph, data: Mapping[str, Array]) -> None:
        """Run the network.

        Args:
            graph: REAL stage.
            data: graph input name to float32 [S, ...]; all of it is used.
        """
        self._executor = Executor(graph, [*graph.values])
        self._known = self._executor.run(data)
        self._resets = {RESETS: data[RESETS]} if RESETS in data else {}
        self._outputs = [n for n in graph.outputs if self._known[n].dtype.kind == "f"]
        self._power = {name: energy(self._known[name]) or 1.0 for name in self._outputs}

    def value(self, name: str) -> Array:
        """Value of a tensor in the float network; float64 [S, ...]."""
        return self._known[name]

    def of(self, name: str, values: Array) -> float:
        """The largest share of an output's energy that is noise when a tensor holds `values`."""
        found = self._executor.run_again({**self._known, **self._resets}, {name: values})
        return max(
            (
                energy(found[each] - self._known[each]) / self._power[each]
                for each in self._outputs
                if each in found
            ),
            default=0.0,
        )


def energy(values: Array) -> float:
    """Sum of squares."""
    return float(np.sum(np.asarray(values, np.float64) ** 2))


_CLIPPED = 0.001
"""Share of values beyond the codes from which clipping is named as the cause."""
_FEW_LEVELS = 4.0
"""Steps below which the spread of a tensor leaves few codes for most of its values."""
_ONE_CHANNEL = 8.0
"""Reach of a channel over that of the median one, from which it has the range for itself."""


def _gains_by_reach(values: Array, quant: QuantParams) -> bool:
    """Whether codes that reach all values would have less noise; finer steps may be worth more."""
    if quant.axis is not None or quant.dtype is not DType.INT8:
        return False
    wider = activation_params(range_of(values))
    own, theirs = (
        energy(values - each.dequantize64(each.quantize(values))) for each in (quant, wider)
    )
    return theirs < own


def cause_of_codes(values: Array, quant: QuantParams) -> tuple[Cause, str]:
    """The cause of the noise of a tensor's codes, and its figure in words.

    Args:
        values: what the float network computes, float64 [S, ..., C].
        quant: parameters of the codes, per tensor or with shapes that fit `values`.
    """
    # Infinity, that a Pad put there, has no error.
    values = np.where(np.isfinite(values), values, 0.0)
    steps = values / np.asarray(quant.scale) + np.asarray(quant.zero_point)
    limits = np.iinfo(quant.dtype.numpy)
    beyond = float(((steps < limits.min - 0.5) | (steps > limits.max + 0.5)).mean())
    if beyond > _CLIPPED and _gains_by_reach(values, quant):
        return Cause.CLIPPED, f"{beyond:.1%} of its values are beyond its codes"
    reach = np.abs(values).reshape(-1, values.shape[-1]).max(axis=0)
    median = float(np.median(reach))
    if len(reach) > 1 and 0.0 < median < float(reach.max()) / _ONE_CHANNEL:
        worst, ratio = int(reach.argmax()), float(reach.max()) / median
        return Cause.CHANNEL, f"channel {worst} reaches {ratio:.0f} times as far as the median one"
    spread = float(steps.std())
    if spread < _FEW_LEVELS:
        return Cause.LEVELS, f"most of its values lie within {2 * spread:.1f} steps"
    return Cause.RANGE, ""

"""Weights of few bits that a build asks for, layer by layer."""

from __future__ import annotations

import math
from collections.abc import Mapping

import numpy as np

from edgec.base.dtypes import Array
from edgec.base.errors import ConfigError
from edgec.base.options import IntegerOptions, Progress, no_progress
from edgec.floatrun.executor import Executor
from edgec.ir import Graph
from edgec.quant.common.output_noise import energy, with_scores
from edgec.weightpool import bits_of_layers, narrowed_layers

_SAMPLES = 16
"""Samples that noise of weights is measured on."""


def with_weight_bits(
    graph: Graph,
    calibration: Mapping[str, Array] | None,
    options: IntegerOptions,
    progress: Progress = no_progress,
) -> Graph:
    """A network whose layers have the weights of few bits that the options ask for.

    Args:
        graph: REAL stage, cleaned.
        calibration: float32 [N, ...] by graph input; None: weights are chosen by their own error.
        options: those of quantization.
        progress: told what is being done.

    Returns:
        REAL stage, values of the same names; `graph` itself where no layer is named.

    Raises:
        ConfigError: the model runs at several lengths.
        WeightPoolError: a pattern matches no layer, or a layer cannot have such weights.
    """
    bits = bits_of_layers(graph, options.weight_bits)
    if not bits:
        return graph
    if options.max_length is not None:
        hint = "leave out one of them, or give few bits to the model's file by edgec compress"
        raise ConfigError("does not go with --max-length", where="--weight-bits", hint=hint)
    return narrowed_layers(graph, calibration, bits, progress)


def weight_bits_notes(
    before: Graph, after: Graph, calibration: Mapping[str, Array] | None
) -> tuple[str, ...]:
    """A note on weights of few bits: the noise that they add alone, where data tell.

    Figures of single layers in a report are held against the network with these weights, decisions
    and the accuracy to expect against the one without them.

    Args:
        before: REAL stage.
        after: from `with_weight_bits`.
        calibration: float32 [N, ...] by graph input, or None.
    """
    if after is before:
        return ()
    note = "weights of few bits by --weight-bits; figures of single layers are beside them"
    if calibration:
        share = Reference(before, calibration).noise(after)
        decibels = f"{-10.0 * math.log10(share):.1f} dB" if share > 0.0 else "none"
        note += f"; they alone add noise to the outputs: {decibels}"
    return (note,)


class Reference:
    """A float network on samples, which others with values of the same names are held against."""

    def __init__(self, graph: Graph, calibration: Mapping[str, Array]) -> None:
        """Run the network on up to 16 samples.

        Args:
            graph: REAL stage.
            calibration: float32 [N, ...] by graph input, one sample or more.
        """
        self._data = {name: array[:_SAMPLES] for name, array in calibration.items()}
        self._names = list(with_scores(graph))
        self._wanted = self._outputs(graph)

    def noise(self, graph: Graph) -> float:
        """The largest share of an output's energy by which another network differs."""
        found = self._outputs(graph)
        return max(
            energy(found[name] - wanted) / (energy(wanted) or 1.0)
            for name, wanted in self._wanted.items()
        )

    def _outputs(self, graph: Graph) -> dict[str, Array]:
        found = Executor(graph, self._names).run(self._data)
        return {name: np.asarray(found[name], np.float64) for name in self._names}

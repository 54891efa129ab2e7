"""Signal to noise ratio of every operator of a quantized network."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from edgec.base.dtypes import Array
from edgec.floatrun.activations import activations
from edgec.ir.graph import Graph, Value
from edgec.ir.qparams import QuantParams
from edgec.quant.common.progress import Progress
from edgec.quant.common.report import LayerQuality
from edgec.quant.common.sample_codes import Outputs, runs


def sqnr_db(reference: Array, result: Array) -> float:
    """Signal power over error power in dB; see `LayerQuality`."""
    signal = np.asarray(reference, np.float64)
    error = np.asarray(result, np.float64) - signal
    return _ratio_db(float(np.sum(signal**2)), float(np.sum(error**2)))


def share_db(noise: float) -> float:
    """Signal to noise in dB of a share of the energy that is noise."""
    return -10.0 * math.log10(noise) if noise > 0.0 else math.inf


def quality_of(
    real: Graph,
    graph: Graph,
    data: Mapping[str, Array],
    progress: Progress | None = None,
    outputs: Outputs | None = None,
) -> tuple[LayerQuality, ...]:
    """Compare every operator of an integer graph with the float graph it was made of.

    Args:
        real: REAL stage, with values of the same names, or those that a value is a form of.
        graph: INTEGER stage.
        data: graph input name to float32 (int32 for token ids and masks) [N, ...]; all are used.
        progress: told after each sample.
        outputs: takes in what both give for each sample.
    """
    found = {node.output: _real_name(real, graph.values[node.output]) for node in graph.nodes}
    names = {output: name for output, name in found.items() if name is not None}
    if not names:  # an ArgMax of the input: no codes to judge
        return ()
    tallies = {name: _Tally() for name in names}
    begun, total = 0, len(next(iter(data.values())))
    ran = runs(graph, data)
    wanted = (*names.values(), *(real.outputs if outputs is not None else ()))
    for done, batch in activations(real, list(dict.fromkeys(wanted)), data):
        count, begun = done - begun, done
        for index in range(count):
            codes = next(ran)
            if outputs is not None:
                outputs.real.append({name: batch[name][index] for name in real.outputs})
                outputs.codes.append({name: codes[name] for name in graph.outputs})
            for name, tally in tallies.items():
                rows = batch[names[name]].reshape(count, -1)
                turns = codes[name].ndim - len(graph.shape(name))
                tally.add(rows[index], codes[name], graph.quant(name).after_axes(turns))
            if progress is not None:
                progress(done - count + index + 1, total)
    return tuple(
        LayerQuality(
            node.name,
            node.op,
            node.output,
            tallies[node.output].sqnr_db,
            tallies[node.output].saturated,
        )
        for node in graph.nodes
        if node.output in names
    )


def _real_name(real: Graph, value: Value) -> str | None:
    """The float tensor that a value has codes of; None where there is none."""
    if value.quant is None:
        return None
    found = (name for name in (value.name, value.form_of) if name in real.values)
    return next(found, None)


@dataclass(slots=True)
class _Tally:
    """Sums over the samples."""

    signal: float = 0.0
    noise: float = 0.0
    beyond: int = 0
    elements: int = 0

    def add(self, real: Array, codes: Array, quant: QuantParams) -> None:
        """Take in one sample: float values, and codes with their parameters."""
        result = quant.dequantize(codes)
        wanted = real.astype(np.float64).reshape(result.shape)
        finite = np.isfinite(wanted)  # a Pad may hold -inf, which no code can be near
        self.signal += float(np.sum(wanted[finite] ** 2))
        self.noise += float(np.sum((result - wanted)[finite] ** 2))
        steps = wanted / np.asarray(quant.scale) + np.asarray(quant.zero_point)
        limits = np.iinfo(quant.dtype.numpy)
        self.beyond += int(
            np.count_nonzero((steps < limits.min - 0.5) | (steps > limits.max + 0.5))
        )
        self.elements += codes.size

    @property
    def sqnr_db(self) -> float:
        """Signal to noise in dB."""
        return _ratio_db(self.signal, self.noise)

    @property
    def saturated(self) -> float:
        """Share of values beyond the codes."""
        return self.beyond / max(self.elements, 1)


def _ratio_db(signal: float, noise: float) -> float:
    if noise == 0.0:
        return math.inf
    if signal <= 0.0 or math.isinf(noise):
        return -math.inf
    # Their ratio may be too small for a float.
    return 10.0 * (math.log10(signal) - math.log10(noise))

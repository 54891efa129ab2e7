"""What quantization did, and how much of the signal survived it."""

from __future__ import annotations

import enum
import math
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from edgec.base.dtypes import Array
from edgec.base.options import Effort, Observer, Residual
from edgec.floatrun.activations import activations
from edgec.interp.int_interp import run_graph
from edgec.ir.graph import Graph
from edgec.ir.qparams import QuantParams
from edgec.quant.common.calibrate import Progress


class CalibrationSource(enum.Enum):
    """Where activation ranges come from."""

    USER = "user"
    """Calibration data given by the user."""
    SYNTHETIC = "synthetic"
    """Noise: there was no data."""
    NONE = "none"
    """The model came quantized."""


@dataclass(frozen=True, slots=True)
class LayerQuality:
    """Signal to quantization noise of one operator's output.

    Attributes:
        node: name of the integer graph's node.
        op: its operator.
        value: name of its output.
        sqnr_db: 10 log10 of signal power over error power against the float graph, in dB; inf
            when they are equal, -inf when the float tensor is zero and the integer one is not.
        saturated: share of the float values that lie beyond what the codes can represent, 0 to 1.
    """

    node: str
    op: str
    value: str
    sqnr_db: float
    saturated: float


@dataclass(frozen=True, slots=True)
class InForce:
    """The options that had an effect.

    Attributes:
        observer: chose the ranges; None where none did: of a transformer, whose scales are searched
            otherwise, or of a model that brings all its ranges.
        percentile: percentage of values that a range holds; None unless the observer is PERCENTILE.
        equalize, bias_correction: they were done.
        residual: element type of a transformer's residual stream; None for other networks.
        effort: what was tried for the integer weights; None where nothing was: without data, of a
            transformer, or of a model that brings its integer weights.
    """

    observer: Observer | None
    equalize: bool
    bias_correction: bool
    percentile: float | None = None
    residual: Residual | None = None
    effort: Effort | None = None

    def __post_init__(self) -> None:
        if self.observer is not Observer.PERCENTILE:
            object.__setattr__(self, "percentile", None)


@dataclass(frozen=True, slots=True)
class PrecisionReport:
    """Which tensors have int16 codes, and what they give.

    The signal to noise ratios are those of the worst output, on the samples that chose.

    Attributes:
        tensors: those with int16 codes, by the value that an operator computes, in graph order.
        candidates: how many could have them.
        output_db: with these.
        int8_db: with int8 codes alone.
        int16_db: with int16 codes wherever they can be: what int8 weights leave.
        arena_bytes: memory for activations with these; None where the board is not known.
        int8_arena_bytes: the same with int8 codes alone.
        left_out: tensors that the accuracy asks for and the memory of the board has no room for.
    """

    tensors: tuple[str, ...]
    candidates: int
    output_db: float
    int8_db: float
    int16_db: float
    arena_bytes: int | None = None
    int8_arena_bytes: int | None = None
    left_out: int = 0


@dataclass(frozen=True, slots=True)
class WeightsReport:
    """What codes of weights that were chosen by the error of outputs gained.

    The signal to noise ratios are those of the worst output on samples held back from the choice.

    Attributes:
        layers: how many layers have other than their nearest codes.
        kept: False where the nearest codes do better, and so stay.
        nearest_db: with nearest codes.
        output_db: with the codes that were chosen.
        samples: samples that were run, those held back among them.
    """

    layers: int
    kept: bool
    nearest_db: float
    output_db: float
    samples: int


@dataclass(frozen=True, slots=True)
class LayerCost:
    """One cause of noise at the outputs.

    Attributes:
        value: name of the tensor.
        share: this much of the noise that all causes add, each measured alone; 0 to 1.
        why: "weights": those of the layer that computes it; "clipped": values beyond its codes;
            "few levels": most values lie within a few codes; "range": its steps as such.
    """

    value: str
    share: float
    why: str


@dataclass(frozen=True, slots=True)
class QuantReport:
    """Result of quantization.

    Attributes:
        source: source of the activation ranges.
        samples: calibration samples used.
        in_force: the options that had an effect.
        warnings: what the user should know, a sentence each.
        layers: one for each node of the integer graph, in order; empty when there was no data.
        precision: the tensors with int16 codes; None where nothing else than int8 was asked for.
        costs: the worst causes of noise where an output is poor; else none.
        weights: what other than the nearest codes of weights gained; None where none were tried.
    """

    source: CalibrationSource
    samples: int
    in_force: InForce
    warnings: tuple[str, ...]
    layers: tuple[LayerQuality, ...]
    precision: PrecisionReport | None = None
    costs: tuple[LayerCost, ...] = ()
    weights: WeightsReport | None = None


def sqnr_db(reference: Array, result: Array) -> float:
    """Signal power over error power in dB; see `LayerQuality`."""
    signal = np.asarray(reference, np.float64)
    error = np.asarray(result, np.float64) - signal
    return _ratio_db(float(np.sum(signal**2)), float(np.sum(error**2)))


def share_db(noise: float) -> float:
    """Signal to noise in dB of a share of the energy that is noise."""
    return -10.0 * math.log10(noise) if noise > 0.0 else math.inf


def quality_of(
    real: Graph, graph: Graph, data: Mapping[str, Array], progress: Progress | None = None
) -> tuple[LayerQuality, ...]:
    """Compare every operator of an integer graph with the float graph it was made of.

    Args:
        real: REAL stage, with values of the same names.
        graph: INTEGER stage.
        data: graph input name to float32 (int32 for token ids and masks) [N, ...]; all are used.
        progress: told after each sample.
    """
    nodes = [node for node in graph.nodes if graph.values[node.output].quant is not None]
    nodes = [node for node in nodes if node.output in real.values]
    if not nodes:  # an ArgMax of the input: no codes to judge
        return ()
    tallies = {node.output: _Tally() for node in nodes}
    done, total = 0, len(next(iter(data.values())))
    for _, batch in activations(real, list(tallies), data):
        for index in range(len(next(iter(batch.values())))):
            codes = run_graph(graph, _quantized_inputs(graph, data, done))
            for name, tally in tallies.items():
                tally.add(batch[name][index], codes[name], graph.quant(name))
            done += 1
            if progress is not None:
                progress(done, total)
    return tuple(
        LayerQuality(
            node.name,
            node.op,
            node.output,
            tallies[node.output].sqnr_db,
            tallies[node.output].saturated,
        )
        for node in nodes
    )


def _quantized_inputs(graph: Graph, data: Mapping[str, Array], index: int) -> dict[str, Array]:
    codes = {}
    for name in graph.inputs:
        array, quant = data[name][index : index + 1], graph.values[name].quant
        codes[name] = array.astype(np.int32) if quant is None else quant.quantize(array)
    return codes


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

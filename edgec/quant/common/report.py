"""Records of a quantization for reports, and notes on the choice of weights."""

from __future__ import annotations

import enum
from dataclasses import dataclass, replace

from edgec.base.options import Effort, Observer, Residual


class CalibrationSource(enum.Enum):
    """Source of activation ranges."""

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
            transformer without int16 codes, or of a model that brings its integer weights.
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
class Decisions:
    """Agreement of the largest output elements with those of the float network.

    Attributes:
        equal: samples with the same largest element in all outputs that may score classes.
        samples: calibration samples that were compared.
        classes: whether these outputs are known to score classes or to name them; else they may as
            well be other numbers, whose largest one decides nothing.
    """

    equal: int
    samples: int
    classes: bool

    @property
    def share(self) -> float:
        """Share of equal decisions, 0 to 1."""
        return self.equal / self.samples


@dataclass(frozen=True, slots=True)
class PrecisionReport:
    """Tensors with int16 codes, and the accuracy that they give.

    All accuracies are measured on a fit to some of the calibration samples; what is compiled has
    the same tensors in int16, and is fitted to all.

    Attributes:
        tensors: those with int16 codes, by the value that an operator computes, in graph order.
        candidates: how many could have them.
        output_db: with these.
        int8_db: with int8 codes alone.
        int16_db: with int16 codes wherever they can be: what int8 weights leave.
        samples: calibration samples that the signal to noise ratios, those of the worst output,
            were measured on.
        held_back: whether nothing was fitted to these; False where there are too few to spare some.
        arena_bytes: memory for activations with these; None where the board is not known.
        int8_arena_bytes: the same with int8 codes alone.
        left_out: tensors that the accuracy asks for and the memory of the board has no room for.
        slowdown: estimate of how many times as long the layers with weights take as with int8 codes
            alone; None where that is not known.
        decisions, int8_decisions, int16_decisions: how often the integers decide as the float
            network, in the same three cases; None unless decisions were the goal.
    """

    tensors: tuple[str, ...]
    candidates: int
    output_db: float
    int8_db: float
    int16_db: float
    samples: int
    held_back: bool
    arena_bytes: int | None = None
    int8_arena_bytes: int | None = None
    left_out: int = 0
    slowdown: float | None = None
    decisions: Decisions | None = None
    int8_decisions: Decisions | None = None
    int16_decisions: Decisions | None = None


@dataclass(frozen=True, slots=True)
class Estimate:
    """Signal to noise to expect of the worst output on samples that were not seen, in dB.

    Attributes:
        output_db: the signal to noise of fits to some calibration samples, on the others.
        lower_db: the lower bound, which fresh samples keep in nine of ten networks.
        fitted_db: the same of the network that is compiled, on samples that it was fitted to.
        samples: calibration samples that judged.
        few_samples: more samples are likely to give more, or to narrow the doubt.
    """

    output_db: float
    lower_db: float
    fitted_db: float
    samples: int
    few_samples: bool


@dataclass(frozen=True, slots=True)
class WeightsReport:
    """Gain by weights chosen by the error of outputs.

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


class Cause(enum.Enum):
    """Cause of the noise that a layer adds at the outputs."""

    WEIGHTS = "weights"
    """Weights of the layer are rounded to int8, which matters more than the codes of its tensor."""
    ARITHMETIC = "arithmetic"
    """More than the codes of its tensor explain, without such weights: tables, forms of inputs."""
    CLIPPED = "clipped"
    """Values beyond the codes of its tensor."""
    CHANNEL = "one channel"
    """One channel reaches much further than the others, which are left few codes."""
    LEVELS = "few levels"
    """Most values lie within a few codes."""
    RANGE = "range"
    """The steps of the codes as such."""


@dataclass(frozen=True, slots=True)
class LayerLoss:
    """Noise that a layer adds at the outputs, in a network that is exact otherwise.

    Attributes:
        value: name of the tensor that it computes, or of an input.
        sources: nodes of the model's file; none for an input.
        weights: the largest share of an output's energy that is noise of this layer, less `codes`:
            that of its integer weights, its arithmetic and further forms of its inputs.
        codes: the part of that share that rounding to the codes of its tensor explains.
        why: the larger of the two, and its cause.
        detail: the figure that shows the cause, in words; "" where there is none.
    """

    value: str
    sources: tuple[str, ...]
    weights: float
    codes: float
    why: Cause
    detail: str

    @property
    def noise(self) -> float:
        """Noise of the layer, weights and codes together."""
        return self.weights + self.codes


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
        losses: what each layer adds to the noise at the outputs, in graph order; none without the
            user's calibration data, or for a network that is too large to try.
        decisions: how often the integers decide as the float network; None where nothing decides.
        weights: what other than the nearest codes of weights gained; None where none were tried.
        estimate: what to expect of samples that were not seen; None without the user's data, where
            they are too few to spare some, or where nothing is fitted to them.
    """

    source: CalibrationSource
    samples: int
    in_force: InForce
    warnings: tuple[str, ...]
    layers: tuple[LayerQuality, ...]
    precision: PrecisionReport | None = None
    losses: tuple[LayerLoss, ...] = ()
    decisions: Decisions | None = None
    weights: WeightsReport | None = None
    estimate: Estimate | None = None

    def about_classes(self) -> QuantReport:
        """The report of a network whose outputs are known to be about classes."""
        if self.decisions is None:
            return self
        return replace(self, decisions=replace(self.decisions, classes=True))


def weights_notes(report: WeightsReport | None) -> tuple[str, ...]:
    """A line on what codes chosen by the error of outputs gained; none where no layer has any."""
    if report is None or not report.layers:
        return ()
    compared = (
        f"{report.output_db:.1f} dB at the worst output on calibration samples held back, "
        f"{report.nearest_db:.1f} dB with nearest codes"
    )
    if report.kept:
        return (f"weights of {report.layers} layers chosen by the error of outputs: {compared}",)
    return (f"weights keep their nearest codes; chosen by the error of outputs: {compared}",)

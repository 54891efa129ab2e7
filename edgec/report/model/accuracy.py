"""Accuracy after quantization, and the layers that lose most of it."""

from __future__ import annotations

import math
from dataclasses import dataclass


def finite(decibels: float | None) -> float | None:
    """A signal to noise ratio for JSON, which has no infinity: None where there is no noise."""
    return decibels if decibels is not None and math.isfinite(decibels) else None


@dataclass(frozen=True, slots=True)
class CalibrationReport:
    """Choice of activation ranges.

    Attributes:
        source: "user" (data were given), "none" (all ranges are in the file) or "synthetic".
        samples: number of calibration samples.
        observer: what chose the ranges; None where no observer did: for a transformer, and for a
            model that brings all its ranges.
        equalize, bias_correction: whether they were done.
        percentile: percentage of the values that a range holds; None for observers that keep all.
        residual: element type of a transformer's residual stream; None for other networks.
        effort: what was tried for the integer weights; None where nothing was.
    """

    source: str
    samples: int
    observer: str | None
    equalize: bool
    bias_correction: bool
    percentile: float | None = None
    residual: str | None = None
    effort: str | None = None


@dataclass(frozen=True, slots=True)
class DecisionsReport:
    """Agreement of the largest output elements with those of the float model.

    Attributes:
        equal: samples with the same largest element.
        samples: calibration samples that were compared.
        classes: whether these outputs are known to be about classes: they end in a softmax or the
            number of a class, have labels, or `--max-drop` was given.
    """

    equal: int
    samples: int
    classes: bool = True


@dataclass(frozen=True, slots=True)
class EstimateReport:
    """Signal to noise of the worst output to expect on samples that calibration has not seen.

    In dB; None: without any noise, or, of the bound, any.

    Attributes:
        output_db: the signal to noise of fits to some calibration samples, on the others.
        lower_db: the lower bound, which fresh samples keep in nine of ten networks.
        fitted_db: the same of the network that was compiled, on samples it was fitted to.
        samples: calibration samples that judged.
        few_samples: more samples are likely to give more, or to narrow the doubt.
    """

    output_db: float | None
    lower_db: float | None
    fitted_db: float | None
    samples: int
    few_samples: bool


@dataclass(frozen=True, slots=True)
class Int16Report:
    """Tensors with int16 codes, with their accuracy and their cost.

    Accuracies are those of the worst output, measured while the network was fitted to the other
    calibration samples; None: without any noise.

    Attributes:
        tensors: those with int16 codes, in the order of the network.
        candidates: how many could have them.
        output_db: with these.
        int8_db: with int8 codes alone.
        int16_db: with int16 codes wherever they can be.
        samples: calibration samples that these were measured on.
        held_back: whether nothing was fitted to these; False where there are too few to spare some.
        arena_bytes: memory for activations with these, as lowered.
        int8_arena_bytes: the same with int8 codes alone.
        left_out: tensors that the goal asks for and the memory of the board has no room for.
        slowdown: estimate of how many times as long the layers with weights take as with int8 codes
            alone; None where no rates of the core were measured.
        decisions, int8_decisions, int16_decisions: equal decisions in the same three cases; None
            unless decisions were the goal.
    """

    tensors: tuple[str, ...]
    candidates: int
    output_db: float | None
    int8_db: float | None
    int16_db: float | None
    samples: int
    held_back: bool
    arena_bytes: int | None
    int8_arena_bytes: int | None
    left_out: int
    slowdown: float | None
    decisions: DecisionsReport | None
    int8_decisions: DecisionsReport | None
    int16_decisions: DecisionsReport | None


@dataclass(frozen=True, slots=True)
class LossReport:
    """Noise that a layer, or the codes of an input, add at the outputs.

    Each was tried alone on calibration samples, in a network that is exact otherwise.

    Attributes:
        tensor: the tensor that was rounded.
        step: number of the layer that computes it; None for an input.
        share: part of what all of them add, 0 to 1.
        weights_db: signal to noise of the worst output with what the codes of the layer's tensor do
            not explain, its integer weights above all; None where that adds nothing.
        codes_db: the same with what these codes explain.
        why: "weights", "arithmetic", "clipped", "one channel", "few levels" or "range".
        detail: the figure that shows the cause, in words; "" where there is none.
        advice: what to try against it.
    """

    tensor: str
    step: int | None
    share: float
    weights_db: float | None
    codes_db: float | None
    why: str
    detail: str
    advice: str

"""Accuracy of a quantized network in words, with the figure that says so."""

from __future__ import annotations

from dataclasses import dataclass

from edgec.report.model import DecisionsReport, EstimateReport

_AS_GOOD_DB, _POOR_DB = 30.0, 20.0
"""Signal to noise of an output from which on, and below which, it is called so.  20 dB is where
warnings begin (`quant`); at 30 dB noise is 3 % of the signal."""
_AS_GOOD, _POOR = 0.98, 0.9
"""Shares of equal decisions from which on, and below which, an output is called so."""
_WHOLE = 10
"""Percent of noise from which on no decimals are shown."""
_WORDS = ("as good as float", "slightly worse", "poor")


@dataclass(frozen=True, slots=True)
class Verdict:
    """Accuracy of a build in words.

    Attributes:
        word: "as good as float", "slightly worse", "poor", "as the file", "as TFLM" or
            "unknown".
        figures: what says so; may be empty.
    """

    word: str
    figures: str = ""

    @property
    def text(self) -> str:
        """Word and figures in one line, the word in colour."""
        colour = {"poor": "bold red", "slightly worse": "yellow", "unknown": "yellow"}
        styled = f"[{colour.get(self.word, 'green')}]{self.word}[/]"
        return f"{styled}: {self.figures}" if self.figures else styled


def verdict_of(
    source: str,
    decisions: DecisionsReport | None,
    estimate: EstimateReport | None,
    measured_db: float | None,
) -> Verdict:
    """Accuracy by the best that is known: held-back samples, then those of calibration.

    Noise beside the signal is 10**(-dB/20).

    Args:
        source: where calibration data came from (`CalibrationReport`).
        decisions: equal decisions on calibration samples.
        estimate: signal to noise on samples that were held back.
        measured_db: signal to noise of the worst output on the calibration data.
    """
    if source == "synthetic":
        return Verdict("unknown", "no --calibration with typical inputs was given")
    words, figures = [], []
    if decisions is not None and decisions.classes:
        words.append(_word(decisions.equal / decisions.samples, _AS_GOOD, _POOR))
        figures.append(f"decides as float on {decisions.equal} of {decisions.samples} samples")
    expected = None if estimate is None else estimate.output_db
    decibels = measured_db if expected is None else expected
    if decibels is not None:
        words.append(_word(decibels, _AS_GOOD_DB, _POOR_DB))
        noise = 100 * 10 ** (-decibels / 20)
        fresh = "on the calibration data" if expected is None else "expected on new data"
        few = ", few samples" if estimate is not None and estimate.few_samples else ""
        where = "" if figures else f" {fresh}{few}"
        percent = f"{noise:.0f}" if noise >= _WHOLE else f"{noise:.2g}"
        figures.append(f"{percent}% noise{where} ({decibels:.1f} dB)")
    if not words:
        return Verdict("unknown", "nothing was measured; edgec evaluate does with labelled data")
    return Verdict(max(words, key=_WORDS.index), ", ".join(figures))


def _word(value: float, good: float, poor: float) -> str:
    return _WORDS[0 if value >= good else 1 if value >= poor else 2]

"""Spectra of sound, and the logarithms of mel energies that networks take of them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from edgec.ir.operator import Operands, Shape, T
from edgec.ir.real import RealOperator
from edgec.ir.shapes import need


@dataclass(frozen=True, slots=True)
class Spectrum(RealOperator):
    """y [1, T, F, 2]: real and imaginary parts of the DFT of windowed frames of x [1, L].

    ``y[0, t, f] = sum_n x[0, t * hop + n] * window[n] * exp(-2 pi j f n / points)``, n < W, for
    f up to points / 2: ONNX's STFT, one side.  It exists until `passes.fuse_log_mel`: nothing else
    computes with spectra.

    Attributes:
        hop: samples from frame to frame.
        points: points of the DFT, at least W.
    """

    @dataclass(frozen=True, slots=True)
    class Inputs(Operands[T]):
        """Samples x [1, L]; window const [W]."""

        x: T
        window: T

    CONSTANTS: ClassVar[frozenset[str]] = frozenset({"window"})

    hop: int
    points: int

    def infer_shape(self, inputs: Inputs[Shape]) -> Shape:
        return (1, frames_of(inputs.x, inputs.window, self.hop), self.points // 2 + 1, 2)


@dataclass(frozen=True, slots=True)
class LogMel(RealOperator):
    """y [1, T, C]: ``gain * ln(max(E + added, least)) + bias``, E the weighted energies of frames.

    ``E[t, c] = sum_f bank[f, c] * |S[t, f]|^p``, where S is the `Spectrum` of x and p is 1 with
    `magnitude`, else 2.

    Attributes:
        hop, points: see `Spectrum`.
        magnitude: filters weigh magnitudes, not powers.
        added, least: keep logarithms of silence finite; at least one is above 0.
        gain, bias: factor of a logarithm, above 0, and what is added to it then.
    """

    @dataclass(frozen=True, slots=True)
    class Inputs(Operands[T]):
        """Samples x [1, L]; window const [W]; bank const [points / 2 + 1, C], no weight below 0."""

        x: T
        window: T
        bank: T

    CONSTANTS: ClassVar[frozenset[str]] = frozenset({"window", "bank"})

    hop: int
    points: int
    magnitude: bool
    added: float
    least: float
    gain: float
    bias: float

    def infer_shape(self, inputs: Inputs[Shape]) -> Shape:
        need(len(inputs.bank) == 2, "the bank must be [F, C]")
        need(inputs.bank[0] == self.points // 2 + 1, "the bank has other bins")
        return (1, frames_of(inputs.x, inputs.window, self.hop), inputs.bank[1])


def frames_of(x: Shape, window: Shape, hop: int) -> int:
    """Number of whole frames in samples [1, L], for a window [W].

    Raises:
        ValueError: there is none, or the shapes are others.
    """
    need(len(x) == 2 and x[0] == 1, "x must be [1, L]")
    need(len(window) == 1 and hop >= 1 and x[1] >= window[0], "x holds no frame")
    return (x[1] - window[0]) // hop + 1

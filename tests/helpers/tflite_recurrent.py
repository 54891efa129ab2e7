"""TensorFlow Lite files of recurrent operators, with weights of their own."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import tflite
from tflite_models import Op, T, const, write_tflite

GATES = ("input", "forget", "cell", "output")
TANH = tflite.ActivationFunctionType.TANH
_COUNT = 24


@dataclass(frozen=True)
class Lstm:
    """A UNIDIRECTIONAL_SEQUENCE_LSTM.

    Attributes:
        kind: "float32", or that of the codes of x and of the hidden state, "int8" or "int16".
        steps, batch, features, units: sizes.
        time_major: the steps of x come first.
        clip: of the cell; 0: none.
        cell_power: the scale of the cell is 2 to it.
        hidden: scale and zero point of the hidden state.
        gain: of the weights.
        x: scale and zero point of x.
        bias: there are biases.
        activation: of the new cell.
        more: inputs beside those of a plain LSTM, by their place.
        without: places of inputs that are absent.
        proj_clip, diagonal: options.
        seed: of the weights.
    """

    kind: str = "int8"
    steps: int = 4
    batch: int = 1
    features: int = 5
    units: int = 6
    time_major: bool = False
    clip: float = 0.0
    cell_power: int = -11
    hidden: tuple[float, int] = (1 / 128, 3)
    gain: float = 0.5
    x: tuple[float, int] = (0.02, -7)
    activation: int = TANH
    more: Mapping[int, T] | None = None
    without: Sequence[int] = ()
    proj_clip: float = 0.0
    diagonal: bool = False
    seed: int = 1

    @property
    def shape(self) -> tuple[int, int, int]:
        """Of x."""
        first = (self.steps, self.batch) if self.time_major else (self.batch, self.steps)
        return (*first, self.features)

    def write(self, path: Path, **changes: T) -> Path:
        """The file; `changes` are tensors by name that take the place of its own."""
        tensors, op = self.parts("x", "y", "")
        tensors = {"x": self._of_type(self.shape, self.x), **tensors, **changes}
        return write_tflite(path, tensors, [op])

    def parts(self, x: str, y: str, stem: str) -> tuple[dict[str, T], Op]:
        """The tensors of the operator without x, and the operator itself.

        Args:
            x, y: names of its input and its output.
            stem: begins the names of its other tensors.
        """
        rng = np.random.default_rng(self.seed)
        tensors: dict[str, T] = {}
        names = [x] + [""] * (_COUNT - 1)
        x_scale, h_scale = self.x[0], self.hidden[0]
        for number, gate in enumerate(GATES):
            w = self._weights(rng, (self.units, self.features))
            r = self._weights(rng, (self.units, self.units))
            real = rng.normal(size=self.units) * self.gain
            for place, kind, t in (
                (1, "w", w),
                (5, "r", r),
                (12, "b", self._bias(real, x_scale, w)),
            ):
                names[place + number] = f"{stem}{kind}_{gate}"
                tensors[names[place + number]] = t
        shape = (self.batch, self.units)
        cell = (2.0**self.cell_power, 0)
        hidden = self._of_type(shape, (h_scale, self.hidden[1]))
        state = T(shape) if self.kind == "float32" else T(shape, None, "int16", [cell[0]], [0])
        for place, name, t in ((18, "h", hidden), (19, "c", state)):
            names[place] = f"{stem}{name}"
            tensors[names[place]] = replace(t, variable=True)
        for place, t in (self.more or {}).items():
            names[place] = f"{stem}more_{place}"
            tensors[names[place]] = t
        for place in self.without:
            del tensors[names[place]]
            names[place] = ""
        tensors[y] = self._of_type((*self.shape[:2], self.units), self.hidden)
        options: dict[str, Any] = {
            "FusedActivationFunction": self.activation,
            "CellClip": self.clip,
            "ProjClip": self.proj_clip,
            "TimeMajor": self.time_major,
        }
        if self.diagonal:
            options["DiagonalRecurrentTensors"] = True
        kind = "UnidirectionalSequenceLSTMOptions"
        return tensors, Op("UNIDIRECTIONAL_SEQUENCE_LSTM", names, [y], kind, options)

    def _of_type(self, shape: Sequence[int], quant: tuple[float, int]) -> T:
        if self.kind == "float32":
            return T(shape)
        scale, zero = quant
        return T(shape, None, self.kind, [scale], [zero if self.kind == "int8" else 0])

    def _weights(self, rng: np.random.Generator, shape: tuple[int, int]) -> T:
        real = rng.normal(size=shape) * self.gain
        if self.kind == "float32":
            return const(real.astype(np.float32))
        scale = float(np.float32(np.abs(real).max() / 127))
        return const(np.round(real / scale).astype(np.int8), [scale])

    def _bias(self, real: np.ndarray, x_scale: float, w: T) -> T:
        if self.kind == "float32":
            return const(real.astype(np.float32))
        scale = float(np.float32(x_scale) * np.float32(w.scale[0]))
        codes = np.round(real / scale)
        return const(codes.astype(np.int32 if self.kind == "int8" else np.int64), [scale])


@dataclass(frozen=True)
class Svdf:
    """An SVDF.

    Attributes:
        kind: "float32" or "int8", of x and y.
        memory: type of the memory of an int8 file, "int8" or "int16".
        features, units, rank, steps: sizes.
        zero: zero point of a memory of int8.
        scales: of x, of the memory and of y.
        gain: of the weights.
        biased: there is a bias.
        activation: of a float file.
        seed: of the weights.
    """

    kind: str = "int8"
    memory: str = "int16"
    features: int = 7
    units: int = 4
    rank: int = 2
    steps: int = 5
    zero: int = 0
    scales: tuple[float, float, float] = (0.03, 0.0002, 0.05)
    gain: float = 0.3
    biased: bool = True
    activation: int = 0
    seed: int = 1

    @property
    def shape(self) -> tuple[int, int]:
        """Of x."""
        return (1, self.features)

    def write(self, path: Path, **changes: T) -> Path:
        """The file; `changes` are tensors by name that take the place of its own."""
        rng, filters = np.random.default_rng(self.seed), self.units * self.rank
        real = rng.normal(size=(filters, self.features)) * self.gain
        time = rng.normal(size=(filters, self.steps)) * self.gain
        bias = rng.normal(size=self.units)
        x, memory, y = self.scales
        shape = (1, filters * self.steps)
        if self.kind == "float32":
            tensors = {
                "x": T(self.shape), "feature": const(real.astype(np.float32)),
                "time": const(time.astype(np.float32)), "bias": const(bias.astype(np.float32)),
                "memory": T(shape, variable=True), "y": T((1, self.units)),
            }  # fmt: skip
        else:
            fine = _codes(time, self.memory)
            scale = float(np.float32(memory) * np.float32(fine.scale[0]))
            tensors = {
                "x": T(self.shape, None, "int8", [x], [-5]), "feature": _codes(real, "int8"),
                "time": fine, "bias": const(np.round(bias / scale).astype(np.int32), [scale]),
                "memory": T(shape, None, self.memory, [memory], [self.zero], variable=True),
                "y": T((1, self.units), None, "int8", [y], [11]),
            }  # fmt: skip
        tensors |= changes
        names = ["x", "feature", "time", "bias" if self.biased else "", "memory"]
        options = {"Rank": self.rank, "FusedActivationFunction": self.activation}
        return write_tflite(path, tensors, [Op("SVDF", names, ["y"], "SVDFOptions", options)])


def _codes(real: np.ndarray, kind: str) -> T:
    most = np.iinfo(kind).max
    scale = float(np.float32(np.abs(real).max() / most))
    return const(np.clip(np.round(real / scale), -most, most).astype(kind), [scale])

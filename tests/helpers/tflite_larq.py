"""Networks of Larq Compute Engine's operators, and what they compute, in numpy."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np
from flatbuffers import flexbuffers
from tflite_models import Op, T, const, write_tflite

from edgec.base.dtypes import Array
from edgec.ir.qops.signs import packed, words_of

NONE, RELU = 0, 1


@dataclass(frozen=True)
class Bconv:
    """A layer of signs; `ends_in_signs`: with thresholds in place of factors."""

    filters: int
    kernel: tuple[int, int] = (3, 3)
    stride: int = 1
    same: bool = True
    ones: bool = True
    activation: int = NONE
    ends_in_signs: bool = False
    groups: int = 1


def options(**numbers: int) -> bytes:
    """Attributes of an operator of somebody's own."""
    b = flexbuffers.Builder()
    with b.Map():
        for name, number in numbers.items():
            b.Int(name, number)
    return bytes(b.Finish())


class LarqNet:
    """Collects operators; samples of all its tensors are computed beside."""

    def __init__(self, x: Array, seed: int = 0) -> None:
        """X: samples [N, H, W, C], float32."""
        self.rng = np.random.default_rng(seed)
        self.tensors = {"x": T((1, *x.shape[1:]))}
        self.operators: list[Op] = []
        self.real = {"x": x}

    def quantize(self, x: str) -> str:
        """Signs of a tensor."""
        real = self.real[x]
        return self._op("CUSTOM LceQuantize", [x], np.where(real < 0, -1.0, 1.0), True, b"")

    def dequantize(self, x: str) -> str:
        """Numbers of signs."""
        return self._op("CUSTOM LceDequantize", [x], self.real[x], False, b"")

    def max_pool(self, x: str, size: int = 2) -> str:
        """The largest sign of a square, without padding."""
        n, h, w, c = (real := self.real[x]).shape
        h, w = h // size, w // size
        cut = real[:, : h * size, : w * size].reshape(n, h, size, w, size, c)
        own = options(
            padding=2, stride_width=size, stride_height=size, filter_width=size, filter_height=size
        )
        return self._op("CUSTOM LceBMaxPool2d", [x], cut.max(axis=(2, 4)), True, own)

    def conv(self, x: str, layer: Bconv) -> str:
        """A layer of signs."""
        channels = self.real[x].shape[-1]
        depth = channels // layer.groups
        negative = self.rng.random((layer.filters, *layer.kernel, depth)) < 0.5
        weights = np.where(negative, -1.0, 1.0)
        sums = self._sums(x, layer, weights)
        names = [x, self._constant(packed(negative).view(np.int32))]
        if layer.ends_in_signs:
            products = weights[0].size
            apart = (products - sums) / 2
            most = np.quantile(apart, self.rng.uniform(0.3, 0.7, layer.filters), axis=(0, 1, 2))
            limits = np.diagonal(most).astype(np.int32)
            y = np.where(apart > limits, -1.0, 1.0)
            names += ["", "", self._constant(limits)]
        else:
            factors = self.rng.normal(0, 0.1, layer.filters).astype(np.float32)
            bias = self.rng.normal(0, 0.3, layer.filters).astype(np.float32)
            y = (np.maximum(sums, 0) if layer.activation == RELU else sums) * factors + bias
            names += [self._constant(factors), self._constant(bias), ""]
        own = options(
            channels_in=channels,
            dilation_height_factor=1,
            dilation_width_factor=1,
            fused_activation_function=layer.activation,
            pad_values=int(layer.ones),
            padding=1 if layer.same else 2,
            stride_height=layer.stride,
            stride_width=layer.stride,
        )
        return self._op("CUSTOM LceBconv2d", names, y, layer.ends_in_signs, own)

    def _sums(self, x: str, layer: Bconv, weights: Array) -> Array:
        real, (kh, kw), step = self.real[x], layer.kernel, layer.stride
        if layer.same:
            pads = [(0, 0)]
            for size, k in zip(real.shape[1:3], layer.kernel, strict=True):
                missing = max((-(-size // step) - 1) * step + k - size, 0)
                pads.append((missing // 2, missing - missing // 2))
            real = np.pad(real, [*pads, (0, 0)], constant_values=float(layer.ones))
        windows = np.lib.stride_tricks.sliding_window_view(real, (kh, kw), axis=(1, 2))
        windows = windows[:, ::step, ::step]
        parts = zip(
            np.split(windows, layer.groups, axis=3),
            np.split(weights, layer.groups),
            strict=True,
        )
        return np.concatenate([np.einsum("nyxcij,oijc->nyxo", *part) for part in parts], axis=-1)

    def _constant(self, array: Array) -> str:
        self.tensors[name := f"c{len(self.tensors)}"] = const(array)
        return name

    def _op(self, op: str, inputs: list[str], y: Array, is_packed: bool, own: bytes) -> str:
        name = f"t{len(self.tensors)}"
        *outer, channels = (1, *y.shape[1:])
        shape = (*outer, words_of(channels) if is_packed else channels)
        self.tensors[name] = T(shape, dtype="int32" if is_packed else "float32")
        self.operators.append(
            Op("CUSTOM", inputs, [name], custom=op.removeprefix("CUSTOM "), custom_options=own)
        )
        self.real[name] = y
        return name

    def save(self, y: str, path: Path) -> Path:
        """Write the network that gives y."""
        return write_tflite(path, self.tensors, self.operators, outputs=(y,))

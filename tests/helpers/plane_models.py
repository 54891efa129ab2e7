"""Networks of few bits as QONNX writes them: weights and activations of 1 to 3 bits."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from binary_models import BinaryModel

from edgec.base.dtypes import Array

DOMAIN = "qonnx.custom_op.general"


class FewBits(BinaryModel):
    """Adds QONNX's quantizers to `BinaryModel`."""

    def quantized(self, x: str, scale: float, bits: int, *, signed: bool, narrow: int = 0) -> str:
        """A Quant node."""
        numbers = [self.constant(np.array(value)) for value in (scale, 0.0, bits)]
        attributes = {"signed": int(signed), "narrow": narrow, "rounding_mode": "ROUND"}
        return self.node("Quant", x, *numbers, domain=DOMAIN, **attributes)

    def weights(self, shape: tuple[int, ...], bits: int) -> str:
        """Weights of 1 bit (-1, 1), of 2 bits and up, or of "1.5" bits as 0 says: ternary."""
        w = self.constant(self.rng.normal(0, 0.5, shape))
        if bits == 1:
            return self.node("BipolarQuant", w, self.constant(np.array(0.5)), domain=DOMAIN)
        scale = 0.5 if bits <= 3 else 0.01
        return self.quantized(w, scale, max(bits, 2), signed=True, narrow=int(bits == 0))

    def layer(
        self, x: str, inputs: int, outputs: int, bits: int, *, stride: int = 1, kernel: int = 3
    ) -> str:
        """A convolution and its normalization."""
        w = self.weights((outputs, inputs, kernel, kernel), bits)
        y = self.node("Conv", x, w, strides=[stride] * 2, pads=[kernel // 2] * 4)
        gamma = np.abs(self.rng.normal(1, 0.2, outputs)) / (0.7 * kernel * np.sqrt(inputs))
        numbers = gamma, self.rng.normal(0.3, 0.3, outputs), np.zeros(outputs), np.ones(outputs)
        return self.node("BatchNormalization", y, *map(self.constant, numbers))

    def active(self, x: str, bits: int) -> str:
        """A Relu and a quantizer without sign."""
        return self.quantized(self.node("Relu", x), 2.0 / (1 << bits), bits, signed=False)


def network(path: Path, weight_bits: int, bits: int, *, width: int = 40, seed: int = 0) -> Path:
    """Convolutions one after another, beside a residual, with stride 2, 1x1, and a dense layer."""
    m = FewBits(seed, "where")
    x = m.quantized("x", 0.05, 8, signed=True)
    x = m.active(m.layer(x, 3, width, 8), bits)
    x = m.active(m.layer(x, width, width, weight_bits), bits)
    y = m.active(m.layer(x, width, width, weight_bits), bits)
    y = m.layer(y, width, width, weight_bits)
    x = m.active(m.node("Add", m.quantized(y, 0.03, 8, signed=True), x), bits)
    y = m.active(m.layer(x, width, width, weight_bits, stride=2), bits)
    y = m.layer(y, width, width, weight_bits, kernel=1)
    x = m.node("GlobalAveragePool", m.active(y, bits))
    dense = m.weights((10, width), 8)
    x = m.node("Gemm", m.node("Flatten", m.quantized(x, 0.02, 8, signed=False)), dense, transB=1)
    return m.save(m.quantized(x, 0.1, 8, signed=True), path)


def images(count: int, seed: int = 1) -> Array:
    """Noise, float32 [N, 3, SIDE, SIDE]."""
    return np.random.default_rng(seed).normal(0, 1, (count, 3, 10, 10)).astype(np.float32)

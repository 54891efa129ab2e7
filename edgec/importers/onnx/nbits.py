"""Operators of onnxruntime that compute in float with stored weights of few bits.

The weights become the real numbers that they stand for, which edgec quantizes as it does those of a
float model.

Sources: onnxruntime ContribOperators.md.  com.microsoft.MatMulNBits: B uint8 [N, blocks, bytes of a
block], the lowest bits of a byte first; scales [N, blocks]; zero points packed alike or real
numbers, 2^(bits - 1) without them.  com.microsoft.DynamicQuantizeLSTM: the operands of LSTM, but W
[directions, inputs, 4 * units] and R [directions, units, 4 * units] as codes; then scale and zero
point of W and of R, [directions] or [directions, 4 * units].
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

import numpy as np
from onnx import helper

from edgec.base.dtypes import Array
from edgec.base.limits import MAX_ELEMENTS
from edgec.importers.onnx.expansion import Expansion, Rule

_BITS = (2, 4, 8)
_BYTE = 8
_GATE_AXES = 3


def matmul(e: Expansion) -> bool:
    """MatMulNBits of 2, 4 or 8 bits; without an order of groups (g_idx)."""
    bits, size = e.attributes.get("bits", 4), e.attributes.get("block_size", 0)
    rows, columns = e.attributes.get("N", 0), e.attributes.get("K", 0)
    packed, scale = e.array(e.input(1)), e.array(e.input(2))
    if bits not in _BITS or size < 1 or packed is None or scale is None or e.input(4):
        return False
    blocks = -(-columns // size)
    if not 0 < rows * blocks * size <= MAX_ELEMENTS or scale.size != rows * blocks:
        return False
    if packed.size * _BYTE != rows * blocks * size * bits or packed.dtype != np.uint8:
        return False
    zero = _zero_points(e, rows, blocks, bits)
    if zero is None:
        return False
    codes = _unpacked(packed, bits).reshape(rows, blocks, size).astype(np.float32)
    real = (codes - zero[..., None]) * scale.astype(np.float32).reshape(rows, blocks, 1)
    weight = real.reshape(rows, blocks * size)[:, :columns].T
    inputs = [e.input(0), e.constant(np.ascontiguousarray(weight), f"{e.input(1)}/real")]
    if e.input(5):
        e.add("Add", [e.main("MatMul", inputs), e.input(5)], e.node.output[0])
    else:
        e.main("MatMul", inputs, e.node.output[0])
    return True


_LSTM_OPERANDS = 8
"""Operands that LSTM has, too: x, W, R, B, lengths, the two initial states, peepholes."""


def lstm(e: Expansion) -> bool:
    """DynamicQuantizeLSTM: an LSTM whose weights are stored as codes."""
    w = _gate_weights(e, 1, _LSTM_OPERANDS)
    r = _gate_weights(e, 2, _LSTM_OPERANDS + 2)
    if w is None or r is None:
        return False
    inputs = [e.input(index) for index in range(_LSTM_OPERANDS)]
    inputs[1], inputs[2] = (
        e.constant(real, f"{e.input(index)}/real") for index, real in ((1, w), (2, r))
    )
    while not inputs[-1]:
        inputs.pop()
    node = helper.make_node("LSTM", inputs, e.node.output, e.node.name, **e.attributes)
    e.nodes.append(node)
    return True


def _gate_weights(e: Expansion, index: int, scale: int) -> Array | None:
    """Weights as LSTM has them, float32 [directions, 4 * units, ...]; None where they are no such.

    Args:
        e: the node.
        index: operand of the codes.
        scale: operand of their scale; the zero point follows it.
    """
    codes, step, zero = (e.array(e.input(each)) for each in (index, scale, scale + 1))
    if codes is None or step is None or codes.ndim != _GATE_AXES:
        return None
    if zero is None:
        zero = np.zeros(step.shape, codes.dtype)
    shape = (codes.shape[0], 1, -1)
    if any(each.size not in (codes.shape[0], codes[:, 0].size) for each in (step, zero)):
        return None
    distance = codes.astype(np.float32) - zero.astype(np.float32).reshape(shape)
    real = distance * step.astype(np.float32).reshape(shape)
    return np.ascontiguousarray(real.transpose(0, 2, 1))


def _zero_points(e: Expansion, rows: int, blocks: int, bits: int) -> Array | None:
    """The zero points [rows, blocks], float32; None if there are others."""
    if not e.input(3):
        return np.full((rows, blocks), 1 << (bits - 1), np.float32)
    stored = e.array(e.input(3))
    if stored is None:
        return None
    if stored.dtype == np.uint8:
        whole = -(-blocks * bits // _BYTE)
        if stored.size != rows * whole:
            return None
        return _unpacked(stored.reshape(rows, whole), bits)[:, :blocks].astype(np.float32)
    return stored.astype(np.float32).reshape(rows, blocks) if stored.size == rows * blocks else None


def _unpacked(packed: Array, bits: int) -> Array:
    """The numbers in bytes [..., n], uint8 [..., n * 8 / bits]."""
    shifts = np.arange(0, _BYTE, bits, dtype=np.uint8)
    parts = (packed[..., None] >> shifts) & np.uint8((1 << bits) - 1)
    return np.asarray(parts.reshape(*packed.shape[:-1], -1))


NBITS: Mapping[tuple[str, str], Rule] = MappingProxyType(
    {("com.microsoft", "MatMulNBits"): matmul, ("com.microsoft", "DynamicQuantizeLSTM"): lstm}
)

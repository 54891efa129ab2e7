"""MatMulNBits of onnxruntime: a product with weights packed in blocks of few bits.

The weights become the real numbers that they stand for, which edgec quantizes as it does those of a
float model.

Source: onnxruntime ContribOperators.md, com.microsoft.MatMulNBits: B uint8 [N, blocks, bytes of a
block], the lowest bits of a byte first; scales [N, blocks]; zero points packed alike or real
numbers, 2^(bits - 1) without them.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

import numpy as np

from edgec.base.dtypes import Array
from edgec.base.limits import MAX_ELEMENTS
from edgec.importers.onnx.expansion import Expansion, Rule

_BITS = (2, 4, 8)
_BYTE = 8


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


NBITS: Mapping[tuple[str, str], Rule] = MappingProxyType({("com.microsoft", "MatMulNBits"): matmul})

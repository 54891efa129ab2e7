"""Oracle kernels of pooled operators: `qops.Pooling` is the definition.

The sum over groups of ``r[g, index[g]]`` is a product of the responses, laid out as channels
[g * S + s], with 0/1 weights that select one of the S responses of each group.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from edgec.base.dtypes import Array
from edgec.base.fixedpoint import rshr
from edgec.interp.kernels_np_conv import conv_of_centred, requantized
from edgec.interp.operands import Operand
from edgec.ir import qops
from edgec.ir.pool import expand

_UNSIGNED = 128


def pooled_conv(attrs: qops.QPooledConv, inputs: Sequence[Operand], y_zero_point: int) -> Array:
    """`qops.QPooledConv`: x int8 [N, H, W, I]; int8 [N, OH, OW, O]."""
    x, pool, indices = inputs[0], inputs[1].array, inputs[2].array
    rounded = rounded_activations(x, attrs.pooling.activation_bits)
    if attrs.pooling.response_shift == 0:
        weight = expand(pool, indices, x.array.shape[-1]).astype(np.int64)
        return conv_of_centred(attrs.conv, rounded, weight, inputs[3:])
    responses = responses_of(rounded, pool, attrs.pooling.response_shift)
    factor = 1 << attrs.pooling.response_shift
    picks = _picks(indices, len(pool))
    return conv_of_centred(attrs.conv, responses, picks, inputs[3:], factor)


def pooled_gemm(attrs: qops.QPooledGemm, inputs: Sequence[Operand], y_zero_point: int) -> Array:
    """`qops.QPooledGemm`: x int8 [..., K]; int8 [..., N]."""
    x, pool, indices = inputs[0], inputs[1].array, inputs[2].array
    rounded = rounded_activations(x, attrs.pooling.activation_bits)
    shift = attrs.pooling.response_shift
    responses = responses_of(rounded, pool, shift)
    total = responses.astype(np.float64) @ _picks(indices, len(pool)).astype(np.float64).T
    return requantized(attrs.gemm, total * (1 << shift), inputs[3].array, inputs[4].array)


def rounded_activations(x: Operand, bits: int) -> Array:
    """``t(x) - t(zx)`` of `qops.Pooling`; int64, the shape of x."""
    return round_codes(x.array, bits) - round_codes(np.asarray(x.zero_point), bits)


def round_codes(codes: Array, bits: int) -> Array:
    """``t(q)`` of `qops.Pooling`: int64 in [0, 255], any shape."""
    unsigned = codes.astype(np.int64) + _UNSIGNED
    if bits == 8:
        return unsigned
    low = 8 - bits
    return np.asarray((np.minimum(unsigned + (1 << (low - 1)), 255) >> low) << low)


def responses_of(rounded: Array, pool: Array, shift: int) -> Array:
    """Responses of every pool vector to every group of channels.

    Args:
        rounded: int64 [..., I], from `rounded_activations`.
        pool: int8 [S, G].
        shift: the response shift.

    Returns:
        int64 [..., ceil(I/G) * S], group-major.
    """
    size, group = pool.shape
    channels = rounded.shape[-1]
    groups = -(-channels // group)
    missing = [(0, 0)] * (rounded.ndim - 1) + [(0, groups * group - channels)]
    cut = np.pad(rounded, missing).reshape(*rounded.shape[:-1], groups, group)
    exact = (cut.astype(np.float64) @ pool.astype(np.float64).T).astype(np.int64)
    return np.asarray(rshr(exact, shift).reshape(*rounded.shape[:-1], groups * size))


def _picks(indices: Array, size: int) -> Array:
    """0/1 weights [..., groups * S] that select response `indices` [..., groups] of each group."""
    chosen = indices[..., None].astype(np.int64) == np.arange(size)
    return np.asarray(chosen.astype(np.int64).reshape(*indices.shape[:-1], -1))

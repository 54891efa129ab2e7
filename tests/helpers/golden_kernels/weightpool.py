"""Small cases of the kernels of weight pools."""

from dataclasses import replace

import specs as s

from edgec.kernels.common.form_ends import Rescale16
from edgec.kernels.common.window import Window
from edgec.kernels.family import KernelSpec
from edgec.kernels.weightpool.tables import ResponseKind
from golden_kernels.common import INDEX, ODD, POINTWISE, VALID, WIDE, WINDOW

_RESPONSES = s.PooledConv(
    window=WINDOW,
    out_channels=6,
    pool_size=10,
    group=4,
    chunk_groups=1,
    lanes=2,
    response_shift=3,
    shift=32,
    builder=ResponseKind.BITSERIAL,
    index_bits=4,
    bits=4,
    saturates=True,
    zero_is_code_min=True,
    residual_shift=12,
)
_SHORT = s.PooledConv(
    window=POINTWISE,
    out_channels=10,
    pool_size=6,
    group=8,
    chunk_groups=1,
    lanes=2,
    response_shift=2,
    shift=32,
    builder=ResponseKind.MULTIPLY,
    index_bits=3,
    bits=8,
    saturates=False,
    zero_is_code_min=False,
    short=True,
)
_NEON = s.PooledConvNeon(
    window=WINDOW,
    out_channels=6,
    group=8,
    index_bits=4,
    bits=8,
    shift=32,
    residual_shift=None,
    pool_size=10,
    chunk_groups=1,
    band=1,
    most=4,
    center=0,
    run=2,
    full_range=False,
)

CASES: dict[str, KernelSpec] = {
    "pooled_decode": s.PooledDecode(WINDOW, 8, 4, 6, 8, 32, None, 8),
    "pooled_decode_rows": s.PooledDecode(POINTWISE, 10, 8, 8, 8, 32, 12, 10),
    "pooled_decode_runtime": s.PooledDecode(ODD, 10, 8, 6, None, 32, None, 4),
    "pooled_decode_dsp": s.PooledDecodeDsp(WINDOW, 8, 4, 6, 8, 32, None, 8),
    "pooled_decode_dsp_batches": s.PooledDecodeDsp(WINDOW, 7, 8, 6, 4, 32, 12, 4),
    "pooled_decode_dsp_runtime": s.PooledDecodeDsp(VALID, 10, 8, 8, None, 32, None, 4),
    "pooled_decode_short": s.PooledDecode(ODD, 10, 8, 6, 8, 32, None, 4, short=True),
    "pooled_decode_dsp_short": s.PooledDecodeDsp(VALID, 10, 8, 8, 8, 32, None, 4, short=True),
    "pooled_direct_short": s.PooledDirect(
        ODD, 6, 8, 8, 8, 32, None, 17, ResponseKind.NIBBLE, short=True
    ),
    "pooled_direct": s.PooledDirect(WINDOW, 8, 4, 6, 4, 32, 12, 64, ResponseKind.BITSERIAL),
    "pooled_direct_runtime": s.PooledDirect(ODD, 6, 8, 8, None, 32, None, 17, ResponseKind.NIBBLE),
    "pooled_conv_neon": _NEON,
    "pooled_conv_neon_runtime": replace(_NEON, window=ODD, bits=None, group=4, run=1),
    "pooled_conv_neon_residual": replace(
        _NEON, residual_shift=12, bits=4, run=17, full_range=True, group=16, terms=2
    ),
    "pooled_conv_neon_short": replace(_NEON, window=POINTWISE, short=True, shift=30),
    "pooled_conv": _RESPONSES,
    "pooled_conv_chunks_runtime": replace(
        _SHORT,
        lanes=1,
        response_shift=0,
        index_bits=16,
        bits=None,
        tables_in_ram=True,
        short=False,
    ),
    "pooled_conv_short": _SHORT,
    "pooled_conv_terms": replace(
        _RESPONSES,
        chunk_groups=2,
        response_shift=4,
        builder=ResponseKind.MULTIPLY,
        bits=8,
        residual_shift=None,
        terms=3,
    ),
    # The longest round of look-ups, beyond the reach of a conditional branch of Armv6-M.
    "pooled_conv_wide": s.PooledConv(
        window=Window(1, 40, 4, 1, 9, 1, 32, 1, 1, 0, 0, 1, 1),
        out_channels=2,
        pool_size=4,
        group=4,
        chunk_groups=1,
        lanes=1,
        response_shift=0,
        shift=32,
        builder=ResponseKind.NIBBLE,
        index_bits=2,
        bits=8,
        saturates=True,
        zero_is_code_min=True,
    ),
    "pooled_decode_terms": s.PooledDecode(ODD, 10, 8, 6, 8, 32, None, 4, terms=2),
    "pooled_decode_dsp_terms": s.PooledDecodeDsp(VALID, 10, 8, 8, 8, 32, None, 4, terms=2),
    "pooled_direct_terms": s.PooledDirect(
        ODD, 6, 8, 8, 4, 32, None, 17, ResponseKind.BITSERIAL, terms=2
    ),
    "pooled_decode_rescale16_table": s.PooledDecode(
        POINTWISE, 10, 8, 6, 8, 9, None, 4, rescale16=Rescale16(INDEX, table=True)
    ),
    "pooled_decode_dsp_rescale16_residual": s.PooledDecodeDsp(
        POINTWISE, 10, 8, 6, 8, 9, None, 4, rescale16=Rescale16(WIDE, residual=True)
    ),
}

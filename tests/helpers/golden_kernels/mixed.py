"""Small cases of the kernels between int8 and int16 tensors."""

import specs as s

from edgec.base.dtypes import DType
from edgec.kernels.family import KernelSpec
from golden_kernels.common import DILATED, LOOPS, ODD, WINDOW

_MIXED = s.Operands(LOOPS, DType.INT8, DType.INT16, DType.INT16, -5, 0)

CASES: dict[str, KernelSpec] = {
    "mixed_conv": s.MixedConv(WINDOW, 8, 1, DType.INT16, DType.INT16, 32),
    "mixed_conv_to_int8": s.MixedConv(DILATED, 6, 2, DType.INT16, DType.INT8, 33),
    "mixed_conv_depthwise": s.MixedConv(ODD, 3, 3, DType.INT16, DType.INT16, 32),
    "mixed_add": s.MixedAdd(_MIXED, 20, 0, -32767, 32767, 1048576, -524288),
    "mixed_matmul": s.MixedMatMul(
        *((s.Loop(3, (20, 0)),), 4, 5, 6, (5, 1), (1, 5)),
        *(DType.INT16, DType.INT8, DType.INT16, 0, 3),
        *(20132659, 36, 0, -32767, 32767),
    ),
    "mixed_mul": s.MixedMul(_MIXED, 32, 0, -32767, 32767, 20132659),
    "mixed_div": s.MixedDiv(_MIXED, 0, 0, -32767, 32767, 40000, 3, 0),
    "mixed_average": s.MixedAverage(ODD, False, DType.INT16, DType.INT8, 0, 32, -3, -128, 127),
    "mixed_tile": s.MixedTile(WINDOW, 7, DType.INT16, DType.INT16, 32),
    "mixed_tile_widening": s.MixedTile(ODD, 6, DType.INT8, DType.INT16, 31),
    "mixed_table": s.MixedTable(100, DType.INT8, 14, -128, -128, 127),
}

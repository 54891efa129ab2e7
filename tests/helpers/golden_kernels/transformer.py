"""Small cases of the kernels of transformers."""

import specs as s

from edgec.base.dtypes import DType
from edgec.kernels.common.rescale16 import Rescale16
from edgec.kernels.family import KernelSpec
from golden_kernels.common import BYTE, HEADS, LOOPS, WIDE

CASES: dict[str, KernelSpec] = {
    "rescale": s.Rescale(100, DType.INT16, Rescale16(BYTE)),
    "rescale16_mul": s.Rescale16Mul(LOOPS, Rescale16(WIDE)),
    "rescale16_reduce": s.Rescale16Reduce(
        DType.INT16, (s.Loop(8, (1,)),), (s.Loop(25, (8,)),), Rescale16(BYTE)
    ),
    "matmul": s.MatMul((s.Loop(3, (20, 0)),), 4, 5, 6, (5, 1), (1, 5), Rescale16(BYTE)),
    "stream_add": s.StreamAdd(LOOPS),
    "norm": s.Norm(4, 64, True, 3, 17, -127, 127, DType.INT8),
    "norm_root_mean_square": s.Norm(4, 64, False, 3, 10, -32768, 32767, DType.INT16),
    "attention": s.Attention(1, 8, 8, 2, *HEADS, 15, None),
    "attention_masked": s.Attention(2, 8, 8, 2, *HEADS, 13, 8),
    "embedding": s.Embedding(7, 50, 16, DType.INT8, 200),
    "attention_biased": s.Attention(4, 5, 7, 2, *HEADS, 15, None, bias_steps=11, bias_stride=35),
    "softmax_octaves": s.SoftmaxOctaves(2, 10, 96_820_000, 11, 15),
    "is_equal": s.IsEqual(9, 1),
}

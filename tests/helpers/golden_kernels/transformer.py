"""Small cases of the kernels of transformers."""

import specs as s

from edgec.base.dtypes import DType
from edgec.kernels.family import KernelSpec
from golden_kernels.common import HEADS

CASES: dict[str, KernelSpec] = {
    "norm": s.Norm(4, 64, True, 3, 17, -127, 127, DType.INT8),
    "norm_root_mean_square": s.Norm(4, 64, False, 3, 10, -32768, 32767, DType.INT16),
    "attention": s.Attention(1, 8, 8, 2, *HEADS, 15, None),
    "attention_masked": s.Attention(2, 8, 8, 2, *HEADS, 13, 8),
    "embedding": s.Embedding(7, 50, 16, DType.INT8, 200),
    "attention_biased": s.Attention(4, 5, 7, 2, *HEADS, 15, None, bias_steps=11, bias_stride=35),
}

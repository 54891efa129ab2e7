"""Small cases of the kernels whose filters take fewer than eight bits in flash."""

import specs as s

from edgec.kernels.family import KernelSpec
from golden_kernels.common import VALID

CASES: dict[str, KernelSpec] = {
    "packed_filters": s.PackedFilters(s.Gemm(4, 32, 32, 32), 4, 32, 32),
    "packed_filters_batches": s.PackedFilters(s.Dense4x2(4, 64, 8, None, shift=32), 3, 22, 8),
    "packed_filters_residual": s.PackedFilters(s.Conv2D(VALID, 8, 1, 32, 12), 2, 17, 8),
}

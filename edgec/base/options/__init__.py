"""Options of the commands, as frozen data."""

from edgec.base.options.compilation import (
    LONGEST_MAXIMUM,
    SHORTEST_MAXIMUM,
    App,
    CompileOptions,
    MaxLength,
    Optimize,
    Placement,
)
from edgec.base.options.pools import (
    DEFAULT_MAX_DROP,
    MAX_ACTIVATION_BITS,
    PoolKernel,
    PoolKernelOptions,
    PoolKernelRule,
    PoolSharing,
    TermsRule,
    WeightPoolOptions,
)
from edgec.base.options.progress import Progress, no_progress
from edgec.base.options.quant import (
    DEFAULT_TARGET_DB,
    MOST_TARGET_DB,
    Effort,
    Observer,
    Precision,
    QuantOptions,
    QuantSettings,
    Residual,
    check_drop,
)
from edgec.base.options.seed import check_seed
from edgec.base.options.sizes import Budget, parse_bytes

__all__ = [
    "DEFAULT_MAX_DROP",
    "DEFAULT_TARGET_DB",
    "LONGEST_MAXIMUM",
    "MAX_ACTIVATION_BITS",
    "MOST_TARGET_DB",
    "SHORTEST_MAXIMUM",
    "App",
    "Budget",
    "CompileOptions",
    "Effort",
    "MaxLength",
    "Observer",
    "Optimize",
    "Placement",
    "PoolKernel",
    "PoolKernelOptions",
    "PoolKernelRule",
    "PoolSharing",
    "Precision",
    "Progress",
    "QuantOptions",
    "QuantSettings",
    "Residual",
    "TermsRule",
    "WeightPoolOptions",
    "check_drop",
    "check_seed",
    "no_progress",
    "parse_bytes",
]

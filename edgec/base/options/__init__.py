"""Options of the commands, as frozen data."""

from edgec.base.options.compilation import (
    LONGEST_MAXIMUM,
    SHORTEST_MAXIMUM,
    App,
    CompileOptions,
    IntegerOptions,
    MaxLength,
    ModelOptions,
    Optimize,
    Placement,
    Rows,
    StatePairs,
)
from edgec.base.options.few_bits import (
    FewBitsOptions,
    InPool,
    LayerBits,
    Numbers,
    WeightBits,
    WeightTypes,
)
from edgec.base.options.fit import FitLimits
from edgec.base.options.front_end import FrontEndOptions
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
    check_seed,
)
from edgec.base.options.sizes import Budget, parse_bytes
from edgec.base.options.stream import StreamOptions
from edgec.base.options.tuned import TunedKernels
from edgec.base.options.words import OptionValue, option_words

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
    "FewBitsOptions",
    "FitLimits",
    "FrontEndOptions",
    "InPool",
    "IntegerOptions",
    "LayerBits",
    "MaxLength",
    "ModelOptions",
    "Numbers",
    "Observer",
    "Optimize",
    "OptionValue",
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
    "Rows",
    "StatePairs",
    "StreamOptions",
    "TermsRule",
    "TunedKernels",
    "WeightBits",
    "WeightPoolOptions",
    "WeightTypes",
    "check_drop",
    "check_seed",
    "no_progress",
    "option_words",
    "parse_bytes",
]

"""The integer operators by name, as functions that apply them to a tensor of a random net.

Each takes the net and the name of an int8 tensor and gives the name of its output.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType

from random_elementwise import (
    add,
    add20,
    compare,
    div,
    extremum,
    from_integer,
    lut,
    matmul_twice,
    mul,
    mul_twice,
    prelu,
    prelu_codes,
    squared_difference,
    where,
)
from random_layers import (
    conv,
    conv_transpose,
    depthwise,
    gemm,
    pooled_conv,
    pooled_gemm,
    tree_ensemble,
)
from random_moves import (
    concat,
    pad,
    reshape,
    resize_linear,
    resize_nearest,
    slice_,
    slide,
    transpose,
)
from random_net import Net
from random_reductions import (
    arg_max,
    average_pool,
    average_pool_codes,
    log_softmax,
    max_pool,
    reduce,
    reduce_norm,
    reduce_twice,
    softmax,
    softmax31,
    top_k,
)


@dataclass(frozen=True)
class OpKind:
    """How to apply an operator, and whether it needs an image [1, H, W, C]."""

    apply: Callable[[Net, str], str]
    needs_image: bool = False


OPS: Mapping[str, OpKind] = MappingProxyType(
    {
        "conv": OpKind(conv, True),
        "depthwise": OpKind(depthwise, True),
        "conv_transpose": OpKind(conv_transpose, True),
        "gemm": OpKind(gemm),
        "pooled_conv": OpKind(pooled_conv, True),
        "pooled_gemm": OpKind(pooled_gemm),
        "add": OpKind(add),
        "add20": OpKind(add20),
        "squared_difference": OpKind(squared_difference),
        "mul": OpKind(mul),
        "div": OpKind(div),
        "log_softmax": OpKind(log_softmax),
        "top_k": OpKind(top_k),
        "extremum": OpKind(extremum),
        "compare": OpKind(compare),
        "where": OpKind(where),
        "from_integer": OpKind(from_integer),
        "mul_twice": OpKind(mul_twice),
        "reduce_twice": OpKind(reduce_twice),
        "matmul_twice": OpKind(matmul_twice),
        "lut": OpKind(lut),
        "prelu": OpKind(prelu),
        "prelu_codes": OpKind(prelu_codes),
        "softmax": OpKind(softmax),
        "softmax31": OpKind(softmax31),
        "max_pool": OpKind(max_pool, True),
        "average_pool": OpKind(average_pool, True),
        "average_pool_codes": OpKind(average_pool_codes, True),
        "reduce": OpKind(reduce),
        "reduce_norm": OpKind(reduce_norm),
        "reshape": OpKind(reshape),
        "transpose": OpKind(transpose),
        "slice": OpKind(slice_),
        "concat": OpKind(concat),
        "slide": OpKind(slide),
        "pad": OpKind(pad),
        "resize_nearest": OpKind(resize_nearest, True),
        "resize_linear": OpKind(resize_linear, True),
        "arg_max": OpKind(arg_max),
        "tree_ensemble": OpKind(tree_ensemble),
    }
)

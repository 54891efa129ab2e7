"""Arguments of kernels that differ between layers: the structs of `edgec/params.h` as data.

The fields and their order are those of the C structs; `c_type` is the name of the struct.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar


@dataclass(frozen=True, slots=True)
class ConstantRef:
    """A constant of the program, by its index in `Program.constants`."""

    index: int


@dataclass(frozen=True, slots=True)
class ConvParams:
    """Convolutions and matrix products."""

    c_type: ClassVar[str] = "edgec_conv_params_t"
    weights: ConstantRef
    bias: ConstantRef
    multiplier: ConstantRef
    x_zero_point: int
    y_zero_point: int
    act_min: int
    act_max: int


@dataclass(frozen=True, slots=True)
class PoolParams:
    """Convolutions and matrix products with pooled weights."""

    c_type: ClassVar[str] = "edgec_pool_params_t"
    table: ConstantRef
    indices: ConstantRef
    bias: ConstantRef
    multiplier: ConstantRef
    x_zero_point: int
    y_zero_point: int
    act_min: int
    act_max: int


@dataclass(frozen=True, slots=True)
class SumParams:
    """`ir.qops.AddParams`, alone or at the end of a convolution."""

    c_type: ClassVar[str] = "edgec_add_params_t"
    a_zero_point: int
    b_zero_point: int
    a_multiplier: int
    b_multiplier: int
    shift: int
    y_zero_point: int
    act_min: int
    act_max: int


@dataclass(frozen=True, slots=True)
class NarrowParams:
    """Convolutions and matrix products of a transformer."""

    c_type: ClassVar[str] = "edgec_narrow_params_t"
    weights: ConstantRef
    bias: ConstantRef
    multiplier: ConstantRef
    x_zero_point: int


@dataclass(frozen=True, slots=True)
class PoolNarrowParams:
    """The same with pooled weights."""

    c_type: ClassVar[str] = "edgec_pool_narrow_params_t"
    table: ConstantRef
    indices: ConstantRef
    bias: ConstantRef
    multiplier: ConstantRef
    x_zero_point: int


@dataclass(frozen=True, slots=True)
class SingleParams:
    """Operators of a transformer that have one multiplier."""

    c_type: ClassVar[str] = "edgec_single_params_t"
    multiplier: int
    bias: int
    a_zero_point: int = 0
    b_zero_point: int = 0


@dataclass(frozen=True, slots=True)
class NormParams:
    """Normalizations of a transformer."""

    c_type: ClassVar[str] = "edgec_norm_params_t"
    gamma: ConstantRef
    beta: ConstantRef
    epsilon: int
    least_shift: int


@dataclass(frozen=True, slots=True)
class AttentionParams:
    """Attention: `edgec_attention_head_t` of each head, as int32."""

    c_type: ClassVar[str] = "edgec_attention_params_t"
    heads: ConstantRef


@dataclass(frozen=True, slots=True)
class MulParams:
    """Products of two tensors."""

    c_type: ClassVar[str] = "edgec_mul_params_t"
    multiplier: int
    a_zero_point: int
    b_zero_point: int
    y_zero_point: int
    act_min: int
    act_max: int


@dataclass(frozen=True, slots=True)
class PReluParams:
    """Parametric rectifiers."""

    c_type: ClassVar[str] = "edgec_prelu_params_t"
    slope_multiplier: ConstantRef
    multiplier: int
    x_zero_point: int
    y_zero_point: int
    act_min: int
    act_max: int


@dataclass(frozen=True, slots=True)
class SoftmaxParams:
    """Softmax."""

    c_type: ClassVar[str] = "edgec_softmax_params_t"
    table: ConstantRef
    multiplier: int
    y_zero_point: int
    act_min: int
    act_max: int


@dataclass(frozen=True, slots=True)
class AveragePoolParams:
    """Average pools."""

    c_type: ClassVar[str] = "edgec_average_pool_params_t"
    multiplier: ConstantRef
    x_zero_point: int
    y_zero_point: int
    act_min: int
    act_max: int


@dataclass(frozen=True, slots=True)
class ReduceParams:
    """Means and sums."""

    c_type: ClassVar[str] = "edgec_reduce_params_t"
    multiplier: int
    x_zero_point: int
    y_zero_point: int
    act_min: int
    act_max: int


@dataclass(frozen=True, slots=True)
class ResizeParams:
    """Resizes."""

    c_type: ClassVar[str] = "edgec_resize_params_t"
    rows: ConstantRef
    cols: ConstantRef


Params = (
    ConvParams
    | PoolParams
    | SumParams
    | MulParams
    | PReluParams
    | SoftmaxParams
    | AveragePoolParams
    | ReduceParams
    | ResizeParams
    | NarrowParams
    | PoolNarrowParams
    | SingleParams
    | NormParams
    | AttentionParams
)

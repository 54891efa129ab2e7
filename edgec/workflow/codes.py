"""Samples as a model takes them, and the library's codes: conversion to one another."""

from __future__ import annotations

import numpy as np

from edgec.base.dtypes import Array
from edgec.base.errors import ConfigError
from edgec.report.model import TensorReport

_PART_ELEMENTS = 1 << 16


def encode(samples: Array, tensor: TensorReport) -> Array:
    """Model-side samples [N, ...] to library codes int8 [N, ...library shape without batch].

    Floats are quantized; integers are taken as codes when the model itself takes integers.

    Raises:
        ConfigError: integer samples beyond the model's integer type.
    """
    axes = tensor.layout or tuple(range(len(tensor.shape)))
    # The batch axis stays first (the layout pass never moves it).
    moved = samples.transpose(axes)
    if tensor.library_dtype == "int32":
        return _whole(moved, tensor)
    if tensor.dtype != "float32" and samples.dtype.kind in "iu":
        return _recode(moved, tensor)
    codes = np.empty(moved.shape, tensor.quant.dtype.numpy)
    # A part at a time, whose float64 numbers stay in the cache.
    step = max(1, _PART_ELEMENTS // max(1, moved[:1].size))
    for at in range(0, len(moved), step):
        part = moved[at : at + step].astype(np.float32)
        codes[at : at + step] = tensor.quant.quantize(part)
    return codes


def to_model(samples: Array, tensor: TensorReport) -> Array:
    """Samples as the model's own input takes them: floats are quantized if it takes integers."""
    if tensor.dtype == "float32" or samples.dtype.kind in "iu":
        return samples.astype(tensor.dtype)
    if _is_wider(tensor):
        return _rounded(samples, tensor)
    return _own_integers(tensor.quant.quantize(samples), tensor)


def _is_wider(tensor: TensorReport) -> bool:
    """Whether codes of 16 bits stand for the model's integers of 8: not one for one."""
    return tensor.library_dtype == "int16" and np.dtype(tensor.dtype).itemsize == 1


def _rounded(numbers: Array, tensor: TensorReport) -> Array:
    """The integers of the model's type that are nearest."""
    info = np.iinfo(tensor.dtype)
    return np.clip(np.rint(numbers), info.min, info.max).astype(tensor.dtype)


def _own_integers(codes: Array, tensor: TensorReport) -> Array:
    """Codes of the library in the model's integer type."""
    if _is_wider(tensor):
        return _rounded(tensor.quant.dequantize(codes), tensor)
    if tensor.dtype == "uint8":
        return (codes.astype(np.int16) + 128).astype(np.uint8)
    return codes.astype(tensor.dtype)


def decode(codes: Array, tensor: TensorReport) -> Array:
    """Library outputs to what the model gives: float32, or its own integers.

    Args:
        codes: [N, ...library shape without batch...], or with an axis more, [N, ...library
            shape...], of an output whose first axis is no batch.
        tensor: the output.
    """
    more = codes.ndim - len(tensor.library_shape)
    if tensor.layout:
        back = (int(axis) + more for axis in np.argsort(tensor.layout))
        codes = codes.transpose((*range(more), *back))
    if tensor.dtype == "float32":
        return tensor.quant.dequantize(codes)
    return _own_integers(codes, tensor)


def _whole(numbers: Array, tensor: TensorReport) -> Array:
    """Token ids and masks as int32.

    Raises:
        ConfigError: no whole numbers of 32 bits.
    """
    whole = numbers.astype(np.int32)
    if not np.array_equal(whole, numbers):
        raise ConfigError(
            "holds other than whole numbers of 32 bits", where=tensor.name, hint="give int32"
        )
    return np.ascontiguousarray(whole)


def _recode(codes: Array, tensor: TensorReport) -> Array:
    """Integers of the model's own type as the library's (uint8 moves down by 128 to int8)."""
    info = np.iinfo(tensor.dtype)
    if codes.min() < info.min or codes.max() > info.max:
        raise ConfigError(
            f"values {codes.min()}..{codes.max()} are outside the model's {tensor.dtype} input",
            where=tensor.name,
        )
    if _is_wider(tensor):
        return tensor.quant.quantize(codes.astype(np.float32))
    shift = 128 if tensor.dtype == "uint8" else 0
    return np.ascontiguousarray(codes.astype(np.int32) - shift).astype(tensor.library_dtype)

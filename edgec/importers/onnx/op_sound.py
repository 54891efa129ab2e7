"""Spectra of sound, and the windows and filters that they are taken with."""

from __future__ import annotations

import numpy as np

from edgec.base.dtypes import Array, DType
from edgec.base.limits import MAX_ACTIVATION_ELEMENTS
from edgec.base.mel_scale import hertz_of, mel_of
from edgec.base.portable_functions import cos
from edgec.importers.common.tensors import Tensor, UnsupportedError, require_real
from edgec.importers.onnx.node import Context, OnnxNode
from edgec.ir import ops
from edgec.ir.graph import Constant
from edgec.ir.qops.dft import LEAST_POINTS, MOST_POINTS


def stft(ctx: Context, node: OnnxNode) -> Tensor:
    """Samples [1, L] or [1, L, 1], one side, constant window; power or magnitude, filters, a floor
    and a logarithm must follow, which it is computed together with.
    """
    x = require_real(node.data_value(0))
    hop = node.whole_number(1, "frame_step")
    window = node.real_array(2, "window").reshape(-1) if node.has(2) else None
    points = node.whole_number(3, "frame_length") if node.has(3) else 0
    points = points or (0 if window is None else len(window))
    if not LEAST_POINTS <= points <= MOST_POINTS or hop < 1:
        raise UnsupportedError(
            f"frames of {points} samples every {hop}",
            f"take frames of {LEAST_POINTS} to {MOST_POINTS}",
        )
    if not node.flag("onesided", True):
        raise UnsupportedError("both sides of a spectrum", "set onesided to 1")
    if window is None:
        window = np.ones(points)
    if len(window) != points:
        raise UnsupportedError("a window of another length than its frames", "pad it with zeros")
    samples = int(np.prod(x.shape))
    if samples != x.shape[1] or len(x.shape) not in (2, 3):
        raise UnsupportedError("several signals, or complex ones", "give it one of real samples")
    if samples < points:
        raise UnsupportedError("fewer samples than a frame", "give it at least a frame")
    frames = (samples - points) // hop + 1
    used = (frames - 1) * hop + points
    y = ctx.reshape(x, (1, samples))
    if used < samples:
        y = ctx.emit(ops.Slice((0, 0), (1, 1), (1, used)), y)
    return ctx.emit(ops.Spectrum(hop, points), y, Constant(node.input_name(2), window))


def dft(ctx: Context, node: OnnxNode) -> Tensor:
    """Real numbers [..., n, 1], one side, over the last axis but one, constant length; what must
    follow is the same as after STFT.  A constant window before it, and frames that Gather takes of
    one signal, become part of it.
    """
    x = require_real(node.data_value(0))
    rank = len(x.shape)
    if node.flag("inverse", False):
        raise UnsupportedError("the inverse of a spectrum", "give the network the samples")
    if not node.flag("onesided", False):
        raise UnsupportedError("both sides of a spectrum", "set onesided to 1 (torch.fft.rfft)")
    if node.opset < 20:
        axis = node.integer("axis", 1)
    else:
        axis = node.whole_number(2, "axis") if node.has(2) else -2
    if rank < 3 or x.shape[-1] != 1 or axis not in (rank - 2, -2):
        raise UnsupportedError(
            f"a spectrum over axis {axis} of {list(x.shape)}", "let it be [..., n, 1], over n"
        )
    width = x.shape[-2]
    points = node.whole_number(1, "dft_length") if node.has(1) else width
    if not LEAST_POINTS <= points <= MOST_POINTS:
        raise UnsupportedError(
            f"frames of {points} samples", f"take frames of {LEAST_POINTS} to {MOST_POINTS}"
        )
    samples = int(np.prod(x.shape))
    if sum(size > 1 for size in x.shape[:-2]) > 1:
        raise UnsupportedError("frames of several signals", "give it those of one")
    y = ctx.reshape(x, (1, samples))
    box = Constant(f"{node.outputs[0]}/window", np.ones(min(width, points), np.float32))
    used = samples - width + len(box.array)
    if used < samples:
        y = ctx.emit(ops.Slice((0, 0), (1, 1), (1, used)), y)
    found = ctx.emit(ops.Spectrum(width, points), y, box)
    return ctx.reshape(found, (*x.shape[:-2], points // 2 + 1, 2))


def window(_ctx: Context, node: OnnxNode) -> Tensor:
    """Constant size; periodic or not."""
    size = node.whole_number(0, "size")
    if not 1 <= size <= MAX_ACTIVATION_ELEMENTS:
        raise UnsupportedError(f"a window of {size} samples", "take a smaller one")
    count = size if node.flag("periodic", True) else max(size - 1, 1)
    turn = 2 * np.pi * np.arange(size) / count
    if node.op == "HannWindow":
        found = 0.5 - 0.5 * cos(turn)
    elif node.op == "HammingWindow":
        found = 25 / 46 - 21 / 46 * cos(turn)
    else:
        found = 0.42 - 0.5 * cos(turn) + 0.08 * cos(2 * turn)
    return _real(node, found)


def mel_weight_matrix(_ctx: Context, node: OnnxNode) -> Tensor:
    """Constant operands."""
    filters, points, rate = (
        node.whole_number(index, name)
        for index, name in enumerate(("num_mel_bins", "dft_length", "sample_rate"))
    )
    low, high = node.float_input(3, "lower_edge_hertz"), node.float_input(4, "upper_edge_hertz")
    bins = points // 2 + 1
    if not 1 <= filters <= 1 << 12 or not LEAST_POINTS <= points <= MOST_POINTS or rate < 1:
        raise UnsupportedError(f"{filters} filters over {points} points", "take fewer")
    # ONNX's steps: one of as many parts as there are corners, so the last corner lies below `high`.
    begin, end = mel_of(np.array([low, high]))
    edges = begin + (end - begin) / (filters + 2) * np.arange(filters + 2)
    place = np.floor((points + 1) * hertz_of(edges) / rate).astype(np.int64)
    if place.min() < 0 or place.max() >= bins:
        raise UnsupportedError(f"filters from {low:g} to {high:g} Hz", "end them at half the rate")
    found = np.zeros((bins, filters))
    for channel, (first, middle, last) in enumerate(zip(place, place[1:], place[2:], strict=False)):
        bin_of = np.arange(bins)
        if middle == first:
            found[bin_of == middle, channel] = 1.0
        else:
            rising = (bin_of >= first) & (bin_of <= middle)
            found[rising, channel] = ((bin_of - first) / (middle - first))[rising]
        if last > middle:
            falling = (bin_of >= middle) & (bin_of < last)
            found[falling, channel] = ((last - bin_of) / (last - middle))[falling]
    return _real(node, found)


def _real(node: OnnxNode, found: Array) -> Tensor:
    """A constant of float numbers; ONNX's output_datatype 1 is float32."""
    if node.integer("output_datatype", 1) != 1:
        raise UnsupportedError("numbers that are not float32", "leave output_datatype out")
    return Constant(node.outputs[0], found.astype(DType.FLOAT32.numpy))

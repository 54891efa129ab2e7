"""How far a kernel's output may lie over its inputs.

Every kernel that is listed here writes its output in raster order.  Let T(i) be the number of
output bytes written before the last read of input byte i is done.  The output may overlap the input
if no byte is written before its last read, that is, if ``offset(output) + d <= offset(input)`` with
``d = max(T(i) - i)`` over the input bytes that are read; at least 0.  d is exact: one byte less,
and the kernel reads what it wrote.

The order of reads and writes is that of the templates, which say so in their first lines:

* `Conv2D` reads the whole window of an output pixel before it writes the pixel.
* `DenseDsp`, `DenseNeon`, `DenseTriples` and `DenseQuads` do so for a block of pixels at a time.
* `Gemm` reads a row of x for each block of units; only the last block's bytes are unwritten then.
* `PooledDirect` does so too, and `PooledDecode` with all filters in one batch where it copies rows;
  where it does not, it is like `Gemm`.  `PooledDecodeDsp` in one batch reads like `DenseDsp`.
* `Depthwise` and the pools go channel by channel; `ConvTranspose` filter by filter.  A depthwise
  block of channels reads some of them earlier, but its first one no earlier: d is the same.
* Copies move one run at a time (memmove); element-wise kernels go element by element.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

import numpy as np

from edgec.base.dtypes import Array
from edgec.lower.loops import strides_of
from edgec.lower.neon_weights import ROWS
from edgec.lower.spec import (
    Add,
    ArgMax,
    Attention,
    AveragePool,
    Concat,
    Conv2D,
    ConvTranspose,
    DenseDsp,
    DenseNeon,
    DenseQuads,
    DenseTriples,
    Depthwise,
    Embedding,
    Gemm,
    IsEqual,
    KernelSpec,
    Loop,
    Lut,
    MatMul,
    MaxPool,
    Mul,
    NarrowMul,
    NarrowReduce,
    NarrowSoftmax,
    Norm,
    Pad,
    PadAxis,
    PooledConv,
    PooledDecode,
    PooledDecodeDsp,
    PooledDirect,
    PRelu,
    Reduce,
    Rescale,
    RescaleNeon,
    ResizeLinear,
    ResizeNearest,
    Softmax,
    StreamAdd,
    StreamAddNeon,
    StridedCopy,
)
from edgec.lower.spec_dense_dsp import PIXELS
from edgec.lower.spec_dense_quads import TOKENS
from edgec.lower.window import Window

IN_PLACE = 0
_NOTHING_READ = -(2**62)
_Dense = Conv2D | DenseDsp | DenseNeon | DenseQuads | DenseTriples | Depthwise | Gemm


def distances(spec: KernelSpec) -> tuple[int | None, ...]:
    """The least distance in bytes for each operand, in the order of `select.operands`.

    None: the output must not overlap this operand.
    """
    match spec:
        case (
            Conv2D()
            | DenseDsp()
            | DenseNeon()
            | DenseQuads()
            | DenseTriples()
            | Depthwise()
            | Gemm()
        ):
            own = max(_convolution(spec), 0)
            if spec.narrow is not None and spec.narrow.table:
                return (own, None)
            return (own, IN_PLACE) if _adds(spec) else (own,)
        case PooledDecode() | PooledDecodeDsp() | PooledDirect():
            return _pooled(spec)
        case PooledConv():
            # The residual is read in no order that would be behind the writing.
            own = _pooled_input(spec)
            return (own,) if spec.residual_shift is None else (own, None)
        case Add() | Mul():
            return tuple(max(_walk(spec.loops, operand), 0) for operand in (0, 1))
        case Lut():
            return (IN_PLACE, None)
        case PRelu() | Softmax() | NarrowSoftmax() | IsEqual():
            return (IN_PLACE,)
        case Concat():
            return _concat(spec)
        case Rescale() | NarrowMul() | NarrowReduce() | StreamAdd() | MatMul():
            return _of_transformer(spec)
        case Norm() | Attention() | Embedding() | RescaleNeon() | StreamAddNeon():
            return _of_transformer(spec)
        case ResizeNearest() | ResizeLinear():
            # The order of the reads is in tables, not in the specification.
            return (None,)
        case _:
            return (max(_single(spec), 0),)


def _of_transformer(
    spec: Rescale
    | RescaleNeon
    | NarrowMul
    | NarrowReduce
    | StreamAdd
    | StreamAddNeon
    | MatMul
    | Norm
    | Attention
    | Embedding,
) -> tuple[int | None, ...]:
    match spec:
        case NarrowMul() | StreamAdd():
            return tuple(_elementwise(spec, operand) for operand in (0, 1))
        case Rescale():
            own = _growth(spec)
            return (own, None) if spec.channels else (own,)
        case RescaleNeon():
            return (_growth(spec),)
        case StreamAddNeon():
            return (IN_PLACE, IN_PLACE)
        case Norm():
            # A row is read before it is written.
            growth = spec.dtype.size_bytes - 1
            grown = growth * spec.channels * (spec.rows - 1)
            return (grown, None) if spec.shifted else (IN_PLACE,)
        case NarrowReduce():
            return (None,)
        case MatMul() | Embedding():
            return (None, None)
        case Attention():
            constants = 2 if spec.bias_steps else 0
            return (None,) * ((3 if spec.mask_stride is None else 4) + constants)


def _growth(spec: Rescale | RescaleNeon) -> int:
    growth = spec.narrow.out_bytes - spec.dtype.size_bytes
    return max(growth * (spec.count - 1), 0)


def _adds(spec: _Dense) -> bool:
    """There is a residual."""
    return spec.residual_shift is not None or (spec.narrow is not None and spec.narrow.residual)


def _elementwise(spec: NarrowMul | StreamAdd, operand: int) -> int:
    """`_walk` for elements of several bytes."""
    read = spec.dtype.size_bytes if isinstance(spec, StreamAdd) else 1
    written = read if isinstance(spec, StreamAdd) else spec.narrow.out_bytes
    loops = [
        Loop(loop.size, tuple(stride * read for stride in loop.strides)) for loop in spec.loops
    ]
    return max(_walk(loops, operand, written), 0)


def _single(
    spec: ConvTranspose | MaxPool | AveragePool | Reduce | StridedCopy | Pad | ArgMax,
) -> int:
    match spec:
        case ConvTranspose():
            return _conv_transpose(spec)
        case MaxPool() | AveragePool():
            return _by_pixel(spec.window, spec.window.channels)
        case Reduce():
            return _walk(spec.kept, 0)
        case StridedCopy():
            return _walk(spec.loops, 0, spec.run_bytes) - spec.start_bytes
        case Pad():
            return _pad(spec)
        case ArgMax():
            # y is int32: 4 bytes at [outer, inner], when x [outer, 0..depth, inner] has been read.
            per_outer = spec.inner * (4 - spec.depth)
            return 3 * (spec.inner - 1) + max(0, (spec.outer - 1) * per_outer)


def _convolution(spec: _Dense) -> int:
    each = 1 if spec.narrow is None else spec.narrow.out_bytes
    match spec:
        case DenseDsp() | DenseNeon() | DenseTriples():
            readers = spec.window.last_readers()
            # Pixels are written when the windows of all of their block have been read.
            block = ROWS if isinstance(spec, DenseNeon) else PIXELS
            starts = np.where(readers < 0, -1, readers // block * block)
            return _pixel_distance(starts, spec.out_channels * each, spec.window.channels)
        case Conv2D():
            return _by_pixel(spec.window, spec.out_channels * each)
        case Depthwise():
            # Channel c is last read for output channel c * multiplier + multiplier - 1.
            spread = (spec.out_channels - 1) * each - (spec.window.channels - 1)
            return _by_pixel(spec.window, spec.out_channels * each) + spread
        case DenseQuads():
            # As many rows as a block has are read before the first of them is written.
            if spec.window is None:
                starts = np.arange(spec.rows) // TOKENS * TOKENS
                return _pixel_distance(starts, spec.units * each, spec.depth)
            readers = spec.window.last_readers()
            starts = np.where(readers < 0, -1, readers // TOKENS * TOKENS)
            return _pixel_distance(starts, spec.units * each, spec.window.channels)
        case Gemm():
            last = (spec.rest or spec.block) * each
            return _by_row(spec.rows, spec.depth, spec.units * each, last)


def _pooled(spec: PooledDecode | PooledDecodeDsp | PooledDirect) -> tuple[int | None, ...]:
    first = _pooled_dense(spec)
    if spec.narrow is not None and spec.narrow.table:
        return (first, None)
    adds = spec.residual_shift is not None or (spec.narrow is not None and spec.narrow.residual)
    return (first, _pooled_residual(spec)) if adds else (first,)


def _pooled_dense(spec: PooledDecode | PooledDecodeDsp | PooledDirect) -> int | None:
    each = 1 if spec.narrow is None else spec.narrow.out_bytes
    if not isinstance(spec, PooledDirect) and spec.batch < spec.out_channels:
        return None  # the next batch of filters reads all of x again
    if isinstance(spec, PooledDecodeDsp):
        return max(_convolution(replace(spec.dense, narrow=spec.narrow)), 0)
    if isinstance(spec, PooledDecode) and not spec.needs_patch:
        last = (spec.rest or spec.block) * each
        return _by_row(spec.window.out_pixels, spec.depth, spec.out_channels * each, last)
    return max(_by_pixel(spec.window, spec.out_channels * each), 0)


def _pooled_residual(spec: PooledDecode | PooledDecodeDsp | PooledDirect) -> int | None:
    """In place if y is written in the order of memory."""
    if isinstance(spec, PooledDecodeDsp):
        return None
    return None if isinstance(spec, PooledDecode) and spec.batch < spec.out_channels else IN_PLACE


def _by_row(rows: int, depth: int, units: int, last: int) -> int:
    """max(T(i) - i) if a row is read for each block of units; `last`: units of the last block."""
    return max((rows - 1) * (units - depth), 0) + units - last


def _pooled_input(spec: PooledConv) -> int:
    """0 if all is read before anything is written; else pairs of output rows are written when the
    input rows of the windows have been read, each as often as it is in a pair row.
    """
    if spec.writes_at_end:
        return 0
    w, pairs = spec.window, spec.out_pairs
    last = np.zeros(w.height, np.int64)
    done = 0
    for pair in range(pairs):
        top = pair * w.stride_h
        for row in range(max(done, top), top + spec.reach_h):
            for low in (row - w.pad_top + lane * spec.lane_rows for lane in range(spec.lanes)):
                if 0 <= low < w.height:
                    last[low] = pair
        done = top + spec.reach_h
    highest = np.minimum((spec.lanes - 1) * pairs + last, w.out_height)
    ends = np.where(last > 0, highest, 0) * (w.out_width * spec.out_channels)
    return max(0, int((ends - np.arange(w.height) * (w.width * w.channels)).max()))


def _by_pixel(window: Window, out_channels: int) -> int:
    """max(T(i) - i) if an output pixel is written as a whole, after its reads."""
    readers = window.last_readers()
    return _pixel_distance(readers, out_channels, window.channels)


def _pixel_distance(readers: Array, out_channels: int, channels: int) -> int:
    flat = readers.ravel()
    ahead = flat * out_channels - np.arange(flat.size, dtype=np.int64) * channels
    read = ahead[flat >= 0]
    return int(read.max()) if read.size else _NOTHING_READ


def _conv_transpose(spec: ConvTranspose) -> int:
    w = spec.window
    rows = _last_written(w.out_height, w.height, w.kernel_h, w.stride_h, w.pad_top, w.dilation_h)
    cols = _last_written(w.out_width, w.width, w.kernel_w, w.stride_w, w.pad_left, w.dilation_w)
    pixels = rows[:, None] * w.width + cols[None, :]
    readers = np.where((rows[:, None] < 0) | (cols[None, :] < 0), -1, pixels)
    within = max(
        (group + 1) * spec.group_filters - 1 - group * spec.group_channels
        for group in (0, spec.group - 1)
    )
    return _pixel_distance(readers, w.channels, spec.in_channels) + within


def _last_written(
    size: int, out_size: int, taps: int, stride: int, pad: int, dilation: int
) -> Array:
    """int64 [size]: the last output index of a transposed convolution that reads each input."""
    tap = np.arange(taps, dtype=np.int64) * dilation
    reached = np.arange(size, dtype=np.int64)[:, None] * stride - pad + tap[None, :]
    return np.asarray(np.where((reached >= 0) & (reached < out_size), reached, -1).max(axis=1))


def _walk(loops: Iterable[Loop], operand: int, run: int = 1) -> int:
    """max(e - index(e)) over the elements e of a raster-order output walked by `loops`.

    Both are sums over the loops' counters, so the maximum is a sum of maxima.
    """
    loops = tuple(loops)
    own = strides_of([loop.size for loop in loops])
    return sum(
        max(0, (loop.size - 1) * (stride * run - loop.strides[operand]))
        for loop, stride in zip(loops, own, strict=True)
    )


def _concat(spec: Concat) -> tuple[int, ...]:
    total = sum(spec.run_bytes)
    found: list[int] = []
    before = 0
    for run in spec.run_bytes:
        found.append(before + (spec.outer - 1) * (total - run))
        before += run
    return tuple(found)


def _pad(spec: Pad) -> int:
    own = strides_of([axis.size for axis in spec.axes])
    out = strides_of([axis.out_size for axis in spec.axes])
    return spec.run_bytes * sum(
        _pad_axis(spec, axis, stride, out_stride)
        for axis, stride, out_stride in zip(spec.axes, own, out, strict=True)
    )


def _pad_axis(spec: Pad, axis: PadAxis, stride: int, out_stride: int) -> int:
    written = np.arange(axis.out_size, dtype=np.int64)
    read = written - axis.before
    inside = (read >= 0) & (read < axis.size)
    if not spec.is_constant:
        mirrored = (axis.size - 1) - np.abs(axis.size - 1 - np.abs(read))
        read = mirrored if spec.is_reflect else np.clip(read, 0, axis.size - 1)
        inside = np.ones_like(inside)
    return int(np.max((written * out_stride - read * stride)[inside]))

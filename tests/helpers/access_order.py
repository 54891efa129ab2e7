"""The order in which each kernel template reads and writes bytes, spelled out.

An event is ("r", byte of the input) or ("w", byte of the output).  `least_distance` finds the least
legal distance by trying: it knows nothing of formulas.
"""

import itertools
from collections.abc import Iterable, Iterator

import numpy as np
import specs as s

from edgec.base.dtypes import DType
from edgec.kernels.common.window import Window

Event = tuple[str, int]


def least_distance(events: list[Event]) -> int:
    """Least d >= 0 such that, with the input d bytes behind the output, no byte is written before
    its last read."""
    last_read = np.full(max((byte for kind, byte in events if kind == "r"), default=-1) + 1, -1)
    for time, (kind, byte) in enumerate(events):
        if kind == "r":
            last_read[byte] = time
    writes = [(time, byte) for time, (kind, byte) in enumerate(events) if kind == "w"]
    times, written = np.array(writes, np.int64).reshape(-1, 2).T
    for distance in itertools.count():
        behind = written - distance
        is_input = (behind >= 0) & (behind < len(last_read))
        if (last_read[behind[is_input]] < times[is_input]).all():
            return distance
    raise AssertionError


def surely_legal_distance(events: list[Event]) -> int:
    """Least d >= 0 such that d and all larger distances are legal.

    Where outputs are not written in raster order, a distance below an illegal one may be legal.
    """
    last_read = {byte: time for time, (kind, byte) in enumerate(events) if kind == "r"}
    written, found = -1, 0
    for time, (kind, byte) in enumerate(events):
        if kind == "w":
            written = max(written, byte)
        elif last_read[byte] == time and written >= 0:
            found = max(found, written + 1 - byte)
    return found


def events_of(spec: object, operand: int = 0) -> list[Event]:
    """Reads of one operand and all writes of a kernel, in order."""
    match spec:
        case s.PooledDecode() if spec.batch == spec.out_channels and not spec.needs_patch:
            rows = s.Gemm(spec.window.out_pixels, spec.depth, spec.out_channels, spec.shift)
            return list(_gemm(rows, rows.block))
        case s.PooledDecode():
            assert spec.batch == spec.out_channels, "the output must not overlap x"
            return list(_conv2d(spec))
        case s.PackedFilters():
            assert not spec.has_batches, "the output must not overlap x"
            return events_of(spec.called, operand)
        case s.Conv2D() | s.PooledDirect():
            return list(_in_bytes(_conv2d(spec), spec.x_dtype, spec.y_dtype))
        case s.PooledConvNeon():
            return list(_by_bands(spec))
        case s.PooledDecodeDsp():
            assert spec.batch == spec.out_channels, "the output must not overlap x"
            return list(_dense_3x2(spec.dense))
        case s.Dense3x2():
            return list(_dense_3x2(spec))
        case s.Dense4x4():
            return list(_dense_3x2(spec, 4))
        case s.Dense8x8() | s.Dense4x16():
            return list(_tiled(spec))
        case s.Dense5x2():
            return list(_dense_3x2(spec, 5, splits_six=spec.by_three))
        case (
            s.Dense1x4()
            | s.Dense1x4M0()
            | s.Dense1x4S16M0()
            | s.Dense1x4Packed()
            | s.Dense1x4PackedNeon()
            | s.Dense1x32Table()
        ):
            reads = [("r", i) for i in range(spec.depth)]
            return [*reads, *(("w", o) for o in range(spec.units))]
        case s.Conv4x2():
            lines = spec.lines * spec.image.out_width
            return list(_by_windows(spec, range(0, spec.rows, lines)))
        case s.Dense4x2():
            return list(
                _by_rows(spec) if spec.window is None else _by_windows(spec, spec.first_rows)
            )
        case s.Depthwise3x3FewColumns():
            return list(_by_strips(spec.window, spec.window.out_height, 4))
        case s.DepthwiseDsp():
            order = _by_strips(spec.laid, spec.strip, 4)
            return list(_in_bytes(order, spec.x_dtype, spec.y_dtype))
        case s.Depthwise3x3() | s.Depthwise3x3ManyColumns():
            return list(_by_strips(spec.window, spec.strip, 4))
        case s.DepthwiseLine() | s.DepthwiseLineM0():
            return list(_by_fours(spec.window))
        case s.DepthwiseNeon():
            return list(_by_rows_of_channels(spec))
        case s.DepthwiseM0():
            return list(_by_strips(spec.window, 3, 1))
        case s.Depthwise():
            order = _by_channel(spec.window, spec.multiplier)
            return list(_in_bytes(order, spec.x_dtype, spec.y_dtype))
        case s.ChannelScale():
            order = [event for i in range(spec.out_elements) for event in (("r", i), ("w", i))]
            return list(_in_bytes(order, spec.x_dtype, spec.y_dtype))
        case s.MaxPool():
            return list(_by_channel(spec.window, 1))
        case s.Frame():
            return list(_frame(spec))
        case s.Gemm():
            return list(_in_bytes(_gemm(spec, spec.block), spec.x_dtype, spec.y_dtype))
        case s.SparseRows():
            return list(_in_bytes(_gemm(spec, 1), spec.x_dtype, spec.y_dtype))
        case s.ConvTranspose():
            return list(_conv_transpose(spec))
        case s.ElementsNeon():
            return list(_by_eight(spec, operand))
        case s.Elementwise() | s.ElementwiseChain():
            sizes = [dtype.size_bytes for dtype in spec.types]
            return list(_wide(spec.loops, operand, sizes[operand], sizes[-1]))
        case s.Dense2x2():
            return list(_by_two_pixels(spec))
        case s.AveragePool():
            return list(_in_bytes(_average_pool(spec), spec.x, spec.output.dtype))
        case s.Reduce():
            return list(_reduce(spec))
        case s.StridedCopy():
            return list(_strided_copy(spec))
        case s.Concat():
            return list(_concat(spec, operand))
        case s.Slide():
            return list(_slide(spec, operand))
        case s.Binary4x4() | s.Plane4x4():
            return list(_signs_by_rows(spec, 4))
        case s.BinaryWords() | s.PlaneWords():
            return list(_signs_by_rows(spec, 1))
        case s.Signs():
            return list(_signs(spec))
        case s.Planes():
            return list(_planes(spec))
        case s.Pad():
            return list(_pad(spec))
        case s.ArgMax():
            return list(_arg_max(spec))
    raise AssertionError(spec)


def _pixels(window: Window, oy: int, ox: int) -> Iterator[int]:
    for ky, kx in itertools.product(range(window.kernel_h), range(window.kernel_w)):
        iy = oy * window.stride_h - window.pad_top + ky * window.dilation_h
        ix = ox * window.stride_w - window.pad_left + kx * window.dilation_w
        if 0 <= iy < window.height and 0 <= ix < window.width:
            yield iy * window.width + ix


def _raster(window: Window) -> Iterator[tuple[int, int, int]]:
    for number, (oy, ox) in enumerate(
        itertools.product(range(window.out_height), range(window.out_width))
    ):
        yield number, oy, ox


def _conv2d(spec: s.Conv2D | s.PooledDecode | s.PooledDirect) -> Iterator[Event]:
    w = spec.window
    for number, oy, ox in _raster(w):
        for pixel in _pixels(w, oy, ox):
            yield from (("r", pixel * w.channels + c) for c in range(w.channels))
        yield from (("w", number * spec.out_channels + o) for o in range(spec.out_channels))


def _dense_3x2(
    spec: s.Dense3x2 | s.Dense4x4 | s.Dense5x2, rows_of_tile: int = 3, *, splits_six: bool = False
) -> Iterator[Event]:
    """As `_conv2d`, several rows at a time; the last six of them may be twice three."""
    w = spec.window
    pixels = list(_raster(w))
    while pixels:
        count = 3 if splits_six and len(pixels) == 6 else rows_of_tile
        block, pixels = pixels[:count], pixels[count:]
        for _, oy, ox in block:
            for pixel in _pixels(w, oy, ox):
                yield from (("r", pixel * w.channels + c) for c in range(w.channels))
        for number, _, _ in block:
            yield from (("w", number * spec.out_channels + o) for o in range(spec.out_channels))


def _signs_by_rows(
    spec: s.Binary4x4 | s.BinaryWords | s.Plane4x4 | s.PlaneWords, rows: int
) -> Iterator[Event]:
    """The windows of some pixels, then what these pixels become."""
    read, written = 4 * spec.window.channels, spec.pixel_bytes
    pixels = list(_raster(spec.window))
    for first in range(0, len(pixels), rows):
        block = pixels[first : first + rows]
        for _, oy, ox in block:
            for pixel in _pixels(spec.window, oy, ox):
                yield from (("r", pixel * read + c) for c in range(read))
        for number, _, _ in block:
            yield from (("w", number * written + o) for o in range(written))


def _signs(spec: s.Signs) -> Iterator[Event]:
    """Up to 32 elements, then their word."""
    size, words = spec.dtype.size_bytes, -(-spec.channels // 32)
    for row, word in itertools.product(range(spec.rows), range(words)):
        for c in range(32 * word, min(32 * word + 32, spec.channels)):
            yield from (("r", (row * spec.channels + c) * size + i) for i in range(size))
        yield from (("w", 4 * (row * words + word) + i) for i in range(4))


def _planes(spec: s.Planes) -> Iterator[Event]:
    """Up to 32 elements, then their words of all planes."""
    for row, word in itertools.product(range(spec.rows), range(spec.words)):
        for c in range(32 * word, min(32 * word + 32, spec.channels)):
            yield "r", row * spec.channels + c
        for plane in range(spec.count):
            at = 4 * ((row * spec.count + plane) * spec.words + word)
            yield from (("w", at + i) for i in range(4))


def _by_channel(window: Window, multiplier: int) -> Iterator[Event]:
    channels = window.channels * multiplier
    for number, oy, ox in _raster(window):
        for o in range(channels):
            for pixel in _pixels(window, oy, ox):
                yield "r", pixel * window.channels + o // multiplier
            yield "w", number * channels + o


def _by_fours(window: Window) -> Iterator[Event]:
    """Four channels of a pixel; the last ones are four, too."""
    channels = window.channels
    for number, oy, ox in _raster(window):
        for c in range(0, channels, 4):
            group = range(min(c, channels - 4), min(c + 4, channels))
            for pixel in _pixels(window, oy, ox):
                yield from (("r", pixel * channels + o) for o in group)
            yield from (("w", number * channels + o) for o in group)


def _average_pool(spec: s.AveragePool) -> Iterator[Event]:
    """Channel by channel of the output."""
    w = spec.window
    for number, oy, ox in _raster(w):
        for o in range(w.channels):
            yield from (("r", pixel * w.channels + o) for pixel in _pixels(w, oy, ox))
            yield "w", number * w.channels + o


def _in_bytes(events: Iterable[Event], read: DType, written: DType) -> Iterator[Event]:
    """Events of elements as those of their bytes."""
    sizes = {"r": read.size_bytes, "w": written.size_bytes}
    for kind, element in events:
        size = sizes[kind]
        yield from ((kind, element * size + byte) for byte in range(size))


def _by_two_pixels(spec: s.Dense2x2) -> Iterator[Event]:
    """Two windows as a whole, then two filters of both pixels by turns."""
    w, read, written = spec.window, spec.x_dtype.size_bytes, spec.out_bytes
    pixels = list(_raster(w))
    for first in range(0, len(pixels), 2):
        pair = pixels[first : first + 2]
        for _, oy, ox in pair:
            for pixel in _pixels(w, oy, ox):
                start = pixel * w.channels * read
                yield from (("r", start + byte) for byte in range(w.channels * read))
        for o in range(spec.out_channels):
            for number, _, _ in pair:
                start = (number * spec.out_channels + o) * written
                yield from (("w", start + byte) for byte in range(written))


def _by_strips(w: Window, strip: int, together: int) -> Iterator[Event]:
    for top in range(0, w.out_height, strip):
        count = min(strip, w.out_height - top)
        first = top * w.stride_h - w.pad_top
        reach = (w.kernel_h - 1) * w.dilation_h + 1
        read = range(first, first + (count - 1) * w.stride_h + reach)
        pixels = [y * w.width + x for y in read if 0 <= y < w.height for x in range(w.width)]
        written = range(top * w.out_width, (top + count) * w.out_width)
        for c in range(0, w.channels, together):
            group = range(min(c, w.channels - together), min(c + together, w.channels))
            yield from (("r", pixel * w.channels + o) for pixel in pixels for o in group)
            for o in range(c, group.stop):
                yield from (("w", pixel * w.channels + o) for pixel in written)


def _bytes_read(elements: Iterable[int], size: int) -> Iterator[Event]:
    return (("r", size * element + byte) for element in elements for byte in range(size))


def _tiled(spec: s.Dense8x8 | s.Dense4x16) -> Iterator[Event]:
    w, each, lanes = spec.window, spec.out_bytes, spec.lanes
    pixels = list(_raster(w))
    together = w.out_width if spec.reads_strip else len(spec.together)
    for first in range(0, spec.rows, together):
        tile = pixels[first : first + together]
        reads = {pixel for _, oy, ox in tile for pixel in _pixels(w, oy, ox)}
        read = [pixel * w.channels + c for pixel in reads for c in range(w.channels)]
        for o in range(0, spec.out_channels, lanes):
            if spec.reads_image or o == 0:
                yield from _bytes_read(read, spec.read_bytes)
            filters = range(o, min(o + lanes, spec.out_channels))
            starts = [
                (number * spec.out_channels + unit) * each
                for number, *_ in tile
                for unit in filters
            ]
            yield from (("w", start + byte) for start in starts for byte in range(each))


def _by_rows_of_channels(spec: s.DepthwiseNeon) -> Iterator[Event]:
    w, each = spec.window, spec.out_bytes
    for oy in range(w.out_height):
        row = [(oy * w.out_width + ox, list(_pixels(w, oy, ox))) for ox in range(w.out_width)]
        if spec.copies:
            inside = {pixel for _, pixels in row for pixel in pixels}
            read = [pixel * w.channels + c for pixel in inside for c in range(w.channels)]
            yield from _bytes_read(read, spec.read_bytes)
        for first in range(0, w.channels, spec.lanes):
            channels = range(first, min(first + spec.lanes, w.channels))
            for start in range(0, w.out_width, spec.fold):
                part = row[start : start + spec.fold]
                if not spec.copies:
                    reads = {pixel for _, pixels in part for pixel in pixels}
                    read = [pixel * w.channels + c for pixel in reads for c in channels]
                    yield from _bytes_read(read, spec.read_bytes)
                for number, _ in part:
                    places = range(
                        (number * w.channels + first) * each,
                        (number * w.channels + channels.stop) * each,
                    )
                    yield from (("w", place) for place in places)


def _gemm(spec: s.Gemm | s.SparseRows, block: int) -> Iterator[Event]:
    for row in range(spec.rows):
        for first in range(0, spec.units, block):
            yield from (("r", row * spec.depth + i) for i in range(spec.depth))
            end = min(first + block, spec.units)
            yield from (("w", row * spec.units + o) for o in range(first, end))


def _by_rows(spec: s.Dense4x2) -> Iterator[Event]:
    for first, last in itertools.pairwise((*spec.first_rows, spec.rows)):
        yield from (("r", i) for i in range(first * spec.depth, last * spec.depth))
        yield from (("w", o) for o in range(first * spec.units, last * spec.units))


def _by_windows(spec: s.Dense4x2, firsts: Iterable[int]) -> Iterator[Event]:
    w = spec.window
    assert w is not None
    pixels = list(_raster(w))
    for first, last in itertools.pairwise((*firsts, spec.rows)):
        for _, oy, ox in pixels[first:last]:
            for pixel in _pixels(w, oy, ox):
                yield from (("r", pixel * w.channels + c) for c in range(w.channels))
        yield from (("w", o) for o in range(first * spec.units, last * spec.units))


def _by_bands(spec: s.PooledConvNeon) -> Iterator[Event]:
    w, band = spec.window, spec.band * spec.window.out_width
    pixels = list(_raster(w))
    for first in range(0, len(pixels), band):
        for _, oy, ox in pixels[first : first + band]:
            for pixel in _pixels(w, oy, ox):
                yield from (("r", pixel * w.channels + c) for c in range(w.channels))
        size = spec.out_channels
        yield from (("w", o) for o in range(first * size, (first + band) * size))


def _conv_transpose(spec: s.ConvTranspose) -> Iterator[Event]:
    w, read, each = spec.window, spec.x_dtype.size_bytes, spec.out_bytes
    readers: dict[int, list[int]] = {}
    for number, iy, ix in _raster(w):
        for pixel in _pixels(w, iy, ix):
            readers.setdefault(pixel, []).append(number)
    for pixel in range(w.height * w.width):
        for o in range(w.channels):
            first = o // spec.group_filters * spec.group_channels
            for number in readers.get(pixel, []):
                start = (number * spec.in_channels + first) * read
                yield from (("r", start + byte) for byte in range(spec.group_channels * read))
            start = (pixel * w.channels + o) * each
            yield from (("w", start + byte) for byte in range(each))


def _walk(loops: tuple[s.Loop, ...], operand: int = 0) -> Iterator[int]:
    for counters in itertools.product(*(range(loop.size) for loop in loops)):
        yield sum(i * loop.strides[operand] for i, loop in zip(counters, loops, strict=True))


def _wide(loops: tuple[s.Loop, ...], operand: int, read: int, written: int) -> Iterator[Event]:
    """Elements of several bytes."""
    for number, index in enumerate(_walk(loops, operand)):
        yield from (("r", index * read + byte) for byte in range(read))
        yield from (("w", number * written + byte) for byte in range(written))


def _by_eight(spec: s.ElementsNeon, operand: int) -> Iterator[Event]:
    """Eight elements of the innermost loop at a time, then single ones; what is repeated first."""
    read, written = spec.types[operand].size_bytes, spec.types[-1].size_bytes
    *outer, inner = spec.loops
    number = 0
    for base in _walk(tuple(outer), operand):
        step = inner.strides[operand]
        if step == 0:
            yield from (("r", base * read + byte) for byte in range(read))
        for i in range(0, inner.size, 8):
            count = 8 if i + 8 <= inner.size else 1
            for first in range(i, min(i + 8, inner.size), count):
                if step:
                    start = (base + first) * read
                    yield from (("r", start + byte) for byte in range(read * count))
                yield from (("w", number * written + byte) for byte in range(written * count))
                number += count


def _reduce(spec: s.Reduce) -> Iterator[Event]:
    read, written = spec.x.size_bytes, spec.y.size_bytes
    for number, base in enumerate(_walk(spec.kept)):
        for index in _walk(spec.reduced):
            yield from (("r", (base + index) * read + byte) for byte in range(read))
        yield from (("w", number * written + byte) for byte in range(written))


def _strided_copy(spec: s.StridedCopy) -> Iterator[Event]:
    for number, index in enumerate(_walk(spec.loops)):
        start = spec.start_bytes + index
        yield from (("r", start + i) for i in range(spec.run_bytes))
        yield from (("w", number * spec.run_bytes + i) for i in range(spec.run_bytes))


def _concat(spec: s.Concat, operand: int) -> Iterator[Event]:
    written = 0
    for outer in range(spec.outer):
        for part, run in enumerate(spec.run_bytes):
            if part == operand:
                yield from (("r", outer * run + i) for i in range(run))
            yield from (("w", written + i) for i in range(run))
            written += run


def _slide(spec: s.Slide, operand: int) -> Iterator[Event]:
    for outer in range(spec.outer):
        start, kept, run = outer * spec.total_bytes, spec.kept_bytes, spec.run_bytes
        if operand == 0:
            yield from (("r", start + run + i) for i in range(kept))
        yield from (("w", start + i) for i in range(kept))
        if operand == 1:
            yield from (("r", outer * run + i) for i in range(run))
        yield from (("w", start + kept + i) for i in range(run))


def _pad(spec: s.Pad) -> Iterator[Event]:
    written = 0
    for counters in itertools.product(*(range(axis.out_size) for axis in spec.axes)):
        source, inside = 0, True
        for counter, axis in zip(counters, spec.axes, strict=True):
            at = counter - axis.before
            inside = inside and 0 <= at < axis.size
            if spec.is_reflect:
                at = abs(at)
                at = at if at < axis.size else 2 * axis.size - 2 - at
            elif not spec.is_constant:
                at = min(max(at, 0), axis.size - 1)
            source = source * axis.size + at
        if inside or not spec.is_constant:
            yield from (("r", source * spec.run_bytes + i) for i in range(spec.run_bytes))
        yield from (("w", written + i) for i in range(spec.run_bytes))
        written += spec.run_bytes


def _arg_max(spec: s.ArgMax) -> Iterator[Event]:
    for number, (o, n) in enumerate(itertools.product(range(spec.outer), range(spec.inner))):
        for i in range(spec.depth):
            start = ((o * spec.depth + i) * spec.inner + n) * spec.dtype.size_bytes
            yield from (("r", start + byte) for byte in range(spec.dtype.size_bytes))
        yield from (("w", 4 * number + byte) for byte in range(4))


def _frame(k: s.Frame) -> Iterator[Event]:
    """Pixels of the crop that each pixel of y covers, or the nearest one, row by row."""
    op, crop = k.op, k.op.form.crop
    size = op.channels * k.dtype.size_bytes

    def covered(at: int, many: int, of: int) -> range:
        if op.method == "nearest":
            place = (2 * at + 1) * of // (2 * many)
            return range(place, place + 1)
        return range(at * of // many, -(-(at + 1) * of // many))

    for oy, ox in itertools.product(range(op.height), range(op.width)):
        for row in covered(oy, op.height, crop.height):
            for column in covered(ox, op.width, crop.width):
                pixel = (crop.top + row) * op.form.width + crop.left + column
                read = range(k.pixel_bytes)
                if op.form.is_yuv:
                    # Of a pair of pixels: its own Y, and U and V for both.
                    y, u, v = {"yuyv": (0, 1, 3), "uyvy": (1, 0, 2)}[op.form.pixels]
                    pair = -2 * (pixel % 2)
                    read = [y] if op.channels == 1 else [y, pair + u, pair + v]
                yield from (("r", pixel * k.pixel_bytes + i) for i in read)
        yield from (("w", (oy * op.width + ox) * size + i) for i in range(size))

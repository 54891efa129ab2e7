"""Random operators that move codes, or place new ones between them."""

import math

import numpy as np
from random_net import Net
from random_parts import moved_codes

from edgec.ir import qops
from edgec.ir.ops import PadMode


def reshape(net: Net, x: str) -> str:
    shape = net.shape(x)
    flat = (1, math.prod(shape))
    return moved_codes(net, qops.QReshape(net.pick([flat, (*shape, 1), (1, *shape[::-1])])), [x])


def transpose(net: Net, x: str) -> str:
    axes = list(range(len(net.shape(x))))
    perm = tuple(axes.pop(net.integer(0, len(axes) - 1)) for _ in net.shape(x))
    return moved_codes(net, qops.QTranspose(perm), [x])


def slice_(net: Net, x: str) -> str:
    ranges = []
    for size in net.shape(x):
        step = net.pick([1, 1, 2, 3, -1, -2])
        start = net.integer(0, size - 1)
        room = (size - 1 - start) // step if step > 0 else start // -step
        ranges.append((start, step, net.integer(1, room + 1)))
    starts, steps, sizes = zip(*ranges, strict=True)
    return moved_codes(net, qops.QSlice(starts, steps, sizes), [x])


def concat(net: Net, x: str) -> str:
    shape = net.shape(x)
    axis = net.integer(0, len(shape) - 1)
    inputs = [x]
    for _ in range(net.integer(0, 3)):
        if net.chance():
            inputs.append(x)
        else:
            part = tuple(net.integer(1, 4) if i == axis else n for i, n in enumerate(shape))
            inputs.insert(0, net.constant(net.codes(part), net.quant_of(x)))
    return moved_codes(net, qops.QConcat(axis), inputs)


def slide(net: Net, x: str) -> str:
    shape = net.shape(x)
    axes = [axis for axis, size in enumerate(shape) if size > 1]
    if not axes:
        return concat(net, x)
    axis = net.pick(axes)
    new = net.integer(1, shape[axis] - 1)
    part = tuple(new if i == axis else n for i, n in enumerate(shape))
    ranges = (0,) * len(shape), (1,) * len(shape), part
    rows = net.constant(net.codes(part), net.quant_of(x))
    if net.chance():
        rows = moved_codes(net, qops.QSlice(*ranges), [x])
    return moved_codes(net, qops.QSlide(axis), [x, rows])


def pad(net: Net, x: str) -> str:
    mode = net.pick(list(PadMode))
    most = [min(3, size - 1) if mode is PadMode.REFLECT else 3 for size in net.shape(x)]
    pads = tuple((net.integer(0, n), net.integer(0, n)) for n in most)
    return moved_codes(net, qops.QPad(pads, mode, net.pick([-128, 0, 127])), [x])


def resize_nearest(net: Net, x: str) -> str:
    _, height, width, _ = net.shape(x)
    rows, cols = (
        net.rng.integers(0, size, net.integer(1, 9)).astype(np.int32) for size in (height, width)
    )
    inputs = [x, net.constant(rows), net.constant(cols)]
    return moved_codes(net, qops.QResizeNearest(), inputs)


def resize_linear(net: Net, x: str) -> str:
    _, height, width, _ = net.shape(x)
    tables = [_interpolation(net, size) for size in (height, width)]
    inputs = [x, *(net.constant(table) for table in tables)]
    return moved_codes(net, qops.QResizeLinear(net.chance()), inputs)


def _interpolation(net: Net, size: int) -> np.ndarray:
    """int32 [n, 3]: (low, high, weight) of a linear resize along one axis."""
    count = net.integer(1, 9)
    low = net.rng.integers(0, size, count)
    high = np.minimum(low + net.rng.integers(0, 2, count), size - 1)
    weight = net.rng.choice([0, 1, 1024, 2047, 2048, 777], count)
    return np.stack([low, high, weight], axis=1).astype(np.int32)

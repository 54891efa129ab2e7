"""Parts of random networks: norms, choices, other convolutions, branches far apart, loops, cells.

Each takes the network in the making and a tensor, and gives the tensors that it makes of it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from onnx import TensorProto, helper

if TYPE_CHECKING:
    from .random_networks import Network, Shape

_EPSILON = 1e-5


def draws(net: Network, *shape: int, size: float = 1.0, mean: float = 0.0) -> str:
    """A constant of normal numbers."""
    return net.constant(net.numbers.normal(mean, size, shape))


def ints(net: Network, *numbers: int) -> str:
    """A constant of whole numbers."""
    return net.constant(np.array(numbers, np.int64))


def wide_conv(net: Network, x: str, outputs: int) -> str:
    """A convolution with groups of several channels, over one axis or two, with strides."""
    n, channels, *size = net.shapes[x]
    group = net.rng.choice([g for g in (1, 2, 3, 4) if channels % g == 0])
    outputs = group * max(outputs // group, 1)
    kernel, stride = net.rng.choice((1, 3)), net.rng.choice((1, 1, 2))
    found = [(each - 1) // stride + 1 for each in size]
    fan = channels // group * kernel ** len(size)
    w = draws(net, outputs, channels // group, *[kernel] * len(size), size=1.4 * fan**-0.5)
    pads = [kernel // 2] * 2 * len(size)
    inputs, shape = [x, w, draws(net, outputs, size=0.2)], (n, outputs, *found)
    return net.one("Conv", inputs, shape, pads=pads, group=group, strides=[stride] * len(size))


def conv_transpose(net: Network, x: str, outputs: int) -> str:
    """A transposed convolution of an image, twice its size."""
    n, channels, h, w = net.shapes[x]
    kernel = net.rng.choice((2, 3, 4))
    weights = draws(net, channels, outputs, kernel, kernel, size=(channels * kernel) ** -0.5)
    before, after = (kernel - 2 + 1) // 2, (kernel - 2) // 2
    inputs, shape = [x, weights, draws(net, outputs, size=0.2)], (n, outputs, 2 * h, 2 * w)
    pads = [before, before, after, after]
    return net.one("ConvTranspose", inputs, shape, strides=[2, 2], pads=pads)


def norm(net: Network, x: str) -> list[str]:
    """Instance, group or layer normalization, as an operator or written out."""
    shape = net.shapes[x]
    if len(shape) == 4 and net.rng.random() < 0.6:
        channels = shape[1]
        gain, shift = draws(net, channels, size=0.3, mean=1.0), draws(net, channels, size=0.3)
        if net.rng.random() < 0.5:
            return [net.one("InstanceNormalization", [x, gain, shift], shape)]
        groups = net.rng.choice([g for g in (1, 2, 3, 4) if channels % g == 0])
        return [net.one("GroupNormalization", [x, gain, shift], shape, num_groups=groups)]
    last = shape[-1]
    gain, shift = draws(net, last, size=0.3, mean=1.0), draws(net, last, size=0.3)
    if net.rng.random() < 0.5:
        return [net.one("LayerNormalization", [x, gain, shift], shape, axis=-1)]
    axes, kept = ints(net, len(shape) - 1), (*shape[:-1], 1)
    centred = net.one("Sub", [x, net.one("ReduceMean", [x, axes], kept, keepdims=1)], shape)
    square = net.one("Mul", [centred, centred], shape)
    power = net.one("ReduceMean", [square, axes], kept, keepdims=1)
    small = net.constant(np.array(_EPSILON, np.float32))
    root = net.one("Sqrt", [net.one("Add", [power, small], kept)], kept)
    scaled = net.one("Mul", [net.one("Div", [centred, root], shape), gain], shape)
    return [net.one("Add", [scaled, shift], shape)]


def top(net: Network, x: str) -> list[str]:
    """The largest or smallest elements of an axis, in order."""
    shape = net.shapes[x]
    axis = net.rng.randrange(1, len(shape))
    count = net.rng.randint(1, min(shape[axis], 4))
    found = (*shape[:axis], count, *shape[axis + 1 :])
    k, largest = ints(net, count), net.rng.randint(0, 1)
    return net.op("TopK", [x, k], found, found, axis=axis, largest=largest)[:1]


def where(net: Network, x: str) -> list[str]:
    """Elements of a tensor or others, as a comparison says."""
    shape = net.shapes[x]
    bound = net.constant(np.array(net.rng.uniform(-0.5, 0.5), np.float32))
    mask = net.one(net.rng.choice(("Greater", "Less")), [x, bound], shape)
    other = net.constant(np.array(net.rng.choice((0.0, -1.0, 0.3)), np.float32))
    if net.rng.random() < 0.5:
        other = net.one("Tanh", [x], shape)
    return [net.one("Where", net.rng.choice(([mask, x, other], [mask, other, x])), shape)]


def prelu(net: Network, x: str) -> list[str]:
    """A rectifier with a slope for each channel."""
    shape = net.shapes[x]
    channels = (shape[1], 1, 1) if len(shape) == 4 else (shape[-1],)
    return [net.one("PRelu", [x, draws(net, *channels, size=0.3)], shape)]


def resize(net: Network, x: str) -> list[str]:
    """An image of twice or one and a half the size, by the nearest element or between two."""
    if len(net.shapes[x]) != 4:
        return [x]
    n, c, h, w = net.shapes[x]
    mode, sizes = net.rng.choice(("nearest", "linear")), (n, c, 2 * h, w + (w + 1) // 2)
    way = net.rng.choice(("half_pixel", "asymmetric", "align_corners"))
    attributes = {"mode": mode, "coordinate_transformation_mode": way}
    return [net.one("Resize", [x, "", "", ints(net, *sizes)], sizes, **attributes)]


def far_apart(net: Network, x: str) -> list[str]:
    """A branch a thousand times as large as the other, or as small."""
    factor = net.constant(np.array(net.rng.choice((1e3, 1e-3, 300.0)), np.float32))
    return [x, net.one("Mul", [x, factor], net.shapes[x])]


def cell(net: Network, x: str) -> str:
    """Some steps of an LSTM cell, written out: [1, T, F] -> [1, T, units]."""
    _, turns, width = net.shapes[x]
    units = net.rng.choice((3, 4, 6))
    wx = draws(net, width, 4 * units, size=1.2 * width**-0.5)
    wh, b = draws(net, units, 4 * units, size=units**-0.5), draws(net, 4 * units, size=0.2)
    h = c = net.constant(np.zeros((1, units), np.float32))
    found, shape = [], (1, units)
    for turn in range(min(turns, 4)):
        part = net.reshape(net.slice(x, 1, turn, turn + 1, 1), (1, width))
        parts = (net.one("MatMul", each, (1, 4 * units)) for each in ([part, wx], [h, wh]))
        total = net.one("Add", [net.one("Add", list(parts), (1, 4 * units)), b], (1, 4 * units))
        gates = net.op("Split", [total, ints(net, *[units] * 4)], *[shape] * 4, axis=1)
        i, f, o = (net.one("Sigmoid", [gate], shape) for gate in gates[:3])
        new = net.one("Mul", [i, net.one("Tanh", [gates[3]], shape)], shape)
        c = net.one("Add", [net.one("Mul", [f, c], shape), new], shape)
        h = net.one("Mul", [o, net.one("Tanh", [c], shape)], shape)
        found.append(net.reshape(h, (1, 1, units)))
    if len(found) == 1:
        return found[0]
    return net.one("Concat", found, (1, len(found), units), axis=1)


def loop(net: Network, x: str) -> str:
    """A recurrent cell in a Scan or a Loop, over the rows: [1, T, F] -> [1, T, units]."""
    _, turns, width = net.shapes[x]
    units = net.rng.choice((3, 4, 8))
    wx, wh = draws(net, width, units, size=width**-0.5), draws(net, units, units, size=0.4)
    function = net.rng.choice(("Tanh", "Sigmoid", "Relu"))
    nodes = [
        helper.make_node("MatMul", ["row", wx], ["a"]),
        helper.make_node("MatMul", ["h", wh], ["b"]),
        helper.make_node("Add", ["a", "b"], ["c"]),
        helper.make_node(function, ["c"], ["h2"]),
        helper.make_node("Identity", ["h2"], ["y"]),
    ]
    start = draws(net, 1, units, size=net.rng.choice((0.0, 0.5)))
    real = TensorProto.FLOAT
    state, row = [(1, units), (1, width)]
    info = helper.make_tensor_value_info
    ends = [info("h2", real, state), info("y", real, state)]
    if net.rng.random() < 0.5:
        given = [info("h", real, state), info("row", real, row)]
        body = helper.make_graph(nodes, "body", given, ends)
        axes = {"scan_input_axes": [1], "scan_output_axes": [1], "num_scan_inputs": 1}
        shapes = (state, (1, turns, units))
        return net.op("Scan", [start, x], *shapes, body=body, **axes)[1]
    given = [info("turn", TensorProto.INT64, ()), info("go", TensorProto.BOOL, ())]
    given.append(info("h", real, state))
    nodes = [
        helper.make_node("Gather", [x, "turn"], ["row"], axis=1),
        *nodes,
        helper.make_node("Identity", ["go"], ["on"]),
    ]
    ends.insert(0, info("on", TensorProto.BOOL, ()))
    body = helper.make_graph(nodes, "body", given, ends)
    count, go = net.constant(np.array(turns, np.int64)), net.constant(np.array(True))
    stacked = net.op("Loop", [count, go, start], state, (turns, 1, units), body=body)[1]
    return net.transpose(stacked, (1, 0, 2))


def stateful(net: Network, x: str) -> str:
    """A recurrent layer whose state is an input and an output: [1, N] -> [1, units]."""
    units, width = net.rng.choice((4, 6)), net.shapes[x][-1]
    net.shapes["h0"] = state = (1, units)
    parts = (
        net.one("MatMul", [x, draws(net, width, units, size=width**-0.5)], state),
        net.one("MatMul", ["h0", draws(net, units, units, size=0.3)], state),
    )
    new = net.one("Tanh", [net.one("Add", list(parts), state)], state)
    net.states["h0"] = net.named("hn", new)
    return new


def scaled_layer(net: Network, x: str) -> str:
    """A first layer for an input in units of its own: its weights divide by them."""
    shape, unit = net.shapes[x], net.unit
    if net.rng.random() < 0.4:
        return net.one("Mul", [x, net.constant(1.0 / unit)], shape)
    outputs = net.rng.choice((4, 6, 8))
    if len(shape) == 4:
        weights = net.numbers.normal(0, shape[1] ** -0.5, (outputs, shape[1], 1, 1))
        w = net.constant(weights / unit.reshape(1, -1, 1, 1))
        return net.one("Conv", [x, w], (1, outputs, *shape[2:]))
    weights = net.numbers.normal(0, shape[-1] ** -0.5, (shape[-1], outputs))
    w = net.constant(weights / unit.reshape(-1, 1))
    return net.one("MatMul", [x, w], (*shape[:-1], outputs))


def units_of(net: Network, shape: Shape) -> np.ndarray:
    """Units of an input: all elements in one, or features (channels, columns) that differ."""
    kind = net.rng.random()
    features = (shape[1], 1, 1) if len(shape) == 4 else (shape[-1],)
    if kind < 0.6:
        return np.ones(features)
    if kind < 0.8:
        return np.full(features, 10.0 ** net.rng.uniform(-9, 9))
    return 10.0 ** net.numbers.uniform(-3, 3, features)

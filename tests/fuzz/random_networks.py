"""Ordinary small networks at random: layers, moves of their results, functions that read those.

Each block is a layer, an operator that moves its elements (every one that exporters write), and one
or several functions that read the parts.  Sizes are those that a network of this kind could have;
numbers of channels are often equal, so that a mistake of order shows as wrong numbers.
"""

from __future__ import annotations

import math
import random
from collections.abc import Callable

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

from . import network_parts as parts

_OPSET = 21
_MOST_ELEMENTS = 2000
"""A tensor of more is not moved any further."""
_MOST_LOOPS = 1

Shape = tuple[int, ...]


class Network:
    """An ONNX network in the making; the shapes of its tensors are known.

    Attributes:
        rng: draws structure and numbers.
        shapes: by tensor.
        unit: size of the input's elements, in the shape of its features.
        states: output that is the next value of an input, by input.
        whole: outputs that are whole numbers.
        outputs: the others.
        loops: recurrent parts so far.
    """

    def __init__(self, rng: random.Random, shape: Shape) -> None:
        """An input x of a shape."""
        self.rng, self.numbers = rng, np.random.default_rng(rng.getrandbits(32))
        self.shapes = {"x": shape}
        self.unit = parts.units_of(self, shape)
        self.states: dict[str, str] = {}
        self.whole: list[str] = []
        self.outputs: list[str] = []
        self.loops = 0
        self._nodes: list[onnx.NodeProto] = []
        self._constants: list[onnx.TensorProto] = []

    def constant(self, array: np.ndarray) -> str:
        """A tensor of numbers."""
        name = f"c{len(self._constants)}"
        real = array.astype(np.float32) if array.dtype.kind == "f" else array
        self._constants.append(numpy_helper.from_array(real, name))
        return name

    def op(self, kind: str, inputs: list[str], *shapes: Shape, **attributes: object) -> list[str]:
        """Add a node whose outputs have these shapes."""
        names = [f"t{len(self.shapes) + i}" for i in range(len(shapes))]
        self.shapes.update(zip(names, shapes, strict=True))
        self._nodes.append(
            helper.make_node(kind, inputs, names, f"n{len(self._nodes)}", **attributes)
        )
        return names

    def one(self, kind: str, inputs: list[str], shape: Shape, **attributes: object) -> str:
        """Add a node with one output."""
        return self.op(kind, inputs, shape, **attributes)[0]

    def named(self, name: str, x: str) -> str:
        """x under a name of its own."""
        self.shapes[name] = self.shapes[x]
        self._nodes.append(helper.make_node("Identity", [x], [name], f"n{len(self._nodes)}"))
        return name

    def _info(self, name: str) -> onnx.ValueInfoProto:
        kind = TensorProto.INT64 if name in self.whole else TensorProto.FLOAT
        return helper.make_tensor_value_info(name, kind, self.shapes[name])

    def reshape(self, x: str, shape: Shape) -> str:
        """x under another shape."""
        return self.one("Reshape", [x, self.constant(np.array(shape, np.int64))], shape)

    def transpose(self, x: str, perm: tuple[int, ...]) -> str:
        """x with its axes in another order."""
        shape = tuple(self.shapes[x][axis] for axis in perm)
        return self.one("Transpose", [x], shape, perm=list(perm))

    def slice(self, x: str, axis: int, start: int, stop: int, step: int) -> str:
        """Elements of one axis; a stop below 0 is one beyond the first element."""
        indices = range(start, stop, step)
        stop = stop if stop >= 0 else -(1 << 31)
        given = [self.constant(np.array([n], np.int64)) for n in (start, stop, axis, step)]
        return self.one("Slice", [x, *given], _resized(self.shapes[x], axis, len(indices)))

    def model(self) -> onnx.ModelProto:
        """The network."""
        names = (*self.outputs, *self.whole, *self.states.values())
        inputs = [self._info(name) for name in ("x", *self.states)]
        found = [self._info(name) for name in names]
        graph = helper.make_graph(self._nodes, "network", inputs, found, self._constants)
        opset = [helper.make_opsetid("", _OPSET)]
        model = helper.make_model(graph, opset_imports=opset, ir_version=10)
        onnx.checker.check_model(model)
        return model


def random_network(rng: random.Random) -> Network:
    """A network of one to three blocks; `Network.outputs` are there."""
    image, rows = (
        (1, rng.choice((2, 3, 4)), rng.randint(4, 8), rng.randint(4, 8)),
        rng.randint(2, 6),
    )
    net = Network(rng, rng.choice((image, image, (1, rows, rng.randint(3, 8)), (1, 12))))
    x = "x" if (net.unit == 1.0).all() else parts.scaled_layer(net, "x")
    for _ in range(rng.choice((1, 1, 2, 3))):
        x = _block(net, x)
    if rng.random() < 0.1:
        x = parts.stateful(net, _flat(net, x))
    net.outputs = [x]
    if rng.random() < 0.7:
        net.outputs = [_dense(net, _flat(net, x), rng.randint(2, 6))]
        if rng.random() < 0.2:
            net.outputs = [net.one("Softmax", net.outputs, net.shapes[net.outputs[0]], axis=-1)]
    y, shape = net.outputs[0], net.shapes[net.outputs[0]]
    if rng.random() < 0.1:
        kind = rng.choice(("ArgMax", "ArgMin"))
        net.whole = [net.one(kind, [y], shape[:-1], axis=-1, keepdims=0)]
    elif rng.random() < 0.1:
        factor = net.constant(np.array(10.0 ** rng.uniform(-7, 7), np.float32))
        net.outputs = [net.one("Mul", [y, factor], shape)]
    return net


def _block(net: Network, x: str) -> str:
    y = _layer(net, x)
    made = [y]
    for _ in range(net.rng.choice((1, 1, 1, 2))):
        move = net.rng.choice(MOVES)
        made = [new for part in made for new in move(net, part)][:6]
    if net.rng.random() < 0.15:  # the tensor itself is read, too
        made.append(y)
    read = [_function(net, part) for part in made]
    if net.rng.random() < 0.3:  # another function of the same part
        read.append(_function(net, net.rng.choice(made)))
    return _joined(net, read)


def _layer(net: Network, x: str) -> str:
    shape, outputs = net.shapes[x], net.rng.choice((4, 6, 8, 8, 12))
    odd = net.rng.random()
    if len(shape) == 4 and odd < 0.4:
        small = math.prod(shape) <= _MOST_ELEMENTS // 4
        return (parts.conv_transpose if odd < 0.15 and small else parts.wide_conv)(net, x, outputs)
    if len(shape) == 3 and odd < 0.4:
        if odd < 0.2 and net.loops < _MOST_LOOPS:
            net.loops += 1
            return (parts.loop if odd < 0.12 else parts.cell)(net, x)
        return parts.wide_conv(net, x, outputs)
    return _plain_layer(net, x, outputs)


def _plain_layer(net: Network, x: str, outputs: int) -> str:
    """A layer whose output has the sizes of x but for its features."""
    shape = net.shapes[x]
    if len(shape) == 4:
        return _conv(net, x, outputs)
    if len(shape) == 3:
        w, b = (
            _weights(net, (shape[-1], outputs), 0),
            net.constant(net.numbers.normal(0, 0.2, outputs)),
        )
        y = net.one("MatMul", [x, w], (*shape[:-1], outputs))
        return net.one("Add", [y, b], net.shapes[y])
    return _dense(net, _flat(net, x), outputs)


def _conv(net: Network, x: str, outputs: int) -> str:
    n, channels, *size = net.shapes[x]
    kernel = net.rng.choice((1, 3))
    group = channels if net.rng.random() < 0.2 else 1
    outputs = channels if group > 1 else outputs
    w = _weights(net, (outputs, channels // group, kernel, kernel), 1)
    b = net.constant(net.numbers.normal(0, 0.2, outputs))
    pads = [kernel // 2] * 4
    return net.one("Conv", [x, w, b], (n, outputs, *size), pads=pads, group=group)


def _dense(net: Network, x: str, outputs: int) -> str:
    w = _weights(net, (net.shapes[x][-1], outputs), 0)
    b = net.constant(net.numbers.normal(0, 0.2, outputs))
    return net.one("Gemm", [x, w, b], (net.shapes[x][0], outputs))


def _weights(net: Network, shape: Shape, inputs: int) -> str:
    """Normal numbers; output channels differ in size by some times."""
    outputs = shape[1 - inputs] if len(shape) == 2 else shape[0]
    size = np.exp(net.numbers.uniform(-1.0, 1.0, outputs))
    size = size if len(shape) == 2 else size.reshape(-1, 1, 1, 1)
    fan = math.prod(shape) // outputs
    return net.constant(net.numbers.normal(0, 1.4 * fan**-0.5, shape) * size)


def _flat(net: Network, x: str) -> str:
    if len(net.shapes[x]) == 2 and net.shapes[x][0] == 1:
        return x
    shape = (1, math.prod(net.shapes[x]))
    if net.shapes[x][0] == 1 and net.rng.random() < 0.5:
        return net.one("Flatten", [x], shape)
    return net.reshape(x, shape)


def _joined(net: Network, made: list[str]) -> str:
    x = made[0]
    for other in made[1:]:
        if net.shapes[other] == net.shapes[x]:
            x = net.one(net.rng.choice(("Mul", "Add", "Sub")), [x, other], net.shapes[x])
            continue
        both = [_flat(net, x), _flat(net, other)]
        length = sum(net.shapes[each][1] for each in both)
        x = net.one("Concat", both, (1, length), axis=1)
    return x


_FUNCTIONS: dict[str, dict[str, object]] = {
    "Sigmoid": {}, "Tanh": {}, "HardSwish": {}, "HardSigmoid": {"alpha": 1 / 6}, "Relu": {},
    "Gelu": {}, "LeakyRelu": {"alpha": 0.1}, "Elu": {}, "Selu": {}, "Softplus": {}, "Erf": {},
    "Mish": {}, "Softsign": {}, "Identity": {}, "Abs": {}, "Softmax": {"axis": -1},
}  # fmt: skip


def _function(net: Network, x: str) -> str:
    shape = net.shapes[x]
    kind = net.rng.choice((*_FUNCTIONS, "SiLU", "Clip", "Sigmoid", "Tanh"))
    if kind == "SiLU":
        return net.one("Mul", [x, net.one("Sigmoid", [x], shape)], shape)
    if kind == "Clip":
        bounds = [net.constant(np.array(n, np.float32)) for n in (-0.5, 1.5)]
        return net.one("Clip", [x, *bounds], shape)
    return net.one(kind, [x], shape, **_FUNCTIONS[kind])


def _axis(net: Network, x: str, least: int = 2) -> int:
    """An axis after the first that is not short, the longest if all are."""
    shape = net.shapes[x]
    found = [axis for axis in range(1, len(shape)) if shape[axis] >= least]
    return net.rng.choice(found) if found else max(range(1, len(shape)), key=lambda a: shape[a])


def _resized(shape: Shape, axis: int, size: int) -> Shape:
    return (*shape[:axis], size, *shape[axis + 1 :])


def _nothing(_net: Network, x: str) -> list[str]:
    return [x]


def _split(net: Network, x: str) -> list[str]:
    axis = _axis(net, x)
    size = net.shapes[x][axis]
    count = net.rng.choice([n for n in (2, 3, 4) if n <= size] or [1])
    sizes = [size // count] * (count - 1)
    sizes.append(size - sum(sizes))
    shapes = [_resized(net.shapes[x], axis, each) for each in sizes]
    return net.op("Split", [x, net.constant(np.array(sizes, np.int64))], *shapes, axis=axis)


def _halves(net: Network, x: str) -> list[str]:
    axis = _axis(net, x)
    size = net.shapes[x][axis]
    middle = max(size // 2, 1)
    return [net.slice(x, axis, a, b, 1) for a, b in ((0, middle), (size - middle, size))]


def _slice(net: Network, x: str) -> list[str]:
    axis = _axis(net, x)
    size = net.shapes[x][axis]
    start = net.rng.randrange(max(size // 2, 1))
    return [
        net.rng.choice(
            (
                lambda: net.slice(x, axis, start, size, 1),
                lambda: net.slice(x, axis, start, size, 2),
                lambda: net.slice(x, axis, size - 1, -1, -1),
            )
        )()
    ]


def _concat(net: Network, x: str) -> list[str]:
    axis, shape = _axis(net, x), net.shapes[x]
    other = x
    if len(shape) != 2 and net.rng.random() < 0.7:
        other = _plain_layer(net, x, net.rng.choice((4, 6, 8)))
    if net.shapes[other] != shape:
        axis = 1 if len(shape) == 4 else len(shape) - 1
    length = shape[axis] + net.shapes[other][axis]
    return [net.one("Concat", [x, other], _resized(shape, axis, length), axis=axis)]


def _with_constant(net: Network, x: str) -> list[str]:
    axis, shape = _axis(net, x), net.shapes[x]
    constant = net.constant(net.numbers.normal(0, 1, _resized(shape, axis, 2)))
    found = _resized(shape, axis, shape[axis] + 2)
    return [net.one("Concat", [constant, x], found, axis=axis)]


def _reshape(net: Network, x: str) -> list[str]:
    shape = net.shapes[x]
    size = math.prod(shape)
    last = net.rng.choice([n for n in range(1, size + 1) if size % n == 0 and n <= 64])
    rest = size // last
    first = net.rng.choice([n for n in range(1, rest + 1) if rest % n == 0])
    return [
        net.reshape(
            x, net.rng.choice(((1, rest, last), (1, size), (1, first, rest // first, last)))
        )
    ]


def _transpose(net: Network, x: str) -> list[str]:
    axes = list(range(1, len(net.shapes[x])))
    net.rng.shuffle(axes)
    return [net.transpose(x, (0, *axes))]


def _blocks(net: Network, x: str) -> list[str]:
    """DepthToSpace in both orders, SpaceToDepth."""
    shape = net.shapes[x]
    if len(shape) != 4:
        return [x]
    n, c, h, w = shape
    if c % 4 == 0 and net.rng.random() < 0.7:
        mode = net.rng.choice(("DCR", "CRD"))
        return [net.one("DepthToSpace", [x], (n, c // 4, 2 * h, 2 * w), blocksize=2, mode=mode)]
    if h % 2 == 0 and w % 2 == 0:
        return [net.one("SpaceToDepth", [x], (n, 4 * c, h // 2, w // 2), blocksize=2)]
    return [x]


def _shuffle(net: Network, x: str) -> list[str]:
    """Groups of channels change places: as many channels as before."""
    shape = net.shapes[x]
    axis = 1 if len(shape) == 4 else len(shape) - 1
    groups = next((n for n in (2, 3) if shape[axis] % n == 0), 1)
    cut = (*shape[:axis], groups, shape[axis] // groups, *shape[axis + 1 :])
    perm = list(range(len(cut)))
    perm[axis], perm[axis + 1] = axis + 1, axis
    return [net.reshape(net.transpose(net.reshape(x, cut), tuple(perm)), shape)]


def _tile(net: Network, x: str) -> list[str]:
    axis, shape = _axis(net, x, 1), net.shapes[x]
    repeats = np.ones(len(shape), np.int64)
    repeats[axis] = 2
    return [net.one("Tile", [x, net.constant(repeats)], _resized(shape, axis, 2 * shape[axis]))]


def _pad(net: Network, x: str) -> list[str]:
    axis, shape = _axis(net, x, 3), net.shapes[x]
    if shape[axis] < 3:
        return [x]
    pads = np.zeros((2, len(shape)), np.int64)
    pads[:, axis] = net.rng.choice(((1, 1), (0, 2), (2, 0)))
    found = _resized(shape, axis, shape[axis] + int(pads.sum()))
    mode = net.rng.choice(("constant", "constant", "reflect", "edge"))
    return [net.one("Pad", [x, net.constant(pads.reshape(-1))], found, mode=mode)]


def _gather(net: Network, x: str) -> list[str]:
    axis, shape = _axis(net, x), net.shapes[x]
    picked = net.rng.sample(range(shape[axis]), net.rng.randint(1, shape[axis]))
    found = _resized(shape, axis, len(picked))
    return [net.one("Gather", [x, net.constant(np.array(picked, np.int64))], found, axis=axis)]


def _axes(net: Network, x: str) -> list[str]:
    """Unsqueeze, or Squeeze where an axis is 1 long."""
    shape = net.shapes[x]
    ones = [axis for axis in range(1, len(shape)) if shape[axis] == 1]
    if ones and len(shape) > 2:
        axis = net.rng.choice(ones)
        given = net.constant(np.array([axis], np.int64))
        return [net.one("Squeeze", [x, given], (*shape[:axis], *shape[axis + 1 :]))]
    if len(shape) == 4:
        return [x]
    axis = net.rng.randint(1, len(shape))
    given = net.constant(np.array([axis], np.int64))
    return [net.one("Unsqueeze", [x, given], (*shape[:axis], 1, *shape[axis:]))]


def _pool(net: Network, x: str) -> list[str]:
    shape = net.shapes[x]
    if len(shape) != 4 or min(shape[2:]) < 2:
        return [x]
    kind = net.rng.choice(("MaxPool", "AveragePool"))
    found = (*shape[:2], shape[2] // 2, shape[3] // 2)
    return [net.one(kind, [x], found, kernel_shape=[2, 2], strides=[2, 2])]


def _extreme(net: Network, x: str) -> list[str]:
    """A maximum or mean over an axis."""
    shape, axis = net.shapes[x], _axis(net, x)
    if len(shape) == 2:
        return [x]
    kind = net.rng.choice(("ReduceMax", "ReduceMean"))
    given = net.constant(np.array([axis], np.int64))
    kept = net.rng.randint(0, 1)
    found = _resized(shape, axis, 1) if kept else (*shape[:axis], *shape[axis + 1 :])
    return [net.one(kind, [x, given], found, keepdims=kept)]


def _small(move: Callable[[Network, str], list[str]]) -> Callable[[Network, str], list[str]]:
    """The move for tensors that may grow."""
    return lambda net, x: move(net, x) if math.prod(net.shapes[x]) <= _MOST_ELEMENTS else [x]


MOVES: tuple[Callable[[Network, str], list[str]], ...] = (
    *(_nothing, _split, _split, _halves, _slice, _small(_concat), _small(_with_constant)),
    *(_reshape, _transpose, _blocks, _shuffle, _small(_tile), _small(_pad), _gather, _axes),
    *(_pool, _extreme, parts.norm, parts.norm, parts.top, parts.where, parts.prelu),
    *(_small(parts.resize), _small(parts.far_apart)),
)
"""Each gives the tensors that it makes of one."""

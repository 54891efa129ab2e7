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

_OPSET = 20
_MOST_ELEMENTS = 2000
"""A tensor of more is not moved any further."""

Shape = tuple[int, ...]


class Network:
    """An ONNX network in the making; the shapes of its tensors are known.

    Attributes:
        rng: draws structure and numbers.
        shapes: by tensor.
    """

    def __init__(self, rng: random.Random, shape: Shape) -> None:
        """An input x of a shape."""
        self.rng, self.numbers = rng, np.random.default_rng(rng.getrandbits(32))
        self.shapes = {"x": shape}
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

    def model(self, outputs: list[str]) -> onnx.ModelProto:
        """The network."""
        real = TensorProto.FLOAT
        graph = helper.make_graph(
            self._nodes,
            "network",
            [helper.make_tensor_value_info("x", real, self.shapes["x"])],
            [helper.make_tensor_value_info(name, real, self.shapes[name]) for name in outputs],
            self._constants,
        )
        opset = [helper.make_opsetid("", _OPSET)]
        model = helper.make_model(graph, opset_imports=opset, ir_version=9)
        onnx.checker.check_model(model)
        return model


def random_network(rng: random.Random) -> onnx.ModelProto:
    """A network of one to three blocks."""
    image, rows = (
        (1, rng.choice((2, 3, 4)), rng.randint(4, 8), rng.randint(4, 8)),
        rng.randint(2, 6),
    )
    net = Network(rng, rng.choice((image, image, (1, rows, rng.randint(3, 8)), (1, 12))))
    x = "x"
    for _ in range(rng.choice((1, 1, 2, 3))):
        x = _block(net, x)
    outputs = [x]
    if rng.random() < 0.7:
        outputs = [_dense(net, _flat(net, x), rng.randint(2, 6))]
        if rng.random() < 0.2:
            outputs = [net.one("Softmax", outputs, net.shapes[outputs[0]], axis=-1)]
    return net.model(outputs)


def _block(net: Network, x: str) -> str:
    y = _layer(net, x)
    parts = [y]
    for _ in range(net.rng.choice((1, 1, 1, 2))):
        move = net.rng.choice(MOVES)
        parts = [new for part in parts for new in move(net, part)][:6]
    if net.rng.random() < 0.15:  # the tensor itself is read, too
        parts.append(y)
    read = [_function(net, part) for part in parts]
    if net.rng.random() < 0.3:  # another function of the same part
        read.append(_function(net, net.rng.choice(parts)))
    return _joined(net, read)


def _layer(net: Network, x: str) -> str:
    shape, outputs = net.shapes[x], net.rng.choice((4, 6, 8, 8, 12))
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


def _joined(net: Network, parts: list[str]) -> str:
    x = parts[0]
    for other in parts[1:]:
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
    other = _layer(net, x) if len(shape) != 2 and net.rng.random() < 0.7 else x
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
    *(_pool, _extreme),
)
"""Each gives the tensors that it makes of one."""

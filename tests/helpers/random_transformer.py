"""Single integer operators of transformers with random numbers within their bounds.

Each function takes a `Layer`, draws shapes and numbers, and adds one node on inputs of its own.
"""

import math
from collections.abc import Callable, Mapping
from dataclasses import replace
from types import MappingProxyType

import numpy as np

from edgec.base.dtypes import Array, DType
from edgec.ir import Graph, QuantParams, Value, qops
from edgec.ir.graph_builder import GraphBuilder
from edgec.ir.infer import infer_shape
from edgec.ir.ops import ReduceKind

_STEPS = 11
"""Different biases of a head."""
STREAM = QuantParams.per_tensor(0.001, 0, DType.INT16)


class Layer:
    """Builds one graph of nodes that share nothing."""

    def __init__(self, seed: int) -> None:
        self.builder = GraphBuilder("transformer")
        self.rng = np.random.default_rng(seed)

    def integer(self, low: int, high: int) -> int:
        return int(self.rng.integers(low, high + 1))

    def pick(self, options: list) -> object:
        return options[self.integer(0, len(options) - 1)]

    def input(self, *shape: int, dtype: DType = DType.INT8) -> str:
        name = self.builder.value(Value(self.builder.fresh("x"), shape, dtype, self.quant(dtype)))
        self.builder.inputs.append(name)
        return name

    def symmetric(self, x: str) -> str:
        """A function of x that is never -128."""
        table = self.array(self.rng.integers(-127, 128, 256).astype(np.int8))
        return self.node(qops.QLut(), [x, table], DType.INT8)

    def quant(self, dtype: DType) -> QuantParams | None:
        if dtype is DType.INT32:
            return None
        if dtype is DType.INT16:
            return STREAM
        return QuantParams.per_tensor(0.05, self.pick([0, -128, -3, 127]))

    def constant(self, low: int, high: int, *shape: int, dtype: type = np.int8) -> str:
        array = self.rng.integers(low, high + 1, shape).astype(dtype)
        return self.array(array)

    def array(self, array: Array, quant: QuantParams | None = None) -> str:
        return self.builder.constant(self.builder.fresh("constant"), array, quant)

    def node(self, attrs: object, inputs: list[str], dtype: DType) -> str:
        graph = self.builder
        known = {**graph.values, **graph.constants}
        shape = infer_shape(attrs, [known[name].shape if name else None for name in inputs])
        y = graph.value(Value(graph.fresh("y"), shape, dtype, self.quant(dtype)))
        graph.node(f"{y} node", attrs, inputs, [y])
        graph.outputs.append(y)
        return y

    def output(self, dtype: DType, reach: int) -> qops.Rescale16x15:
        """Shifts that bring sums of about `reach` into the range of the output, and bounds."""
        bits = max(reach, 1).bit_length()
        pre = min(max(bits - 15, 0) + self.integer(0, 1), 16)
        wanted = 8 if dtype is DType.INT8 else 16
        shift = min(max(bits - pre + 15 - wanted - self.integer(0, 2), 1), 30)
        low, high = (-128, 127) if dtype is DType.INT8 else (-32768, 32767)
        if self.integer(0, 2) == 0:
            low, high = self.pick([(-127, 127), (-100, 90), (0, 127)])
        return qops.Rescale16x15(pre, shift, low, high, dtype)

    def multiplier(self) -> int:
        return self.integer(12000, 32767) * self.pick([1, 1, 1, -1])


def gemm(layer: Layer) -> None:
    rows = layer.pick([(1, 1), (1, 5), (2, 3), (1, 2, 4)])
    _gemm(layer, rows, layer.integer(1, 70), layer.integer(1, 21))


def _gemm(layer: Layer, rows: tuple[int, ...], depth: int, units: int) -> None:
    x = layer.input(*rows, depth)
    if layer.integer(0, 1):
        x = layer.symmetric(x)
    weight = layer.constant(-127, 127, units, depth)

    def make(**end: object) -> qops.QGemm:
        return qops.QGemm(**end, raw=True)

    _weighted(layer, x, weight, units, depth, make, (*rows, units))


def _weighted(layer, x, weight, units, depth, make, y_shape) -> None:
    kind = layer.pick(["plain", "wide", "table", "residual", "added constant", "narrow residual"])
    reach = 40 * 70 * max(math.isqrt(depth), 1)
    bias = layer.constant(-reach, reach, units, dtype=np.int32)
    signs = layer.rng.choice([1, 1, 1, -1], units)
    multipliers = (layer.rng.integers(9000, 32768, units) * signs).astype(np.int16)
    inputs = [x, weight, bias, layer.array(multipliers)]
    narrow = kind in ("plain", "table", "narrow residual")
    dtype = DType.INT8 if narrow else DType.INT16
    output = layer.output(dtype, reach)
    if kind == "table":
        output = qops.Rescale16x15(output.pre_shift, max(output.shift - 2, 1), -512, 511)
        inputs += ["", layer.constant(-128, 127, qops.TABLE_SIZE)]
    elif kind == "residual":
        inputs.append(layer.input(*y_shape, dtype=DType.INT16))
    elif kind == "narrow residual":
        inputs.append(layer.input(*y_shape))
    elif kind == "added constant":
        values = layer.rng.integers(-32768, 32768, y_shape).astype(np.int16)
        inputs.append(layer.array(values, STREAM))
    added = kind in ("residual", "added constant", "narrow residual")
    y = layer.node(make(output=output, residual=qops.StreamSum() if added else None), inputs, dtype)
    if kind == "narrow residual":
        values = layer.builder.values
        layer.builder.value(replace(values[inputs[-1]], quant=values[y].quant))


def conv(layer: Layer) -> None:
    _conv(layer, layer.pick([1, 1, 2]), layer.integer(1, 9))


def depthwise(layer: Layer) -> None:
    channels = layer.integer(2, 9)
    _conv(layer, channels, layer.integer(1, 2), channels)


def depthwise_conv(layer: Layer, channels: int) -> None:
    """One filter for each channel."""
    _conv(layer, channels, 1, channels)


def _conv(layer: Layer, group: int, per_group: int, channels: int = 0) -> None:
    channels = channels or group * layer.integer(1, 8)
    size, kernel = layer.integer(4, 8), layer.pick([1, 2, 3])
    pads = (layer.integer(0, kernel - 1),) * 4
    stride = layer.pick([1, 1, 2])
    x = layer.input(1, size, size, channels)
    filters = group * per_group
    weight = layer.constant(-127, 127, filters, kernel, kernel, channels // group)

    def make(**rest: object) -> qops.QConv:
        return qops.QConv((stride,) * 2, pads, (1, 1), group, **rest)

    plain = make(output=qops.Rescale16x15(0, 1, 0, 0))
    constants = [(filters,), (filters,)]
    shapes = [(1, size, size, channels), (filters, kernel, kernel, channels // group), *constants]
    y_shape = infer_shape(plain, shapes)
    depth = kernel * kernel * channels // group
    _weighted(layer, x, weight, filters, depth, make, y_shape)


def matmul(layer: Layer) -> None:
    rows, depth, columns = (layer.integer(1, 9) for _ in range(3))
    turn_a, turn_b = layer.pick([False, True]), layer.pick([False, True])
    a_lead, b_lead = layer.pick([((), ()), ((2,), (2,)), ((3, 1), (2,)), ((1, 2), (1, 2))])
    a = layer.input(*a_lead, *((depth, rows) if turn_a else (rows, depth)))
    b = layer.input(*b_lead, *((columns, depth) if turn_b else (depth, columns)))
    dtype = layer.pick([DType.INT8, DType.INT16])
    output = layer.output(dtype, 6000 * depth)
    attrs = qops.QMatMul(output, layer.multiplier(), layer.integer(-999, 999), turn_a, turn_b)
    layer.node(attrs, [a, b], dtype)


def mul(layer: Layer) -> None:
    a, b = layer.pick([((2, 5), (2, 5)), ((1, 7), (3, 7)), ((2, 3, 4), (3, 1)), ((4,), (2, 4))])
    dtype = layer.pick([DType.INT8, DType.INT16])
    attrs = qops.QMul(layer.output(dtype, 8000), layer.multiplier(), layer.integer(-999, 999))
    layer.node(attrs, [layer.input(*a), layer.input(*b)], dtype)


def reduce(layer: Layer) -> None:
    shape = layer.pick([(1, 6, 5), (2, 3, 4, 5), (7,)])
    axes = tuple(sorted({layer.integer(0, len(shape) - 1) for _ in range(2)}))
    source, dtype = (layer.pick([DType.INT8, DType.INT16]) for _ in range(2))
    reach = (60 if source is DType.INT8 else 15000) * math.prod(shape[axis] for axis in axes)
    kind = layer.pick([ReduceKind.MEAN, ReduceKind.SUM])
    attrs = qops.QReduce(
        kind, axes, layer.pick([False, True]), layer.output(dtype, reach), layer.multiplier(), 321
    )
    layer.node(attrs, [layer.input(*shape, dtype=source)], dtype)


def rescale(layer: Layer) -> None:
    source, dtype = (layer.pick([DType.INT8, DType.INT16]) for _ in range(2))
    reach = 100 if source is DType.INT8 else 30000
    bias = layer.integer(-50, 50)
    attrs = qops.QRescale(layer.output(dtype, reach), layer.multiplier(), bias)
    layer.node(attrs, [layer.input(2, layer.integer(1, 30), dtype=source)], dtype)


def add_wide_stream(layer: Layer) -> None:
    a, b = layer.pick([((2, 5), (2, 5)), ((1, 7), (3, 7)), ((2, 3, 4), (3, 1)), ((4,), (2, 4))])
    inputs = [layer.input(*a, dtype=DType.INT16)]
    if layer.integer(0, 1):
        inputs.append(layer.input(*b, dtype=DType.INT16))
    else:
        values = layer.rng.integers(-32768, 32768, b).astype(np.int16)
        inputs.append(layer.array(values, STREAM))
    layer.node(qops.QAdd(qops.CodeSum.of_stream(DType.INT16)), inputs, DType.INT16)


def embedding(layer: Layer) -> None:
    kind, high = layer.pick([(np.int8, 127), (np.int16, 32767)])
    table = layer.constant(-high - 1, high, 50, layer.integer(1, 9), dtype=kind)
    multiplier = layer.pick([1, 3, 200, 32767])
    ids = layer.input(1, 7, dtype=DType.INT32)
    layer.node(qops.QEmbedding(multiplier), [ids, table], DType.INT16)


def norm(layer: Layer) -> None:
    rows, channels = layer.integer(1, 4), layer.integer(2, 67)
    dtype = layer.pick([DType.INT8, DType.INT16])
    high = 127 if dtype is DType.INT8 else 32767
    attrs = qops.QNorm(
        centred=layer.pick([True, True, False]),
        epsilon=layer.pick([0, 1, 12345, 2**29]),
        least_shift=layer.integer(0, 15),
        square_shift=math.ceil(math.log2(channels) / 2),
        shift=layer.integer(14, 22) if dtype is DType.INT8 else layer.integer(8, 14),
        low=layer.pick([-high - 1, -high]),
        high=high,
        dtype=dtype,
    )
    gamma = layer.constant(-32767, 32767, channels, dtype=np.int16)
    beta = layer.constant(-(2**29), 2**29, channels, dtype=np.int32)
    _normed(layer, (2, rows, channels), attrs, [gamma, beta])


def _normed(layer: Layer, shape: tuple[int, ...], attrs: qops.QNorm, constants: list[str]) -> None:
    """Of a stream of int16, and of int8."""
    x = layer.input(*shape, dtype=DType.INT16)
    layer.node(attrs, [x, *constants], attrs.dtype)
    narrow = layer.input(*shape)
    layer.node(attrs, [narrow, *constants, _shifts(layer, shape[-1])], attrs.dtype)


def _shifts(layer: Layer, channels: int) -> str:
    return layer.constant(0, qops.MOST_CHANNEL_SHIFT, channels)


def int8_stream(layer: Layer) -> None:
    """What adds to a stream of int8, and what leads to it and from it."""
    channels, ids = layer.integer(1, 30), layer.input(1, 5, dtype=DType.INT32)
    x, k = layer.input(1, 5, channels), _shifts(layer, channels)
    output = replace(layer.output(DType.INT8, 2000), shift=layer.integer(12, 23))
    layer.node(qops.QRescale(output, layer.multiplier(), 77, before=True), [x, k], DType.INT8)
    layer.node(qops.QRescale(output, layer.multiplier(), 77, after=True), [x, k], DType.INT8)
    table = layer.constant(-128, 127, 9, channels)
    rows = layer.node(qops.QEmbedding(dtype=DType.INT8), [ids, table], DType.INT8)
    same = layer.builder.values[rows].quant
    layer.builder.value(replace(layer.builder.values[x], quant=same))
    added = layer.builder.fresh("y")
    layer.builder.value(Value(added, (1, 5, channels), DType.INT8, same))
    layer.builder.node(
        f"{added} node", qops.QAdd(qops.CodeSum.of_stream(DType.INT8)), [rows, x], [added]
    )
    layer.builder.outputs.append(added)


def attention(layer: Layer) -> None:
    lead = layer.pick([(1,), (2,), ()])
    queries, keys = layer.pick([(1, 9), (3, 3), (8, 8), (5, 11), (9, 4)])
    heads, width, values = layer.integer(1, 3), layer.integer(1, 20), layer.integer(1, 13)
    _attention(layer, lead, (queries, keys), heads, width, values)


def fused_attention(layer: Layer) -> None:
    """q, k and v are columns of one tensor without -128."""
    heads, tokens = layer.integer(1, 3), layer.integer(2, 21)
    width = 4 * layer.integer(1, 9)
    x = layer.symmetric(layer.input(1, tokens, 3 * heads * width))
    starts = (0, heads * width, 2 * heads * width)
    _attend(layer, [x, x, x], (heads, width, width, *starts), tokens)


def _attention(layer, lead, tokens, heads, width, values) -> None:
    starts = [layer.integer(0, 5) for _ in range(3)]
    widths = (width, width, values)
    counts = (tokens[0], tokens[1], tokens[1])
    inputs = [
        layer.input(*lead, count, start + heads * own + layer.integer(0, 3))
        for count, start, own in zip(counts, starts, widths, strict=True)
    ]
    masks = [None, (*lead, tokens[1]), (1, tokens[1])] if lead else [None, (tokens[1],)]
    mask = layer.pick(masks)
    if mask is not None:
        inputs.append(layer.input(*mask, dtype=DType.INT32))
    _attend(layer, inputs, (heads, width, values, *starts), tokens[1])


def _attend(
    layer: Layer, inputs: list[str], numbers: tuple, keys: int, places: str | None = None
) -> None:
    heads, width = numbers[:2]
    bits = layer.integer(12, 15)
    table = []
    for _ in range(heads):
        kappa = float(np.exp(layer.rng.uniform(np.log(1e-4), np.log(2.0))))
        multiplier = round(kappa * 2**26)
        limit = min(math.ceil((bits + 1.6) / kappa), 2 * 128 * 128 * width)
        table.append([multiplier, limit, layer.integer(2**29, 2**30 - 1), layer.integer(4, 11)])
    attrs = qops.QAttention(*numbers, exp_bits=bits)
    inputs.insert(3, layer.array(np.array(table, np.int32)))
    if places is not None:
        inputs += [""] * (len(inputs) == 4)
        inputs += [layer.constant(-(2**24), 0, heads, _STEPS, dtype=np.int32), places]
    layer.node(attrs, inputs, DType.INT8)


def biased_attention(layer: Layer) -> None:
    """Heads of fast kernels, with a bias."""
    batch, tokens, heads = layer.pick([1, 2]), layer.integer(2, 9), layer.integer(1, 3)
    x = layer.symmetric(layer.input(batch, tokens, 3 * heads * 4))
    starts = (0, heads * 4, 2 * heads * 4)
    shape = (layer.pick([1, batch]), tokens, tokens)
    places = layer.constant(0, _STEPS - 1, *shape, dtype=np.int16)
    masks = [layer.input(1, tokens, dtype=DType.INT32)] * layer.integer(0, 1)
    _attend(layer, [x, x, x, *masks], (heads, 4, 4, *starts), tokens, places)


def long_attention(layer: Layer) -> None:
    """Enough keys that rows of even weights have to lose bits; one head in two is even."""
    keys = layer.integer(600, 640)
    q = layer.symmetric(layer.input(1, 3, 8))
    kv = layer.symmetric(layer.input(1, keys, 16))
    table = [[64, 2 * 128 * 128 * 4, 2**29 + 12345, 8], [2**20, 1064, 2**29 + 999, 8]]
    attrs = qops.QAttention(2, 4, 4, 0, 0, 8, exp_bits=15, trimmed=True)
    layer.node(attrs, [q, kv, kv, layer.array(np.array(table, np.int32))], DType.INT8)


def softmax(layer: Layer) -> None:
    rows, depth, bits = layer.integer(1, 3), layer.integer(1, 40), layer.integer(12, 15)
    kappa = float(np.exp(layer.rng.uniform(np.log(1e-3), np.log(2.0))))
    limit = min(math.ceil((bits + 1.6) / kappa), 255)
    attrs = qops.QSoftmax(qops.Octaves(round(kappa * 2**26), limit, bits))
    layer.node(attrs, [layer.input(2, rows, depth)], DType.INT8)


def is_equal(layer: Layer) -> None:
    ids = layer.input(2, layer.integer(1, 9), dtype=DType.INT32)
    layer.node(qops.QIsEqual(layer.pick([0, 1, 3])), [ids], DType.INT32)


def movers(layer: Layer) -> None:
    """Transposes, slices and concatenations of int16."""
    x = layer.input(2, 3, 4, dtype=DType.INT16)
    layer.node(qops.QTranspose((2, 0, 1)), [x], DType.INT16)
    layer.node(qops.QTranspose((1, 0, 2)), [x], DType.INT16)
    layer.node(qops.QSlice((0, 1, 0), (1, 1, 2), (2, 2, 2)), [x], DType.INT16)
    other = layer.input(2, 1, 4, dtype=DType.INT16)
    layer.node(qops.QConcat(1), [x, other], DType.INT16)


OPERATORS: Mapping[str, Callable[[Layer], None]] = MappingProxyType(
    {
        make.__name__: make
        for make in (
            *(gemm, conv, depthwise, matmul, mul, reduce, rescale, add_wide_stream, embedding),
            *(norm, attention, fused_attention, movers),
            *(biased_attention, softmax, is_equal, int8_stream, long_attention),
        )
    }
)


def operators(seed: int, names: list[str], each: int) -> Graph:
    """`each` nodes of each of some operators."""
    layer = Layer(seed)
    for name in names:
        for _ in range(each):
            OPERATORS[name](layer)
    return layer.builder.build()

"""Layers at the edges of the NEON kernels: odd sizes, extremes, masks; one graph of each kind."""

from __future__ import annotations

import dataclasses
import math

import numpy as np
from depthwise_cases import Case, add_layer
from random_graphs import all_operators
from random_transformer import (
    Layer,
    add_wide_stream,
    biased_attention,
    conv,
    depthwise_conv,
    norm,
    rescale,
)

from edgec.base.dtypes import Array, DType
from edgec.ir import Graph, QuantParams, qops

KINDS = ("plain", "wide", "table", "residual", "narrow residual")
_TOKENS = (1, 2, 3, 4, 5, 9)
_DEPTHS = (1, 7, 8, 15, 16, 17, 31, 48, 65)
_UNITS = (1, 2, 3, 4, 5, 8, 11)
_MOST_OCTAVES = 8.0
"""The largest kappa that the quantizer gives."""


def products(seed: int, count: int) -> Graph:
    """Matrix products of odd sizes, and convolutions."""
    layer = Layer(seed)
    for number in range(count):
        sizes = layer.pick(_TOKENS), layer.pick(_DEPTHS), layer.pick(_UNITS)
        product(layer, sizes, KINDS[number % len(KINDS)])
        if number % 3 == 0:
            conv(layer)
    for tokens in (1, 4):
        extreme_product(layer, tokens)
    return layer.builder.build()


def product(
    layer: Layer, sizes: tuple[int, int, int], kind: str, weight: Array | None = None
) -> None:
    """A QGemm of tokens, depth and units that ends as `kind` says."""
    tokens, depth, units = sizes
    if weight is None:
        weight = layer.rng.integers(-127, 128, (units, depth)).astype(np.int8)
    reach = 5000 * max(math.isqrt(depth), 1)
    bias = layer.rng.integers(-reach, reach, units).astype(np.int32)
    multipliers = (
        layer.rng.integers(9000, 32768, units) * layer.rng.choice([1, 1, -1], units)
    ).astype(np.int16)
    dtype = DType.INT16 if kind in ("wide", "residual") else DType.INT8
    output = layer.output(dtype, reach)
    inputs = [layer.input(1, tokens, depth), *map(layer.array, (weight, bias, multipliers))]
    if kind == "table":
        output = dataclasses.replace(output, low=-512, high=511)
        inputs += ["", layer.constant(-128, 127, qops.TABLE_SIZE)]
    added = kind.endswith("residual")
    if added:
        inputs.append(layer.input(1, tokens, units, dtype=dtype))
    attrs = qops.QGemm(output, qops.StreamSum() if added else None, raw=True)
    y = layer.node(attrs, inputs, dtype)
    if added:
        values = layer.builder.values
        layer.builder.value(dataclasses.replace(values[inputs[-1]], quant=values[y].quant))


def extreme_product(layer: Layer, tokens: int) -> None:
    """The largest sums: all weights 127 or -127, for inputs of -128 and 127."""
    weight = np.full((5, 48), 127, np.int8)
    weight[1::2] = -127
    product(layer, (tokens, 48, 5), "wide", weight)


def depthwise(seed: int, count: int) -> Graph:
    """Depthwise convolutions that end as in transformers, of any geometry and many channels."""
    layer = Layer(seed)
    for _ in range(count):
        depthwise_conv(layer, layer.pick((2, 4, 7, 8, 9, 16, 17, 24, 33, 48)))
    return layer.builder.build()


def dense_layers(seed: int, count: int) -> Graph:
    """Convolutions of one group of any geometry, with weights down to -128, in all forms."""
    rng = np.random.default_rng(seed)
    layer = Layer(seed)
    for _ in range(count):
        case = _case(rng, ((3, 3), (1, 1), (3, 1), (1, 5), (4, 2)))
        add_layer(layer, case, filters=int(rng.choice([1, 3, 8, 13, 16])))
    return layer.builder.build()


def paired_layers(seed: int, count: int) -> Graph:
    """Convolutions with many weights so small that products of two blocks fit 16 bits, and some at
    the ends of what fits: 63.75 is the largest mean of four magnitudes.
    """
    rng = np.random.default_rng(seed)
    layer = Layer(seed)
    values = ((-63, 64, 63, -64), (-64, 63, 100, -28, 127), (3, -127, 0, 5, -20), (-127, 127))
    for number in range(count):
        case = _case(rng, ((3, 3), (1, 1), (3, 1), (1, 5), (4, 2)))
        turn, rest = divmod(number, 3)
        if rest == 0:
            case = Case(5, 8, (16, 32)[turn % 2], twice=turn % 3 == 0)
        kind = turn // 2 % len(values)
        add_layer(layer, case, int(rng.choice([1, 3, 8, 13, 16])), values[kind])
    for tokens, depth in ((1, 160), (1, 49), (6, 100), (5, 64)):
        weight = rng.choice(values[number % 3], (9, depth)).astype(np.int8)
        product(layer, (tokens, depth, 9), KINDS[number % len(KINDS)], weight)
        number += 1
    return layer.builder.build()


def tflite_sums(seed: int) -> Graph:
    """Sums and differences of int8 of one shape in TensorFlow Lite Micro's arithmetic."""
    layer = Layer(seed)
    rng, values = layer.rng, layer.builder.values
    for count in (1, 7, 8, 63, 64, 100):
        for shifts in ((0, 1, 18), (2, 0, 19), (1, 3, 17), (0, 0, 31)):
            zero_points = [int(n) for n in rng.choice([-128, -3, 0, 127], 3)]
            a, b, y = (QuantParams.per_tensor(0.05, each) for each in zero_points)
            low, high = layer.pick([(-128, 127), (-50, 60)])
            multipliers = [int(n) for n in rng.integers(2**30, 2**31, 3)]
            if shifts[0] == 0:
                multipliers[0] = 2**30  # of the operand with the larger scale
            factors = [n for pair in zip(multipliers, shifts, strict=True) for n in pair]
            form = qops.TfliteSum(
                *zero_points[:2],
                *factors,
                zero_points[2],
                low,
                high,
                subtracts=layer.pick([0, 1]) > 0,
            )
            inputs = [layer.input(1, count) for _ in range(2)]
            for name, quant in zip(inputs, (a, b), strict=True):
                layer.builder.value(dataclasses.replace(values[name], quant=quant))
            made = layer.node(qops.QAdd(form), inputs, DType.INT8)
            layer.builder.value(dataclasses.replace(values[made], quant=y))
    return layer.builder.build()


def depthwise_cases(seed: int, count: int) -> tuple[Case, ...]:
    """Depthwise layers that no one chose: lines and images, also of more than 64 taps."""
    rng = np.random.default_rng(seed)
    kernels = ((3, 3), (1, 5), (5, 1), (1, 1), (2, 3), (9, 8), (70, 1), (1, 67))
    return tuple(_case(rng, kernels) for _ in range(count))


def _case(rng: np.random.Generator, kernels: tuple[tuple[int, int], ...]) -> Case:
    kernel = kernels[rng.integers(len(kernels))]
    dilations = tuple(int(n) for n in rng.integers(1, 3, 2))
    pads = tuple(int(n) for n in rng.integers(0, 3, 4) * rng.integers(0, 2))
    reach = [(taps - 1) * step + 1 for taps, step in zip(kernel, dilations, strict=True)]
    sizes = [max(n - a - b, 1) for n, a, b in zip(reach, pads[:2], pads[2:], strict=True)]
    height, width = (size + int(rng.integers(0, 7)) for size in sizes)
    numbers = int(rng.integers(3))
    return Case(
        height,
        width,
        int(rng.choice([2, 3, 4, 8, 12, 16, 20, 32, 41])),
        (int(rng.integers(1, 3)), int(rng.integers(1, 3))),
        (pads[0], pads[1], pads[2], pads[3]),
        (-128, 127) if rng.integers(3) else (-50, 60),
        int(rng.choice([29, 31, 32, 36])) if numbers == 0 else 33,
        offsets=numbers == 1,
        kernel=kernel,
        dilations=(dilations[0], dilations[1]),
        twice=numbers == 2,
    )


def others(seed: int) -> Graph:
    """Norms, rescaling, sums, and attention that no fast kernel of other cores would take."""
    layer = Layer(seed)
    for _ in range(4):
        for make in (norm, rescale, add_wide_stream, biased_attention):
            make(layer)
    _equal_sum(layer)
    for mask in (False, True):
        for lead in ((1,), (2,), ()):
            _attention(layer, lead, mask)
    _pooling(layer)
    _long(layer)
    return layer.builder.build()


def _equal_sum(layer: Layer) -> None:
    inputs = [layer.input(2, 21, dtype=DType.INT16) for _ in range(2)]
    layer.node(qops.QAdd(qops.CodeSum.of_stream(DType.INT16)), inputs, DType.INT16)


def _attention(layer: Layer, lead: tuple[int, ...], masked: bool) -> None:
    queries, keys = layer.pick([(1, 9), (3, 3), (8, 8), (5, 11), (9, 4), (6, 17), (4, 1)])
    heads, width, values = layer.integer(1, 3), layer.integer(1, 35), layer.integer(1, 19)
    starts = [layer.integer(0, 5) for _ in range(3)]
    q, k, v = (
        layer.input(*lead, count, start + heads * own + layer.integer(0, 3))
        for count, start, own in zip(
            (queries, keys, keys), starts, (width, width, values), strict=True
        )
    )
    # Either factor may be the one that is never -128.
    q, k = (layer.symmetric(q), k) if layer.integer(0, 1) else (q, layer.symmetric(k))
    masks = [layer.input(*layer.pick([lead, (1,) * len(lead)]), keys, dtype=DType.INT32)]
    _attend(layer, [q, k, v], masks if masked else [], (heads, width, values, *starts))


def _pooling(layer: Layer) -> None:
    """Sequence pooling: one constant query."""
    quant = QuantParams.per_tensor(0.05, 0)
    q = layer.array(layer.rng.integers(-127, 128, (1, 1, 16)).astype(np.int8), quant)
    x = layer.input(1, 13, 16)
    _attend(layer, [q, x, x], [], (1, 16, 16, 0, 0, 0))


def _long(layer: Layer) -> None:
    """Enough keys that the exponentials of a row lose bits: all of them alike, or not."""
    x = layer.symmetric(layer.input(1, 603, 12))
    _attend(layer, [x, x, x], [], (1, 4, 4, 0, 4, 8), trimmed=True)


def _attend(
    layer: Layer,
    inputs: list[str],
    masks: list[str],
    numbers: tuple[int, ...],
    trimmed: bool = False,
) -> None:
    bits = 15 if trimmed else layer.integer(12, 15)
    width, rows = numbers[1], []
    for _ in range(numbers[0]):
        kappa = float(np.exp(layer.rng.uniform(np.log(1e-4), np.log(_MOST_OCTAVES))))
        limit = min(math.ceil((bits + 1.6) / kappa), 2 * 128 * 128 * width)
        rows.append(
            [round(kappa * 2**26), limit, layer.integer(2**29, 2**30 - 1), layer.integer(4, 11)]
        )
    attrs = qops.QAttention(*numbers, exp_bits=bits, trimmed=trimmed)
    table = layer.array(np.array(rows, np.int32))
    layer.node(attrs, [*inputs, table, *masks], DType.INT8)


def convolutional(seed: int, each: int) -> Graph:
    """Every operator of convolutional networks, no weight being -128."""
    graph = all_operators(seed, each)
    weights = {
        node.inputs[1] for node in graph.nodes if isinstance(node.attrs, qops.QConv | qops.QGemm)
    }
    constants = {
        name: dataclasses.replace(value, array=np.maximum(value.array, -127))
        if name in weights
        else value
        for name, value in graph.constants.items()
    }
    return dataclasses.replace(graph, constants=constants)

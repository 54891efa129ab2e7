"""Requantization by a few products: exact, and every step within 32 bits."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from edgec.base.dtypes import DType
from edgec.base.fixedpoint import INT32_MAX, INT32_MIN
from edgec.ir import Graph, QuantParams, Value, qops
from edgec.ir.graph_builder import GraphBuilder
from edgec.ir.weighted import accumulator_range
from edgec.kernels.common.short_product import ShortProduct, product_of
from edgec.target.board import load_board
from edgec.target.target import Target

M0PLUS, M3 = (Target.of(load_board(name)) for name in ("nucleo_g0b1re", "nucleo_f207zg"))


def within(value: int) -> int:
    """A number of an intermediate result."""
    assert INT32_MIN <= value <= INT32_MAX
    return value


def clamped(value: int, form: qops.Requant31) -> int:
    return min(max(value, form.low), form.high)


def split(product: ShortProduct, acc: int, multiplier: int, form: qops.Requant31) -> int:
    """`edgec_requantize_split_s8`."""
    limit = 1 << (product.bits - 1 if product.bits else 31)
    acc = min(max(acc, -limit), limit - 1)
    half = 1 << (product.split - 1)
    low = (multiplier + half) % (2 * half) - half
    high = within(multiplier - low) >> product.split
    rest = form.shift - product.split
    start = within(within(form.zero_point << rest) + (1 << (rest - 1)))
    total = within(start + within(acc * high))
    return clamped(within(total + (within(acc * low) >> product.split)) >> rest, form)


def by_halves(product: ShortProduct, acc: int, multiplier: int, form: qops.Requant31) -> int:
    """`edgec_requantize_by_s8`."""
    upper, lower = multiplier >> 16, multiplier & 0xFFFF
    inner = within(within((acc >> 16) * lower) + ((acc & 0xFFFF) * lower >> 16))
    if product.count == 3:
        rest = form.shift - 16
        start = within((form.zero_point << rest) + (1 << (rest - 1)))
        total = within(within(within(acc * upper) + inner) + start)
        return clamped(total >> rest, form)
    middle = within(inner + within((acc & 0xFFFF) * upper))
    half = (1 << 15) if form.shift == 32 else 0
    high = within(within((acc >> 16) * upper) + (within(middle + half) >> 16))
    more = form.shift - 32
    rounded = within(high + (1 << more >> 1)) >> more
    return clamped(within(form.zero_point + rounded), form)


def layer(depth: int, seed: int, shift: int, size: float, zero_point: int) -> Graph:
    """A product of two rows, with multipliers of about `size` bits."""
    rng = np.random.default_rng(seed)
    builder = GraphBuilder("layer")
    quant = QuantParams.per_tensor(0.05, int(rng.choice([-128, 0, 127])))
    x = builder.value(Value("x", (2, depth), DType.INT8, quant))
    builder.inputs.append(x)
    reach = int(rng.choice([3, 128]))
    weights = rng.integers(-reach, reach, (3, depth)).astype(np.int8)
    numbers = np.minimum(2.0**size * rng.uniform(0.3, 1, 3), INT32_MAX).astype(np.int32)
    constants = [
        builder.constant("w", weights),
        builder.constant("b", rng.integers(-(2**18), 2**18, 3).astype(np.int32)),
        builder.constant("m", numbers * rng.choice([1, -1])),
    ]
    form = qops.Requant31(shift, zero_point, int(rng.choice([-128, zero_point])))
    y = Value("y", (2, 3), DType.INT8, QuantParams.per_tensor(0.05, zero_point))
    builder.node("node", qops.QGemm(form), [x, *constants], [builder.value(y)])
    builder.outputs.append("y")
    return builder.build()


@settings(max_examples=300, deadline=None)
@given(
    depth=st.integers(1, 600),
    seed=st.integers(0, 10**6),
    shift=st.integers(20, 50),
    gain=st.floats(-14, -3),
    zero_point=st.integers(-128, 127),
)
def test_the_product_is_exact_for_all_accumulators(
    depth: int, seed: int, shift: int, gain: float, zero_point: int
) -> None:
    graph = layer(depth, seed, shift, min(max(shift + gain, 1), 31), zero_point)
    (node,) = graph.nodes
    form = node.attrs_as(qops.QGemm).output
    least, greatest = accumulator_range(graph, node)
    for target, computed in ((M0PLUS, by_halves), (M3, split)):
        product = product_of(graph, node, target)
        if product.count == 0:
            continue
        rng = np.random.default_rng(seed)
        for low, high, multiplier in zip(least, greatest, graph.constants["m"].array, strict=True):
            some = rng.integers(low, high + 1, 20)
            for acc in (low, high, 0, -1, *some, *(some >> 5)):
                if low <= acc <= high:
                    want = int(form.apply(np.array([acc]), np.array([multiplier]))[0])
                    assert computed(product, int(acc), int(multiplier), form) == want

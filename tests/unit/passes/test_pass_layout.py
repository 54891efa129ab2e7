from __future__ import annotations

import numpy as np
import pytest
from pass_samples import Maker, assert_same_function, ops_of

from edgec.ir import ops
from edgec.passes.layout import layout, transposes
from edgec.passes.simplify import simplify

TO_LAST = ops.Transpose((0, 2, 3, 1))
TO_FIRST = ops.Transpose((0, 3, 1, 2))
RELU = ops.Clip(0.0)


def conv(m: Maker, x: str, outputs: int, kernel: int = 3, **attrs) -> str:
    """A channels-first convolution as the importer writes it."""
    last = m.op(TO_LAST, x)
    weight = m.const(outputs, kernel, kernel, m.shape(last)[3], name="w")
    pad = kernel // 2
    y = m.op(ops.Conv(pads=(pad,) * 4, **attrs), last, weight, m.const(outputs, name="b"))
    return m.op(TO_FIRST, y)


def check(graph, left: int = 0):
    after = layout(graph)
    assert_same_function(graph, after)
    assert transposes(after) == left
    again = layout(after)
    assert transposes(again) == left
    return after


def test_rule_3_and_4_input_and_output_absorb_their_transposes():
    m = Maker()
    graph = m.graph(conv(m, m.input(1, 3, 6, 5), 4))
    after = check(graph)
    assert ops_of(after) == ["Conv"]
    assert after.input_layouts == {"x": (0, 2, 3, 1)}
    assert after.output_layouts == {graph.outputs[0]: (0, 2, 3, 1)}
    assert after.shape("x") == (1, 6, 5, 3)


def test_rule_3_an_input_read_in_two_orders_keeps_one_transpose():
    m = Maker()
    x = m.input(1, 3, 6, 6)
    y = conv(m, x, 4)
    flat = m.op(ops.Reshape((1, 18, 6)), x)
    z = m.op(ops.Softmax(), flat)
    check(m.graph(y, z), left=1)


def test_rule_2_residual_block_with_channel_constants():
    m = Maker()
    x = m.input(1, 3, 6, 5)
    a = m.op(RELU, conv(m, x, 4))
    b = conv(m, a, 4)
    s = m.op(ops.Add(), b, a)
    s = m.op(ops.Mul(), s, m.const(1, 4, 1, 1))
    s = m.op(ops.Sub(), m.const(4, 1, 1), s)
    check(m.graph(conv(m, m.op(RELU, s), 2)))


def test_rule_2_slice_pad_concat_shortcut():
    m = Maker()
    x = m.op(RELU, conv(m, m.input(1, 3, 8, 6), 4))
    sliced = m.op(ops.Slice((0, 0, 0, 1), (1, 1, 2, 2), (1, 4, 4, 3)), x)
    padded = m.op(ops.Pad(((0, 0), (2, 2), (0, 0), (0, 0))), sliced)
    main = conv(m, x, 8, strides=(2, 2))
    y = m.op(RELU, m.op(ops.Add(), main, padded))
    y = m.op(ops.Concat(1), y, padded, m.const(1, 2, 4, 3))
    after = check(m.graph(conv(m, y, 3)))
    assert next(n.attrs for n in after.nodes if n.op == "Concat") == ops.Concat(3)


def test_rule_1_reduce_without_axes_and_gemm():
    m = Maker()
    x = m.op(RELU, conv(m, m.input(1, 3, 6, 5), 4))
    pooled = m.op(ops.Reduce(ops.ReduceKind.MEAN, (2, 3), keepdims=False), x)
    y = m.op(ops.Gemm(), pooled, m.const(7, 4), "")
    check(m.graph(m.op(ops.Softmax(), y)))


def test_rule_1_operands_of_different_rank():
    m = Maker()
    x = conv(m, m.input(1, 3, 4, 5), 6)
    gate = m.op(ops.Reduce(ops.ReduceKind.MAX, (0, 2), keepdims=False), x)  # [6, 5]
    gate = m.op(ops.Reshape((6, 1, 5)), gate)
    check(m.graph(conv(m, m.op(ops.Mul(), x, gate), 2)))


def test_rule_5_flatten_before_gemm_permutes_columns():
    m = Maker()
    x = m.op(RELU, conv(m, m.input(1, 3, 4, 5), 6))
    flat = m.op(ops.Reshape((1, 120)), x)
    a = m.op(ops.Gemm(), flat, m.const(7, 120), "")
    b = m.op(ops.Gemm(), flat, m.const(3, 120), m.const(3))
    check(m.graph(a, b))


def test_rule_6_unit_axes_and_one_dimensional_convolutions():
    m = Maker()
    x = m.input(1, 49, 10, 1)
    first = m.op(ops.Reshape((1, 1, 49, 10)), x)
    y = conv(m, first, 4)
    row = m.op(ops.Reshape((1, 4, 490)), y)
    row = m.op(RELU, row)
    row = m.op(ops.Add(), row, m.const(4, 1))
    again = m.op(ops.Reshape((1, 4, 1, 490)), row)
    after = simplify(check(m.graph(conv(m, again, 2))))
    assert ops_of(after)[0] == "Conv"
    assert after.input_layouts == {}


def test_merged_axes_are_followed():
    # Patches of a vision transformer: [1, C, H, W] -> [1, C, HW] -> [1, HW, C].
    m = Maker()
    x = conv(m, m.input(1, 3, 4, 4), 6)
    tokens = m.op(ops.Transpose((0, 2, 1)), m.op(ops.Reshape((1, 6, 16)), x))
    y = m.op(ops.Add(), tokens, m.const(1, 16, 6))
    check(m.graph(m.op(ops.Gemm(), y, m.const(5, 6), "")))


def test_argmax_and_prelu_and_softmax():
    m = Maker()
    x = conv(m, m.input(1, 3, 4, 4), 6)
    last = m.op(TO_LAST, x)
    y = m.op(TO_FIRST, m.op(ops.PRelu(), last, m.const(6)))
    y = conv(m, y, 5)
    from edgec.base.dtypes import DType

    check(m.graph(m.op(ops.ArgMax(1, keepdims=False), y, dtype=DType.INT32)))


def test_conflicting_orders_keep_the_cheaper_transpose():
    m = Maker()
    x = conv(m, m.input(1, 3, 6, 6), 4)
    y = m.op(ops.Add(), x, m.op(ops.Transpose((0, 1, 3, 2)), x))
    check(m.graph(conv(m, y, 2)), left=1)


def test_two_outputs_of_one_root_and_an_input_as_output():
    m = Maker()
    x = m.input(1, 3, 4, 5)
    y = conv(m, x, 2)
    a = m.op(TO_LAST, y)
    b = m.op(ops.Transpose((0, 2, 1, 3)), y)
    c = m.op(TO_LAST, x)
    graph = m.graph(a, b, y, c)
    after = layout(graph)
    assert_same_function(graph, after)


@pytest.mark.parametrize("seed", range(40))
def test_random_graphs(seed: int):
    m = Maker(seed)
    rng = np.random.default_rng(seed)
    live = [m.input(1, 4, 4, 4)]
    for _ in range(8):
        x = live[rng.integers(len(live))]
        rank = len(m.shape(x))
        if rank != 4:
            live.append(m.op(RELU, x))
            continue
        match rng.integers(9):
            case 0:
                live.append(m.op(RELU, x))
            case 1:
                live.append(m.op(ops.Transpose(tuple(int(i) for i in rng.permutation(4))), x))
            case 2:
                same = [v for v in live if m.shape(v) == m.shape(x)]
                live.append(m.op(ops.Add(), x, same[rng.integers(len(same))]))
            case 3:
                live.append(m.op(ops.Mul(), x, m.const(*m.shape(x)[1:])))
            case 4:
                axes = (int(rng.integers(1, 4)),)
                keep = bool(rng.integers(2))
                live.append(m.op(ops.Reduce(ops.ReduceKind.MEAN, axes, keepdims=keep), x))
            case 5:
                w = m.const(4, 1, 1, m.shape(x)[3])
                live.append(m.op(ops.Conv(), x, w, ""))
            case 6:
                live.append(m.op(ops.Concat(int(rng.integers(1, 4))), x, x))
            case 7:
                shape = m.shape(x)
                merged = (1, shape[0] * shape[1], shape[2] * shape[3])
                live.append(m.op(ops.Reshape(merged), x))
            case 8:
                flat = m.op(ops.Reshape((1, int(np.prod(m.shape(x))))), x)
                live.append(m.op(ops.Gemm(), flat, m.const(3, m.shape(flat)[1]), ""))
    graph = m.graph(*dict.fromkeys(live[-3:]))
    if not graph.nodes or any(o in graph.inputs for o in graph.outputs):
        return
    after = simplify(layout(graph))
    assert_same_function(graph, after)
    assert transposes(after) <= max(transposes(graph), 0)


@pytest.mark.parametrize("perm", [(3, 0, 2, 1), (2, 1, 3, 0), (1, 0, 2, 3)])
def test_rule_7_the_batch_axis_stays_the_first(perm):
    """Found by the campaign `models`: samples are stacked along it."""
    m = Maker()
    x = m.input(1, 3, 6, 5)
    y = m.op(ops.Softmax(), m.op(ops.Transpose(perm), x))
    back = m.op(ops.Transpose(tuple(np.argsort(perm))), y)
    after = layout(m.graph(m.op(RELU, back)))
    assert after.shape("x")[0] == 1
    assert after.input_layouts.get("x", (0,))[0] == 0
    for name in after.outputs:
        assert after.shape(name)[0] == 1
        assert after.output_layouts.get(name, (0,))[0] == 0

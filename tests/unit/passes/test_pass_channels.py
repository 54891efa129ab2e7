from __future__ import annotations

import numpy as np
import pytest
from data_folder import needed_data_folder
from integer_samples import IntegerMaker, assert_same_codes, random_integer_graph

from edgec.interp import run_graph
from edgec.ir import qops
from edgec.ir.graph import Graph
from edgec.ir.infer import macs, total_macs
from edgec.ir.qparams import QuantParams
from edgec.passes.channel_plan import plan_removal
from edgec.passes.channel_ranges import channel_ranges, taps_outside
from edgec.passes.remove_constant_channels import removal_notes, remove_constant_channels


def explicit_conv(m: IntegerMaker, x: str, weight, bias, *, zero=-128, group=1, pad=0) -> str:
    weight = np.asarray(weight)
    attrs = qops.QConv((1, 1), (pad,) * 4, (1, 1), group, qops.Requant31(32, zero))
    outputs = weight.shape[0]
    multiplier = m.const(np.full(outputs, 2**27), "int32")
    names = m.const(weight, "int8"), m.const(bias, "int32"), multiplier
    return m.op(attrs, x, *names, zero=zero)


def removed(graph: Graph) -> Graph:
    after = remove_constant_channels(graph)
    assert_same_codes(graph, after)
    return after


def test_taps_outside():
    inside, outside = taps_outside(4, 3, 1, 1, 1, 4)
    assert inside.tolist() == [True, True, True]
    assert outside.tolist() == [True, False, True]
    inside, outside = taps_outside(1, 3, 1, 1, 1, 1)
    assert inside.tolist() == [False, True, False]


def test_a_scalar_that_is_moved():
    m = IntegerMaker(1)
    scalar = m.same(qops.QReshape(()), m.input(1, 1))
    double = m.op(qops.QLut(), scalar, m.const(np.arange(-128, 128), "int8"))
    scaled = m.mul(double, m.const(np.int8(3), "int8", QuantParams.per_tensor(1.0, 0)))
    moved = m.same(qops.QReshape((1, 1)), scaled)
    assert channel_ranges(m.graph(moved))[double].low.tolist() == [-128]
    assert removed(m.graph(moved)).outputs == (moved,)


def test_rule_1_and_2_constant_at_zero_point_folds_through_padding():
    m = IntegerMaker(1)
    weight = m.rng.integers(-9, 9, (4, 3, 3, 3))
    hidden = explicit_conv(m, m.input(1, 5, 5, 3), weight, [0, -(2**24), 5, -(2**24)], pad=1)
    last = explicit_conv(m, hidden, m.rng.integers(-9, 9, (2, 3, 3, 4)), [1, 2], zero=0, pad=1)
    after = removed(m.graph(last))
    assert after.shape(hidden) == (1, 5, 5, 2)
    assert after.shape(last) == (1, 5, 5, 2)


def constant_nine(m: IntegerMaker) -> str:
    """Four channels, of which channel 1 is always code 9 while the zero point is -128."""
    weight = m.rng.integers(-9, 9, (4, 1, 1, 3))
    weight[1] = 0
    hidden = explicit_conv(m, m.input(1, 5, 5, 3), weight, [0, 137 << 5, 0, 0])
    assert channel_ranges(m.graph(hidden))[hidden].low[1] == 9
    m.builder.outputs = []
    return hidden


def test_rule_2_another_constant_folds_into_an_unpadded_convolution():
    m = IntegerMaker(2)
    hidden = constant_nine(m)
    last = explicit_conv(m, hidden, m.rng.integers(-9, 9, (2, 3, 3, 4)), [1, 2], zero=0)
    after = removed(m.graph(last))
    assert after.shape(hidden)[3] == 3


def test_rule_2_another_constant_stays_before_padding():
    m = IntegerMaker(3)
    hidden = constant_nine(m)
    last = explicit_conv(m, hidden, m.rng.integers(1, 9, (2, 3, 3, 4)), [1, 2], zero=0, pad=1)
    after = removed(m.graph(last))
    assert after.shape(hidden)[3] == 4


def test_rule_3_depthwise_goes_with_its_input():
    m = IntegerMaker(4)
    weight = m.rng.integers(-9, 9, (4, 3, 3, 3))
    hidden = explicit_conv(m, m.input(1, 5, 5, 3), weight, [0, -(2**24), 5, 0], pad=1)
    kernel = m.rng.integers(-9, 9, (8, 3, 3, 1))
    deep = explicit_conv(m, hidden, kernel, np.zeros(8, int), group=4, pad=1)
    last = explicit_conv(m, deep, m.rng.integers(-9, 9, (2, 1, 1, 8)), [1, 2], zero=0)
    after = removed(m.graph(last))
    assert after.shape(deep)[3] == 6
    node = after.producers[deep]
    assert node.attrs.group == 3


def test_dead_channels_go():
    m = IntegerMaker(5)
    hidden = explicit_conv(m, m.input(1, 4, 4, 3), m.rng.integers(1, 9, (5, 1, 1, 3)), [0] * 5)
    weight = m.rng.integers(1, 9, (2, 3, 3, 5))
    weight[..., 2] = 0
    after = removed(m.graph(explicit_conv(m, hidden, weight, [1, 2], zero=0, pad=1)))
    assert after.shape(hidden)[3] == 4


def test_rule_4_sum_drops_only_what_both_operands_drop():
    m = IntegerMaker(6)
    x = m.input(1, 4, 4, 3)
    weight = m.rng.integers(1, 9, (3, 1, 1, 3))
    a = explicit_conv(m, x, weight, [0, -(2**24), -(2**24)])
    b = explicit_conv(m, x, weight, [-(2**24), 0, -(2**24)])
    total = m.add(a, b)
    last = explicit_conv(m, total, m.rng.integers(1, 9, (2, 1, 1, 3)), [1, 2], zero=0)
    after = removed(m.graph(last))
    assert [after.shape(n)[3] for n in (a, b, total)] == [2, 2, 2]


def test_rule_5_flattened_tensor_drops_every_copy():
    m = IntegerMaker(7)
    weight = m.rng.integers(-9, 9, (4, 1, 1, 3))
    hidden = explicit_conv(m, m.input(1, 3, 2, 3), weight, [0, -(2**24), 5, 0])
    flat = m.same(qops.QReshape((1, 24)), hidden)
    after = removed(m.graph(m.gemm(flat, 3, constant=0.0)))
    assert after.shape(flat) == (1, 18)


def test_inputs_outputs_and_the_last_channel_stay():
    m = IntegerMaker(8)
    weight = np.zeros((4, 1, 1, 3), int)
    hidden = explicit_conv(m, m.input(1, 3, 2, 3), weight, [0, 1, 2, 3])
    last = explicit_conv(m, hidden, np.ones((2, 1, 1, 4), int), [1, 2], zero=0)
    graph = m.graph(last)
    after = removed(graph)
    assert after.shape("x") == (1, 3, 2, 3)
    assert after.shape(last)[3] == 2
    assert after.shape(hidden)[3] == 1
    assert removal_notes(graph, after)[0].startswith("removed 3 constant or dead channels: ")
    assert removal_notes(after, after) == ()


@pytest.mark.few_cases(50)
@pytest.mark.parametrize("seed", range(150))
def test_random_graphs_keep_every_bit(seed: int):
    graph = random_integer_graph(seed)
    after = removed(graph)
    assert total_macs(after) <= total_macs(graph)
    assert not any(drop.any() for drop in plan_removal(after).drop.values())


@pytest.mark.parametrize("seed", range(40))
def test_ranges_hold_every_code(seed: int):
    graph = random_integer_graph(seed)
    ranges = channel_ranges(graph)
    rng = np.random.default_rng(seed)
    for _ in range(3):
        found = run_graph(graph, {"x": rng.integers(-128, 128, graph.shape("x")).astype(np.int8)})
        for name, bounds in ranges.items():
            codes = found[name].reshape(-1, found[name].shape[-1])
            assert np.all(codes.min(axis=0) >= bounds.low), name
            assert np.all(codes.max(axis=0) <= bounds.high), name


def test_random_graphs_do_lose_channels():
    graphs = [random_integer_graph(seed) for seed in range(40)]
    smaller = [total_macs(remove_constant_channels(g)) < total_macs(g) for g in graphs]
    assert sum(smaller) > 20


@pytest.mark.data
def test_visual_wake_words_loses_half_its_macs():
    from edgec.base.options import QuantOptions
    from edgec.importers.onnx.importer import import_model
    from edgec.passes import REAL_PASSES, run_passes
    from edgec.quant import annotate, to_integer

    imported = import_model(
        needed_data_folder() / "models" / "mlperf_mobilenetv1_025_vww96_int8_qdq.onnx"
    )
    real = run_passes(imported, REAL_PASSES).graph
    graph = to_integer(annotate(real, None, QuantOptions())[0])
    after = remove_constant_channels(graph)
    assert total_macs(graph) == 7_489_664
    assert 3_600_000 < total_macs(after) < 3_745_000
    assert all(macs(after, node) >= 0 for node in after.nodes)
    assert_same_codes(graph, after, runs=2)

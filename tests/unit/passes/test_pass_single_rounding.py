"""Layers that round once have the codes of two roundings, for every accumulator."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from mixed_forms import ONES, Mixed

from edgec.base.dtypes import Array
from edgec.base.tflite_arithmetic import quantized_factor
from edgec.interp import run_graph
from edgec.ir import Graph, qops
from edgec.ir.verify import Stage, verify
from edgec.passes.remove_constant_channels import remove_constant_channels
from edgec.passes.single_rounding import offset_numbers, rounding_notes, single_rounding

RELU = {"zero_point": -128, "low": -128, "high": 127}


def twice(factors: Array, **ends: int) -> tuple[qops.TwoRoundings31, Array]:
    """The form that stands for real factors, and its multipliers."""
    numbers = [quantized_factor(float(factor)) for factor in factors]
    multipliers, shifts = (np.array(column) for column in zip(*numbers, strict=True))
    return qops.TwoRoundings31(tuple(map(int, shifts)), **ends), multipliers.astype(np.int32)


@settings(max_examples=60, deadline=None)
@given(
    exponents=st.lists(st.floats(-11, -3), min_size=1, max_size=4),
    reach=st.integers(1, 1 << 15),
    least=st.integers(-(1 << 14), 0),
    low=st.sampled_from([-128, -100]),
)
def test_numbers_that_are_found_give_the_same_codes(
    exponents: list[float], reach: int, least: int, low: int
):
    """Every accumulator within the bounds is tried."""
    form, multiplier = twice(2.0 ** np.array(exponents), zero_point=low, low=low)
    bounds = np.full(len(exponents), least), np.full(len(exponents), least + reach)
    found = offset_numbers(form, multiplier, *bounds)
    if found is None:
        return
    found.form.verify()
    acc = np.arange(least, least + reach + 1)[:, None] + np.zeros(len(exponents), np.int64)
    wanted = form.apply(acc, multiplier)
    assert np.array_equal(found.form.apply(acc + found.added, found.multiplier), wanted)


def test_a_layer_with_relu_has_such_numbers():
    rng = np.random.default_rng(3)
    factors = rng.uniform(0.001, 0.004, 64)
    form, multiplier = twice(factors, **RELU)
    bounds = np.full(64, -150_000), np.full(64, 150_000)
    found = offset_numbers(form, multiplier, *bounds)
    assert found is not None
    acc = rng.integers(-150_000, 150_001, (20_000, 64))
    wanted = form.apply(acc, multiplier)
    assert np.array_equal(found.form.apply(acc + found.added, found.multiplier), wanted)


@pytest.mark.parametrize("ends", [{"zero_point": 0}, {"zero_point": -60, "low": -128}])
def test_a_layer_that_sees_negative_products_has_none(ends: dict[str, int]):
    form, multiplier = twice(np.array([0.002, 0.003]), **ends)
    bounds = np.full(2, -150_000), np.full(2, 150_000)
    assert offset_numbers(form, multiplier, *bounds) is None


def test_channels_that_never_change_their_code_have_any_numbers():
    form, multiplier = twice(np.array([0.002, 0.004]), **RELU)
    found = offset_numbers(form, multiplier, np.array([-900, 20]), np.array([-1, 900]))
    assert found is not None
    acc = np.array([[-900, 20], [-1, 900], [-5, 333]])
    wanted = form.apply(acc, multiplier)
    assert np.array_equal(found.form.apply(acc + found.added, found.multiplier), wanted)


def layers(dead: int | None = None) -> Graph:
    """A convolution with Relu, of which one channel may be constant, and one with both signs."""
    net = Mixed(5)
    x = net.input(1, 5, 5, 4)
    for ends in (RELU, {"zero_point": 3}):
        form, multiplier = twice(net.rng.uniform(0.001, 0.003, 6), **ends)
        depth = 4 if ends is RELU else 6
        numbers = net.rng.integers(-127, 128, (6, 3, 3, depth)).astype(np.int8)
        biases = net.rng.integers(-2000, 2000, 6).astype(np.int32)
        if dead is not None and ends is RELU:
            numbers[dead], biases[dead] = 0, 0
        weights, bias = net.array(numbers), net.array(biases)
        attrs = qops.QConv(ONES, (1,) * 4, ONES, 1, form)
        x = net.put(attrs, [x, weights, bias, net.array(multiplier)], form.zero_point)
    net.builder.outputs = [x]
    return net.builder.build()


def test_rule_1_offset():
    before = layers()
    after = single_rounding(before)
    verify(after, Stage.INTEGER)
    assert [type(node.attrs.output) for node in after.nodes] == [qops.Offset31, qops.TwoRoundings31]
    assert rounding_notes(before, after) == (
        "1 of 2 layers round once, with the codes of two roundings",
    )
    rng = np.random.default_rng(1)
    for _ in range(10):
        x = {before.inputs[0]: rng.integers(-128, 128, (1, 5, 5, 4)).astype(np.int8)}
        found, wanted = (run_graph(graph, x)[graph.outputs[0]] for graph in (after, before))
        assert np.array_equal(found, wanted)


@pytest.mark.parametrize("first", [remove_constant_channels, single_rounding])
def test_removed_channels_take_their_numbers_along(first: Callable[[Graph], Graph]):
    """In either order: the form of a layer keeps the numbers of the channels that stay."""
    before = layers(dead=2)
    second = single_rounding if first is remove_constant_channels else remove_constant_channels
    after = second(first(before))
    verify(after, Stage.INTEGER)
    once, twice_ = (node.attrs_as(qops.QConv).output for node in after.nodes)
    assert isinstance(once, qops.Offset31) and len(once.offsets) == 5
    assert isinstance(twice_, qops.TwoRoundings31) and len(twice_.shifts) == 6
    x = {before.inputs[0]: np.random.default_rng(2).integers(-128, 128, (1, 5, 5, 4))}
    codes = {name: array.astype(np.int8) for name, array in x.items()}
    found, wanted = (run_graph(graph, codes)[graph.outputs[0]] for graph in (after, before))
    assert np.array_equal(found, wanted)


def test_graphs_of_other_forms_stay_as_they_are():
    net = Mixed(1)
    x = net.input(1, 4)
    form = qops.Requant31(32)
    numbers = [
        net.constant(-9, 9, 3, 4),
        net.constant(-9, 9, 3, dtype=np.int32),
        net.constant(1, 9, 3, dtype=np.int32),
    ]
    net.builder.outputs = [net.put(qops.QGemm(form), [x, *numbers], 0)]
    graph = net.builder.build()
    after = single_rounding(graph)
    assert after.nodes == graph.nodes
    assert rounding_notes(graph, after) == ()

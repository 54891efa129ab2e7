"""Weights of few bits after training: numbers, scales, layers, and what a compile makes of them."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from import_models import N, imported, model_of
from pooled_models import small_network

from edgec.base.dtypes import Array
from edgec.base.errors import ConfigError, WeightPoolError
from edgec.base.options import FewBitsOptions, IntegerOptions, WeightBits
from edgec.ir import ops
from edgec.ir.graph import Graph
from edgec.layererror.objective import Objective
from edgec.passes import REAL_PASSES, run_passes
from edgec.weightpool import narrow_layers, narrow_report, narrowed
from edgec.weightpool.levels import _chosen
from edgec.workflow.exported import exported, read_again
from edgec.workflow.integer import quantized_model

INNER = ("inner_w", "second_w", "wide_w")


def noise(count: int = 24) -> dict[str, Array]:
    return {"x": np.random.default_rng(1).normal(size=(count, 8, 8, 3)).astype(np.float32)}


def codes_of(graph: Graph, names: tuple[str, ...] = INNER) -> list[Array]:
    return [graph.constants[name].array for name in names]


@pytest.mark.parametrize("bits", WeightBits)
def test_weights_are_whole_numbers_within_their_bits(bits: WeightBits):
    graph, (low, high) = small_network(), bits.levels
    after = narrowed(graph, noise(), FewBitsOptions(bits, INNER))
    for array in codes_of(after):
        assert array.dtype == np.int8
        assert {low, high} <= set(np.unique(array)) <= set(range(low, high + 1))
    others = [name for name in graph.constants if name.endswith("_w") and name not in INNER]
    assert others
    assert all(after.constants[name].quant is None for name in others)


def test_more_bits_leave_less_error_and_data_help():
    graph = small_network()

    def noise_of(options: FewBitsOptions, data: dict[str, Array] | None) -> float:
        after = narrowed(graph, data, options)
        report = narrow_report(graph, after, noise(), options)
        last = report.layers[-1].sqnr_db
        assert last is not None
        return -last

    found = [noise_of(FewBitsOptions(bits, INNER), noise()) for bits in WeightBits]
    assert found == sorted(found), "four, three, two bits, ternary"
    for bits, with_data in zip(WeightBits, found, strict=True):
        assert with_data < noise_of(FewBitsOptions(bits, INNER), None)


def test_each_filter_is_as_good_as_any_scale_of_nearest_numbers():
    rng = np.random.default_rng(3)
    target = rng.normal(size=(12, 40)) * rng.uniform(0.1, 3.0, (12, 1))
    plain = Objective(target, np.eye(40), 0.0, np.zeros(40), np.zeros(12), 1.0)
    for bits in WeightBits:
        low, high = bits.levels
        pool = np.arange(low, high + 1, dtype=np.float64)[:, None]
        found = _chosen(plain, pool)
        best = np.full(12, np.inf)
        for scale in np.geomspace(0.01, 5.0, 400):
            nearest = np.clip(np.rint(target / scale), low, high) * scale
            best = np.minimum(best, plain.error(nearest))
        error = plain.error(found.rows(pool))
        assert (error <= 1.15 * best).all()
        assert error.sum() <= 1.02 * best.sum()


def test_the_file_computes_as_the_graph_and_packs_in_flash():
    graph = small_network()
    after = narrowed(graph, noise(), FewBitsOptions(WeightBits.TERNARY, INNER))
    again = read_again(exported(after), "ternary.onnx")
    weights = {
        tuple(np.unique(again.graph.constants[ops.layer_inputs(node).w].array))
        for node in again.graph.nodes
        if isinstance(node.attrs, ops.Weighted)
        and again.graph.constants[ops.layer_inputs(node).w].quant is not None
    }
    assert weights == {(-1, 0, 1)}
    integer = quantized_model(replace(again, calibration=noise()), IntegerOptions()).integer
    arrays = [each.array for each in integer.constants.values() if each.array.ndim > 1]
    ternary = [each for each in arrays if each.dtype == np.int8 and np.abs(each).max() == 1]
    assert len(ternary) == len(INNER)


def test_first_and_last_layers_and_small_ones_stay():
    choice = narrow_layers(small_network(), FewBitsOptions(WeightBits.FOUR))
    reasons = [each.reason for each in choice.left_alone]
    assert "first layer" in reasons[0]
    assert "last layer" in reasons[-1]
    kept = narrow_layers(small_network(), FewBitsOptions(WeightBits.FOUR, keep=("wide*",)))
    assert len(kept.pooled) == len(choice.pooled) - 1
    assert "--keep" in [each.reason for each in kept.left_alone]


@pytest.mark.parametrize(
    ("options", "where"),
    [
        (FewBitsOptions(WeightBits.TWO, layers=("nothing*",)), "--layers nothing*"),
        (FewBitsOptions(WeightBits.TWO, keep=("nothing*",)), "--keep nothing*"),
        (FewBitsOptions(WeightBits.TWO, keep=("*",)), "small"),
    ],
)
def test_choices_without_a_layer_are_refused(options: FewBitsOptions, where: str):
    with pytest.raises(WeightPoolError) as caught:
        narrowed(small_network(), None, options)
    assert where in caught.value.where


def test_bits_that_are_refused_say_why():
    with pytest.raises(ConfigError, match="cost too much accuracy") as caught:
        WeightBits.parse("1")
    assert "few-bits.md" in caught.value.hint
    for text in ("5", "int8", ""):
        with pytest.raises(ConfigError, match="not known"):
            WeightBits.parse(text)


def test_codes_of_layers_that_stay_are_kept():
    four, *_, ternary = WeightBits
    once = narrowed(small_network(), noise(), FewBitsOptions(four, INNER[:1]))
    twice = narrowed(once, noise(), FewBitsOptions(ternary, INNER[1:]))
    assert np.array_equal(codes_of(once, INNER[:1]), codes_of(twice, INNER[:1]))
    assert all(np.abs(codes).max() == 1 for codes in codes_of(twice, INNER[1:]))


def test_gates_of_recurrent_operators_stay_in_bytes(tmp_path: Path):
    shapes = {"w": (1, 96, 16), "r": (1, 96, 32)}
    constants = {name: np.zeros(shape, np.float32) for name, shape in shapes.items()}
    gru = N("GRU", ["x", "w", "r"], ["", "y"], hidden_size=32)
    graph = imported(model_of([gru], {"x": (5, 1, 16)}, constants, opset=14), tmp_path)
    with pytest.raises(WeightPoolError, match="a gate of a recurrent operator"):
        narrow_layers(run_passes(graph, REAL_PASSES).graph, FewBitsOptions(WeightBits.TWO))

"""Activations of few bits before layers with weights of few bits."""

from dataclasses import replace

import numpy as np
import onnxruntime
import pytest
from pooled_models import small_network

from edgec.base.dtypes import Array, DType
from edgec.base.errors import ConfigError
from edgec.base.options import FewBitsOptions, IntegerOptions, WeightBits
from edgec.floatrun.executor import Executor
from edgec.interp import run_graph
from edgec.ir import Graph, ops, qops
from edgec.passes.pack_planes import plane_layers
from edgec.target.board import load_board
from edgec.target.target import Target
from edgec.weightpool import narrow_report, narrowed
from edgec.weightpool.few_codes import least_error
from edgec.workflow.bit_planes import in_bit_planes
from edgec.workflow.exported import exported, read_again
from edgec.workflow.integer import quantized_model

RNG = np.random.default_rng(0)
INNER = ("inner_w", "second_w", "wide_w")


def noise(count: int = 24, seed: int = 1) -> dict[str, Array]:
    return {"x": np.random.default_rng(seed).normal(size=(count, 8, 8, 3)).astype(np.float32)}


def few(bits: int, channels: int = 16, weights: WeightBits = WeightBits.TERNARY) -> Graph:
    options = FewBitsOptions(weights, INNER, activation_bits=bits)
    return narrowed(small_network(channels=channels), noise(), options)


@pytest.mark.parametrize(
    ("bits", "signed", "low", "high"), [(1, False, 0, 1), (3, False, 0, 7), (2, True, -2, 1)]
)
def test_no_other_step_errs_much_less(bits: int, signed: bool, low: int, high: int):
    values = RNG.normal(size=2000).astype(np.float32)
    values = values if signed else np.maximum(values, 0)
    found = least_error(values, bits, signed=signed)
    assert (found.low, found.high) == (low, high)
    assert found.step == np.float32(found.step)

    def error(step: float) -> float:
        return float(np.mean((np.clip(np.rint(values / step), low, high) * step - values) ** 2))

    assert error(found.step) <= 1.02 * min(error(step) for step in np.linspace(0.05, 5, 500))


def test_values_with_a_sign_have_two_bits_at_least():
    assert least_error(np.array([-1, 1], np.float32), 1, signed=True).low == -2


def test_values_that_are_all_zero_have_a_step():
    assert least_error(np.zeros(4, np.float32), 2, signed=False).step > 0


@pytest.mark.parametrize("bits", [1, 2, 4, 7])
def test_layers_read_numbers_of_so_few_bits(bits: int):
    graph = few(bits)
    layers = [node for node in graph.nodes if isinstance(node.attrs, ops.Conv)][1:]
    names = [node.first for node in layers]
    found = Executor(graph, names).run(noise(4, 7))
    for name in names:
        codes = graph.producers[name].input
        quant = graph.quant(codes)
        assert quant.dtype is DType.UINT8
        numbers = np.unique(found[name] / quant.tensor_scale)
        assert len(numbers) > 1
        assert set(numbers) <= set(range(1 << bits))


def test_eight_bits_change_nothing_but_the_weights():
    graph = few(8)
    assert not any(isinstance(node.attrs, ops.QuantizeLinear) for node in graph.nodes)


def test_more_bits_leave_less_error():
    network, options = small_network(), FewBitsOptions(WeightBits.FOUR, INNER)

    def quality(bits: int) -> float:
        after = few(bits, weights=WeightBits.FOUR)
        last = narrow_report(network, after, noise(), options).layers[-1].sqnr_db
        assert last is not None
        return last

    assert quality(1) < quality(2) < quality(4) < quality(8)


def integers_of(graph: Graph) -> Graph:
    """What a compile of the file makes."""
    real = read_again(exported(graph), "few.bits.onnx")
    return quantized_model(replace(real, calibration=noise()), IntegerOptions()).integer


@pytest.mark.parametrize(("bits", "are_planes"), [(1, True), (2, True), (3, True), (4, False)])
def test_a_compile_could_take_bit_planes(bits: int, are_planes: bool):
    integer = integers_of(few(bits))
    assert len(plane_layers(integer)) == (3 if are_planes else 0)


def test_bit_planes_are_taken_where_they_are_faster_and_change_nothing():
    integer = integers_of(few(2, channels=64))
    planes = in_bit_planes(integer, Target.of(load_board("raspberry_pi_3")))
    found = [node for node in planes.nodes if isinstance(node.attrs, qops.PlaneLayer)]
    assert len(found) == 3
    x = RNG.integers(-128, 128, (1, 8, 8, 3)).astype(np.int8)
    (name,) = integer.inputs
    for output in integer.outputs:
        assert np.array_equal(
            run_graph(integer, {name: x})[output], run_graph(planes, {name: x})[output]
        )


def test_the_file_computes_what_the_graph_does():
    graph, data = few(3), noise(6, 9)
    options = onnxruntime.SessionOptions()
    # Otherwise onnxruntime rounds biases, which docs/few-bits.md says.
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    session = onnxruntime.InferenceSession(exported(graph), options)
    (expected,) = Executor(graph, graph.outputs).run(data).values()
    found = np.stack([session.run(None, {"x": each[None]})[0] for each in data["x"]])
    # A float32 sum that lies between two numbers may be rounded to the other one.
    assert np.mean(np.isclose(found, expected, rtol=1e-4, atol=1e-4)) > 0.8


def test_bits_that_are_none():
    with pytest.raises(ConfigError, match="--activation-bits"):
        FewBitsOptions(WeightBits.TWO, activation_bits=9)

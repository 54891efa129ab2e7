"""LSTM, GRU and RNN in integers: near onnxruntime on other data, over long streams too."""

from __future__ import annotations

import numpy as np
import onnx
import pytest
from loop_models import info, two_states
from quantized_loops import Network, one_step
from recurrent_models import recurrent

from edgec.base.dtypes import DType
from edgec.base.options import CompileOptions, Precision
from edgec.base.streams import RESETS
from edgec.importers.formats import import_model
from edgec.ir import qops
from edgec.passes.base import run_passes
from edgec.passes.pipeline import REAL_PASSES
from edgec.quant.common.quality import sqnr_db
from edgec.quant.entry import quantize
from edgec.quant.precision.feedback import feedback_values


@pytest.mark.parametrize(
    ("op", "attrs"),
    [
        ("GRU", {"steps": 40}),
        ("GRU", {"steps": 40, "linear_before_reset": 1, "direction": "reverse"}),
        ("LSTM", {"steps": 40}),
        ("LSTM", {"steps": 20, "direction": "bidirectional", "states": True}),
        ("RNN", {"steps": 30, "gain": 0.3}),
    ],
)
def test_sequences_are_near_the_float_network(op, attrs, tmp_path):
    proto = recurrent(op, features=6, units=16, **{"gain": 0.4, "outputs": "y", **attrs})
    network = Network(proto, tmp_path)
    data = network.data(48, 2)
    wanted, found = network.wanted(data), network.outputs(data)
    assert sqnr_db(wanted["y"], found["y"].reshape(wanted["y"].shape)) >= 35


def test_a_stream_of_10_000_steps_does_not_drift(tmp_path):
    """States begin once; the last steps are as near as the first."""
    network = Network(one_step(), tmp_path, samples=480)
    data = network.data(10_000, 3)
    data[RESETS] = np.arange(10_000) == 0
    wanted, found = (
        each["y"].reshape(10_000, -1) for each in (network.wanted(data), network.outputs(data))
    )
    for part in (slice(0, 100), slice(4_000, 5_000), slice(9_000, 10_000)):
        assert sqnr_db(wanted[part], found[part]) >= 30


def _types(network: Network) -> set[DType]:
    graph = network.integer
    carried = [node for node in graph.nodes if isinstance(node.attrs, qops.QCarry)]
    return {graph.tensor(name).dtype for node in carried for name in node.outputs}


def test_states_have_int16_codes_unless_int8_is_asked_for(tmp_path):
    proto = recurrent("LSTM", steps=4)
    assert _types(Network(proto, tmp_path)) == {DType.INT16}
    assert _types(Network(proto, tmp_path, Precision.INT8)) == {DType.INT8}


def test_states_that_a_program_hands_on_have_int16_codes(tmp_path):
    """An input that is only the first state of a layer; the sequence keeps int8 codes."""
    proto = recurrent("LSTM", steps=4, states=True)
    given = [each for each in proto.graph.initializer if each.name in ("h0", "c0")]
    for each in given:
        proto.graph.initializer.remove(each)
        proto.graph.input.append(info(each.name, *each.dims))
    onnx.save(proto, tmp_path / "model.onnx")
    real = run_passes(import_model(tmp_path / "model.onnx"), REAL_PASSES).graph
    rng = np.random.default_rng(1)
    data = {
        name: rng.normal(size=(16, *real.shape(name)[1:])).astype(np.float32)
        for name in real.inputs
    }
    graph = quantize(real, data, CompileOptions()).integer
    types = {name: graph.tensor(name).dtype for name in graph.inputs}
    assert types == {"x": DType.INT8, "h0": DType.INT16, "c0": DType.INT16}


def test_the_input_keeps_int8(tmp_path):
    network = Network(recurrent("GRU", steps=4), tmp_path)
    assert network.integer.tensor("x").dtype is DType.INT8


def test_what_is_only_moved_is_no_feedback(tmp_path):
    """The past frames of a moving average are kept as they are; the cell beside them computes."""
    import onnx

    path = tmp_path / "model.onnx"
    onnx.save(two_states(), path)
    graph = run_passes(import_model(path), REAL_PASSES).graph
    found = feedback_values(graph)
    assert found
    moved = {node.output for node in graph.nodes if node.attrs.moves_codes}
    assert not found & moved

"""Networks with loops and state in integers: near the float file in onnxruntime, on other data."""

from __future__ import annotations

import numpy as np
import onnx
import pytest
from loop_models import LOOPS, STREAMS, cell, two_states
from onnx import helper, numpy_helper
from quantized_loops import Network

from edgec.base.errors import ConfigError
from edgec.base.options import Precision
from edgec.base.streams import RESETS
from edgec.exporters.onnx.export import export_qdq
from edgec.floatrun.activations import checked_calibration
from edgec.floatrun.float_model import FloatModel
from edgec.importers.formats import import_model
from edgec.interp import run_graph_batch
from edgec.ir import qops
from edgec.ir.metadata import state_pairs
from edgec.quant.common.quality import sqnr_db

LEAST_DB = {
    "cumulative sum": (28, 60),
    "two layers": (33, 42),
    "masked": (22, 42),
    "cell": (24, 42),
    "cell backwards": (24, 42),
    "nested": (20, 55),
    "counted": (18, 50),
    "sliced": (25, 40),
    "maps": (30, 45),
    "moving average": (20, 40),
    "two states": (18, 28),
}
"""Signal to noise that is asked for with int8 and with int16 codes."""


WIDER = {"cumulative sum": Precision.INT16, "cell": Precision.INT16, "two states": Precision.INT16}
CASES = [*((name, Precision.INT8) for name in LEAST_DB), *WIDER.items()]


@pytest.mark.parametrize(("name", "precision"), [*CASES, ("nested", Precision.AUTO)])
def test_integers_are_near_the_float_network(name, precision, tmp_path):
    network = Network({**LOOPS, **STREAMS}[name](), tmp_path, precision)
    data = network.data(48, 2)
    wanted, found = network.wanted(data), network.outputs(data)
    least = LEAST_DB[name][precision is Precision.INT16]
    for output, array in wanted.items():
        assert sqnr_db(array, found[output].reshape(array.shape)) >= least, output


@pytest.mark.parametrize("name", ["nested", "two states"])
def test_what_is_carried_has_one_quantization(name, tmp_path):
    integer = Network({**LOOPS, **STREAMS}[name](), tmp_path, Precision.AUTO).integer
    carried = [node for node in integer.nodes if isinstance(node.attrs, qops.QCarry)]
    assert len(carried) == 2
    for node in carried:
        update = integer.updates[node.output]
        names = (*node.inputs, *node.outputs, *update.inputs, *update.outputs)
        assert len({integer.quant(each) for each in names}) == 1


@pytest.mark.parametrize("name", ["cell", "masked", "nested", "maps", "two states"])
def test_the_exported_file_computes_the_codes(name, tmp_path):
    network = Network({**LOOPS, **STREAMS}[name](), tmp_path, Precision.INT8)
    assert network.quantized.annotated is not None
    exported = export_qdq(network.quantized.annotated)
    path = tmp_path / "quantized.onnx"
    onnx.save(exported, path)
    data = network.data(24, 4)
    pairs = state_pairs(import_model(path))
    names = network.imported.outputs
    theirs = FloatModel(exported, optimize=False).run_steps(data, pairs, names)
    for output, array in network.outputs(data).items():
        gaps = np.abs(theirs[output].reshape(array.shape) - array)
        # Halves round up here and to even there; a turn hands the difference to the next one.
        assert gaps.max() <= 2.01 * network.integer.quant(output).tensor_scale


def test_layers_in_turns_are_judged_and_corrected(tmp_path):
    report = Network(cell(), tmp_path, Precision.INT8).quantized.report
    assert report.in_force.bias_correction
    values = {layer.value for layer in report.layers}
    assert {"scan/Carry", "scan/TurnSlice"} & values or len(values) > 8
    # Sums that a tanh reads may be cut off; the states that it gives may not.
    kept = [layer for layer in report.layers if layer.op in ("QLut", "QTurnStack", "QTurnLast")]
    assert kept
    assert all(layer.sqnr_db > 20 for layer in kept)
    assert report.losses


def test_streams_begin_anew(tmp_path):
    network = Network(two_states(), tmp_path, Precision.INT8)
    data = network.data(32, 5)
    whole = run_graph_batch(network.integer, network.codes(data))["y"]
    second = {name: array[16:] for name, array in network.codes(data).items()}
    assert np.array_equal(run_graph_batch(network.integer, second)["y"], whole[16:])
    one = {**network.codes(data), RESETS: np.arange(32) == 0}
    assert not np.array_equal(run_graph_batch(network.integer, one)["y"], whole)


@pytest.mark.parametrize("resets", [np.zeros((3, 2)), np.zeros(4), np.zeros(3, np.float32)])
def test_resets_that_do_not_fit_are_refused(resets, tmp_path):
    network = Network(two_states(), tmp_path, Precision.INT8)
    data = {"x": np.zeros((3, 8), np.float32), RESETS: resets}
    with pytest.raises(ConfigError, match="'reset' of the data: the array is"):
        checked_calibration(network.real, data)


def test_layers_after_a_stack_in_another_form_are_judged(tmp_path):
    """A norm reads the rows of all turns in int16, which the loop stacks in int8."""
    proto = cell()
    norm = helper.make_node("LayerNormalization", ["ys", "gain", "shift"], ["z"], axis=-1)
    proto.graph.node.append(norm)
    proto.graph.output[1].name = "z"
    for name, array in (("gain", np.ones(4)), ("shift", np.zeros(4))):
        proto.graph.initializer.append(numpy_helper.from_array(array.astype(np.float32), name))
    found = Network(proto, tmp_path, Precision.INT8)
    stack = next(n for n in found.integer.nodes if isinstance(n.attrs, qops.QTurnStack))
    assert stack.output not in found.real.values  # a form of its own
    assert "z" in {loss.value for loss in found.quantized.report.losses}

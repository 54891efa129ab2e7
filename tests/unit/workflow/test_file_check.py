"""A quantized file is compared with itself, not with what edgec made of it."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import onnx
import pytest
from data_folder import data_folder
from import_models import N, model_of
from onnx import numpy_helper
from qdq_files import dense_qdq
from tflite_wide import deep

from edgec.base.errors import UnsupportedModelError
from edgec.base.options import CompileOptions
from edgec.report.model import QdqFileReport, TensorGap
from edgec.workflow.exported import compare_export
from edgec.workflow.file_check import compare_file, file_warnings
from edgec.workflow.integer import IntegerModel, integer_model


def integers(model: onnx.ModelProto, folder: Path) -> IntegerModel:
    """The integer form of a model."""
    path = folder / "model.onnx"
    onnx.save(model, path)
    return integer_model(path, None, CompileOptions())


def compared(model: IntegerModel) -> QdqFileReport:
    """The comparison with the file, which there is."""
    found = compare_file(model)
    assert found is not None
    return found


def test_a_sound_file_is_met_to_the_code(tmp_path):
    model = integers(dense_qdq(), tmp_path)
    found = compared(model)
    assert found.differing <= 0.01
    assert found.worst.largest_gap <= 1
    assert model.quantization.warnings == ()
    assert file_warnings(found) == ()


def test_a_bias_of_another_scale_shows(tmp_path):
    """The re-export hides it: it has the bias that edgec made."""
    model = integers(dense_qdq(hidden_scale_factor=700.0), tmp_path)
    exported = compare_export(model)
    assert exported is not None
    assert exported.differing == 0.0
    found = compared(model)
    assert found.differing > 0.25
    assert found.worst.name == "y"
    assert found.first is not None
    assert found.first.name.startswith("y1"), "the layer whose bias it is"
    (warning,) = file_warnings(found)
    assert f"up to {found.worst.largest_gap} codes" in warning
    (note,) = model.quantization.warnings
    assert "the bias had to be requantized: its scale is 0.0005322" in note
    assert "input scale times weight scale is 0.3726" in note


def test_layouts_of_inputs_and_outputs_are_undone(tmp_path):
    """A convolution's tensors are channels-first in the file, channels-last in the graph."""
    rng = np.random.default_rng(3)
    nodes = [
        N("QuantizeLinear", ["x", "s", "z"], ["xq"]),
        N("DequantizeLinear", ["xq", "s", "z"], ["xd"]),
        N("DequantizeLinear", ["w", "ws", "wz"], ["wd"]),
        N("Conv", ["xd", "wd"], ["c"]),
        N("QuantizeLinear", ["c", "cs", "z"], ["cq"]),
        N("DequantizeLinear", ["cq", "cs", "z"], ["y"]),
    ]
    constants = {
        "s": np.float32(0.0217),
        "z": np.int8(3),
        "w": rng.integers(-100, 101, (5, 3, 3, 2)).astype(np.int8),
        "ws": np.float32(0.0113),
        "wz": np.int8(0),
        "cs": np.float32(0.0471),
    }
    found = compared(integers(model_of(nodes, {"x": (1, 3, 6, 5)}, constants), tmp_path))
    assert found.differing <= 0.01
    assert found.worst.largest_gap <= 1


def test_a_float_file_is_not_compared(tmp_path):
    weight = np.eye(4, dtype=np.float32)
    model = model_of([N("MatMul", ["x", "w"], ["y"])], {"x": (1, 4)}, {"w": weight})
    assert compare_file(integers(model, tmp_path)) is None


@pytest.mark.parametrize("zero_point", [1, 2**31 - 1, -(2**31)])
def test_a_bias_with_a_zero_point_is_refused_once(zero_point, tmp_path):
    with pytest.raises(UnsupportedModelError) as caught:
        integers(dense_qdq(bias_zero_point=zero_point), tmp_path)
    (problem,) = caught.value.nodes
    assert f"32 bits with the zero point {zero_point}" in problem.reason


@pytest.mark.parametrize(
    ("differing", "gap", "warns"), [(0.2, 30, False), (0.9, 4, False), (0.3, 5, True)]
)
@pytest.mark.parametrize("step", [1, 256])
def test_when_it_warns(differing, gap, warns, step):
    """A steep softmax moves single codes far, rounding moves many codes by one: neither warns."""
    worst, fine = TensorGap("y", differing, gap * step, step), step > 1
    share = 0.99 if fine else differing
    found = QdqFileReport(8, share, worst, None, differing if fine else None)
    assert bool(file_warnings(found)) is warns


def test_roundings_of_16_bits_do_not_warn(tmp_path):
    """What TensorFlow Lite Micro computes to the bit is some of 65,536 codes from real numbers."""
    model = integer_model(deep(tmp_path / "m.tflite"), None, CompileOptions())
    found = compared(model)
    assert found.differing > 0.25
    assert 4 < found.worst.largest_gap < 128
    assert (found.far, found.first) == (0.0, None)
    assert file_warnings(found) == ()


@pytest.mark.data
@pytest.mark.parametrize(
    "network", ["autoencoder_toycar", "dscnn_kws", "resnet8_cifar10", "mobilenetv1_025_vww96"]
)
def test_real_files_do_not_warn(network):
    folder = data_folder()
    assert folder is not None
    path = folder / "models" / f"mlperf_{network}_int8_qdq.onnx"
    model = integer_model(path, None, CompileOptions())
    found = compared(model)
    assert found.differing <= 0.12
    assert (*model.quantization.warnings, *file_warnings(found)) == ()


@pytest.mark.data
def test_the_autoencoder_with_one_scale_changed(tmp_path):
    """The finding: up to 26 codes beside the file, and the re-export said 0.00 %."""
    folder = data_folder()
    assert folder is not None
    model = onnx.load(folder / "models" / "mlperf_autoencoder_toycar_int8_qdq.onnx")
    scale = [node for node in model.graph.node if node.op_type == "QuantizeLinear"][2].input[1]
    (tensor,) = (each for each in model.graph.initializer if each.name == scale)
    changed = np.float32(1000.0) * numpy_helper.to_array(tensor)
    tensor.CopyFrom(numpy_helper.from_array(np.asarray(changed, np.float32), scale))
    ready = integers(model, tmp_path)
    found = compared(ready)
    assert found.differing > 0.9
    assert found.worst.largest_gap > 10
    assert file_warnings(found)
    assert any("bias had to be requantized" in text for text in ready.quantization.warnings)

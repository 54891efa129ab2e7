"""Weights of 4 and 2 bits in the element types of ONNX, packed two and four a byte."""

from __future__ import annotations

import numpy as np
import onnx
import pytest
from import_models import N, imported, model_of, run
from onnx import TensorProto, helper, numpy_helper

from edgec.base.dtypes import DType
from edgec.base.errors import ImportModelError, UnsupportedModelError

RNG = np.random.default_rng(6)
S = np.float32
ELEMENT_TYPES = [item.name for item in TensorProto.DESCRIPTOR.enum_types_by_name["DataType"].values]


def two_bits(array: np.ndarray, unsigned: bool = False) -> onnx.TensorProto:
    """Codes of 2 bits, four a byte, the first one in the lowest bits."""
    kind = TensorProto.UINT2 if unsigned else TensorProto.INT2
    codes = array.astype(int).ravel() & 3
    codes = np.pad(codes, (0, -codes.size % 4)).reshape(-1, 4)
    raw = (codes << np.array([0, 2, 4, 6])).sum(axis=1).astype(np.uint8).tobytes()
    return helper.make_tensor("w", kind, array.shape, raw, raw=True)


def few_bits_model(tensor: onnx.TensorProto, **constants: np.ndarray) -> onnx.ModelProto:
    """A product with weights `tensor` [k, n], dequantized by scale `s` and zero point `z`."""
    zero = ["z"] if "z" in constants else []
    opset = 25 if tensor.data_type in (25, 26) else 21  # UINT2, INT2
    nodes = [N("DequantizeLinear", ["w", "s", *zero], ["d"]), N("MatMul", ["x", "d"], ["y"])]
    model = model_of(nodes, {"x": (1, tensor.dims[0])}, {"s": S(0.5), **constants}, opset=opset)
    model.graph.initializer.append(tensor)
    model.ir_version = 13 if opset == 25 else 10
    return model


TWO_BITS = pytest.mark.skipif(
    onnx.defs.onnx_opset_version() < 25, reason="this onnx knows no elements of 2 bits"
)


@TWO_BITS
@pytest.mark.parametrize("unsigned", [False, True])
@pytest.mark.parametrize("shape", [(2, 4), (3, 3), (5, 1)])
def test_two_bit_weights(unsigned, shape, tmp_path):
    """The codes of onnxruntime, however many of the last byte are used."""
    codes = RNG.integers(0, 4, shape) - (0 if unsigned else 2)
    model = few_bits_model(two_bits(codes, unsigned))
    (weight,) = (c for c in imported(model, tmp_path).constants.values() if c.array.ndim == 2)
    assert weight.array.T.tolist() == codes.tolist()
    assert weight.dtype is (DType.UINT8 if unsigned else DType.INT8)
    x = np.eye(shape[0], dtype=np.float32)
    each = [run(model, {"x": row[None]})[0][0] for row in x]
    np.testing.assert_allclose(np.stack(each), 0.5 * codes)


@TWO_BITS
def test_two_bits_four_to_an_entry(tmp_path):
    tensor = TensorProto(name="w", data_type=TensorProto.INT2, dims=[2, 3])
    tensor.int32_data.extend([0b01_00_11_10, 0b00_00_01_01])
    graph = imported(few_bits_model(tensor), tmp_path)
    (weight,) = (c for c in graph.constants.values() if c.array.ndim == 2)
    assert weight.array.T.tolist() == [[-2, -1, 0], [1, 1, 1]]


@pytest.mark.parametrize(("kind", "bits"), [("INT4", 4), ("UINT4", 4), ("INT2", 2), ("UINT2", 2)])
@pytest.mark.parametrize("typed", [False, True])
@pytest.mark.parametrize("more", [-1, 1])
def test_packed_codes_that_do_not_fit_the_shape(kind, bits, typed, more, tmp_path):
    """One byte too few and one too many, in both forms of storage."""
    if kind not in ELEMENT_TYPES:
        pytest.skip("this onnx knows no elements of 2 bits")
    tensor = TensorProto(name="w", data_type=TensorProto.DataType.Value(kind), dims=[3, 5])
    needed = (15 * bits + 7) // 8
    if typed:
        tensor.int32_data.extend([0] * (needed + more))
    else:
        tensor.raw_data = bytes(needed + more)
    unit = "entries" if typed else "bytes"
    message = rf"shape \[3, 5\] needs {needed} {unit} of data, has {needed + more}"
    with pytest.raises(ImportModelError, match=message):
        imported(few_bits_model(tensor), tmp_path)


@pytest.mark.parametrize("entry", [256, -129, 0x3210])
def test_packed_entries_are_bytes(entry, tmp_path):
    """More than two codes in an entry, or one of another sign."""
    tensor = TensorProto(name="w", data_type=TensorProto.INT4, dims=[2, 2])
    tensor.int32_data.extend([0x12, entry])
    with pytest.raises(ImportModelError, match="an entry of the tensor is no byte"):
        imported(few_bits_model(tensor), tmp_path)


def test_codes_stored_twice(tmp_path):
    tensor = TensorProto(name="w", data_type=TensorProto.INT4, dims=[2, 2])
    tensor.int32_data.extend([0x12, 0x34])
    tensor.raw_data = b"\x12\x34"
    with pytest.raises(ImportModelError, match="data in int32_data and in raw_data"):
        imported(few_bits_model(tensor), tmp_path)


def test_zero_points_of_another_packing(tmp_path):
    tensor = helper.make_tensor("w", TensorProto.INT4, [2, 2], [1, 2, 3, 4])
    with pytest.raises(UnsupportedModelError, match="input is int4, its zero point int8"):
        imported(few_bits_model(tensor, z=np.int8(0)), tmp_path)


@pytest.mark.parametrize("axis", [-1, 1])
def test_scales_of_a_packed_axis_counted_from_the_end(axis, tmp_path):
    tensor = helper.make_tensor("w", TensorProto.INT4, [2, 3], [1, -2, 3, -4, 5, -6])
    model = few_bits_model(tensor)
    model.graph.initializer[0].CopyFrom(numpy_helper.from_array(S([0.5, 0.25, 2.0]), "s"))
    model.graph.node[0].attribute.append(helper.make_attribute("axis", axis))
    (weight,) = (c for c in imported(model, tmp_path).constants.values() if c.array.ndim == 2)
    np.testing.assert_array_equal(weight.real().T, [[0.5, -0.5, 6.0], [-2.0, 1.25, -12.0]])


def backwards(codes: np.ndarray, axis: int, *, packed: bool) -> onnx.ModelProto:
    """Weights of 4 bits read with a negative step, as they are stored or as real numbers."""
    tensor = helper.make_tensor("w", TensorProto.INT4, codes.shape, codes.ravel().tolist())
    ends = {"b": np.array([-1]), "e": np.array([-9]), "a": np.array([axis]), "t": np.array([-1])}
    model = few_bits_model(tensor, **ends)
    source, reader = ("w", 0) if packed else ("d", 1)
    model.graph.node[reader].input[0 if packed else 1] = "r"
    model.graph.node.insert(reader, N("Slice", [source, "b", "e", "a", "t"], ["r"]))
    return model


@pytest.mark.parametrize("axis", [0, 1])
def test_weights_read_backwards(axis, tmp_path):
    """Along the axis that is packed, and along the other one."""
    codes = np.array([[1, -2, 3], [-4, 5, -6]])
    graph = imported(backwards(codes, axis, packed=False), tmp_path)
    (weight,) = (c for c in graph.constants.values() if c.array.ndim == 2)
    np.testing.assert_array_equal(weight.real().T, 0.5 * np.flip(codes, axis))


@pytest.mark.parametrize("axis", [0, 1])
def test_packed_codes_read_backwards_are_refused(axis, tmp_path):
    """ONNX's Slice takes no elements of 4 bits."""
    codes = np.array([[1, -2, 3], [-4, 5, -6]])
    with pytest.raises(UnsupportedModelError, match="codes of type unknown"):
        imported(backwards(codes, axis, packed=True), tmp_path)


def test_constants_quantized_to_four_bits_stay_within_them(tmp_path):
    """QuantizeLinear of a constant saturates at the codes of its own type, as onnxruntime does."""
    real = np.array([[3.0, -9.0, 100.0], [-100.0, 7.4, 0.5]], np.float32)
    zero = helper.make_tensor("z", TensorProto.INT4, [], [0])
    nodes = [
        N("QuantizeLinear", ["r", "s", "z"], ["w"]),
        N("DequantizeLinear", ["w", "s", "z"], ["d"]),
        N("MatMul", ["x", "d"], ["y"]),
    ]
    model = model_of(nodes, {"x": (1, 2)}, {"r": real, "s": S(1.0)}, opset=21)
    model.graph.initializer.append(zero)
    model.ir_version = 10
    (weight,) = (c for c in imported(model, tmp_path).constants.values() if c.array.ndim == 2)
    assert weight.array.T.tolist() == [[3, -8, 7], [-8, 7, 0]]
    wanted = run(model, {"x": np.ones((1, 2), np.float32)})[0]
    np.testing.assert_array_equal(weight.real().sum(axis=1), wanted[0])


@pytest.mark.parametrize("kind", ["INT4", "INT2"])
def test_activations_of_few_bits_are_refused(kind, tmp_path):
    if kind not in ELEMENT_TYPES:
        pytest.skip("this onnx knows no elements of 2 bits")
    zero = helper.make_tensor("z", TensorProto.DataType.Value(kind), [], [0])
    nodes = [
        N("QuantizeLinear", ["x", "s", "z"], ["q"]),
        N("DequantizeLinear", ["q", "s", "z"], ["y"]),
    ]
    model = model_of(nodes, {"x": (1, 2)}, {"s": S(1.0)}, opset=25 if kind == "INT2" else 21)
    model.graph.initializer.append(zero)
    model.ir_version = 13 if kind == "INT2" else 10
    with pytest.raises(UnsupportedModelError, match=f"quantized to {kind[-1]} bits"):
        imported(model, tmp_path)

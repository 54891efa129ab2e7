"""Every operator and form: the imported graph computes what onnxruntime computes."""

# ruff: noqa: E501  (a table of cases, one a line)

from __future__ import annotations

import numpy as np
import pytest
from import_models import N, assert_same, model_of
from onnx import TensorProto
from test_import_composed_ops import TESTED as COMPOSED

from edgec.importers.onnx.registry import HANDLERS, supported_operators

RNG = np.random.default_rng(1)


def f(*shape: int) -> np.ndarray:
    return RNG.normal(size=shape).astype(np.float32)


def i(*values: int) -> np.ndarray:
    return np.array(values, np.int64)


W = {"w": f(6, 3, 3, 3), "b": f(6)}
X4 = (1, 3, 8, 9)

# name -> (operator, input shape, constants in input order, opset, attributes)
CASES: dict[str, tuple[str, tuple[int, ...], dict[str, np.ndarray], int, dict[str, object]]] = {
    "conv": ("Conv", X4, W, 13, {}),
    "conv_no_bias": ("Conv", X4, {"w": f(6, 3, 3, 3)}, 7, {"kernel_shape": [3, 3]}),
    "conv_pads": ("Conv", X4, W, 13, {"pads": [0, 1, 2, 3], "strides": [2, 1]}),
    "conv_dilated": ("Conv", X4, W, 13, {"dilations": [2, 3], "pads": [2, 2, 2, 2]}),
    "conv_same_upper": ("Conv", X4, W, 13, {"auto_pad": "SAME_UPPER", "strides": [2, 2]}),
    "conv_same_lower": ("Conv", X4, W, 13, {"auto_pad": "SAME_LOWER", "strides": [3, 2]}),
    "conv_valid": ("Conv", X4, W, 13, {"auto_pad": "VALID", "strides": [3, 2]}),
    "conv_grouped": ("Conv", (1, 4, 6, 6), {"w": f(6, 2, 3, 3)}, 13, {"group": 2}),
    "conv_depthwise": ("Conv", (1, 4, 6, 6), {"w": f(8, 1, 3, 3)}, 13, {"group": 4}),
    "conv_1d": ("Conv", (1, 3, 11), {"w": f(5, 3, 4), "b": f(5)}, 13, {"pads": [1, 2]}),
    "conv_1d_dilated": ("Conv", (1, 3, 20), {"w": f(5, 3, 4)}, 13, {"dilations": [3]}),
    "conv_transpose": ("ConvTranspose", X4, {"w": f(3, 5, 3, 3), "b": f(5)}, 13, {}),
    "conv_transpose_strided": (
        "ConvTranspose", X4, {"w": f(3, 5, 3, 3)}, 13,
        {"strides": [2, 3], "pads": [1, 0, 2, 1], "output_padding": [1, 2], "dilations": [2, 1]},
    ),
    "conv_transpose_grouped": ("ConvTranspose", (1, 4, 5, 5), {"w": f(4, 3, 2, 3)}, 13, {"group": 2}),
    "conv_transpose_same_upper": (
        "ConvTranspose", X4, {"w": f(3, 5, 3, 3)}, 13, {"auto_pad": "SAME_UPPER", "strides": [2, 2]},
    ),
    "conv_transpose_same_lower": (
        "ConvTranspose", X4, {"w": f(3, 5, 4, 4)}, 13, {"auto_pad": "SAME_LOWER", "strides": [3, 3]},
    ),
    "conv_transpose_output_shape": (
        "ConvTranspose", X4, {"w": f(3, 5, 3, 3)}, 13, {"output_shape": [16, 17], "strides": [2, 2]},
    ),
    "conv_transpose_1d": ("ConvTranspose", (1, 3, 7), {"w": f(3, 4, 5)}, 13, {"strides": [2]}),
    "conv_3d": ("Conv", (1, 2, 4, 5, 6), {"w": f(3, 2, 3, 3, 2), "b": f(3)}, 13, {"pads": [1, 1, 0, 0, 1, 1], "strides": [1, 2, 1]}),
    "conv_3d_grouped": ("Conv", (1, 4, 4, 5, 5), {"w": f(4, 1, 2, 3, 3)}, 13, {"group": 4, "strides": [2, 1, 1], "dilations": [2, 1, 1]}),
    "max_pool_3d": ("MaxPool", (1, 2, 4, 6, 6), {}, 13, {"kernel_shape": [2, 3, 2], "strides": [2, 2, 2], "pads": [0, 1, 0, 1, 1, 0]}),
    "gemm": ("Gemm", (2, 4), {"w": f(4, 5), "b": f(5)}, 13, {}),
    "gemm_scaled": ("Gemm", (2, 4), {"w": f(4, 5), "b": f(1, 5)}, 7, {"alpha": 0.5, "beta": 2.0}),
    "gemm_transposed": ("Gemm", (4, 2), {"w": f(5, 4), "b": f(1)}, 13, {"transA": 1, "transB": 1}),
    "gemm_matrix_c": ("Gemm", (2, 4), {"w": f(4, 5), "b": f(2, 5)}, 13, {"beta": 0.25}),
    "gemm_no_c": ("Gemm", (2, 4), {"w": f(4, 5)}, 13, {"alpha": -1.5}),
    "matmul": ("MatMul", (2, 3, 4), {"w": f(4, 5)}, 13, {}),
    "matmul_leading_ones": ("MatMul", (3, 4), {"w": f(1, 1, 4, 5)}, 13, {}),
    "matmul_column": ("MatMul", (2, 3, 4), {"w": f(4)}, 13, {}),
    "matmul_row": ("MatMul", (4,), {"w": f(4, 5)}, 13, {}),
    "matmul_dot": ("MatMul", (4,), {"w": f(4)}, 13, {}),
    "add": ("Add", (2, 3, 4), {"c": f(3, 1)}, 13, {}),
    "sub": ("Sub", (2, 3, 4), {"c": f(4)}, 7, {}),
    "mul": ("Mul", (3, 4), {"c": f(2, 1, 4)}, 14, {}),
    "div": ("Div", (2, 3, 4), {"c": f(3, 1)}, 13, {}),
    "sum": ("Sum", (2, 3), {"c": f(3), "d": f(2, 1)}, 13, {}),
    "relu": ("Relu", (2, 3, 4), {}, 7, {}),
    "clip_attributes": ("Clip", (2, 30), {}, 7, {"min": -1.0, "max": 2.0}),
    "clip_inputs": ("Clip", (2, 30), {"lo": np.float32(0), "hi": np.float32(6)}, 13, {}),
    "clip_low": ("Clip", (2, 30), {"lo": np.array([-0.5], np.float32).reshape(())}, 13, {}),
    "min": ("Min", (2, 30), {"c": np.float32(0.5)}, 13, {}),
    "max": ("Max", (2, 30), {"c": np.array([0.5], np.float32)}, 13, {}),
    "min_tensor": ("Min", (2, 3, 4), {"c": f(3, 1)}, 13, {}),
    "max_tensors": ("Max", (2, 4), {"c": f(4), "d": f(2, 1), "e": np.float32(-0.5)}, 13, {}),
    "leaky_relu": ("LeakyRelu", (2, 30), {}, 13, {"alpha": 0.3}),
    "leaky_relu_default": ("LeakyRelu", (2, 30), {}, 7, {}),
    "prelu_channels": ("PRelu", (1, 3, 4, 5), {"s": f(3, 1, 1)}, 13, {}),
    "prelu_last": ("PRelu", (2, 5), {"s": f(5)}, 9, {}),
    "prelu_one": ("PRelu", (1, 3, 4, 5), {"s": f(1)}, 13, {}),
    "sigmoid": ("Sigmoid", (2, 30), {}, 13, {}),
    "tanh": ("Tanh", (2, 30), {}, 13, {}),
    "hard_sigmoid": ("HardSigmoid", (2, 30), {}, 13, {"alpha": 0.25, "beta": 0.4}),
    "hard_sigmoid_default": ("HardSigmoid", (2, 30), {}, 13, {}),
    "hard_swish": ("HardSwish", (2, 30), {}, 14, {}),
    "elu": ("Elu", (2, 30), {}, 13, {"alpha": 0.7}),
    "softplus": ("Softplus", (2, 30), {}, 13, {}),
    "gelu": ("Gelu", (2, 30), {}, 20, {}),
    "gelu_tanh": ("Gelu", (2, 30), {}, 20, {"approximate": "tanh"}),
    "exp": ("Exp", (2, 30), {}, 13, {}),
    "reciprocal": ("Reciprocal", (2, 30), {}, 13, {}),
    "pow": ("Pow", (2, 30), {"e": np.float32(3)}, 13, {}),
    "pow_one": ("Pow", (2, 30), {"e": np.array([1.0], np.float32)}, 13, {}),
    "layer_norm": ("LayerNormalization", (2, 5, 8), {"g": f(8), "b": f(8)}, 17, {"epsilon": 0.1}),
    "instance_norm": ("InstanceNormalization", (2, 3, 4, 5), {"g": f(3), "b": f(3)}, 13, {}),
    "instance_norm_plain": ("InstanceNormalization", (1, 3, 7),
                            {"g": np.ones(3, np.float32), "b": np.zeros(3, np.float32)}, 13,
                            {"epsilon": 0.1}),
    "group_norm_18": ("GroupNormalization", (2, 6, 4, 5), {"g": f(3), "b": f(3)}, 18,
                      {"num_groups": 3}),
    "group_norm_21": ("GroupNormalization", (2, 6, 4), {"g": f(6), "b": f(6)}, 21,
                      {"num_groups": 2, "epsilon": 0.01}),
    "layer_norm_two_axes": ("LayerNormalization", (2, 5, 8), {"g": f(5, 8)}, 17, {"axis": 1}),
    "rms_norm": ("RMSNormalization", (2, 5, 8), {"g": f(8)}, 23, {"epsilon": 0.1}),
    "sin": ("Sin", (2, 30), {}, 13, {}),
    "cos": ("Cos", (2, 30), {}, 13, {}),
    "tan": ("Tan", (2, 30), {}, 13, {}),
    "sinh": ("Sinh", (2, 30), {}, 13, {}),
    "cosh": ("Cosh", (2, 30), {}, 13, {}),
    "atan": ("Atan", (2, 30), {}, 13, {}),
    "asinh": ("Asinh", (2, 30), {}, 13, {}),
    "sign": ("Sign", (2, 30), {}, 13, {}),
    "floor": ("Floor", (2, 30), {}, 13, {}),
    "ceil": ("Ceil", (2, 30), {}, 13, {}),
    "round": ("Round", (2, 30), {}, 13, {}),
    "mod": ("Mod", (2, 30), {"d": np.float32(0.7)}, 13, {"fmod": 1}),
    "mish": ("Mish", (2, 30), {}, 18, {}),
    "selu": ("Selu", (2, 30), {}, 13, {}),
    "selu_given": ("Selu", (2, 30), {}, 13, {"alpha": 0.5, "gamma": 2.0}),
    "celu": ("Celu", (2, 30), {}, 13, {"alpha": 0.7}),
    "thresholded_relu": ("ThresholdedRelu", (2, 30), {}, 13, {"alpha": 0.7}),
    "shrink": ("Shrink", (2, 30), {}, 13, {"lambd": 0.8, "bias": 0.3}),
    "softsign": ("Softsign", (2, 30), {}, 13, {}),
    "prelu_two_axes": ("PRelu", (1, 3, 4, 5), {"s": f(3, 1, 5)}, 13, {}),
    "prelu_all_axes": ("PRelu", (1, 3, 4), {"s": f(1, 3, 4)}, 13, {}),
    "abs": ("Abs", (2, 30), {}, 13, {}),
    "neg": ("Neg", (2, 30), {}, 13, {}),
    "erf": ("Erf", (2, 30), {}, 13, {}),
    "softmax": ("Softmax", (2, 3, 4), {}, 13, {}),
    "softmax_axis": ("Softmax", (2, 3, 4), {}, 13, {"axis": 1}),
    "softmax_old": ("Softmax", (2, 3, 4), {}, 11, {}),
    "softmax_old_axis": ("Softmax", (2, 3, 4, 2), {}, 11, {"axis": 2}),
    "softmax_old_last": ("Softmax", (2, 3, 4), {}, 9, {"axis": 2}),
    "log_softmax": ("LogSoftmax", (2, 3, 4), {}, 13, {"axis": 1}),
    "log_softmax_old": ("LogSoftmax", (2, 3, 4), {}, 11, {}),
    "hardmax": ("Hardmax", (2, 3, 4), {}, 13, {"axis": 1}),
    "max_pool": ("MaxPool", X4, {}, 13, {"kernel_shape": [2, 3], "strides": [2, 1]}),
    "max_pool_pads": ("MaxPool", X4, {}, 7, {"kernel_shape": [3, 3], "pads": [1, 0, 2, 1]}),
    "max_pool_ceil": (
        "MaxPool", X4, {}, 13, {"kernel_shape": [3, 3], "strides": [2, 2], "ceil_mode": 1},
    ),
    "max_pool_ceil_pads": (
        "MaxPool", X4, {}, 13,
        {"kernel_shape": [3, 2], "strides": [3, 2], "pads": [1, 1, 1, 1], "ceil_mode": 1},
    ),
    "max_pool_dilated": ("MaxPool", X4, {}, 13, {"kernel_shape": [2, 3], "dilations": [3, 2]}),
    "max_pool_1d": ("MaxPool", (1, 3, 11), {}, 13, {"kernel_shape": [3], "strides": [2]}),
    "max_pool_same": (
        "MaxPool", X4, {}, 13, {"kernel_shape": [3, 3], "strides": [2, 2], "auto_pad": "SAME_UPPER"},
    ),
    "average_pool": ("AveragePool", X4, {}, 7, {"kernel_shape": [2, 3]}),
    "average_pool_pads": ("AveragePool", X4, {}, 13, {"kernel_shape": [3, 3], "pads": [1, 0, 2, 1]}),
    "average_pool_include": (
        "AveragePool", X4, {}, 13, {"kernel_shape": [3, 3], "pads": [1, 1, 1, 1], "count_include_pad": 1},
    ),
    "average_pool_ceil": (
        "AveragePool", X4, {}, 13, {"kernel_shape": [3, 3], "strides": [2, 2], "ceil_mode": 1},
    ),
    "average_pool_ceil_include": (
        "AveragePool", X4, {}, 13,
        {"kernel_shape": [3, 3], "strides": [2, 2], "ceil_mode": 1, "count_include_pad": 1},
    ),
    "average_pool_dilated": ("AveragePool", X4, {}, 19, {"kernel_shape": [2, 2], "dilations": [2, 3]}),
    "average_pool_1d": ("AveragePool", (1, 3, 11), {}, 13, {"kernel_shape": [4], "pads": [1, 2]}),
    "global_average_pool": ("GlobalAveragePool", X4, {}, 7, {}),
    "global_average_pool_1d": ("GlobalAveragePool", (1, 3, 7), {}, 13, {}),
    "global_max_pool": ("GlobalMaxPool", X4, {}, 13, {}),
    "reduce_mean_attribute": ("ReduceMean", X4, {}, 13, {"axes": [2, -1]}),
    "reduce_mean_input": ("ReduceMean", X4, {"a": i(-1, 2)}, 18, {"keepdims": 0}),
    "reduce_mean_all": ("ReduceMean", X4, {}, 18, {}),
    "reduce_mean_noop": ("ReduceMean", X4, {"a": i()}, 18, {"noop_with_empty_axes": 1}),
    "reduce_sum_attribute": ("ReduceSum", X4, {}, 11, {"axes": [1], "keepdims": 0}),
    "reduce_sum_input": ("ReduceSum", X4, {"a": i(1)}, 13, {}),
    "reduce_min": ("ReduceMin", X4, {}, 13, {"axes": [1, 3], "keepdims": 0}),
    "reduce_l1": ("ReduceL1", X4, {}, 13, {"axes": [1]}),
    "reduce_l2": ("ReduceL2", X4, {}, 13, {"axes": [-1], "keepdims": 0}),
    "reduce_sum_square": ("ReduceSumSquare", X4, {}, 13, {"axes": [2, 3]}),
    "reduce_log_sum_exp": ("ReduceLogSumExp", X4, {}, 13, {"axes": [1], "keepdims": 0}),
    "reduce_log_sum_exp_all": ("ReduceLogSumExp", (2, 3), {}, 18, {}),
    "lp_normalization": ("LpNormalization", (2, 3, 4), {}, 13, {"axis": 1}),
    "lp_normalization_one": ("LpNormalization", (2, 3, 4), {}, 13, {"p": 1}),
    "col2im_tiles": ("Col2Im", (2, 12, 6), {"i": i(4, 9), "b": i(2, 3)}, 18, {"strides": [2, 3]}),
    "col2im_overlap": (
        "Col2Im",
        (1, 18, 9),
        {"i": i(6, 10), "b": i(3, 2)},
        18,
        {"strides": [2, 3], "pads": [1, 0, 0, 1], "dilations": [1, 2]},
    ),
    "lp_pool": ("LpPool", X4, {}, 13, {"kernel_shape": [2, 3], "strides": [2, 1], "pads": [0, 1, 1, 1]}),
    "lp_pool_one": ("LpPool", (1, 3, 11), {}, 13, {"kernel_shape": [3], "p": 1}),
    "global_lp_pool": ("GlobalLpPool", X4, {}, 13, {}),
    "cum_sum": ("CumSum", (2, 5, 3), {"a": np.array(1, np.int64)}, 13, {}),
    "cum_sum_back": ("CumSum", (2, 5), {"a": np.array(-1, np.int32)}, 14, {"exclusive": 1, "reverse": 1}),
    "tile": ("Tile", (2, 3, 1), {"r": i(1, 2, 4)}, 13, {}),
    "tile_ones": ("Tile", (1, 3, 1), {"r": i(2, 1, 4)}, 13, {}),
    "gather_uneven": ("Gather", (2, 6, 4), {"i": i(0, 0, 5, 1, -2)}, 13, {"axis": 1}),
    "gather_uneven_last": ("Gather", (2, 6), {"i": np.array([[3, 3], [1, 4]])}, 13, {"axis": -1}),
    "gather_elements": ("GatherElements", (3, 4), {"i": np.array([[1, 2], [0, 2], [3, 1]])}, 13, {"axis": 1}),
    "gather_nd": ("GatherND", (3, 4), {"i": np.array([[1, 2], [0, 2], [2, 1]])}, 13, {}),
    "gather_nd_rows": ("GatherND", (3, 4), {"i": np.array([[1], [2], [2]])}, 13, {}),
    "pad_wrap": ("Pad", (4, 5), {"p": i(1, 2, 3, 4)}, 19, {"mode": "wrap"}),
    "expand": ("Expand", (1, 3, 1), {"s": i(2, 1, 4)}, 13, {}),
    "reduce_max": ("ReduceMax", X4, {}, 13, {"axes": [3, 2]}),
    "batch_norm": (
        "BatchNormalization", X4,
        {"s": f(3), "b": f(3), "m": f(3), "v": np.abs(f(3)) + 0.1}, 9, {"epsilon": 1e-3},
    ),
    "batch_norm_2d": (
        "BatchNormalization", (2, 3),
        {"s": f(3), "b": f(3), "m": f(3), "v": np.abs(f(3)) + 0.1}, 15, {},
    ),
    "flatten": ("Flatten", (2, 3, 4), {}, 13, {}),
    "flatten_axis": ("Flatten", (2, 3, 4), {}, 13, {"axis": -1}),
    "flatten_zero": ("Flatten", (2, 3, 4), {}, 13, {"axis": 0}),
    "reshape": ("Reshape", (2, 3, 4), {"s": i(0, -1)}, 13, {}),
    "reshape_scalar_like": ("Reshape", (2, 3, 4), {"s": i(1, 24, 1)}, 14, {"allowzero": 1}),
    "transpose": ("Transpose", (2, 3, 4), {}, 13, {"perm": [1, 2, 0]}),
    "transpose_default": ("Transpose", (2, 3, 4), {}, 7, {}),
    "squeeze_attribute": ("Squeeze", (1, 3, 1, 4), {}, 11, {"axes": [-2]}),
    "squeeze_input": ("Squeeze", (1, 3, 1, 4), {"a": i(2)}, 13, {}),
    "squeeze_all": ("Squeeze", (1, 3, 1, 4), {}, 13, {}),
    "unsqueeze_attribute": ("Unsqueeze", (3, 4), {}, 11, {"axes": [0, 3]}),
    "unsqueeze_input": ("Unsqueeze", (3, 4), {"a": i(-1, 1)}, 13, {}),
    "concat": ("Concat", (2, 3), {"c": f(2, 4)}, 13, {"axis": -1}),
    "slice_attributes": (
        "Slice", (5, 6), {}, 9, {"starts": [1, -4], "ends": [100, -1], "axes": [0, 1]},
    ),
    "slice_inputs": (
        "Slice", (5, 6), {"s": i(-1), "e": i(-100), "a": i(1), "t": i(-2)}, 13, {},
    ),
    "slice_steps": (
        "Slice", (5, 6), {"s": i(1, 0), "e": i(2**63 - 1, 5), "a": i(0, -1), "t": i(2, 3)}, 13, {},
    ),
    "pad_attributes": ("Pad", (1, 2, 4, 5), {}, 7, {"pads": [0, 0, 1, 2, 0, 1, 0, 3], "value": 1.5}),
    "pad_inputs": ("Pad", (4, 5), {"p": i(1, 0, 2, 3), "v": np.float32(-2)}, 13, {}),
    "pad_axes": ("Pad", (2, 4, 5), {"p": i(1, 2), "v": np.float32(1), "a": i(-2)}, 18, {}),
    "pad_reflect": ("Pad", (4, 5), {"p": i(1, 2, 3, 4)}, 13, {"mode": "reflect"}),
    "pad_edge": ("Pad", (4, 5), {"p": i(1, 2, 3, 4)}, 13, {"mode": "edge"}),
    "pad_negative": ("Pad", (6, 7), {"p": i(-1, 2, 1, -3)}, 13, {}),
    "depth_to_space": ("DepthToSpace", (1, 8, 3, 2), {}, 13, {"blocksize": 2}),
    "depth_to_space_crd": ("DepthToSpace", (1, 8, 3, 2), {}, 13, {"blocksize": 2, "mode": "CRD"}),
    "space_to_depth": ("SpaceToDepth", (1, 3, 4, 6), {}, 13, {"blocksize": 2}),
    "gather_index": ("Gather", (2, 3, 4), {"i": np.array(-1, np.int64)}, 13, {"axis": 1}),
    "gather_row": ("Gather", (2, 5, 4), {"i": i(4, 2, 0)}, 13, {"axis": 1}),
    "dropout": ("Dropout", (2, 3), {}, 7, {"ratio": 0.5}),
    "cast": ("Cast", (2, 3), {}, 13, {"to": TensorProto.FLOAT}),
    "identity": ("Identity", (2, 3), {}, 13, {}),
}  # fmt: skip


@pytest.mark.parametrize("name", CASES)
def test_operator_equals_onnxruntime(name, tmp_path):
    op, shape, constants, opset, attributes = CASES[name]
    node = N(op, ["x", *constants], ["y"], **attributes)
    arrays = {key: np.asarray(array) for key, array in constants.items()}
    assert_same(model_of([node], {"x": shape}, arrays, opset=opset), tmp_path)


OF_FRACTIONS = ["Asin", "Acos", "Atanh"]


@pytest.mark.parametrize("op", OF_FRACTIONS)
def test_functions_of_fractions(op, tmp_path):
    nodes = [N("Sin", ["x"], ["a"]), N("Mul", ["a", "c"], ["b"]), N(op, ["b"], ["y"])]
    assert_same(model_of(nodes, {"x": (2, 9)}, {"c": np.float32(0.9)}), tmp_path)


def test_function_of_numbers_above_one(tmp_path):
    nodes = [N("Cosh", ["x"], ["a"]), N("Acosh", ["a"], ["y"])]
    assert_same(model_of(nodes, {"x": (2, 9)}), tmp_path)


@pytest.mark.parametrize("p", [1, 2])
def test_lengths_of_zero(p, tmp_path):
    """A row of zeros stays one."""
    rows = np.float32([[1], [0], [-2]])
    nodes = [N("Mul", ["x", "rows"], ["a"]), N("LpNormalization", ["a"], ["y"], p=p)]
    assert_same(model_of(nodes, {"x": (3, 4)}, {"rows": rows}), tmp_path)


@pytest.mark.parametrize("op", ["Sqrt", "Log", "ReduceLogSum"])
def test_functions_of_positive_numbers(op, tmp_path):
    nodes = [N("Abs", ["x"], ["a"]), N(op, ["a"], ["y"])]
    assert_same(model_of(nodes, {"x": (2, 9)}), tmp_path)


RESIZE = {
    f"{mode}_{coordinates}_{nearest}_{h}x{w}": (mode, coordinates, nearest, h, w)
    for mode, nearests in (
        ("nearest", ("floor", "ceil", "round_prefer_floor", "round_prefer_ceil")),
        ("linear", ("floor",)),
    )
    for coordinates in ("asymmetric", "half_pixel", "align_corners", "pytorch_half_pixel")
    for nearest in nearests
    for h, w in ((8, 10), (3, 2), (1, 13))
}


@pytest.mark.parametrize("name", RESIZE)
def test_resize_to_sizes(name, tmp_path):
    mode, coordinates, nearest, h, w = RESIZE[name]
    node = N(
        "Resize", ["x", "", "", "sizes"], ["y"],
        mode=mode, coordinate_transformation_mode=coordinates, nearest_mode=nearest,
    )  # fmt: skip
    assert_same(model_of([node], {"x": (1, 2, 4, 5)}, {"sizes": i(1, 2, h, w)}), tmp_path)


@pytest.mark.parametrize("mode", ["nearest", "linear"])
@pytest.mark.parametrize("opset", [10, 11, 13, 18, 19])
def test_resize_by_scales(mode, opset, tmp_path):
    inputs = ["x", "scales"] if opset == 10 else ["x", "roi", "scales"]
    constants = {"roi": f(0), "scales": np.array([1, 1, 2.0, 2.5], np.float32)}
    node = N("Resize", inputs, ["y"], mode=mode)
    assert_same(model_of([node], {"x": (1, 2, 4, 4)}, constants, opset=opset), tmp_path)


def test_resize_channels_last_needs_no_transposes(tmp_path):
    scales = np.array([1, 2, 2, 1], np.float32)
    node = N("Resize", ["x", "", "s"], ["y"], coordinate_transformation_mode="asymmetric",
             nearest_mode="floor")  # fmt: skip
    graph = assert_same(model_of([node], {"x": (1, 4, 4, 3)}, {"s": scales}), tmp_path)
    assert [n.op for n in graph.nodes] == ["Resize"]


def test_resize_one_dimension(tmp_path):
    node = N("Resize", ["x", "", "s"], ["y"], mode="linear")
    scales = np.array([1, 1, 2], np.float32)
    assert_same(model_of([node], {"x": (1, 3, 5)}, {"s": scales}), tmp_path)


@pytest.mark.parametrize("coordinates", ["half_pixel", "align_corners", "asymmetric"])
@pytest.mark.parametrize("outside", [0, 1])
def test_cubic_resize(coordinates, outside, tmp_path):
    node = N(
        "Resize", ["x", "", "", "sizes"], ["y"], mode="cubic", exclude_outside=outside,
        coordinate_transformation_mode=coordinates,
    )  # fmt: skip
    assert_same(model_of([node], {"x": (1, 2, 4, 5)}, {"sizes": i(1, 2, 7, 3)}), tmp_path)


@pytest.mark.parametrize("largest", [0, 1])
@pytest.mark.parametrize("axis", [0, -1])
def test_top_k(largest, axis, tmp_path):
    nodes = [N("TopK", ["x", "k"], ["v", "p"], axis=axis, largest=largest),
             N("Cast", ["p"], ["f"], to=TensorProto.FLOAT), N("Add", ["v", "f"], ["y"])]  # fmt: skip
    assert_same(model_of(nodes, {"x": (5, 7)}, {"k": i(3)}), tmp_path)


@pytest.mark.parametrize("mode", ["nearest", "linear"])
def test_upsample(mode, tmp_path):
    old = N("Upsample", ["x"], ["y"], mode=mode, scales=[1.0, 1.0, 2.0, 3.0])
    assert_same(model_of([old], {"x": (1, 2, 3, 4)}, opset=7), tmp_path)
    new = N("Upsample", ["x", "s"], ["y"], mode=mode)
    scales = {"s": np.array([1, 1, 2, 3], np.float32)}
    assert_same(model_of([new], {"x": (1, 2, 3, 4)}, scales, opset=9), tmp_path)


@pytest.mark.parametrize("op", ["Add", "Sub", "Mul", "Concat"])
def test_two_run_time_operands(op, tmp_path):
    node = N(op, ["x", "z"], ["y"], **({"axis": 1} if op == "Concat" else {}))
    assert_same(model_of([node], {"x": (2, 3), "z": (2, 3)}), tmp_path)


@pytest.mark.parametrize("op", ["Min", "Max"])
def test_extremes_of_two_computed_tensors(op, tmp_path):
    assert_same(model_of([N(op, ["x", "z"], ["y"])], {"x": (2, 3), "z": (3,)}), tmp_path)


RELATIONS = ["Equal", "Less", "LessOrEqual", "Greater", "GreaterOrEqual"]


@pytest.mark.parametrize("constant", [False, True])
@pytest.mark.parametrize("op", RELATIONS)
def test_comparisons_choose(op, constant, tmp_path):
    nodes = [N(op, ["x", "z"], ["c"]), N("Where", ["c", "x", "w"], ["y"])]
    shapes = {"x": (2, 6), "w": (6,)} | ({} if constant else {"z": (2, 1)})
    constants = {"z": f(2, 1)} if constant else {}
    assert_same(model_of(nodes, shapes, constants, opset=16), tmp_path)


@pytest.mark.parametrize("op", ["And", "Or", "Xor"])
def test_truth_values_are_combined(op, tmp_path):
    nodes = [N("Less", ["x", "z"], ["a"]), N("Greater", ["x", "t"], ["b"]), N(op, ["a", "b"], ["c"]),
             N("Not", ["c"], ["d"]), N("Where", ["d", "one", "x"], ["y"])]  # fmt: skip
    constants = {"t": np.float32(-1), "one": np.float32(1)}
    assert_same(model_of(nodes, {"x": (3, 6), "z": (3, 6)}, constants, opset=16), tmp_path)


def test_truth_values_become_real(tmp_path):
    nodes = [N("Less", ["x", "t"], ["a"]), N("Cast", ["a"], ["f"], to=TensorProto.FLOAT),
             N("Mul", ["f", "x"], ["y"])]  # fmt: skip
    assert_same(model_of(nodes, {"x": (3, 6)}, {"t": np.float32(0.5)}), tmp_path)


@pytest.mark.parametrize("op", ["Add", "Sub", "Mul", "Concat"])
def test_constant_first_operand(op, tmp_path):
    node = N(op, ["c", "x"], ["y"], **({"axis": 1} if op == "Concat" else {}))
    assert_same(model_of([node], {"x": (2, 3)}, {"c": f(2, 3)}), tmp_path)


@pytest.mark.parametrize("shape", [(4, 5), (2, 4, 5), (4,)])
def test_matmul_constant_on_the_left(shape, tmp_path):
    assert_same(model_of([N("MatMul", ["w", "x"], ["y"])], {"x": shape}, {"w": f(3, 4)}), tmp_path)


def test_gemm_constant_on_the_left(tmp_path):
    node = N("Gemm", ["w", "x", "c"], ["y"], transB=1, alpha=2.0)
    constants = {"w": f(3, 4), "c": f(3, 1)}
    assert_same(model_of([node], {"x": (5, 4)}, constants), tmp_path)


def test_gemm_with_computed_c(tmp_path):
    node = N("Gemm", ["x", "w", "z"], ["y"], beta=0.5)
    assert_same(model_of([node], {"x": (2, 4), "z": (5,)}, {"w": f(4, 5)}), tmp_path)


@pytest.mark.parametrize("opset", [11, 13, 18])
def test_split(opset, tmp_path):
    if opset == 11:
        node, constants = N("Split", ["x"], ["a", "b"], axis=1, split=[2, 5]), {}
    elif opset == 13:
        node, constants = N("Split", ["x", "s"], ["a", "b"], axis=-1), {"s": i(2, 5)}
    else:
        node, constants = N("Split", ["x"], ["a", "b"], axis=1, num_outputs=2), {}
    model = model_of([node], {"x": (2, 7)}, constants, outputs=["a", "b"], opset=opset)
    assert_same(model, tmp_path)


@pytest.mark.parametrize("op", ["ArgMax", "ArgMin"])
@pytest.mark.parametrize("keepdims", [0, 1])
@pytest.mark.parametrize("last", [0, 1])
def test_arg_max(op, keepdims, last, tmp_path):
    node = N(op, ["x"], ["y"], axis=-1, keepdims=keepdims, select_last_index=last)
    model = model_of([node], {"x": (2, 7)}, output_type=TensorProto.INT64)
    graph = assert_same(model, tmp_path)
    assert graph.values["y"].dtype.value == "int32"


def test_every_handler_states_its_constraints():
    table = supported_operators()
    assert {row.op for row in table} >= set(HANDLERS)
    assert all(len(row.constraints) > 5 and "\n" not in row.constraints for row in table)


def test_every_handler_is_tested():
    tested = {case[0] for case in CASES.values()} | {
        "Resize", "TopK", "Upsample", "Sqrt", "Log", "ReduceLogSum", "Acosh", *OF_FRACTIONS, "Split", "ArgMax", "ArgMin", "QuantizeLinear", "DequantizeLinear",
        # In test_import_transformer_ops:
        "And", "Or", "Xor", *RELATIONS, "Attention", "Einsum", "Expand", "GatherElements", "GatherND", "IsNaN",
        "Not", "Where",
        # In test_import_sound:
        "DFT", "STFT", "HannWindow", "HammingWindow", "BlackmanWindow", "MelWeightMatrix",
        # In test_import_recurrent:
        "GRU", "LSTM", "RNN",
        # In test_import_loops, and in the node tests:
        "CausalConvWithState", "If", "LinearAttention", "Loop", "Scan", "Shape", "Size", "TensorScatter",
    }  # fmt: skip
    assert set(HANDLERS) - tested - COMPOSED == set()

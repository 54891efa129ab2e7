"""A small model of every operator of ONNX that edgec imports, in each version that ONNX has of it.

A case is written in the form of the newest version.  For an older one, inputs that it does not know
become the attributes of the same name that it has instead.
"""

# ruff: noqa: E501  (a table of cases, one a line)

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any

import numpy as np
import onnx
from onnx import TensorProto, defs, helper, numpy_helper

from edgec.base.dtypes import Array
from edgec.importers.onnx.screen import MAX_OPSET, MIN_OPSET

N = helper.make_node
RNG = np.random.default_rng(3)
FLOAT, INT64, BOOL = TensorProto.FLOAT, TensorProto.INT64, TensorProto.BOOL
RENAMED = {"constant_value": "value", "K": "k", "input_mean": "mean", "input_var": "var"}
"""Inputs that were attributes or inputs of another name."""


def f(*shape: int) -> Array:
    return RNG.normal(size=shape).astype(np.float32)


def i(*values: int) -> Array:
    return np.array(values, np.int64)


@dataclass(frozen=True)
class Case:
    """One operator.

    Attributes:
        inputs: shapes of what is computed, by the schema's names of inputs.
        constants: the other inputs, by these names.
        attributes: of the node.
        ends: least and greatest number of the inputs.
        outputs: how many the node has; the first is the model's.
        before: nodes that make truth values of inputs x and z.
        after: nodes from "made", the node's output, to "y".
    """

    inputs: Mapping[str, tuple[int, ...]]
    constants: Mapping[str, Array] = field(default_factory=dict)
    attributes: Mapping[str, Any] = field(default_factory=dict)
    ends: tuple[float, float] = (-2.0, 2.0)
    outputs: int = 1
    before: tuple[onnx.NodeProto, ...] = ()
    after: tuple[onnx.NodeProto, ...] = ()


ROW, MAPS = (1, 12), (1, 4, 6, 6)
X = {"x": ROW}
TRUTH = (N("Cast", ["made"], ["y"], to=FLOAT),)
WINDOW = {"kernel_shape": [2, 3], "strides": [2, 1]}


def unary(name: str = "X", ends: tuple[float, float] = (-2.0, 2.0), **attributes: Any) -> Case:
    return Case({name: ROW}, attributes=attributes, ends=ends)


def reduced(**more: Any) -> Case:
    return Case({"data": (1, 3, 4)}, {"axes": i(2)}, {"keepdims": 0}, **more)


def compared() -> Case:
    return Case({"A": ROW, "B": ROW}, after=TRUTH)


def equal() -> Case:
    """Whole numbers, which older versions compare alone."""
    before = tuple(N("ArgMax", [x], [y], axis=2, keepdims=0) for x, y in (("x", "A"), ("z", "B")))
    return Case({"x": (1, 9, 2), "z": (1, 9, 2)}, before=before, after=TRUTH)


def joined() -> Case:
    before = (N("Less", ["x", "z"], ["A"]), N("Greater", ["x", "half"], ["B"]))
    return Case({"x": ROW, "z": ROW}, {"half": np.float32(0.5)}, before=before, after=TRUTH)


def pooled(**more: Any) -> Case:
    return Case({"X": MAPS}, attributes=WINDOW | more)


def recurrent(gates: int) -> Case:
    """Five steps, four units."""
    stored = {"W": f(1, 4 * gates, 3), "R": f(1, 4 * gates, 4) / 2, "B": f(1, 8 * gates)}
    first = (N("Transpose", ["x"], ["X"], perm=[1, 0, 2]),)
    last = (N("Transpose", ["made"], ["y"], perm=[2, 0, 1, 3]),)
    return Case({"x": (1, 5, 3)}, stored, {"hidden_size": 4}, before=first, after=last)


TIMES_SIZE = (N("Cast", ["size"], ["number"], to=FLOAT), N("Mul", ["data", "number"], ["y"]))
PAIR = Case({"A": ROW, "B": ROW})
CASES: Mapping[str, Case] = MappingProxyType(
    {
        **dict.fromkeys(("Abs", "Cos", "Sin", "Neg", "Floor", "Ceil", "Sign", "Sigmoid", "Tanh"), unary()),
        **dict.fromkeys(("Asinh", "Atan", "Cosh", "Sinh", "Erf", "Exp", "Relu", "Round", "Softplus"), unary()),
        **dict.fromkeys(("Softsign", "HardSwish", "Mish", "Gelu", "LeakyRelu", "Elu", "Celu", "Selu"), unary()),
        **dict.fromkeys(("Shrink", "ThresholdedRelu", "HardSigmoid", "Swish"), unary()),
        **dict.fromkeys(("Acos", "Asin", "Atanh", "Tan"), unary(ends=(-0.9, 0.9))),
        **dict.fromkeys(("Log", "Sqrt", "Reciprocal"), unary(ends=(0.5, 4.0))),
        "Acosh": unary(ends=(1.1, 4.0)),
        **dict.fromkeys(("Softmax", "LogSoftmax", "Hardmax"), unary(axis=1)),
        **dict.fromkeys(("Add", "Sub", "Mul"), PAIR),
        "Div": Case({"A": ROW, "B": ROW}, ends=(1.0, 2.0)),
        **dict.fromkeys(("Sum", "Mean", "Max", "Min"), Case({"data_0": ROW}, {"data_1": f(12)})),
        **dict.fromkeys(("Less", "Greater", "LessOrEqual", "GreaterOrEqual"), compared()),
        "Equal": equal(),
        **dict.fromkeys(("And", "Or", "Xor"), joined()),
        "Not": Case(X, {"half": np.float32(0.5)}, before=(N("Less", ["x", "half"], ["X"]),), after=TRUTH),
        "Where": Case(X, {"half": np.float32(0.5), "Y": f(12)}, before=(N("Less", ["x", "half"], ["condition"]), N("Identity", ["x"], ["X"]))),
        "IsNaN": Case({"X": ROW}, {"zero": np.float32(0)}, after=(N("Where", ["made", "zero", "X"], ["y"]),)),
        "Mod": Case({"A": ROW}, {"B": np.float32(0.7)}, {"fmod": 1}),
        "Pow": Case({"X": ROW}, {"Y": np.float32(2)}),
        "PRelu": Case({"X": (1, 3, 4)}, {"slope": f(3, 1)}),
        "Clip": Case({"input": ROW}, {"min": np.float32(-0.5), "max": np.float32(1)}),
        "Cast": Case(X, {"half": np.float32(0.5)}, {"to": FLOAT}, before=(N("Less", ["x", "half"], ["input"]),)),
        "Identity": Case({"input": ROW}, after=(N("Neg", ["made"], ["y"]),)),
        "Shape": Case({"data": ROW}, {"last": np.asarray(1)}, after=(N("Gather", ["made", "last"], ["size"]), *TIMES_SIZE)),
        "Size": Case({"data": ROW}, after=(N("Identity", ["made"], ["size"]), *TIMES_SIZE)),
        "Dropout": Case({"data": ROW}, {"ratio": np.float32(0.4)}, after=(N("Neg", ["made"], ["y"]),)),
        "LSTM": recurrent(4),
        "GRU": recurrent(3),
        "RNN": recurrent(1),
        "Gemm": Case({"A": (1, 6)}, {"B": f(5, 6), "C": f(5)}, {"transB": 1}),
        "MatMul": Case({"A": (1, 3, 6)}, {"B": f(6, 5)}),
        "Einsum": Case({"A": (1, 3, 6)}, {"B": f(6, 5)}, {"equation": "bij,jk->bik"}),
        "Conv": Case({"X": MAPS}, {"W": f(5, 4, 3, 3), "B": f(5)}, {"pads": [1, 1, 1, 1]}),
        "ConvTranspose": Case({"X": MAPS}, {"W": f(4, 3, 2, 2)}, {"strides": [2, 2]}),
        "Col2Im": Case({"input": (1, 8, 12)}, {"image_shape": i(4, 5), "block_shape": i(2, 2)}),
        "BatchNormalization": Case({"X": MAPS}, {"scale": f(4), "B": f(4), "input_mean": f(4), "input_var": f(4) ** 2 + 1}),
        "InstanceNormalization": Case({"input": MAPS}, {"scale": f(4), "B": f(4)}),
        "LayerNormalization": Case({"X": ROW}, {"Scale": f(12), "B": f(12)}),
        "RMSNormalization": Case({"X": ROW}, {"scale": f(12)}),
        "GroupNormalization": Case({"X": MAPS}, {"scale": f(4), "bias": f(4)}, {"num_groups": 4}),
        "MeanVarianceNormalization": Case({"X": MAPS}),
        "LpNormalization": unary("input", axis=1),
        "LRN": Case({"X": MAPS}, attributes={"size": 3}),
        **dict.fromkeys(("MaxPool", "AveragePool", "LpPool"), pooled()),
        **dict.fromkeys(("GlobalAveragePool", "GlobalMaxPool", "GlobalLpPool"), Case({"X": MAPS})),
        **dict.fromkeys(("ReduceL1", "ReduceL2", "ReduceMax", "ReduceMean", "ReduceMin", "ReduceSum", "ReduceSumSquare", "ReduceLogSumExp"), reduced()),
        **dict.fromkeys(("ReduceProd", "ReduceLogSum"), reduced(ends=(0.5, 1.5))),
        **dict.fromkeys(("ArgMax", "ArgMin"), Case({"data": (1, 3, 4)}, attributes={"axis": 2, "keepdims": 0}, after=TRUTH)),
        "CumSum": Case({"x": ROW}, {"axis": np.array(1)}),
        "CumProd": Case({"x": ROW}, {"axis": np.array(1)}, ends=(0.8, 1.2)),
        "TopK": Case({"X": ROW}, {"K": i(3)}, {"axis": 1}, outputs=2, after=(N("Neg", ["made"], ["y"]),)),
        "Reshape": Case({"data": ROW}, {"shape": i(1, 3, 4)}, after=(N("Neg", ["made"], ["y"]),)),
        "Flatten": Case({"input": MAPS}, after=(N("Neg", ["made"], ["y"]),)),
        "Transpose": Case({"data": (1, 3, 4)}, attributes={"perm": [0, 2, 1]}, after=(N("Neg", ["made"], ["y"]),)),
        "Squeeze": Case({"data": (1, 1, 4)}, {"axes": i(1)}, after=(N("Neg", ["made"], ["y"]),)),
        "Unsqueeze": Case({"data": (1, 4)}, {"axes": i(1)}, after=(N("Neg", ["made"], ["y"]),)),
        "Concat": Case({"a": ROW, "b": ROW}, attributes={"axis": 1}),
        "Split": Case({"input": ROW}, {"split": i(4, 8)}, {"axis": 1}, outputs=2, after=(N("Neg", ["made"], ["y"]),)),
        "Slice": Case({"data": ROW}, {"starts": i(2), "ends": i(9), "axes": i(1)}),
        "Gather": Case({"data": ROW}, {"indices": i(3, 1, 1)}, {"axis": 1}),
        "GatherElements": Case({"data": ROW}, {"indices": np.array([[3, 1, 1]])}, {"axis": 1}),
        "GatherND": Case({"data": (1, 3, 4)}, {"indices": np.array([[[0, 1], [0, 2]]])}),
        **dict.fromkeys(("Scatter", "ScatterElements"), Case({"data": ROW, "updates": (1, 3)}, {"indices": np.array([[3, 1, 5]])}, {"axis": 1})),
        "ScatterND": Case({"data": (1, 4), "updates": (1, 2)}, {"indices": np.array([[[0, 1], [0, 3]]])}),
        "Tile": Case({"input": (1, 3, 1)}, {"repeats": i(1, 1, 4)}),
        "Expand": Case({"input": (1, 3, 1)}, {"shape": i(1, 3, 4)}),
        "Pad": Case({"data": (1, 3, 4)}, {"pads": i(0, 1, 0, 0, 0, 2), "constant_value": np.float32(0.5)}),
        "CenterCropPad": Case({"input_data": (1, 6, 3)}, {"shape": i(1, 4, 5)}),
        "DepthToSpace": Case({"input": MAPS}, attributes={"blocksize": 2}),
        "SpaceToDepth": Case({"input": MAPS}, attributes={"blocksize": 2}),
        "Resize": Case({"X": MAPS}, {"roi": f(0), "scales": np.array([1, 1, 2, 2], np.float32)}, {"mode": "nearest"}),
        "Upsample": Case({"X": MAPS}, {"scales": np.array([1, 1, 2, 2], np.float32)}, {"mode": "nearest"}),
        "ReverseSequence": Case({"input": (1, 4, 3)}, {"sequence_lens": i(3)}, {"batch_axis": 0, "time_axis": 1}),
        "Trilu": Case({"input": (1, 4, 5)}),
        "OneHot": Case({"x": (1, 3, 5)}, {"depth": np.array(5), "values": np.array([-1, 2], np.float32)}, before=(N("ArgMax", ["x"], ["indices"], axis=2, keepdims=0),)),
        "AffineGrid": Case({"theta": (1, 2, 3)}, {"size": i(1, 1, 3, 4)}),
        "GridSample": Case({"X": MAPS}, {"grid": RNG.uniform(-0.9, 0.9, (1, 3, 3, 2)).astype(np.float32)}),
        "QuantizeLinear": Case({"x": ROW}, {"y_scale": np.float32(0.05), "y_zero_point": np.int8(3)}, after=(N("DequantizeLinear", ["made", "y_scale", "y_zero_point"], ["y"]),)),
        "DequantizeLinear": Case({"r": ROW}, {"x_scale": np.float32(0.05), "x_zero_point": np.int8(3)}, before=(N("QuantizeLinear", ["r", "x_scale", "x_zero_point"], ["x"]),)),
        "RotaryEmbedding": Case({"X": (1, 3, 4, 4)}, {"cos_cache": f(1, 4, 2), "sin_cache": f(1, 4, 2)}),
        "Attention": Case({"Q": (1, 2, 3, 4), "K": (1, 2, 3, 4), "V": (1, 2, 3, 4)}),
        **dict.fromkeys(("HannWindow", "HammingWindow", "BlackmanWindow"), Case(X, {"size": np.array(12)}, after=(N("Mul", ["made", "x"], ["y"]),))),
        "MelWeightMatrix": Case({"x": (1, 17)}, {"num_mel_bins": np.array(4), "dft_length": np.array(32), "sample_rate": np.array(8000), "lower_edge_hertz": np.float32(100), "upper_edge_hertz": np.float32(3900)}, after=(N("MatMul", ["x", "made"], ["y"]),)),
        "DFT": Case({"input": (1, 40, 1)}, {"dft_length": np.array(40), "two": np.float32(2), "parts": i(2), "few": np.float32(1e-3)}, {"onesided": 1}, ends=(-0.9, 0.9), after=(N("Pow", ["made", "two"], ["squares"]), N("ReduceSum", ["squares", "parts"], ["power"], keepdims=0), N("Add", ["power", "few"], ["floor"]), N("Log", ["floor"], ["y"]))),
        "STFT": Case({"signal": (1, 96)}, {"frame_step": np.array(16), "window": np.hanning(32).astype(np.float32), "frame_length": np.array(32), "two": np.float32(2), "parts": i(3), "few": np.float32(1e-3)}, ends=(-0.9, 0.9), after=(N("Pow", ["made", "two"], ["squares"]), N("ReduceSum", ["squares", "parts"], ["power"], keepdims=0), N("Add", ["power", "few"], ["floor"]), N("Log", ["floor"], ["y"]))),
        "SwiGLU": Case({"A": ROW, "B": ROW}),
        "TensorScatter": Case({"past_cache": (1, 5, 4), "update": (1, 2, 4)}, {"write_indices": i(1)}, {"axis": 1}),
        "CausalConvWithState": Case({"input": (1, 4, 6)}, {"weight": f(4, 1, 3)}, outputs=2),
        "LinearAttention": Case({"query": (1, 3, 8), "key": (1, 3, 8), "value": (1, 3, 8)}, attributes={"q_num_heads": 2, "kv_num_heads": 2, "update_rule": "linear"}, outputs=2),
    }
)  # fmt: skip


def versions(op: str) -> tuple[int, ...]:
    """The first opset that edgec reads of each version of an operator that is in force."""
    firsts = sorted(s.since_version for s in _history(op) if s.since_version < withdrawn(op))
    ends = (*firsts[1:], withdrawn(op))
    return tuple(
        max(first, MIN_OPSET) for first, end in zip(firsts, ends, strict=True) if end > MIN_OPSET
    )


def withdrawn(op: str) -> int:
    """The opset from which on an operator is no more, or one beyond the last that edgec reads."""
    history = _history(op)
    last = max(history, key=lambda s: s.since_version)
    return last.since_version if last.deprecated else MAX_OPSET + 1


def _history(op: str) -> list[Any]:
    return [s for s in defs.get_all_schemas_with_history() if s.name == op and s.domain == ""]


def schema_at(op: str, opset: int) -> Any:
    """The version of an operator that is in force in an opset."""
    return max((s for s in _history(op) if s.since_version <= opset), key=lambda s: s.since_version)


def model_at(op: str, opset: int) -> onnx.ModelProto:
    """The model of an operator in an opset."""
    if op in BODIES:
        return BODIES[op](opset)
    case = CASES[op]
    schema: Any = schema_at(op, opset)
    constants, attributes = dict(case.constants), dict(case.attributes)
    known = {each.name for each in schema.inputs}
    for name in case.constants:
        other = RENAMED.get(name, name)
        if name not in known and other in schema.attributes:
            kind = schema.attributes[other].type
            whole = kind in (defs.OpSchema.AttrType.INT, defs.OpSchema.AttrType.FLOAT)
            numbers = np.asarray(constants.pop(name)).reshape(-1).tolist()
            attributes[other] = numbers[0] if whole else numbers
        elif name not in known and other in known:
            constants[other] = constants.pop(name)
    attributes = {n: a for n, a in attributes.items() if n in schema.attributes}
    given = {*case.inputs, *constants, *(name for node in case.before for name in node.output)}
    if schema.inputs[-1].option == defs.OpSchema.FormalParameterOption.Variadic:
        names = [*case.inputs, *constants]
    else:
        names = [each.name if each.name in given else "" for each in schema.inputs]
    names = names if any(names) else [*case.inputs]  # names of single inputs differ
    while not names[-1]:
        names.pop()
    read = {*names, *(name for node in (*case.before, *case.after) for name in node.input)}
    made = ["made" if case.after else "y", *(f"more{n}" for n in range(1, case.outputs))]
    nodes = [*case.before, N(op, names, made, **attributes), *case.after]
    return _model(nodes, case.inputs, {n: a for n, a in constants.items() if n in read}, opset)


def _model(
    nodes: list[onnx.NodeProto],
    inputs: Mapping[str, tuple[int, ...]],
    constants: Mapping[str, Array],
    opset: int,
) -> onnx.ModelProto:
    graph = helper.make_graph(
        nodes,
        "g",
        [helper.make_tensor_value_info(name, FLOAT, shape) for name, shape in inputs.items()],
        [helper.make_tensor_value_info("y", FLOAT, None)],
        [numpy_helper.from_array(np.asarray(array), name) for name, array in constants.items()],
    )
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)], ir_version=8)


def _info(name: str, kind: int, *shape: int) -> onnx.ValueInfoProto:
    return helper.make_tensor_value_info(name, kind, shape)


def _if(opset: int) -> onnx.ModelProto:
    branches = {
        name: helper.make_graph([N(op, ["x"], [name])], name, [], [_info(name, FLOAT, *ROW)])
        for name, op in (("then_branch", "Neg"), ("else_branch", "Abs"))
    }
    return _model([N("If", ["c"], ["y"], **branches)], X, {"c": np.array(True)}, opset)


def _loop(opset: int) -> onnx.ModelProto:
    body = helper.make_graph(
        [N("Mul", ["s", "half"], ["t"]), N("Identity", ["c"], ["d"])],
        "body",
        [_info("n", INT64), _info("c", BOOL), _info("s", FLOAT, *ROW)],
        [_info("d", BOOL), _info("t", FLOAT, *ROW)],
    )
    constants = {"count": np.array(3), "true": np.array(True), "half": np.float32(0.5)}
    return _model([N("Loop", ["count", "true", "x"], ["y"], body=body)], X, constants, opset)


def _scan(opset: int) -> onnx.ModelProto:
    """Sums up the three rows of x [1, 3, 4], which opset 8 takes apart behind the batch axis."""
    body = helper.make_graph(
        [N("Add", ["s", "p"], ["t"]), N("Identity", ["t"], ["u"])],
        "body",
        [_info(name, FLOAT, *((4,) if opset < 9 else (1, 4))) for name in "sp"],
        [_info(name, FLOAT, *((4,) if opset < 9 else (1, 4))) for name in "tu"],
    )
    names = ["", "zero", "x"] if opset < 9 else ["zero", "x"]
    axes = {} if opset < 9 else {"scan_input_axes": [1], "scan_output_axes": [1]}
    node = N("Scan", names, ["last", "y"], num_scan_inputs=1, body=body, **axes)
    return _model([node], {"x": (1, 3, 4)}, {"zero": np.zeros((1, 4), np.float32)}, opset)


BODIES = MappingProxyType({"If": _if, "Loop": _loop, "Scan": _scan})
"""Models of operators whose attributes are graphs."""

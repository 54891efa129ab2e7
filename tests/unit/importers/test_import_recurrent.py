"""LSTM, GRU and RNN become loops that compute what onnxruntime computes."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import onnx
import pytest
from import_models import assert_executed, imported, random_feeds, run, save
from loop_models import info, model, node
from onnx import numpy_helper
from onnxruntime.quantization import quantize_dynamic
from recurrent_models import FEATURES, recurrent

from edgec.base.errors import ConfigError, ImportModelError
from edgec.base.options import IntegerOptions, MaxLength
from edgec.floatrun.executor import Executor
from edgec.importers.formats import import_model, inspect_model
from edgec.workflow.integer import real_model

OPERATORS = ("LSTM", "GRU", "RNN")


def check(proto: onnx.ModelProto, folder: Path) -> None:
    graph = imported(proto, folder)
    feeds = random_feeds(graph, seed=5)
    assert_executed(graph, feeds, run(proto, feeds))


@pytest.mark.parametrize("op", OPERATORS)
@pytest.mark.parametrize("direction", ["forward", "reverse", "bidirectional"])
@pytest.mark.parametrize("steps", [1, 6])
@pytest.mark.parametrize("states", [False, True])
def test_directions_and_states(
    op: str, direction: str, steps: int, states: bool, tmp_path: Path
) -> None:
    check(recurrent(op, direction=direction, steps=steps, states=states), tmp_path)


@pytest.mark.parametrize("op", OPERATORS)
def test_without_bias_with_a_batch(op: str, tmp_path: Path) -> None:
    check(recurrent(op, bias=False, batch=1, states=True), tmp_path)


@pytest.mark.parametrize("op", OPERATORS)
@pytest.mark.parametrize("outputs", ["y", "h"])
def test_some_outputs(op: str, outputs: str, tmp_path: Path) -> None:
    check(recurrent(op, outputs=outputs, direction="bidirectional"), tmp_path)


def test_cell_state_alone(tmp_path: Path) -> None:
    check(recurrent("LSTM", outputs="c"), tmp_path)


@pytest.mark.parametrize("opset", [7, 14, 22])
@pytest.mark.parametrize("op", OPERATORS)
def test_opsets(op: str, opset: int, tmp_path: Path) -> None:
    check(recurrent(op, opset=opset), tmp_path)


def test_reset_after_the_product(tmp_path: Path) -> None:
    for direction in ("forward", "bidirectional"):
        check(recurrent("GRU", linear_before_reset=1, direction=direction), tmp_path)


@pytest.mark.parametrize("op", OPERATORS)
def test_clip(op: str, tmp_path: Path) -> None:
    check(recurrent(op, clip=0.3, gain=1.5), tmp_path)


def test_coupled_gates(tmp_path: Path) -> None:
    check(recurrent("LSTM", input_forget=1), tmp_path)


@pytest.mark.parametrize(
    ("op", "activations"),
    [
        ("LSTM", ["HardSigmoid", "Relu", "Softsign"]),
        ("LSTM", ["Sigmoid", "Elu", "LeakyRelu"]),
        ("GRU", ["HardSigmoid", "Softplus"]),
        ("GRU", ["Affine", "ScaledTanh"]),
        ("RNN", ["Relu"]),
        ("RNN", ["ThresholdedRelu"]),
    ],
)
def test_activations(op: str, activations: list[str], tmp_path: Path) -> None:
    numbers = {"Affine": (0.4, 0.1), "ScaledTanh": (0.9, 0.7), "HardSigmoid": (0.3, 0.4)}
    some = {"Elu": 0.8, "LeakyRelu": 0.2, "ThresholdedRelu": 0.1}
    alphas = [numbers[name][0] if name in numbers else some.get(name) for name in activations]
    betas = [numbers[name][1] for name in activations if name in numbers]
    attrs: dict[str, object] = {"activations": activations}
    given = [alpha for alpha in alphas if alpha is not None]
    attrs |= {"activation_alpha": given} if given else {}
    attrs |= {"activation_beta": betas} if betas else {}
    check(recurrent(op, **attrs), tmp_path)


def test_layers_on_one_another(tmp_path: Path) -> None:
    """As PyTorch writes them: the axis of directions goes, then the next layer follows."""
    rng = np.random.default_rng(3)
    sizes = ((12, 3, 4), (8, 4, 2))
    stored: dict[str, np.ndarray] = {"one": np.array([1], np.int64)}
    for number, (rows, features, units) in enumerate(sizes):
        stored[f"w{number}"] = rng.normal(size=(1, rows, features)).astype(np.float32)
        stored[f"r{number}"] = rng.normal(size=(1, rows, units)).astype(np.float32)
    proto = model(
        [
            node("GRU", "x w0 r0", "a", hidden_size=4, linear_before_reset=1),
            node("Squeeze", "a one", "b"),
            node("LSTM", "b w1 r1", "c", hidden_size=2),
            node("Squeeze", "c one", "y"),
        ],
        [info("x", 5, 1, 3)],
        [info("y", 5, 1, 2)],
        stored,
    )
    check(proto, tmp_path)


def _broken(change: str) -> onnx.ModelProto:
    proto = recurrent("LSTM", states=True)
    for tensor in proto.graph.initializer:
        array = numpy_helper.to_array(tensor).copy()
        if change == "NaN" and tensor.name == "R":
            array[0, 1, 2] = np.nan
        elif change == "shape of the state" and tensor.name == "h0":
            array = array[..., :2]
        elif change == "shape of the weights" and tensor.name == "W":
            array = array[:, :-1]
        tensor.CopyFrom(numpy_helper.from_array(np.ascontiguousarray(array), tensor.name))
    return proto


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ("NaN", "weights are not finite"),
        ("shape of the state", "an initial state is"),
        ("shape of the weights", "do not fit"),
    ],
)
def test_bad_weights_are_refused(change: str, message: str, tmp_path: Path) -> None:
    with pytest.raises(ImportModelError, match=message):
        imported(_broken(change), tmp_path)


def test_lengths_and_peepholes_are_refused_by_name(tmp_path: Path) -> None:
    proto = recurrent("LSTM")
    (made,) = proto.graph.node
    made.input.extend(["lengths"])
    proto.graph.initializer.append(numpy_helper.from_array(np.array([3], np.int32), "lengths"))
    with pytest.raises(ImportModelError, match="lengths of their own"):
        imported(proto, tmp_path)
    proto = recurrent("LSTM")
    (made,) = proto.graph.node
    made.input.extend(["", "", "", "peepholes"])
    array = np.ones((1, 12), np.float32)
    proto.graph.initializer.append(numpy_helper.from_array(array, "peepholes"))
    with pytest.raises(ImportModelError, match="peepholes"):
        imported(proto, tmp_path)


def test_inspect_counts_the_products_of_all_steps(tmp_path: Path) -> None:
    path = save(recurrent("GRU", steps=7, direction="bidirectional"), tmp_path)
    assert inspect_model(path).macs == 7 * 2 * 3 * 4 * (FEATURES + 4)


def test_steps_are_no_batch(tmp_path: Path) -> None:
    """The first axis of a sequence are its steps, whatever their names; open ones are asked for."""
    path = save(recurrent("GRU", steps=7), tmp_path)
    assert import_model(path).shape("x") == (1, 7, 1, FEATURES)
    proto = recurrent("GRU", steps=7)
    dims = proto.graph.input[0].type.tensor_type.shape.dim
    dims[0].dim_param, dims[1].dim_param = "frames", "streams"
    path = save(proto, tmp_path)
    with pytest.raises(ImportModelError, match="open") as caught:
        import_model(path)
    assert "--shape x=32,1,3" in str(caught.value.hint)
    assert import_model(path, {"x": (9, 1, 3)}).shape("x") == (1, 9, 1, FEATURES)


@pytest.mark.parametrize("per_channel", [False, True])
@pytest.mark.parametrize("direction", ["forward", "bidirectional"])
def test_weights_that_onnxruntime_quantized(
    per_channel: bool, direction: str, tmp_path: Path
) -> None:
    target = tmp_path / "quantized.onnx"
    path = save(recurrent("LSTM", direction=direction, states=True), tmp_path)
    quantize_dynamic(path, target, per_channel=per_channel)
    proto = onnx.load(target)
    assert "DynamicQuantizeLSTM" in {each.op_type for each in proto.graph.node}
    graph = imported(proto, tmp_path)
    feeds = random_feeds(graph, seed=5)
    found = Executor(graph, list(graph.values)).run({n: a[None] for n, a in feeds.items()})
    # onnxruntime rounds x and the hidden state, too.
    for name, wanted in zip(graph.outputs, run(proto, feeds), strict=True):
        assert np.abs(found[name][0] - wanted).max() < 0.02


def test_a_number_of_steps_that_runs_choose_beside_a_state_is_refused_by_name(tmp_path):
    memory = node("Add", "h0 level", "hn")
    memory.name = "memory"
    proto = model(
        [node("ReduceMax", "x", "level", axes=[1], keepdims=0), memory, node("Add", "x h0", "y")],
        [info("x", 1, "steps", 4), info("h0", 1, 4)],
        [info("y", 1, "steps", 4), info("hn", 1, 4)],
    )
    path = tmp_path / "model.onnx"
    onnx.save(proto, path)
    with pytest.raises(ConfigError, match="state.*one length") as caught:
        real_model(path, None, IntegerOptions(max_length=MaxLength(6)))
    assert "h0" in caught.value.where


@pytest.mark.parametrize("axis", [0, 1])
def test_the_steps_of_an_operator_are_the_open_dimension_that_is_no_batch(axis, tmp_path):
    proto = recurrent("GRU", steps=6, layout=axis)
    dims = proto.graph.input[0].type.tensor_type.shape.dim
    dims[axis].dim_param, dims[1 - axis].dim_param = "steps", "batch"
    for output in proto.graph.output:
        output.type.tensor_type.ClearField("shape")
    path = tmp_path / "model.onnx"
    onnx.save(proto, path)
    found = real_model(path, None, IntegerOptions(max_length=MaxLength(6)))
    assert found.shorter is not None
    longest, shorter = (graph.shape("x") for graph in (found.graph, found.shorter))
    assert np.subtract(longest, shorter).tolist().count(1) == 1 == sum(longest) - sum(shorter)

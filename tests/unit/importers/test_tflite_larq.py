"""Layers of signs in files of Larq Compute Engine: packed again, and equal to their definition."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from tflite_larq import RELU, Bconv, LarqNet, options
from tflite_models import Op, T, const, write_tflite

from edgec.base.errors import EdgecError
from edgec.base.options import CompileOptions
from edgec.interp import run_graph
from edgec.ir import qops
from edgec.workflow.integer import IntegerModel, integer_model

RNG = np.random.default_rng(3)
SHAPE = (40, 9, 8, 40)


def compiled(net: LarqNet, y: str, folder: Path) -> IntegerModel:
    return integer_model(net.save(y, folder / "m.tflite"), {"x": net.real["x"]}, CompileOptions())


def far(built: IntegerModel, net: LarqNet, y: str, steps: float = 2.0) -> float:
    """The part of outputs that lie more than some steps from the definition."""
    graph = built.integer
    quant = graph.quant(graph.outputs[0])
    found = [
        quant.dequantize(
            run_graph(graph, {"x": graph.quant("x").quantize(x[None])})[graph.outputs[0]]
        )
        for x in net.real["x"]
    ]
    error = np.abs(np.concatenate(found).reshape(net.real[y].shape) - net.real[y])
    return float((error > steps * quant.tensor_scale).mean())


def layers(built: IntegerModel) -> list[qops.BinaryLayer]:
    return [n.attrs for n in built.integer.nodes if isinstance(n.attrs, qops.BinaryLayer)]


def signs(shape: tuple[int, ...] = SHAPE) -> np.ndarray:
    """Samples whose signs no rounding changes."""
    return (RNG.choice([-1.0, 1.0], shape) * RNG.uniform(0.1, 1.0, shape)).astype(np.float32)


@pytest.mark.parametrize(
    "layer",
    [
        Bconv(12),
        Bconv(12, ones=False),
        Bconv(12, stride=2, ones=False),
        Bconv(33, (2, 3), stride=2),
        Bconv(12, (1, 1), same=False),
        Bconv(7, (3, 1), same=False),
    ],
    ids=str,
)
def test_a_layer(layer: Bconv, tmp_path: Path) -> None:
    net = LarqNet(signs())
    y = net.conv(net.quantize("x"), layer)
    built = compiled(net, y, tmp_path)
    (found,) = layers(built)
    assert isinstance(found, qops.QBinaryConv)
    assert found.pads_ones is (layer.same and layer.ones)
    assert far(built, net, y) < 0.001


def test_thresholds(tmp_path: Path) -> None:
    """A layer that ends in signs, one that reads them, and the largest of signs between."""
    net = LarqNet(signs())
    x = net.conv(net.quantize("x"), Bconv(64, ends_in_signs=True))
    x = net.conv(net.max_pool(x), Bconv(40, ends_in_signs=True, same=False))
    y = net.conv(x, Bconv(8, (1, 1)))
    built = compiled(net, y, tmp_path)
    assert [layer.output is None for layer in layers(built)] == [False, True, False]
    assert far(built, net, y) < 0.001


def test_an_activation_before_the_factors(tmp_path: Path) -> None:
    net = LarqNet(signs())
    x = net.conv(net.quantize("x"), Bconv(20, activation=RELU))
    y = net.conv(net.quantize(x), Bconv(8, activation=RELU))
    built = compiled(net, y, tmp_path)
    assert len(layers(built)) == 2
    assert far(built, net, y) < 0.02


def test_groups(tmp_path: Path) -> None:
    net = LarqNet(signs((40, 5, 5, 64)))
    y = net.conv(net.quantize("x"), Bconv(8, groups=2))
    built = compiled(net, y, tmp_path)
    assert not layers(built)
    assert far(built, net, y) < 0.001


def test_numbers_of_signs(tmp_path: Path) -> None:
    net = LarqNet(signs())
    y = net.dequantize(net.max_pool(net.quantize("x")))
    assert far(compiled(net, y, tmp_path), net, y, 0.5) == 0.0


GOOD = {
    "channels_in": 40, "padding": 1, "stride_height": 1, "stride_width": 1, "pad_values": 1,
}  # fmt: skip
WORDS = const(np.zeros((4, 3, 3, 2), np.int32))
NUMBERS = const(np.ones(4, np.float32))


@pytest.mark.parametrize(
    ("changes", "tensors", "says"),
    [
        ({"channels_in": 41}, {}, "40 channels are not those that it names"),
        ({"padding": 0}, {}, "its padding is number 0"),
        ({"stride_height": 0}, {}, "its stride is"),
        ({"stride_width": -1}, {}, "its stride is"),
        ({"fused_activation_function": 99}, {}, "its activation function is number 99"),
        ({}, {"w": const(np.zeros((4, 3, 3, 3), np.int32))}, "do not divide"),
        ({}, {"w": const(np.zeros((4, 3, 3, 2), np.float32))}, "not packed signs"),
        ({}, {"m": const(np.ones(3, np.float32))}, "its multiplier is"),
        ({}, {"b": const(np.ones(4, np.int32))}, "its bias is"),
        ({"pad_values": 0}, {"t": const(np.ones(4, np.int32))}, "pads zeros"),
    ],
)
def test_bad_layers(changes: dict, tensors: dict, says: str, tmp_path: Path) -> None:
    all_tensors = {
        "x": T((1, 9, 8, 40)), "s": T((1, 9, 8, 2), dtype="int32"), "w": WORDS, "m": NUMBERS,
        "b": NUMBERS, "y": T((1, 9, 8, 4)), **tensors,
    }  # fmt: skip
    inputs = ["s", "w", "m", "b", "t" if "t" in tensors else ""]
    own = options(**GOOD | changes)
    operators = [
        Op("CUSTOM", ["x"], ["s"], custom="LceQuantize"),
        Op("CUSTOM", inputs, ["y"], custom="LceBconv2d", custom_options=own),
    ]
    path = write_tflite(tmp_path / "m.tflite", all_tensors, operators)
    with pytest.raises(EdgecError, match=says):
        integer_model(path, {"x": signs()}, CompileOptions())


@pytest.mark.parametrize("own", [b"", b"\x00", b"\xff" * 40, options(channels_in=40)[:-3]])
def test_damaged_attributes(own: bytes, tmp_path: Path) -> None:
    tensors = {
        "x": T((1, 9, 8, 40)), "s": T((1, 9, 8, 2), dtype="int32"), "w": WORDS, "m": NUMBERS,
        "b": NUMBERS, "y": T((1, 9, 8, 4)),
    }  # fmt: skip
    operators = [
        Op("CUSTOM", ["x"], ["s"], custom="LceQuantize"),
        Op("CUSTOM", ["s", "w", "m", "b", ""], ["y"], custom="LceBconv2d", custom_options=own),
    ]
    path = write_tflite(tmp_path / "m.tflite", tensors, operators)
    with pytest.raises(EdgecError):
        integer_model(path, {"x": signs()}, CompileOptions())


def test_numbers_that_are_no_signs(tmp_path: Path) -> None:
    """Real numbers are no words of signs, though signs are real numbers in the graph."""
    tensors = {
        "x": T((1, 9, 8, 40)), "w": WORDS, "m": NUMBERS, "b": NUMBERS, "y": T((1, 9, 8, 4)),
    }  # fmt: skip
    inputs, own = ["x", "w", "m", "b", ""], options(**GOOD)
    operators = [Op("CUSTOM", inputs, ["y"], custom="LceBconv2d", custom_options=own)]
    path = write_tflite(tmp_path / "m.tflite", tensors, operators)
    with pytest.raises(EdgecError, match="no tensor of signs"):
        integer_model(path, {"x": signs()}, CompileOptions())


def test_words_that_are_no_signs(tmp_path: Path) -> None:
    """An int32 input of the network is no tensor of signs."""
    tensors = {"x": T((1, 9, 8, 40), dtype="int32"), "y": T((1, 9, 8, 40))}
    operators = [Op("CUSTOM", ["x"], ["y"], custom="LceDequantize")]
    path = write_tflite(tmp_path / "m.tflite", tensors, operators)
    with pytest.raises(EdgecError, match="no tensor of signs"):
        integer_model(path, {"x": signs()}, CompileOptions())


def test_codes_of_the_file(tmp_path: Path) -> None:
    """The codes of int8 tensors are the file's; sums of signs end in them."""
    net = LarqNet(np.round(signs() / 0.02).astype(np.float32) * np.float32(0.02))
    y = net.conv(net.quantize("x"), Bconv(12, ones=False))
    for name, scale in (("x", 0.02), (y, 0.05)):
        shape = net.tensors[name].shape
        net.tensors[name] = T(shape, dtype="int8", scale=[scale], zero=[3])
    built = compiled(net, y, tmp_path)
    graph = built.integer
    assert [graph.quant(name).tensor_scale for name in ("x", y)] == pytest.approx([0.02, 0.05])
    inside = np.abs(net.real[y]) < 0.05 * 120
    net.real[y] = np.where(inside, net.real[y], 0.0)
    (found,) = (
        np.concatenate(
            [run_graph(graph, {"x": graph.quant("x").quantize(x[None])})[y] for x in net.real["x"]]
        ),
    )
    error = np.abs(np.where(inside, graph.quant(y).dequantize(found), 0.0) - net.real[y])
    assert error.max() <= 0.051

"""Spectra of sound in ONNX files: windows, mel weights, and STFT up to a logarithm."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import onnx
import pytest
from import_models import assert_executed, imported, run
from loop_models import info, model, node, open_info

from edgec.base.errors import UnsupportedModelError
from edgec.base.options import IntegerOptions
from edgec.interp import run_graph
from edgec.ir import ops, qops
from edgec.passes.base import run_passes
from edgec.passes.pipeline import REAL_PASSES
from edgec.workflow.integer import integer_model

RATE, POINTS, HOP, FILTERS, SAMPLES = 8000, 256, 80, 12, 2000
TAILS = ("squares", "norm", "pow", "magnitude", "decibels", "bins", "left")


def sound_model(tail: str, *, samples: int = SAMPLES, points: int = POINTS) -> onnx.ModelProto:
    """Logarithms of mel energies as exporters write them, the window and filters computed in it."""
    stored = {
        "hop": np.array(HOP),
        "size": np.array(points),
        "filters": np.array(FILTERS),
        "rate": np.array(RATE),
        "low": np.array(60.0, np.float32),
        "high": np.array(3800.0, np.float32),
        "last": np.array([-1]),
        "two": np.array(2.0, np.float32),
        "few": np.array(1e-6, np.float32),
        "ten": np.array(10 / np.log(10), np.float32),
        "floor": np.array(1e-8, np.float32),
        "none": np.array([], np.float32),
    }
    nodes = [
        node("HannWindow", "size", "window"),
        node("MelWeightMatrix", "filters size rate low high", "bank"),
        node("STFT", "x hop window size", "s"),
    ]
    if tail == "norm":
        nodes += [node("ReduceL2", "s last", "m", keepdims=0), node("Mul", "m m", "p0")]
        nodes[-1] = node("Pow", "m two", "p")
    elif tail in ("pow", "magnitude"):
        nodes += [node("Pow", "s two", "q"), node("ReduceSum", "q last", "p1", keepdims=0)]
        nodes.append(node("Sqrt" if tail == "magnitude" else "Identity", "p1", "p"))
    else:
        nodes.append(node("ReduceSumSquare", "s last", "p", keepdims=0))
    if tail == "bins":
        nodes += [node("Add", "p few", "e"), node("Log", "e", "y")]
    elif tail == "left":
        nodes += [node("Transpose", "p", "pt", perm=[0, 2, 1]), node("Transpose", "bank", "bt")]
        nodes += [node("MatMul", "bt pt", "e0"), node("Add", "e0 few", "e"), node("Log", "e", "y")]
    elif tail == "decibels":
        nodes += [node("MatMul", "p bank", "e0"), node("Clip", "e0 floor", "e")]
        nodes += [node("Log", "e", "l"), node("Mul", "l ten", "y")]
    else:
        nodes += [node("MatMul", "p bank", "e0"), node("Add", "e0 few", "e"), node("Log", "e", "y")]
    used = {name for each in nodes for name in each.input}
    kept = {name: array for name, array in stored.items() if name in used}
    return model(nodes, [info("x", 1, samples, 1)], [open_info("y")], kept, 18)


def sounds(count: int, seed: int, samples: int = SAMPLES) -> np.ndarray:
    """Tones that swell and fade over noise, as a recording of 16 bits has them."""
    rng = np.random.default_rng(seed)
    t = np.arange(samples) / RATE
    tones = [
        rng.uniform(0.05, 0.4) * np.sin(2 * np.pi * rng.uniform(80, 3000) * t) for _ in range(count)
    ]
    swells = [np.exp(-(((t - rng.uniform(0, t[-1])) / 0.05) ** 2)) for _ in range(count)]
    found = np.array(tones) * swells + rng.normal(0, 1e-3, (count, samples))
    return (np.round(found * 2.0**15) / 2.0**15).astype(np.float32)[..., None]


def dft_model(kind: str, points: int) -> onnx.ModelProto:
    """Logarithms of mel energies by DFT, as torch.fft.rfft is exported; samples [1, L]."""
    frames = (SAMPLES - points) // HOP + 1
    places = HOP * np.arange(frames)[:, None] + np.arange(points)
    rng = np.random.default_rng(9)
    stored = {
        "places": places,
        "window": np.hanning(points + 1)[:-1].astype(np.float32),
        "size": np.array(points),
        "axis": np.array(2),
        "last": np.array([-1]),
        "two": np.array(2.0, np.float32),
        "few": np.array(1e-6, np.float32),
        "bank": rng.uniform(0, 0.1, (points // 2 + 1, FILTERS)).astype(np.float32),
    }
    nodes = []
    if kind == "frames":
        nodes = [node("Gather", "x places", "f", axis=1), node("Mul", "f window", "fw")]
        samples = [SAMPLES]
    elif kind == "box":
        nodes, samples = [node("Identity", "x", "fw")], [7, points]
    else:
        nodes, samples = [node("Mul", "window x", "fw")], [points]
        stored["axis"] = np.array(1)
    nodes.append(node("Unsqueeze", "fw last", "u"))
    if kind == "axis 17":
        nodes.append(node("DFT", "u size", "s", axis=1, onesided=1))
    else:
        nodes.append(node("DFT", "u size axis", "s", onesided=1))
    nodes += [node("ReduceL2", "s last", "m", keepdims=0), node("Pow", "m two", "p")]
    nodes += [node("MatMul", "p bank", "e0"), node("Add", "e0 few", "e"), node("Log", "e", "y")]
    used = {name for each in nodes for name in each.input}
    kept = {name: array for name, array in stored.items() if name in used}
    opset = 18 if kind == "axis 17" else 20
    return model(nodes, [info("x", 1, *samples)], [open_info("y")], kept, opset)


@pytest.mark.parametrize(
    ("kind", "points"),
    [("frames", 400), ("frames", 225), ("box", 400), ("one", 882), ("axis 17", 256)],
)
def test_a_dft_is_the_same_operator(kind: str, points: int, tmp_path: Path) -> None:
    """Frames by Gather and a window before it are part of the operator."""
    proto = dft_model(kind, points)
    path = tmp_path / "sound.onnx"
    onnx.save(proto, path)
    shape = tuple(each.dim_value for each in proto.graph.input[0].type.tensor_type.shape.dim)
    samples = int(np.prod(shape))
    given = [sounds(1, seed, samples).reshape(shape) for seed in range(16)]
    found = integer_model(path, {"x": np.concatenate(given)}, IntegerOptions()).integer
    kinds = [type(each.attrs) for each in found.nodes]
    assert kinds.count(qops.QLogMel) == 1
    assert set(kinds) <= {qops.QLogMel, qops.QReshape, qops.QSlice, qops.QRescale}
    (mel,) = (each for each in found.nodes if isinstance(each.attrs, qops.QLogMel))
    assert mel.attrs.hop == (HOP if kind == "frames" else points)
    signal = noise = 0.0
    for seed in range(20, 26):
        sound = sounds(1, seed, samples).reshape(shape)
        codes = found.quant("x").quantize(sound).reshape(found.shape("x"))
        features = found.quant(mel.output).dequantize(run_graph(found, {"x": codes})[mel.output])
        (wanted,) = run(proto, {"x": sound})
        signal += float((wanted**2).sum())
        noise += float(((features.reshape(wanted.shape) - wanted) ** 2).sum())
    assert 10 * np.log10(signal / noise) > 45


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"onesided": 0}, "set onesided to 1"),
        ({"inverse": 1}, "inverse"),
        ({"axis": 0}, "over axis 0"),
    ],
)
def test_other_dfts_are_refused_by_name(change, words: str, tmp_path: Path) -> None:
    proto = dft_model("axis 17", 256)
    (dft,) = (each for each in proto.graph.node if each.op_type == "DFT")
    for each in list(dft.attribute):
        if each.name in change:
            dft.attribute.remove(each)
    dft.attribute.extend(onnx.helper.make_attribute(key, value) for key, value in change.items())
    del proto.graph.node[list(proto.graph.node).index(dft) + 1 :]
    proto.graph.output[0].name = "s"
    with pytest.raises(UnsupportedModelError, match=words):
        imported(proto, tmp_path)


@pytest.mark.parametrize("tail", TAILS)
def test_one_operator_computes_what_the_file_says(tail: str, tmp_path: Path) -> None:
    proto = sound_model(tail)
    graph = imported(proto, tmp_path)
    passed = run_passes(graph, REAL_PASSES).graph
    kinds = {type(each.attrs) for each in passed.nodes}
    assert ops.LogMel in kinds and not kinds & {ops.Spectrum, ops.Unary, ops.Gemm, ops.Clip}
    feeds = {"x": sounds(1, 3)}
    perm = passed.output_layouts.get("y", (0, 1, 2))
    assert_executed(passed, feeds, [part.transpose(perm) for part in run(proto, feeds)])


@pytest.mark.parametrize(
    ("tail", "points"), [(tail, POINTS) for tail in TAILS] + [("squares", 400), ("bins", 225)]
)
def test_integers_are_within_45_db_of_the_file(tail: str, points: int, tmp_path: Path) -> None:
    proto = sound_model(tail, points=points)
    path = tmp_path / "sound.onnx"
    onnx.save(proto, path)
    found = integer_model(path, {"x": sounds(16, 1)}, IntegerOptions()).integer
    (mel,) = (each for each in found.nodes if isinstance(each.attrs, qops.QLogMel))
    assert found.quant("x").tensor_scale == 2.0**-15
    signal = noise = 0.0
    for sound in sounds(6, 2):
        codes = found.quant("x").quantize(sound[None]).reshape(found.shape("x"))
        tensors = run_graph(found, {"x": codes})
        features = found.quant(mel.output).dequantize(tensors[mel.output])
        (wanted,) = run(proto, {"x": sound[None]})
        wanted = wanted.transpose(0, 2, 1) if tail == "left" else wanted
        signal += float((wanted**2).sum())
        noise += float(((features.reshape(wanted.shape) - wanted) ** 2).sum())
    assert 10 * np.log10(signal / noise) > 45


@pytest.mark.parametrize("few", [1e-9, 1e-4, 1e-2, 1.0])
def test_floors_of_any_size(few: float, tmp_path: Path) -> None:
    proto = sound_model("squares")
    for each in proto.graph.initializer:
        if each.name == "few":
            each.CopyFrom(onnx.numpy_helper.from_array(np.array(few, np.float32), "few"))
    path = tmp_path / "sound.onnx"
    onnx.save(proto, path)
    found = integer_model(path, {"x": sounds(16, 1)}, IntegerOptions()).integer
    (mel,) = (each for each in found.nodes if isinstance(each.attrs, qops.QLogMel))
    signal = noise = 0.0
    for sound in sounds(6, 2):
        codes = found.quant("x").quantize(sound[None]).reshape(found.shape("x"))
        features = found.quant(mel.output).dequantize(run_graph(found, {"x": codes})[mel.output])
        (wanted,) = run(proto, {"x": sound[None]})
        signal += float((wanted**2).sum())
        noise += float(((features.reshape(wanted.shape) - wanted) ** 2).sum())
    assert 10 * np.log10(signal / noise) > 45


@pytest.mark.parametrize(
    ("op", "inputs"),
    [
        ("HannWindow", (10,)),
        ("HammingWindow", (11,)),
        ("BlackmanWindow", (16,)),
        ("MelWeightMatrix", (8, 64, 8192, 0.0, 4096.0)),
        ("MelWeightMatrix", (20, 128, 16000, 40.0, 8000.0)),
    ],
)
@pytest.mark.parametrize("periodic", [0, 1])
def test_windows_and_filters_are_constants(op, inputs, periodic, tmp_path: Path) -> None:
    names = [f"i{number}" for number in range(len(inputs))]
    stored = {
        name: np.array(value, np.float32 if isinstance(value, float) else np.int64)
        for name, value in zip(names, inputs, strict=True)
    }
    attrs = {} if op == "MelWeightMatrix" else {"periodic": periodic}
    nodes = [node(op, " ".join(names), "w", **attrs), node("Mul", "x w", "y")]
    proto = model(nodes, [info("x", 1, 1)], [open_info("y")], stored, 17)
    graph = imported(proto, tmp_path)
    feeds = {"x": np.array([[0.5]], np.float32)}
    assert_executed(graph, feeds, [run(proto, feeds)[0].reshape(graph.shape("y"))])


def _without_logarithm() -> onnx.ModelProto:
    proto = sound_model("squares")
    del proto.graph.node[-1]
    proto.graph.output[0].name = "e"
    return proto


def _without_floor() -> onnx.ModelProto:
    proto = sound_model("squares")
    del proto.graph.node[-2]
    proto.graph.node[-1].input[0] = "e0"
    return proto


@pytest.mark.parametrize(
    ("proto", "words"),
    [
        (lambda: sound_model("bins", points=202), "202 points.*no prime factor above 13"),
        (_without_logarithm, "on their way to logarithms"),
        (_without_floor, "on their way to logarithms"),
    ],
)
def test_other_spectra_are_refused_by_name(proto, words: str, tmp_path: Path) -> None:
    path = tmp_path / "sound.onnx"
    onnx.save(proto(), path)
    with pytest.raises(UnsupportedModelError) as caught:
        integer_model(path, {"x": sounds(8, 1)}, IntegerOptions())
    assert caught.match(words.split(".*", maxsplit=1)[0])
    assert all(part in str(caught.value) for part in words.split(".*"))

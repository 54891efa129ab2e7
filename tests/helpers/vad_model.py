"""A detector of speech, shaped like the one that people use: a graph in each branch.

Samples, two states of an LSTM in one tensor, and the sample rate go in, which an `If` reads;
windows of the spectrum, and so weights, differ between rates.  Batch and samples are open.
"""

from __future__ import annotations

import numpy as np
import onnx
from loop_models import Array, body, info, model, node
from onnx import TensorProto, helper, numpy_helper

WINDOWS = {16000: 64, 8000: 32}
"""Samples of a window, by rate."""
UNITS = 12


def vad(units: int = UNITS, windows: dict[int, int] | None = None) -> onnx.ModelProto:
    """The model: input [batch, samples], state [2, batch, units], sr; output [batch, 1], stateN."""
    sizes = WINDOWS if windows is None else windows
    rng = np.random.default_rng(3)
    wide, narrow = (_branch(rng, sizes[rate], units) for rate in (16000, 8000))
    nodes = [
        node("Equal", "sr rate", "is_wide"),
        node("If", "is_wide", "output stateN", then_branch=wide, else_branch=narrow),
    ]
    inputs = [
        info("input", "batch", "samples"),
        info("state", 2, "batch", units),
        info("sr", kind=TensorProto.INT64),
    ]
    outputs = [info("output", "batch", 1), info("stateN", 2, "batch", units)]
    return model(nodes, inputs, outputs, {"rate": np.asarray(16000, np.int64)})


def _branch(rng: np.random.Generator, window: int, units: int) -> onnx.GraphProto:
    """Spectrum by a convolution, four convolutions over its frames, an LSTM, a layer."""
    bins, stored = window // 2 + 1, dict[str, Array]()

    def weights(name: str, *shape: int, gain: float = 1.0) -> str:
        scale = gain / np.sqrt(np.prod(shape[1:]))
        stored[name] = rng.normal(0, scale, shape).astype(np.float32)
        return name

    time, k = np.arange(window) / window, np.arange(bins)[:, None]
    hann = np.sin(np.pi * time) ** 2
    basis = np.concatenate([np.cos(2 * np.pi * k * time), -np.sin(2 * np.pi * k * time)])
    stored["basis"] = (basis * hann)[:, None].astype(np.float32)
    stored |= {
        "pads": np.asarray([0, 0, 0, window // 4], np.int64),
        "one": np.asarray([1], np.int64),
        "none": np.asarray([0], np.int64),
        "rank": np.asarray(3, np.int64),
        **{f"at{n}": np.asarray(n, np.int64) for n in (0, 1)},
    }
    nodes = [
        node("Pad", "input pads", "padded", mode="reflect"),
        node("Unsqueeze", "padded one", "wave"),
        node("Conv", "wave basis", "parts", strides=[window // 2]),
        node("Split", "parts", "re im", axis=1),
        node("Mul", "re re", "re2"),
        node("Mul", "im im", "im2"),
        node("Add", "re2 im2", "power"),
        node("Sqrt", "power", "c0"),
    ]
    last, sizes = bins, (units, units // 2, units // 2, units)
    for n, (size, stride) in enumerate(zip(sizes, (1, 2, 2, 1), strict=True)):
        weights(f"w{n}", size, last, 3, gain=1.4)
        stored[f"b{n}"] = rng.normal(0, 0.1, size).astype(np.float32)
        nodes.append(node("Conv", f"c{n} w{n} b{n}", f"s{n}", strides=[stride], pads=[1, 1]))
        nodes.append(node("Relu", f"s{n}", f"c{n + 1}"))
        last = size
    # Tracing leaves a choice by the rank: frames are either one or a sequence.
    taken = body([node("ReduceMean", "c4", "mean", axes=[2], keepdims=0)], [], [_open("mean")])
    whole = body([node("Identity", "c4", "same")], [], [_open("same")])
    weights("W", 1, 4 * units, units)
    weights("R", 1, 4 * units, units)
    stored["B"] = rng.normal(0, 0.1, (1, 8 * units)).astype(np.float32)
    weights("wy", 1, units, 1, gain=25.0)
    nodes += [
        node("Shape", "c4", "shape"),
        node("Size", "shape", "axes"),
        node("Equal", "axes rank", "is_sequence"),
        node("If", "is_sequence", "frame", then_branch=taken, else_branch=whole),
        node("Unsqueeze", "frame none", "step"),
        node("Gather", "state at0", "h", axis=0),
        node("Gather", "state at1", "c", axis=0),
        node("Unsqueeze", "h none", "h0"),
        node("Unsqueeze", "c none", "k0"),
        node("LSTM", "step W R B - h0 k0", "all hn cn", hidden_size=units),
        node("Concat", "hn cn", "stateN", axis=0),
        node("Squeeze", "all one", "steps"),
        node("Relu", "steps", "active"),
        node("Transpose", "active", "channels", perm=[1, 2, 0]),
        node("Conv", "channels wy", "score"),
        node("Sigmoid", "score", "chance"),
        node("ReduceMean", "chance", "output", axes=[2], keepdims=0),
    ]
    tensors = [numpy_helper.from_array(array, name) for name, array in stored.items()]
    return helper.make_graph(
        nodes, f"rate_{window}", [], [_open("output"), _open("stateN")], tensors
    )


def _open(name: str) -> onnx.ValueInfoProto:
    return helper.make_tensor_value_info(name, TensorProto.FLOAT, None)


def speech(count: int, samples: int, seed: int) -> Array:
    """Steps [count, samples] of tones that come and go in noise."""
    rng = np.random.default_rng(seed)
    time = np.arange(count * samples)
    loud = np.clip(np.sin(2 * np.pi * time / (samples * 37.0)), 0, 1)
    tone = np.sin(2 * np.pi * time * 0.031) + 0.5 * np.sin(2 * np.pi * time * 0.093)
    wave = 0.4 * loud * tone + rng.normal(0, 0.05, time.size)
    return wave.astype(np.float32).reshape(count, samples)

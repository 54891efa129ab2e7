"""Recordings of an accelerometer, and a small network that tells four movements apart.

    python examples/motion.py motion

writes into the folder `motion`: `train/` and `test/`, CSV recordings at 100 Hz in g, a line for
each time, in a subfolder for each movement; and `motion.onnx`, a network for the features that
edgec computes in integers, trained here with numpy.  Its property `edgec.front_end` names them, so
that it compiles as it is:

    edgec compile motion/motion.onnx --board pico --calibration motion/train --out motion/build
    edgec evaluate motion/build --data motion/test

The recordings are made of swings, steps and shocks with another sensor and another hand each: those
of the test have strengths, paces and positions of the sensor that training has not seen.
"""

from __future__ import annotations

import argparse
from pathlib import Path

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

from edgec.base.options import FrontEndOptions
from edgec.frontends.nodes import FrontEnd
from edgec.frontends.parameters import parameters_of

FRONT_END = (
    "sensor:rate=100,axes=3,window=200,hop=100,full-scale=4,low-pass=20,order=2,decimate=2,"
    "statistics=mean+std+min+max+skewness+kurtosis+mean-crossings,bands=0.4-1.5+1.5-3+3-6+6-12+12-24"
)
MOVEMENTS = ("rest", "shake", "turn", "walk")
RATE, SECONDS = 100, 12
_HIDDEN, _STEPS, _RATE_OF_STEPS = 16, 1500, 0.05


def recording(movement: str, rng: np.random.Generator) -> np.ndarray:
    """Acceleration in g, float64 [samples, 3], of a sensor in any position."""
    t = np.arange(RATE * SECONDS) / RATE
    body = np.zeros((len(t), 3))
    pace, strength = rng.uniform(0.8, 1.2), rng.uniform(0.7, 1.3)
    gravity = np.tile([0.0, 0.0, 1.0], (len(t), 1))
    if movement == "walk":
        steps = np.cumsum(1.9 * pace * (1 + 0.03 * rng.normal(size=len(t)))) / RATE
        shock = np.exp(-8 * (steps % 1.0))
        body[:, 2] = strength * (0.35 * np.sin(2 * np.pi * steps) + 0.5 * shock)
        body[:, 0] = strength * 0.15 * np.sin(np.pi * steps)
    elif movement == "shake":
        body[:, 0] = strength * 1.6 * np.sin(2 * np.pi * 5 * pace * t + np.sin(t))
        body[:, 1] = strength * 0.4 * np.sin(2 * np.pi * 10 * pace * t)
    elif movement == "turn":
        angle = np.pi / 2 * np.sin(2 * np.pi * 0.5 * pace * t)
        gravity = np.stack([np.sin(angle), np.zeros(len(t)), np.cos(angle)], axis=1)
    # The position of the sensor: a turn about each axis.
    axes, _ = np.linalg.qr(rng.normal(size=(3, 3)) * 0.4 + np.eye(3))
    found = (body + gravity) @ axes + rng.normal(0, 0.02, (len(t), 3)) + rng.normal(0, 0.02, 3)
    return np.clip(found, -3.99, 3.99)


def write(folder: Path, recordings: int, rng: np.random.Generator) -> list[tuple[np.ndarray, int]]:
    """Write recordings of each movement as CSV; the recordings and the numbers of their classes."""
    found = []
    for label, movement in enumerate(MOVEMENTS):
        (folder / movement).mkdir(parents=True, exist_ok=True)
        for number in range(recordings):
            g = np.round(recording(movement, rng), 4)
            lines = [f"{n / RATE:.2f},{x:.4f},{y:.4f},{z:.4f}" for n, (x, y, z) in enumerate(g)]
            text = "\n".join(["time,x,y,z", *lines, ""])
            (folder / movement / f"{number:02}.csv").write_text(text)
            found.append((g, label))
    return found


def train(features: np.ndarray, labels: np.ndarray) -> list[np.ndarray]:
    """Mean and spread of features, then weights and biases of two layers: gradient descent."""
    rng = np.random.default_rng(1)
    mean, spread = features.mean(axis=0), features.std(axis=0) + 0.02
    x, wanted = (features - mean) / spread, np.eye(len(MOVEMENTS))[labels]
    weights = [
        rng.normal(0, 0.2, (x.shape[1], _HIDDEN)),
        np.zeros(_HIDDEN),
        rng.normal(0, 0.2, (_HIDDEN, len(MOVEMENTS))),
        np.zeros(len(MOVEMENTS)),
    ]
    speed = [np.zeros_like(each) for each in weights]
    for _ in range(_STEPS):
        hidden = np.maximum(x @ weights[0] + weights[1], 0)
        scores = hidden @ weights[2] + weights[3]
        share = np.exp(scores - scores.max(axis=1, keepdims=True))
        error = (share / share.sum(axis=1, keepdims=True) - wanted) / len(x)
        back = (error @ weights[2].T) * (hidden > 0)
        slopes = [x.T @ back, back.sum(axis=0), hidden.T @ error, error.sum(axis=0)]
        for at, slope in enumerate(slopes):
            speed[at] = 0.9 * speed[at] + slope + 1e-3 * weights[at]
            weights[at] = weights[at] - _RATE_OF_STEPS * speed[at]
    return [mean, spread, *weights]


def network(parameters: list[np.ndarray]) -> onnx.ModelProto:
    """The network, float, for [1, features]."""
    names = ("mean", "spread", "w1", "b1", "w2", "b2")
    nodes = [
        helper.make_node("Sub", ["features", "mean"], ["centred"]),
        helper.make_node("Div", ["centred", "spread"], ["scaled"]),
        helper.make_node("Gemm", ["scaled", "w1", "b1"], ["sums"]),
        helper.make_node("Relu", ["sums"], ["hidden"]),
        helper.make_node("Gemm", ["hidden", "w2", "b2"], ["movement"]),
    ]
    sizes = {"features": len(parameters[0]), "movement": len(MOVEMENTS)}
    ports = [
        helper.make_tensor_value_info(name, TensorProto.FLOAT, [1, size])
        for name, size in sizes.items()
    ]
    stored = [
        numpy_helper.from_array(array.astype(np.float32), name)
        for name, array in zip(names, parameters, strict=True)
    ]
    graph = helper.make_graph(nodes, "motion", ports[:1], ports[1:], stored)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    helper.set_model_props(model, {"edgec.front_end": FRONT_END})
    return model


def main() -> None:
    """Write recordings and the network."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("folder", type=Path)
    folder = parser.parse_args().folder
    rng = np.random.default_rng(7)
    recordings = write(folder / "train", 12, rng)
    write(folder / "test", 6, rng)
    options = FrontEndOptions.parse(FRONT_END)
    front = FrontEnd(FRONT_END, parameters_of(options))
    features, labels = [], []
    for g, label in recordings:
        # From a reset on, as `evaluate` and calibration take recordings: a window each.
        codes = front.sample_codes.quantize(g).reshape(-1, front.window)
        found = front.features_of(codes).reshape(-1, front.features)
        features.append(found)
        labels += [label] * len(found)
    onnx.save(network(train(np.concatenate(features), np.array(labels))), folder / "motion.onnx")
    print(f"{folder}: {len(labels)} windows of {front.features} features")


if __name__ == "__main__":
    main()

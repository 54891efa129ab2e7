"""ONNX models of recurrent operators with weights of their own."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import onnx
from loop_models import info, model, node

GATES = {"LSTM": 4, "GRU": 3, "RNN": 1}
FEATURES, UNITS = 3, 4


def recurrent(
    op: str,
    *,
    steps: int = 6,
    batch: int = 1,
    features: int = FEATURES,
    units: int = UNITS,
    states: bool = False,
    bias: bool = True,
    outputs: Sequence[str] | None = None,
    seed: int = 1,
    opset: int = 17,
    gain: float = 0.7,
    **attrs: object,
) -> onnx.ModelProto:
    """A model of one recurrent node that gives all of its outputs.

    Args:
        op: LSTM, GRU or RNN.
        steps, batch, features, units: sizes.
        states: initial states are stored in the file; else they are 0.
        bias: there are biases.
        outputs: those that the model gives, of "y", "h" and "c"; None: all.
        seed, gain: of the weights, normal numbers times `gain`.
        opset: version of ONNX's operators.
        attrs: attributes of the node.
    """
    rng = np.random.default_rng(seed)
    rows = GATES[op] * units
    count = 2 if attrs.get("direction") == "bidirectional" else 1
    first = attrs.get("layout", 0)

    def numbers(*shape: int) -> np.ndarray:
        return (rng.normal(size=shape) * gain).astype(np.float32)

    stored = {"W": numbers(count, rows, features), "R": numbers(count, rows, units)}
    stored |= {"B": numbers(count, 2 * rows)} if bias else {}
    state = (batch, count, units) if first else (count, batch, units)
    names = ["x", "W", "R", "B" if bias else "-"]
    if states:
        kinds = ("h0", "c0") if op == "LSTM" else ("h0",)
        stored |= {name: numbers(*state) for name in kinds}
        names += ["-", *kinds]
    every = ("y", "h", "c") if op == "LSTM" else ("y", "h")
    given = every if outputs is None else tuple(outputs)
    made = " ".join(name if name in given else f"unused_{name}" for name in every)
    shape = (batch, steps, count, units) if first else (steps, count, batch, units)
    shapes = {"y": shape, "h": state, "c": state}
    x = (batch, steps, features) if first else (steps, batch, features)
    return model(
        [node(op, " ".join(names), made, hidden_size=units, **attrs)],
        [info("x", *x)],
        [info(name, *shapes[name]) for name in given],
        stored,
        opset,
    )

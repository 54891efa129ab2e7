"""Tensors that are joined although one reaches a thousand times as far as the other."""

from pathlib import Path

import numpy as np
import pytest
from import_models import N, model_of, save

from edgec.base.options import CompileOptions
from edgec.floatrun.float_model import FloatModel
from edgec.interp import run_graph_batch
from edgec.ir import qops
from edgec.workflow.integer import graph_side, integer_model

RNG = np.random.default_rng(4)
SHAPE = (1, 3, 8, 8)
DATA = RNG.normal(size=(64, *SHAPE[1:])).astype(np.float32)
FRESH = RNG.normal(size=(32, *SHAPE[1:])).astype(np.float32)


@pytest.mark.parametrize("factor", [1000.0, 1.0, 1e-3])
@pytest.mark.parametrize("kind", ["Abs", "Identity"])
def test_the_smaller_part_keeps_its_digits(kind: str, factor: float, tmp_path: Path) -> None:
    """What reads both as of one size has as many digits of either."""
    weight = RNG.normal(size=(4, 6, 3, 3)).astype(np.float32) / 5
    weight[:, 3:] /= factor
    constants = {"k": np.float32(factor), "w": weight}
    nodes = [
        N(kind, ["x"], ["a"]),
        N("Mul", ["x", "k"], ["b"]),
        N("Concat", ["a", "b"], ["c"], axis=1),
        N("Conv", ["c", "w"], ["y"], pads=[1, 1, 1, 1]),
    ]
    model = model_of(nodes, {"x": SHAPE}, constants)
    found = integer_model(save(model, tmp_path), {"x": DATA}, CompileOptions())
    real = graph_side(found.imported, found.integer, {"x": FRESH})["x"]
    (name,) = found.integer.outputs
    codes = run_graph_batch(found.integer, {"x": found.integer.quant("x").quantize(real)})[name]
    wanted = np.concatenate([FloatModel(model).run({"x": row[None]})["y"] for row in FRESH])
    given = found.integer.quant(name).dequantize(codes).reshape(len(FRESH), *SHAPE[2:], 4)
    gap = given.transpose(0, 3, 1, 2) - wanted
    assert 10 * np.log10(np.sum(wanted**2) / np.sum(gap**2)) > 30
    layers = [node for node in found.integer.nodes if isinstance(node.attrs, qops.QConv)]
    assert len(layers) == 1 or factor != 1.0, "nothing is inserted where nothing is gained"

"""Norms of channels and of groups of channels inside a convolutional network, in integers."""

from pathlib import Path

import numpy as np
import onnx
import pytest
from import_models import N, model_of, run, save

from edgec.base.dtypes import Array
from edgec.base.errors import UnsupportedModelError
from edgec.base.options import CompileOptions
from edgec.importers.onnx.importer import import_model
from edgec.interp import run_graph_batch
from edgec.workflow.integer import graph_side, integer_model

RNG = np.random.default_rng(2)
LEAST_DB = 30.0


def network(norm: str, opset: int, size: int, **attributes: object) -> onnx.ModelProto:
    """Convolution, norm and Relu twice, mean, dense layer; `size`: numbers of a scale."""
    constants: dict[str, Array] = {}
    nodes, x, channels = [], "x", 3
    for block, width in enumerate((8, 16)):
        names = [f"{part}{block}" for part in ("w", "g", "b")]
        constants[names[0]] = RNG.normal(size=(width, channels, 3, 3)) * (9 * channels) ** -0.5
        constants[names[1]] = RNG.uniform(0.5, 1.5, size or width)
        constants[names[2]] = RNG.normal(size=size or width) * 0.3
        nodes += [
            N("Conv", [x, names[0]], [f"c{block}"], pads=[1, 1, 1, 1]),
            N(norm, [f"c{block}", *names[1:]], [f"n{block}"], **attributes),
            N("Relu", [f"n{block}"], [f"r{block}"]),
        ]
        x, channels = f"r{block}", width
    constants["fc"] = RNG.normal(size=(16, 10)) * 0.25
    nodes += [N("GlobalAveragePool", [x], ["p"]), N("Flatten", ["p"], ["f"])]
    nodes += [N("MatMul", ["f", "fc"], ["y"])]
    floats = {name: array.astype(np.float32) for name, array in constants.items()}
    return model_of(nodes, {"x": (1, 3, 12, 12)}, floats, opset=opset)


def images(count: int) -> Array:
    """Images of unlike contrast, which these norms take out."""
    rows = RNG.normal(size=(count, 3, 12, 12)) * RNG.uniform(0.3, 2.0, (count, 1, 1, 1))
    return rows.astype(np.float32)


CASES = {
    "instance": network("InstanceNormalization", 17, 0),
    "group a channel": network("GroupNormalization", 21, 0, num_groups=4),
    "group": network("GroupNormalization", 18, 4, num_groups=4),
}


@pytest.mark.parametrize("name", CASES)
def test_integers_are_near_the_floats(tmp_path: Path, name: str) -> None:
    model, x = CASES[name], images(24)
    found = integer_model(save(model, tmp_path), {"x": x[:16]}, CompileOptions())
    real = graph_side(found.imported, found.integer, {"x": x})
    integer, output = found.integer, found.integer.outputs[0]
    codes = {n: integer.quant(n).quantize(array) for n, array in real.items()}
    given = integer.quant(output).dequantize(run_graph_batch(integer, codes)[output])
    wanted = np.concatenate([run(model, {"x": row[None]})[0] for row in x])
    error = np.sum((given.reshape(wanted.shape) - wanted) ** 2)
    assert 10 * np.log10(np.sum(wanted**2) / error) > LEAST_DB


@pytest.mark.parametrize(
    ("node", "text"),
    [
        (N("GroupNormalization", ["x", "g", "b"], ["y"], num_groups=4), "6 channels do not make 4"),
        (N("InstanceNormalization", ["z", "g", "b"], ["y"]), "no axes to normalize over"),
    ],
)
def test_refused_in_words(tmp_path: Path, node: onnx.NodeProto, text: str) -> None:
    constants = {"g": np.ones(6, np.float32), "b": np.ones(6, np.float32)}
    first = N("GlobalAveragePool", ["x"], ["p"]), N("Flatten", ["p"], ["z"])
    model = model_of([*first, node], {"x": (1, 6, 4, 4)}, constants, opset=21)
    with pytest.raises(UnsupportedModelError, match=text):
        import_model(save(model, tmp_path))

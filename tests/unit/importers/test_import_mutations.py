"""Sound models with a few fields changed: every operator meets attributes and shapes that lie."""

# ruff: noqa: E501  (a table of cases, one a line)

from __future__ import annotations

import random
from pathlib import Path

import numpy as np
import onnx
import pytest
from import_models import N, model_of
from onnx import numpy_helper
from test_import_composed_ops import CASES as COMPOSED
from test_import_ops import CASES as PLAIN

from edgec.base.errors import EdgecError
from edgec.importers.onnx.importer import import_model, inspect_model

CASES = {
    **PLAIN,
    **{f"composed {name}": case for name, case in COMPOSED.items()},
    "grid": ("GridSample", (1, 2, 4, 5), {"g": np.full((1, 3, 2, 2), 0.3, np.float32)}, 16, {"mode": "bicubic", "padding_mode": "reflection"}),
    "cum_prod": ("CumProd", (2, 5), {"a": np.array(1)}, 26, {"exclusive": 1}),
    "attention": ("Attention", (2, 2, 3, 4), {"k": np.ones((2, 2, 5, 4), np.float32)}, 25, {"left_window_size": 1, "is_causal": 1}),
    "einsum": ("Einsum", (3, 3), {"w": np.ones((3, 2), np.float32)}, 13, {"equation": "ii,ij->ij"}),
}  # fmt: skip
NUMBERS = (-3, -2, -1, 0, 1, 2, 3, 5, 7, 100, 2**31, 2**40, -(2**31), 2**63 - 1, -(2**63))
TYPES = (np.float32, np.int64, np.int8, np.uint8, np.float64, np.bool_, np.float16, np.int32)


def mutate_attribute(rng: random.Random, model: onnx.ModelProto) -> None:
    node = model.graph.node[0]
    if not node.attribute:
        return
    attribute = rng.choice(node.attribute)
    if attribute.ints:
        position = rng.randrange(len(attribute.ints))
        if rng.random() < 0.3:
            del attribute.ints[position]
        else:
            attribute.ints[position] = rng.choice(NUMBERS)
    elif attribute.type == onnx.AttributeProto.INT:
        attribute.i = rng.choice(NUMBERS)
    elif attribute.type == onnx.AttributeProto.FLOAT:
        attribute.f = rng.choice((0.0, -1.0, 1e30, float("nan"), float("inf")))
    elif attribute.type == onnx.AttributeProto.STRING:
        attribute.s = rng.choice((b"", b"constant", b"x"))


def mutate_inputs(rng: random.Random, model: onnx.ModelProto) -> None:
    node = model.graph.node[0]
    names = ["", "x", *(i.name for i in model.graph.initializer)]
    if rng.random() < 0.3 and node.input:
        node.input.pop()
    elif node.input:
        node.input[rng.randrange(len(node.input))] = rng.choice(names)


def mutate_constant(rng: random.Random, model: onnx.ModelProto) -> None:
    if not model.graph.initializer:
        return
    tensor = rng.choice(model.graph.initializer)
    array = numpy_helper.to_array(tensor)
    kind = rng.randrange(4)
    if kind == 0:
        array = np.clip(array, 0, 100).astype(rng.choice(TYPES))
    elif kind == 1:
        array = array.reshape(-1)
    elif kind == 2:
        array = np.array(rng.choices(NUMBERS, k=rng.randint(0, 4)), np.int64)
    elif array.ndim:
        array = array[:0]
    tensor.CopyFrom(numpy_helper.from_array(array, tensor.name))


def mutate_shape(rng: random.Random, model: onnx.ModelProto) -> None:
    dims = model.graph.input[0].type.tensor_type.shape.dim
    kind = rng.randrange(3)
    if kind == 0 and dims:
        rng.choice(dims).dim_value = rng.choice((0, 1, 2, 3, 7))
    elif kind == 1 and dims:
        dims.pop()
    else:
        dims.add().dim_value = 2


def mutate_types(rng: random.Random, model: onnx.ModelProto) -> None:
    if rng.random() < 0.5:
        model.opset_import[0].version = rng.randint(7, 28)
    else:
        model.graph.input[0].type.tensor_type.elem_type = rng.choice((1, 2, 3, 6, 7, 9, 10, 11, 22))


MUTATIONS = (mutate_attribute, mutate_inputs, mutate_constant, mutate_shape, mutate_types)


def check_mutants(rng: random.Random, name: str, count: int, folder: Path) -> None:
    op, shape, constants, opset, attributes = CASES[name]
    arrays = {key: np.asarray(array) for key, array in constants.items()}
    sound = model_of(
        [N(op, ["x", *constants], ["y"], **attributes)], {"x": shape}, arrays, opset=opset
    )
    path = folder / "mutant.onnx"
    for number in range(count):
        model = onnx.ModelProto.FromString(sound.SerializeToString())
        for _ in range(rng.randint(1, 3)):
            rng.choice(MUTATIONS)(rng, model)
        path.write_bytes(model.SerializeToString())
        dims = model.graph.input[0].type.tensor_type.shape.dim
        shapes = {"x": tuple(d.dim_value for d in dims)}
        # To inspect is the first half of an import, and a summary.
        for function in (import_model, inspect_model)[: 1 + (number % 4 == 0)]:
            try:
                function(path, shapes)
            except EdgecError as error:
                assert error.exit_code in (2, 3), error


@pytest.mark.few_cases(64)
@pytest.mark.parametrize("name", CASES)
def test_mutants_end_in_one_clear_error(name, tmp_path):
    check_mutants(random.Random(name), name, 10, tmp_path)


@pytest.mark.slow
@pytest.mark.parametrize("name", CASES)
def test_many_mutants(name, tmp_path):
    check_mutants(random.Random(f"many {name}"), name, 100, tmp_path)

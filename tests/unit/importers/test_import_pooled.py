"""Weights of a pool in the forms that files may have them: found with their indices, or dense."""

from __future__ import annotations

import logging
import random

import numpy as np
import onnx
import pytest
from import_models import N, assert_same, imported, model_of, save
from onnx import TensorProto, numpy_helper
from random_pools import random_pool

from edgec.base.errors import EdgecError, ImportModelError
from edgec.importers.onnx.importer import import_model, inspect_model
from edgec.ir.weight_pool import WeightPool

POOL = random_pool(np.random.default_rng(1), 32, 8).vectors
OUTPUTS, KH, KW, CHANNELS, GROUPS = 5, 3, 2, 12, 2
INDICES = np.random.default_rng(2).integers(0, 32, (OUTPUTS, KH, KW, GROUPS))
FULL = INDICES[..., np.arange(16) // 8] * 8 + np.arange(16) % 8
WEIGHT = POOL.reshape(-1)[FULL][..., :CHANNELS]
SCALE = np.linspace(0.01, 0.05, OUTPUTS, dtype=np.float32)


def ints(*values: int) -> np.ndarray:
    return np.array(values, np.int64)


def conv(nodes, constants, *, channels=CHANNELS, opset=13, **attributes) -> onnx.ModelProto:
    """A convolution of x by the tensor `w` that the nodes compute."""
    nodes = [*nodes, N("Conv", ["x", "w"], ["y"], **attributes)]
    return model_of(nodes, {"x": (1, channels, 6, 5)}, constants, opset=opset)


def chain(*steps) -> list[onnx.NodeProto]:
    """Nodes one behind the other: (operator, further inputs, attributes); the last computes w."""
    nodes, last = [], "pool"
    for number, (op, more, attributes) in enumerate(steps):
        output = "w" if number == len(steps) - 1 else f"t{number}"
        nodes.append(N(op, [last, *more], [output], **attributes))
        last = output
    return nodes


GATHER = ("Gather", ["i"], {"axis": 0})
JOIN = ("Reshape", ["join"], {})
CUT = ("Slice", ["zero", "end", "last"], {})
TURN = ("Transpose", [], {"perm": [0, 3, 1, 2]})
DEQUANTIZE = ("DequantizeLinear", ["s", "z"], {"axis": 0})
FLOAT = ("Cast", [], {"to": TensorProto.FLOAT})
SHAPES = {"join": ints(0, 0, 0, -1), "zero": ints(0), "end": ints(CHANNELS), "last": ints(-1)}
BASIC = {"pool": POOL, "i": INDICES, "s": SCALE, "z": np.zeros(OUTPUTS, np.int8), **SHAPES}


def cast_indices():
    nodes = chain(GATHER, JOIN, CUT, TURN, DEQUANTIZE)
    nodes[0].input[1] = "wide"
    return [N("Cast", ["i"], ["wide"], to=TensorProto.INT32), *nodes], {
        **BASIC,
        "i": INDICES.astype(np.uint8),
    }


def channels_first():
    turn = ("Transpose", [], {"perm": [0, 1, 4, 2, 3]})
    nodes = chain(GATHER, turn, JOIN, ("Slice", ["zero", "end", "one"], {}), DEQUANTIZE)
    shape = ints(OUTPUTS, 16, KH, KW)
    moved = INDICES.transpose(0, 3, 1, 2).astype(np.int32)
    return nodes, {**BASIC, "i": moved, "join": shape, "one": ints(1)}


def flat_indices():
    nodes = chain(GATHER, JOIN, CUT, TURN, DEQUANTIZE)
    return nodes, {**BASIC, "i": INDICES.reshape(-1), "join": ints(OUTPUTS, KH, KW, -1)}


def counted_from_the_end():
    return chain(GATHER, JOIN, CUT, TURN, DEQUANTIZE), {**BASIC, "i": INDICES - 32}


def dequantized_at_once():
    return chain(GATHER, DEQUANTIZE, JOIN, CUT, TURN), BASIC


def multiplied():
    scale = SCALE.reshape(OUTPUTS, 1, 1, 1)
    return chain(GATHER, FLOAT, JOIN, CUT, TURN, ("Mul", ["s"], {})), {**BASIC, "s": scale}


def multiplied_before_the_turn():
    nodes = chain(GATHER, JOIN, FLOAT, ("Mul", ["s"], {}), TURN, CUT)
    nodes[-1].input[3] = "one"
    return nodes, {**BASIC, "s": SCALE.reshape(OUTPUTS, 1, 1, 1), "one": ints(1)}


def scale_first():
    nodes, constants = multiplied()
    nodes[-1].input[:] = reversed(nodes[-1].input)
    return nodes, constants


def two_scales():
    nodes = chain(GATHER, FLOAT, ("Mul", ["tensor"], {}), JOIN, CUT, TURN, ("Mul", ["s"], {}))
    scale = SCALE.reshape(OUTPUTS, 1, 1, 1)
    return nodes, {**BASIC, "s": scale / np.float32(0.5), "tensor": np.float32(0.5)}


def scalar_scale():
    return chain(GATHER, JOIN, CUT, TURN, ("DequantizeLinear", ["s"], {})), {
        **BASIC,
        "s": np.float32(0.02),
    }


def float_pool():
    nodes, constants = multiplied()
    del nodes[1]
    nodes[1].input[0] = "t0"
    table = (POOL * np.float32(0.013)).astype(np.float32)
    return nodes, {**constants, "pool": table}


def float_pool_of_whole_numbers():
    nodes, constants = float_pool()
    return nodes, {**constants, "pool": POOL.astype(np.float32)}


def dequantized_pool():
    nodes, constants = float_pool()
    nodes[0].input[0] = "real"
    first = N("DequantizeLinear", ["pool", "step"], ["real"])
    return [first, *nodes], {**constants, "pool": POOL, "step": np.float32(0.25)}


def computed_shapes():
    """As PyTorch's exporter writes them: shapes from Shape, Gather and Concat."""
    before = [
        N("Shape", ["i"], ["shape"]),
        N("Slice", ["shape", "zero", "three"], ["lead"]),
        N("Concat", ["lead", "rest"], ["join"], axis=0),
        N("Constant", [], ["zero"], value=numpy_helper.from_array(ints(0))),
    ]
    nodes = chain(GATHER, JOIN, CUT, TURN, DEQUANTIZE)
    constants = {k: v for k, v in BASIC.items() if k not in ("join", "zero")}
    return [before[3], *before[:3], *nodes], {**constants, "three": ints(3), "rest": ints(-1)}


FORMS = (
    cast_indices,
    channels_first,
    flat_indices,
    counted_from_the_end,
    dequantized_at_once,
    multiplied,
    multiplied_before_the_turn,
    scale_first,
    two_scales,
    scalar_scale,
    float_pool,
    float_pool_of_whole_numbers,
    dequantized_pool,
    computed_shapes,
)


def weight_of(graph):
    (node,) = [n for n in graph.nodes if n.op in ("Conv", "Gemm")]
    return graph.constants[node.inputs[1]]


@pytest.mark.parametrize("form", FORMS)
def test_every_form_keeps_the_indices(form, tmp_path):
    weight = weight_of(assert_same(conv(*form()), tmp_path))
    assert weight.pooled is not None
    np.testing.assert_array_equal(weight.pooled.indices, INDICES)
    np.testing.assert_array_equal(weight.pooled.pool.vectors, POOL)
    np.testing.assert_array_equal(weight.array, WEIGHT)
    assert weight.quant.axis == 0
    assert len(weight.quant.scale) == OUTPUTS


def matrix_indices(outputs: int, groups: int) -> np.ndarray:
    return np.random.default_rng(3).integers(0, 32, (outputs, groups))


@pytest.mark.parametrize("kind", ["Gemm", "alpha", "transposed", "MatMul", "left", "1x1"])
def test_matrices_and_one_by_one_convolutions(kind, tmp_path):
    indices = matrix_indices(5, 3)
    constants = {"pool": POOL, "i": indices, "s": SCALE, "join": ints(5, 24)}
    look_up = [N("Gather", ["pool", "i"], ["g"]), N("Reshape", ["g", "join"], ["r"])]
    real = N("DequantizeLinear", ["r", "s"], ["w"], axis=0)
    shape = (1, 24)
    match kind:
        case "Gemm" | "alpha":
            alpha = 0.5 if kind == "alpha" else 1.0
            nodes = [real, N("Gemm", ["x", "w"], ["y"], transB=1, alpha=alpha)]
        case "transposed":
            turned = N("DequantizeLinear", ["q", "s"], ["w"], axis=1)
            nodes = [N("Transpose", ["r"], ["q"]), turned, N("Gemm", ["x", "w"], ["y"])]
        case "MatMul":
            nodes = [real, N("Transpose", ["w"], ["v"]), N("MatMul", ["x", "v"], ["y"])]
            shape = (1, 7, 24)
        case "left":
            nodes = [real, N("MatMul", ["w", "x"], ["y"])]
            shape = (24, 3)
        case _:
            constants["axes"] = ints(2, 3)
            nodes = [real, N("Unsqueeze", ["w", "axes"], ["v"]), N("Conv", ["x", "v"], ["y"])]
            shape = (1, 24, 4, 4)
    graph = assert_same(model_of(look_up + nodes, {"x": shape}, constants), tmp_path)
    weight = weight_of(graph)
    assert weight.pooled is not None
    np.testing.assert_array_equal(weight.pooled.indices.reshape(5, 3), indices)
    factor = 0.5 if kind == "alpha" else 1.0
    np.testing.assert_allclose(weight.quant.scale, SCALE * factor)


def test_one_dimensional_convolution(tmp_path):
    turn = ("Transpose", [], {"perm": [0, 2, 1]})
    nodes = chain(GATHER, JOIN, turn, ("DequantizeLinear", ["s"], {"axis": 0}))
    indices = INDICES[:, :, 0]
    constants = {"pool": POOL, "i": indices, "s": SCALE, "join": ints(0, 0, -1)}
    nodes.append(N("Conv", ["x", "w"], ["y"]))
    graph = assert_same(model_of(nodes, {"x": (1, 16, 9)}, constants), tmp_path)
    np.testing.assert_array_equal(weight_of(graph).pooled.indices, indices[:, np.newaxis])


def test_layers_share_the_pool_and_may_share_the_weight(tmp_path):
    first = random_pool(np.random.default_rng(4), 16, 4).vectors
    nodes, constants = [], {"pool": first, "pool_again": first.copy(), "join": ints(0, 0, 0, -1)}
    last = "x"
    for number, pool in enumerate(("pool", "pool_again", "pool")):
        name = min(number, 1)
        if number < 2:
            rng = np.random.default_rng(number)
            constants[f"i{number}"] = rng.integers(0, 16, (8, 1, 1, 2))
            constants[f"s{number}"] = np.full(8, 0.05, np.float32)
            nodes += [
                N("Gather", [pool, f"i{number}"], [f"g{number}"]),
                N("Reshape", [f"g{number}", "join"], [f"r{number}"]),
                N("Transpose", [f"r{number}"], [f"q{number}"], perm=[0, 3, 1, 2]),
                N("DequantizeLinear", [f"q{number}", f"s{number}"], [f"w{number}"], axis=0),
            ]
        output = "y" if number == 2 else f"y{number}"
        nodes.append(N("Conv", [last, f"w{name}"], [output]))
        last = output
    graph = assert_same(model_of(nodes, {"x": (1, 8, 3, 3)}, constants), tmp_path)
    weights = [graph.constants[node.inputs[1]] for node in graph.nodes if node.op == "Conv"]
    assert len({id(w.pooled.pool) for w in weights}) == 1
    assert weights[1] is weights[2]


# -- plain weights where a pool does not explain them ----------------------------------------------


def plain(model, folder, caplog, message=""):
    with caplog.at_level(logging.WARNING, logger="edgec"):
        weight = weight_of(assert_same(model, folder))
    assert weight.pooled is None
    assert message in caplog.text
    assert bool(caplog.records) == bool(message)
    return weight


@pytest.mark.parametrize("channels", [24, 60])
def test_grouped_convolutions_are_dense(channels, tmp_path, caplog):
    group, outputs = channels // 12, 10
    constants = {**BASIC, "i": np.tile(INDICES, (2, 1, 1, 1)), "s": np.tile(SCALE, 2)}
    nodes = chain(GATHER, JOIN, CUT, TURN, DEQUANTIZE)
    constants["z"] = np.zeros(outputs, np.int8)
    model = conv(nodes, constants, channels=channels, group=group)
    assert plain(model, tmp_path, caplog).array.dtype == np.int8


def test_vectors_along_another_axis_are_dense(tmp_path, caplog):
    turn = ("Transpose", [], {"perm": [3, 0, 1, 2]})
    nodes = chain(GATHER, JOIN, turn, ("DequantizeLinear", ["s"], {"axis": 0}))
    constants = {**BASIC, "s": np.full(16, 0.1, np.float32)}
    model = conv(nodes, constants, channels=OUTPUTS)
    plain(model, tmp_path, caplog, "do not lie along the input channels")


def test_scales_of_input_channels_are_dense(tmp_path, caplog):
    scale = np.linspace(0.1, 0.2, CHANNELS, dtype=np.float32).reshape(CHANNELS, 1, 1)
    nodes, constants = multiplied()
    model = conv(nodes, {**constants, "s": scale})
    plain(model, tmp_path, caplog, "not scaled per output channel")


@pytest.mark.parametrize("shape", [(OUTPUTS, CHANNELS, 1, 1), (OUTPUTS, 1, KH, 1)])
def test_scales_along_two_axes_are_dense(shape, tmp_path, caplog):
    nodes, constants = multiplied()
    scale = np.random.default_rng(0).uniform(0.1, 0.2, shape).astype(np.float32)
    assert plain(conv(nodes, {**constants, "s": scale}), tmp_path, caplog).quant is None


def test_negative_scales_are_dense(tmp_path, caplog):
    nodes, constants = multiplied()
    plain(conv(nodes, {**constants, "s": -constants["s"]}), tmp_path, caplog)


def test_a_pool_whose_sums_leave_int8_is_dense_with_a_note(tmp_path, caplog):
    loud = POOL.copy()
    loud[3] = 100
    nodes = chain(GATHER, JOIN, CUT, TURN, DEQUANTIZE)
    weight = plain(conv(nodes, {**BASIC, "pool": loud}), tmp_path, caplog, "more than int8")
    assert weight.array.dtype == np.int8


@pytest.mark.parametrize("table", [(40, 6), (1500, 8), (40, 32)])
def test_tables_of_other_sizes_are_dense(table, tmp_path, caplog):
    size, group = table
    pool = np.random.default_rng(0).integers(-20, 20, table).astype(np.int8)
    nodes = chain(GATHER, JOIN, TURN, DEQUANTIZE)
    indices = np.random.default_rng(1).integers(0, size, INDICES.shape)
    model = conv(nodes, {**BASIC, "pool": pool, "i": indices}, channels=2 * group)
    assert plain(model, tmp_path, caplog).array.dtype == np.int8


def test_a_float_pool_that_is_no_multiple_of_codes_is_dense(tmp_path, caplog):
    nodes, constants = float_pool()
    table = np.random.default_rng(0).normal(size=POOL.shape).astype(np.float32)
    model = conv(nodes, {**constants, "pool": table})
    weight = plain(model, tmp_path, caplog, "no multiples of int8 codes")
    assert weight.array.dtype == np.float32


def test_a_table_that_is_read_at_run_time_too(tmp_path):
    """The look-up is folded where its result is not only weights."""
    nodes = [
        N("Gather", ["pool", "i"], ["g"]),
        N("MatMul", ["x", "g"], ["a"]),
        N("Add", ["a", "g"], ["y"]),
    ]
    constants = {"pool": POOL.astype(np.float32), "i": ints(3, 1, 4, 1, 5, 9, 2, 6)}
    assert_same(model_of(nodes, {"x": (8, 8)}, constants), tmp_path)


# -- files that cannot be right -------------------------------------------------------------------


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"i": INDICES + 30}, "an index is 6[01], but there are only 32"),
        ({"i": INDICES - 40}, "an index is -(39|40)"),
        ({"join": ints(OUTPUTS, KH, KW, 17)}, "does not hold the elements"),
        ({"s": SCALE[:3], "z": np.zeros(3, np.int8)}, "do not fit axis"),
        ({"s": SCALE * np.float32(np.nan)}, "not a positive, finite number"),
        ({"i": np.zeros((OUTPUTS, KH, KW, 0), np.int64)}, "no integers, or there are none"),
        ({"i": np.zeros((0,), np.int64)}, "no integers, or there are none"),
        ({"i": INDICES.astype(np.float32)}, "no integers, or there are none"),
        ({"end": ints(16)}, "disagree about channels"),
    ],
    ids=["beyond", "before", "shape", "scales", "nan", "no group", "empty", "floats", "channels"],
)
def test_malformed_look_ups_give_one_error(changed, message, tmp_path):
    nodes = chain(GATHER, JOIN, CUT, TURN, DEQUANTIZE)
    model = conv(nodes, {**BASIC, **changed})
    with pytest.raises(ImportModelError, match=message) as caught:
        imported(model, tmp_path)
    assert type(caught.value) is ImportModelError
    assert caught.value.where


def test_a_nan_in_a_float_pool(tmp_path):
    nodes, constants = float_pool()
    constants["pool"][2, 3] = np.nan
    with pytest.raises(ImportModelError, match="NaN"):
        imported(conv(nodes, constants), tmp_path)


def test_a_small_file_cannot_ask_for_a_huge_weight(tmp_path):
    many = N("ConstantOfShape", ["n"], ["i"], value=numpy_helper.from_array(ints(1)))
    nodes = [many, *chain(GATHER, JOIN, CUT, TURN, DEQUANTIZE)]
    constants = {k: v for k, v in BASIC.items() if k != "i"}
    for shape in (ints(OUTPUTS, KH, KW, 2**18), ints(2**12, KH, KW, 2**9)):
        with pytest.raises(ImportModelError, match="more than edgec takes"):
            imported(conv(nodes, {**constants, "n": shape}), tmp_path)


def test_mutated_look_ups_are_refused_politely(tmp_path):
    rng = random.Random(0)
    numbers = (-3, -1, 0, 1, 2, 5, 31, 32, 100, 2**31, 2**40, -(2**63), 2**63 - 1)
    kinds = (np.float32, np.int64, np.int8, np.uint8, np.int32, np.bool_, np.float16)
    path = tmp_path / "mutant.onnx"
    for number in range(120):
        nodes, constants = FORMS[number % len(FORMS)]()
        arrays = {name: np.array(array) for name, array in constants.items()}
        for _ in range(rng.randint(1, 2)):
            name = rng.choice(sorted(arrays))
            match rng.randrange(4):
                case 0:
                    with np.errstate(all="ignore"):
                        arrays[name] = arrays[name].astype(rng.choice(kinds))
                case 1:
                    arrays[name] = arrays[name].reshape(-1)
                case 2:
                    arrays[name] = np.array(rng.choices(numbers, k=rng.randint(0, 4)), np.int64)
                case _:
                    arrays[name] = arrays[name][:0] if arrays[name].ndim else arrays[name]
        path.write_bytes(conv(nodes, arrays).SerializeToString())
        for function in (import_model, inspect_model):
            try:
                function(path, {"x": (1, CHANNELS, 6, 5)})
            except EdgecError as error:
                assert error.exit_code == 3, error


# -- `edgec inspect` ------------------------------------------------------------------------------


def test_the_summary_shows_the_pool_and_hides_the_look_up(tmp_path):
    nodes, constants = cast_indices()
    summary = inspect_model(save(conv(nodes, constants), tmp_path))
    (node,) = summary.nodes
    assert (node.op, node.parameters) == ("Conv", WEIGHT.size)
    assert node.macs == 4 * 4 * WEIGHT.size
    pool = node.pool
    assert (pool.vectors, pool.group, pool.index_bits, pool.indices) == (32, 8, 5, INDICES.size)


def test_pools_are_weight_pools(tmp_path):
    weight = weight_of(imported(conv(*cast_indices()), tmp_path))
    assert isinstance(weight.pooled.pool, WeightPool)
    assert weight.name == "wide"

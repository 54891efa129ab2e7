"""The operators of transformers one by one, against onnxruntime."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
import onnx
import pytest
from import_models import N, assert_same, imported, model_of, run
from onnx import TensorProto, helper

from edgec.base.dtypes import Array
from edgec.base.errors import UnsupportedModelError
from edgec.exporters.onnx.export import export_real
from edgec.floatrun.executor import Executor
from edgec.ir import ops
from edgec.ir.graph import Graph
from edgec.ir.infer import total_macs

RNG = np.random.default_rng(5)
INT64, BOOL, FLOAT = TensorProto.INT64, TensorProto.BOOL, TensorProto.FLOAT


def f(*shape: int) -> Array:
    return RNG.normal(size=shape).astype(np.float32)


def typed_model(
    nodes: Sequence[onnx.NodeProto],
    inputs: Mapping[str, tuple[int, tuple[int, ...]]],
    constants: Mapping[str, Array] | None = None,
    opset: int = 17,
    output_type: int = FLOAT,
) -> onnx.ModelProto:
    """A model whose inputs have element types of their own."""
    shapes = {name: shape for name, (_, shape) in inputs.items()}
    model = model_of(nodes, shapes, constants, opset=opset, output_type=output_type)
    for info, (kind, _) in zip(model.graph.input, inputs.values(), strict=True):
        info.type.tensor_type.elem_type = kind
    return model


def same_on(model: onnx.ModelProto, feeds: dict[str, Array], folder: Path) -> Graph:
    """Import, and compare on inputs of which integers and booleans become int32."""
    graph = imported(model, folder)
    narrowed = {n: a if a.dtype == np.float32 else a.astype(np.int32) for n, a in feeds.items()}
    (found,), (wanted,) = run(export_real(graph), narrowed), run(model, feeds)
    np.testing.assert_allclose(found, wanted, rtol=1e-4, atol=1e-5)
    return graph


@pytest.mark.parametrize(
    ("a", "b"),
    [((2, 3, 4), (2, 4, 5)), ((3, 4), (2, 4, 5)), ((2, 1, 3, 4), (3, 4, 5)), ((4,), (2, 4, 5)),
     ((2, 3, 4), (4,)), ((3, 4), (4, 2))],
)  # fmt: skip
def test_product_of_two_values(a, b, tmp_path):
    graph = assert_same(model_of([N("MatMul", ["x", "z"], ["y"])], {"x": a, "z": b}), tmp_path)
    assert [n.op for n in graph.nodes if n.op != "Reshape"] == ["MatMul"]


def test_macs_of_a_product(tmp_path):
    model = model_of([N("MatMul", ["x", "z"], ["y"])], {"x": (2, 3, 4), "z": (2, 4, 5)})
    assert total_macs(imported(model, tmp_path)) == 2 * 3 * 4 * 5


EQUATIONS = {
    "bhid,bhjd->bhij": ((1, 2, 3, 4), (1, 2, 5, 4)),
    "b h i j, b h j d -> b h i d": ((1, 2, 3, 5), (1, 2, 5, 4)),
    "bihd,bjhd->bhij": ((1, 3, 2, 4), (1, 5, 2, 4)),
    "bhij,bjhd->bihd": ((1, 2, 3, 5), (1, 5, 2, 4)),
    "ij,kl->ijkl": ((2, 3), (2, 2)),
    "ij,ij->": ((2, 3), (2, 3)),
    "ijk,kl->lij": ((2, 3, 4), (4, 5)),
    "i,i": ((4,), (4,)),
    "...ij,...jk->...ik": ((2, 3, 4), (2, 4, 5)),
    "ij,jk": ((3, 4), (4, 2)),
    "ij,jk->i": ((3, 4), (4, 2)),
    "ii,ij->ij": ((3, 3), (3, 2)),
    "ij,kk->ij": ((3, 2), (3, 3)),
    "ij->ji": ((3, 2), None),
    "ij->i": ((3, 2), None),
    "ij": ((3, 2), None),
    "ba": ((3, 2), None),
    "...ii->...i": ((2, 3, 3), None),
    "ii->": ((3, 3), None),
    "i...->...": ((2, 3, 3), None),
}


@pytest.mark.parametrize("equation", EQUATIONS)
def test_einsum(equation, tmp_path):
    a, b = EQUATIONS[equation]
    shapes = {"x": a} if b is None else {"x": a, "z": b}
    node = N("Einsum", [*shapes], ["y"], equation=equation)
    assert_same(model_of([node], shapes), tmp_path)


def test_sum_over_a_constant_operand(tmp_path):
    node = N("Einsum", ["x", "w"], ["y"], equation="ij,jk->i")
    assert_same(model_of([node], {"x": (3, 4)}, {"w": f(4, 5)}), tmp_path)


def test_einsum_with_a_constant_is_a_dense_layer(tmp_path):
    node = N("Einsum", ["x", "w"], ["y"], equation="bnc,ck->bnk")
    graph = assert_same(model_of([node], {"x": (1, 3, 4)}, {"w": f(4, 5)}), tmp_path)
    assert [n.op for n in graph.nodes if n.op != "Reshape"] == ["Gemm"]


STACKS = {
    "a group each": ((5, 3, 16), (5, 16, 2), ["Conv"]),
    "a row each": ((5, 1, 4), (5, 4, 3), ["Conv"]),
    "heads of one sequence": ((1, 1, 6, 4), (3, 4, 2), ["Gemm"]),
    "of a matrix without more axes": ((6, 4), (3, 4, 2), ["Gemm"]),
    "of a vector": ((4,), (3, 4, 2), ["Gemm"]),
    "rows and groups": ((2, 3, 6, 4), (3, 4, 2), ["Conv"]),
    "stacks of stacks": ((2, 3, 6, 4), (2, 3, 4, 2), ["Conv"]),
    "outer axis in common": ((2, 3, 6, 4), (2, 1, 4, 2), ["Conv"]),
    "one of two spread": ((2, 1, 6, 4), (2, 3, 4, 2), ["Expand", "Conv"]),
    "columns": ((3, 6, 4), (3, 4, 1), ["Conv"]),
}


@pytest.mark.parametrize("side", ["right", "left"])
@pytest.mark.parametrize("case", STACKS)
def test_products_with_several_constant_matrices(case, side, tmp_path):
    x, w, operators = STACKS[case]
    inputs = ["x", "w"]
    if side == "left":
        if len(x) < 2:
            pytest.skip("a vector on the right is a column")
        x, w = ((*shape[:-2], shape[-1], shape[-2]) for shape in (x, w))
        inputs = ["w", "x"]
    graph = assert_same(model_of([N("MatMul", inputs, ["y"])], {"x": x}, {"w": f(*w)}), tmp_path)
    moves = ("Reshape", "Transpose")
    assert [node.op for node in graph.nodes if node.op not in moves] == operators


@pytest.mark.parametrize(
    "equation", ["bci,cio->bco", "bi,eio->beo", "bic,iocd->biod", "btc,hcd->bhtd"]
)
def test_einsums_of_several_constant_matrices(equation, tmp_path):
    sizes = dict(zip("bcioetdh", (1, 3, 4, 5, 2, 6, 7, 2), strict=True))
    x, w = ([sizes[i] for i in term] for term in equation.split("->")[0].split(","))
    node = N("Einsum", ["x", "w"], ["y"], equation=equation)
    assert_same(model_of([node], {"x": tuple(x)}, {"w": f(*w)}), tmp_path)


@pytest.mark.parametrize(
    "equation", ["ijk->ij", "ij,jk->ijkk", "ij,ik->il", "...ijk,jk->i", "ij,jk,kl->il"]
)
def test_einsums_that_are_refused(equation, tmp_path):
    inputs = ["x"] if "," not in equation else ["x", "z"]
    node = N("Einsum", inputs, ["y"], equation=equation)
    with pytest.raises(UnsupportedModelError, match="Einsum"):
        imported(model_of([node], {"x": (3, 3), "z": (3, 3)}), tmp_path)


@pytest.mark.parametrize("numerator", ["value", "constant", "one"])
def test_division_by_a_value(numerator, tmp_path):
    nodes = [N("Exp", ["x"], ["e"]), N("Div", [numerator, "e"], ["y"])]
    constants = {"constant": f(2, 3), "one": np.float32(1)}
    inputs = {"x": (2, 3)} | ({"value": (2, 3)} if numerator == "value" else {})
    used = {numerator: constants[numerator]} if numerator in constants else {}
    graph = assert_same(model_of(nodes, inputs, used), tmp_path)
    assert sum(n.op == "Mul" for n in graph.nodes) == (numerator != "one")


@pytest.mark.parametrize("exponent", [0.5, -0.5, 2.0, -2.0, 1.5])
def test_powers_of_positive_numbers(exponent, tmp_path):
    nodes = [N("Exp", ["x"], ["e"]), N("Pow", ["e", "p"], ["y"])]
    assert_same(model_of(nodes, {"x": (2, 9)}, {"p": np.float32(exponent)}), tmp_path)


def attention_model(
    inputs: dict[str, tuple[int, tuple[int, ...]]],
    constants: dict[str, Array] | None = None,
    **attributes: float,
) -> onnx.ModelProto:
    names = [*inputs, *(constants or {})]
    return typed_model([N("Attention", names, ["y"], **attributes)], inputs, constants, opset=23)


def random_of(model: onnx.ModelProto) -> dict[str, Array]:
    return {
        info.name: f(*(d.dim_value for d in info.type.tensor_type.shape.dim))
        for info in model.graph.input
    }


@pytest.mark.parametrize("causal", [0, 1])
@pytest.mark.parametrize("flat", [False, True])
def test_attention(flat, causal, tmp_path):
    if flat:
        shapes = {"q": (1, 5, 8), "k": (1, 7, 8), "v": (1, 7, 12)}
        attributes = {"q_num_heads": 2, "kv_num_heads": 2}
    else:
        shapes = {"q": (1, 2, 5, 4), "k": (1, 2, 7, 4), "v": (1, 2, 7, 6)}
        attributes = {"scale": 0.3}
    inputs = {name: (FLOAT, shape) for name, shape in shapes.items()}
    model = attention_model(inputs, is_causal=causal, **attributes)
    same_on(model, random_of(model), tmp_path)


@pytest.mark.parametrize("kind", ["float", "float_constant", "bool", "bool_constant"])
def test_attention_with_a_mask(kind, tmp_path):
    inputs = dict.fromkeys("qkv", (FLOAT, (1, 2, 5, 4)))
    shown = np.tril(np.ones((1, 1, 5, 5), np.bool_))
    mask = shown if "bool" in kind else np.where(shown, 0.0, -np.inf).astype(np.float32)
    if "constant" in kind:
        model, feeds = attention_model(inputs, {"m": mask}), {}
    else:
        element = BOOL if kind == "bool" else FLOAT
        model, feeds = attention_model(inputs | {"m": (element, mask.shape)}), {"m": mask}
    same_on(model, random_of(model) | feeds, tmp_path)


@pytest.mark.parametrize("softcap", [0.0, 0.5])
def test_attention_of_groups(softcap, tmp_path):
    """Two heads of queries share one of keys; the cap comes before the mask."""
    inputs = {"q": (FLOAT, (1, 4, 5, 4)), **dict.fromkeys("kv", (FLOAT, (1, 2, 5, 4)))}
    model = attention_model(inputs, is_causal=1, softcap=softcap)
    same_on(model, random_of(model), tmp_path)


def test_attention_to_the_past(tmp_path):
    past = dict.fromkeys(("pk", "pv"), (FLOAT, (1, 2, 3, 4)))
    inputs = dict.fromkeys("qkv", (FLOAT, (1, 2, 5, 4)))
    names = [*inputs, "", *past]
    node = N("Attention", names, ["y", "present_k", "present_v"])
    model = typed_model([node], inputs | past, opset=23)
    same_on(model, random_of(model), tmp_path)


def test_queries_without_keys_are_zero(tmp_path):
    """ONNX defines them so; a sum over equal shares would not be zero."""
    shown = np.tril(np.ones((5, 5), np.bool_), -1)
    inputs = dict.fromkeys("qkv", (FLOAT, (1, 2, 5, 4)))
    graph = imported(attention_model(inputs, {"m": shown}), tmp_path)
    feeds = {name: f(1, *graph.shape(name)) for name in graph.inputs}
    (y,) = Executor(graph, graph.outputs).run(feeds).values()
    assert not y[0, 0, :, 0].any()
    assert y[0, 0, :, 1:].all()


def test_a_mask_of_the_run_may_hide_all_keys(tmp_path):
    shown = np.tril(np.ones((5, 5), np.bool_), -1)
    inputs = dict.fromkeys("qkv", (FLOAT, (1, 2, 5, 4)))
    graph = imported(attention_model(inputs | {"m": (BOOL, (5, 5))}), tmp_path)
    feeds = {name: f(1, *graph.shape(name)) for name in "qkv"} | {"m": shown[None].astype(np.int32)}
    (y,) = Executor(graph, graph.outputs).run(feeds).values()
    assert not y[0, 0, :, 0].any()
    assert y[0, 0, :, 1:].all()


def test_hidden_products_are_no_output(tmp_path):
    shown = np.tril(np.ones((5, 5), np.bool_))
    inputs = dict.fromkeys("qkv", (FLOAT, (1, 2, 5, 4)))
    node = N("Attention", [*inputs, "m"], ["y", "", "", "s"], qk_matmul_output_mode=2)
    model = typed_model([node], inputs, {"m": shown}, opset=23)
    model.graph.output.append(helper.make_tensor_value_info("s", FLOAT, (1, 2, 5, 5)))
    with pytest.raises(UnsupportedModelError, match="infinity"):
        imported(model, tmp_path)


@pytest.mark.parametrize(
    ("attributes", "shapes"),
    [
        ({}, {"q": (1, 4, 5, 4), "k": (1, 3, 5, 4), "v": (1, 3, 5, 4)}),
        ({"q_num_heads": 3, "kv_num_heads": 3}, dict.fromkeys("qkv", (1, 5, 8))),
        ({}, dict.fromkeys("qkv", (1, 5, 8))),
    ],
)
def test_attentions_that_are_refused(attributes, shapes, tmp_path):
    inputs = {name: (FLOAT, shape) for name, shape in shapes.items()}
    with pytest.raises(UnsupportedModelError, match="Attention"):
        imported(attention_model(inputs, **attributes), tmp_path)


@pytest.mark.parametrize("integer", [INT64, TensorProto.INT32])
def test_token_ids_choose_rows(integer, tmp_path):
    node = N("Gather", ["table", "ids"], ["y"])
    model = typed_model([node], {"ids": (integer, (1, 6))}, {"table": f(9, 4)})
    dtype = np.int64 if integer == INT64 else np.int32
    graph = same_on(model, {"ids": np.array([[0, 8, 3, 3, 1, 5]], dtype)}, tmp_path)
    assert graph.values["ids"].dtype.value == "int32"
    assert [type(n.attrs) for n in graph.nodes] == [ops.Embedding]


def test_ids_of_columns_are_refused(tmp_path):
    node = N("Gather", ["table", "ids"], ["y"], axis=1)
    inputs = {"ids": (INT64, (1, 6)), "x": (FLOAT, (9, 4))}
    with pytest.raises(UnsupportedModelError, match="Gather"):
        imported(typed_model([node], inputs, {"table": f(9, 4)}), tmp_path)


MASKS = {
    "cast": [N("Cast", ["m"], ["y"], to=FLOAT)],
    "bool": [N("Cast", ["m"], ["b"], to=BOOL), N("Cast", ["b"], ["y"], to=FLOAT)],
    "not": [
        N("Cast", ["m"], ["b"], to=BOOL), N("Not", ["b"], ["n"]), N("Cast", ["n"], ["y"], to=FLOAT),
    ],
    "equal": [N("Equal", ["m", "zero"], ["e"]), N("Cast", ["e"], ["y"], to=FLOAT)],
    "where": [N("Equal", ["m", "zero"], ["e"]), N("Where", ["e", "low", "x"], ["y"])],
    "expand": [N("Cast", ["m"], ["c"], to=FLOAT), N("Expand", ["c", "s"], ["y"])],
    "float_bool": [N("Cast", ["x"], ["b"], to=BOOL), N("Cast", ["b"], ["y"], to=FLOAT)],
}  # fmt: skip


@pytest.mark.parametrize("name", MASKS)
def test_masks(name, tmp_path):
    constants = {
        "zero": np.array([0], np.int64), "low": np.float32(-1e9), "s": np.array([3, 4], np.int64),
    }  # fmt: skip
    inputs = {"m": (INT64, (1, 4)), "x": (FLOAT, (3, 4))}
    read = {name for node in MASKS[name] for name in node.input}
    model = typed_model(
        MASKS[name],
        {name: kind for name, kind in inputs.items() if name in read},
        {name: array for name, array in constants.items() if name in read},
    )
    feeds = {"m": np.array([[2, 0, 1, 0]], np.int64), "x": f(3, 4) * np.float32([0, 1, 1, 1])}
    same_on(model, {n: a for n, a in feeds.items() if n in read}, tmp_path)


@pytest.mark.parametrize("truth", [[False, True, True], [True, True, True], [False, False, False]])
def test_where_with_a_constant_condition(truth, tmp_path):
    node = N("Where", ["c", "x", "low"], ["y"])
    constants = {"c": np.array(truth), "low": np.array([[-np.inf], [3.0]], np.float32)}
    model = model_of([node], {"x": (2, 3)}, constants, opset=17)
    if any(truth):
        graph = imported(model, tmp_path)
        x = f(2, 3)
        (found,), (wanted,) = run(export_real(graph), {"x": x}), run(model, {"x": x})
        np.testing.assert_allclose(found, np.maximum(wanted, np.finfo(np.float32).min))
    else:  # the output is a constant
        with pytest.raises(Exception, match="does not depend on any input"):
            imported(model, tmp_path)


def test_guard_against_rows_without_keys_vanishes(tmp_path):
    nodes = [
        N("Softmax", ["x"], ["s"]),
        N("IsNaN", ["s"], ["n"]),
        N("Where", ["n", "zero", "s"], ["y"]),
    ]
    graph = assert_same(model_of(nodes, {"x": (2, 3)}, {"zero": np.float32(0)}, opset=17), tmp_path)
    assert [n.op for n in graph.nodes if n.op != "Reshape"] == ["Softmax"]


@pytest.mark.parametrize(
    "node",
    [
        N("Where", ["x", "x", "x"], ["y"]),
        N("Not", ["x"], ["y"]),
        N("Equal", ["m", "three"], ["y"]),
        N("Expand", ["x", "bad"], ["y"]),
        N("LayerNormalization", ["x", "g"], ["y", "mean"]),
        N("LayerNormalization", ["x", "three"], ["y"]),
        N("Pow", ["x", "x"], ["y"]),
        N("MatMul", ["x", "m"], ["y"]),
        N("Gelu", ["x"], ["y"], approximate="cubic"),
    ],
    ids=lambda node: f"{node.op_type}-{'-'.join(node.input)}",
)
def test_nodes_that_are_refused(node, tmp_path):
    constants = {
        "three": np.array([3, 3, 3], np.int64), "bad": np.array([4, 5], np.int64), "g": f(4),
    }  # fmt: skip
    inputs = {"x": (FLOAT, (4, 4)), "m": (INT64, (4, 4))}
    nodes = [node]
    if len(node.output) > 1:
        nodes.append(N("Add", ["y", "mean"], ["sum"]))
    model = typed_model(
        nodes,
        {name: kind for name, kind in inputs.items() if name in node.input},
        {name: array for name, array in constants.items() if name in node.input},
        opset=20,
    )
    if len(node.output) > 1:
        model.graph.output[0].CopyFrom(helper.make_tensor_value_info("sum", FLOAT, None))
    with pytest.raises(UnsupportedModelError) as caught:
        imported(model, tmp_path)
    assert node.op_type in {problem.op for problem in caught.value.nodes}


PAIRS = np.tril(np.ones((4, 4), bool))
LOGIC = {
    "and": [N("And", ["a", "b"], ["t"])],
    "or": [N("Or", ["b", "a"], ["t"])],
    "and_constant": [N("And", ["pairs", "a"], ["t"])],
    "or_constant": [N("Or", ["a", "pairs"], ["t"])],
    "and_true": [N("And", ["yes", "a"], ["t"])],
    "or_false": [N("Or", ["a", "no"], ["t"])],
    "equal_number": [N("Equal", ["m", "three"], ["t"])],
    "number_equal": [N("Equal", ["three", "m"], ["n"]), N("Not", ["n"], ["t"])],
}


@pytest.mark.parametrize("name", LOGIC)
def test_masks_are_combined(name, tmp_path):
    constants = {
        "pairs": PAIRS, "yes": np.ones((4, 4), bool), "no": np.zeros((4, 4), bool),
        "three": np.array(3, np.int64),
    }  # fmt: skip
    inputs = {"a": (BOOL, (1, 4)), "b": (BOOL, (4, 1)), "m": (INT64, (1, 4))}
    nodes = [*LOGIC[name], N("Cast", ["t"], ["y"], to=FLOAT)]
    read = {name for node in nodes for name in node.input}
    model = typed_model(
        nodes,
        {name: kind for name, kind in inputs.items() if name in read},
        {name: array for name, array in constants.items() if name in read},
    )
    feeds = {
        "a": np.array([[True, False, True, True]]),
        "b": np.array([[True], [True], [False], [True]]),
        "m": np.array([[3, 0, 1, 3]], np.int64),
    }
    same_on(model, {n: a for n, a in feeds.items() if n in read}, tmp_path)


def test_a_mask_that_hides_everything_is_a_constant(tmp_path):
    nodes = [N("And", ["a", "no"], ["t"]), N("Where", ["t", "x", "z"], ["y"])]
    constants = {"no": np.zeros((1, 4), bool)}
    inputs = {"a": (BOOL, (1, 4)), "x": (FLOAT, (2, 4)), "z": (FLOAT, (2, 4))}
    graph = imported(typed_model(nodes, inputs, constants), tmp_path)
    assert "Where" not in {node.op for node in graph.nodes}


@pytest.mark.parametrize(
    "indices",
    [
        np.stack(np.meshgrid([0, 1], [0, 1, 2], indexing="ij"), -1),
        np.array([[[0, 2]], [[1, 2]]]),
        np.array([[1], [0]]),
    ],
    ids=["all", "column", "rows"],
)
def test_elements_that_lie_evenly(indices, tmp_path):
    node = N("GatherND", ["x", "i"], ["y"])
    model = model_of([node], {"x": (2, 3)}, {"i": indices.astype(np.int64)}, opset=17)
    assert_same(model, tmp_path)


def test_elements_of_a_table_of_one_number(tmp_path):
    """RoBERTa's token types, which its position ids pick from zeros."""
    nodes = [N("GatherElements", ["zeros", "i"], ["g"], axis=1), N("Gather", ["t", "g"], ["e"]),
             N("Gather", ["t", "i"], ["f"]), N("Add", ["e", "f"], ["y"])]  # fmt: skip
    constants = {"zeros": np.zeros((1, 9), np.int64), "t": f(5, 3)}
    model = typed_model(nodes, {"i": (INT64, (1, 4))}, constants)
    same_on(model, {"i": np.array([[4, 1, 0, 2]], np.int64)}, tmp_path)
    constants["zeros"][0, 3] = 1
    with pytest.raises(UnsupportedModelError, match="GatherElements"):
        imported(typed_model(nodes, {"i": (INT64, (1, 4))}, constants), tmp_path)


def test_counted_positions_are_refused_with_a_way_out(tmp_path):
    nodes = [N("CumSum", ["m", "one"], ["c"]), N("Gather", ["t", "c"], ["y"])]
    constants = {"one": np.array(1, np.int64), "t": f(5, 3)}
    with pytest.raises(UnsupportedModelError, match="position_ids"):
        imported(typed_model(nodes, {"m": (INT64, (1, 4))}, constants), tmp_path)


def test_ids_that_may_count_from_the_end(tmp_path):
    """What Keras writes before an Embedding: Gather does that of itself."""
    nodes = [N("Less", ["i", "zero"], ["n"]), N("Add", ["i", "rows"], ["c"]),
             N("Where", ["n", "c", "i"], ["w"]), N("Gather", ["t", "w"], ["y"])]  # fmt: skip
    constants = {"zero": np.int64(0), "rows": np.int64(7), "t": f(7, 4)}
    graph = imported(typed_model(nodes, {"i": (INT64, (1, 3))}, constants), tmp_path)
    assert [node.op for node in graph.nodes] == ["Embedding"]

"""Operators of ai.onnx.ml beside onnxruntime."""

from pathlib import Path
from typing import Any

import numpy as np
import onnx
import onnxruntime
import pytest
from onnx import TensorProto, helper, numpy_helper

from edgec.base.dtypes import Array
from edgec.base.errors import EdgecError
from edgec.floatrun.executor import Executor
from edgec.floatrun.float_model import FloatModel
from edgec.importers.onnx.importer import import_model
from edgec.ir.graph import Graph

RNG = np.random.default_rng(3)
ROWS = RNG.normal(size=(40, 5)).astype(np.float32)
INTEGER = TensorProto.INT64


def ml(op: str, inputs: list[str], outputs: list[str], **attributes: object) -> onnx.NodeProto:
    return helper.make_node(op, inputs, outputs, domain="ai.onnx.ml", **attributes)


def model_of(
    nodes: list[onnx.NodeProto],
    outputs: dict[str, int],
    constants: dict[str, Array] | None = None,
    features: int = 5,
) -> onnx.ModelProto:
    given = [helper.make_tensor_value_info("x", TensorProto.FLOAT, [None, features])]
    wanted = [helper.make_tensor_value_info(n, t, None) for n, t in outputs.items()]
    stored = [numpy_helper.from_array(a, n) for n, a in (constants or {}).items()]
    graph = helper.make_graph(nodes, "g", given, wanted, stored)
    opsets = [helper.make_opsetid("", 17), helper.make_opsetid("ai.onnx.ml", 3)]
    return helper.make_model(graph, opset_imports=opsets, ir_version=8)


def imported(model: onnx.ModelProto, folder: Path) -> Graph:
    path = folder / "model.onnx"
    path.write_bytes(model.SerializeToString())
    return import_model(path)


def check(model: onnx.ModelProto, folder: Path, rows: Array = ROWS, atol: float = 1e-5) -> Graph:
    """Compare all outputs with onnxruntime's; the graph."""
    graph = imported(model, folder)
    session = onnxruntime.InferenceSession(
        model.SerializeToString(), providers=["CPUExecutionProvider"]
    )
    wanted = dict(zip(graph.outputs, session.run(list(graph.outputs), {"x": rows}), strict=True))
    found = Executor(graph, graph.outputs).run({"x": rows})
    for name, array in wanted.items():
        np.testing.assert_allclose(
            found[name].reshape(array.shape), array, rtol=1e-5, atol=atol, err_msg=name
        )
    return graph


def numbers(*shape: int) -> list[float]:
    return RNG.normal(size=shape).reshape(-1).astype(np.float32).tolist()


@pytest.mark.parametrize(
    ("rows", "classes", "post_transform"),
    [
        # One row of two classes: what is not LOGISTIC is refused, see below.
        (1, 2, "LOGISTIC"),
        *((rows, rows, post) for rows in (2, 4) for post in ("NONE", "LOGISTIC", "SOFTMAX")),
    ],
)
def test_linear_classifier(tmp_path: Path, post_transform: str, rows: int, classes: int) -> None:
    node = ml(
        "LinearClassifier", ["x"], ["label", "scores"],
        coefficients=numbers(rows, 5), intercepts=numbers(rows),
        classlabels_ints=list(range(classes)), post_transform=post_transform,
    )  # fmt: skip
    check(model_of([node], {"label": INTEGER, "scores": TensorProto.FLOAT}), tmp_path)


@pytest.mark.parametrize("targets", [1, 3])
def test_linear_regressor(tmp_path: Path, targets: int) -> None:
    node = ml(
        "LinearRegressor", ["x"], ["y"],
        coefficients=numbers(targets, 5), intercepts=numbers(targets), targets=targets,
    )  # fmt: skip
    check(model_of([node], {"y": TensorProto.FLOAT}), tmp_path)


@pytest.mark.parametrize("norm", ["L1", "L2", "MAX"])
def test_normalizer(tmp_path: Path, norm: str) -> None:
    node = ml("Normalizer", ["x"], ["y"], norm=norm)
    check(model_of([node], {"y": TensorProto.FLOAT}), tmp_path, np.abs(ROWS) + 0.1)


def test_imputer_scaler_and_binarizer(tmp_path: Path) -> None:
    nodes = [
        ml("Imputer", ["x"], ["i"], imputed_value_floats=numbers(5), replaced_value_float=np.nan),
        ml("Scaler", ["i"], ["s"], offset=numbers(5), scale=numbers(5)),
        ml("Binarizer", ["s"], ["y"], threshold=0.25),
    ]
    check(model_of(nodes, {"y": TensorProto.FLOAT}), tmp_path)


def test_columns(tmp_path: Path) -> None:
    nodes = [
        ml("ArrayFeatureExtractor", ["x", "first"], ["a"]),
        ml("ArrayFeatureExtractor", ["x", "second"], ["b"]),
        ml("FeatureVectorizer", ["a", "b"], ["y"], inputdimensions=[2, 1]),
    ]
    constants = {"first": np.asarray([3, 0]), "second": np.asarray([4])}
    graph = check(model_of(nodes, {"y": TensorProto.FLOAT}, constants), tmp_path)
    assert graph.shape("y") == (1, 3)


def classifier(**attributes: object) -> list[onnx.NodeProto]:
    """As skl2onnx writes a logistic regression, dictionaries of probabilities included."""
    labels = attributes or {"classlabels_ints": [0, 1, 2]}
    mapped = {"classlabels_int64s": labels.get("classlabels_ints")}
    if "classlabels_strings" in labels:
        mapped = {"classlabels_strings": labels["classlabels_strings"]}
    return [
        ml(
            "LinearClassifier", ["x"], ["label", "raw"], coefficients=numbers(3, 5),
            intercepts=numbers(3), post_transform="SOFTMAX", **labels,
        ),
        ml("Normalizer", ["raw"], ["scores"], norm="L1"),
        ml("ZipMap", ["scores"], ["maps"], **mapped),
    ]  # fmt: skip


def mapped(model: onnx.ModelProto, key_type: int) -> onnx.ModelProto:
    """The model with its last output of ZipMap's type."""
    value = helper.make_tensor_type_proto(TensorProto.FLOAT, [])
    kind = helper.make_sequence_type_proto(helper.make_map_type_proto(key_type, value))
    model.graph.output.append(helper.make_value_info("maps", kind))
    return model


def test_zip_map_gives_the_scores(tmp_path: Path) -> None:
    model = mapped(model_of(classifier(), {"label": INTEGER}), INTEGER)
    graph = imported(model, tmp_path)
    # What a softmax gives has the sum 1: nothing is normalized again.
    assert [node.op for node in graph.nodes] == ["Gemm", "ArgMax", "Softmax", "Reshape"]
    scores = Executor(graph, ["maps"]).run({"x": ROWS})["maps"].reshape(-1, 3)
    np.testing.assert_allclose(FloatModel(model).run({"x": ROWS})["maps"], scores, atol=1e-6)


@pytest.mark.parametrize(
    "labels", [{"classlabels_ints": [7, 3, 9]}, {"classlabels_strings": ["a", "b", "c"]}]
)
def test_any_labels_are_numbers_of_classes(tmp_path: Path, labels: dict[str, list[Any]]) -> None:
    kind = TensorProto.STRING if "classlabels_strings" in labels else INTEGER
    graph = imported(model_of(classifier(**labels)[:1], {"label": kind}), tmp_path)
    found = Executor(graph, ["label"]).run({"x": ROWS})["label"]
    assert set(np.unique(found)) <= {0, 1, 2}


def test_labels_chosen_from_texts(tmp_path: Path) -> None:
    nodes = [
        helper.make_node("ArgMax", ["x"], ["best"], axis=1),
        ml("ArrayFeatureExtractor", ["classes", "best"], ["found"]),
        helper.make_node("Reshape", ["found", "flat"], ["label"]),
    ]
    constants = {"classes": np.asarray(list("vwxyz"), object), "flat": np.asarray([-1])}
    graph = imported(model_of(nodes, {"label": TensorProto.STRING}, constants), tmp_path)
    found = Executor(graph, ["label"]).run({"x": ROWS})["label"]
    np.testing.assert_array_equal(found.reshape(-1), ROWS.argmax(axis=1))


def forest(trees: int, *, what: str, outputs: int, modes: tuple[str, ...]) -> dict[str, list[Any]]:
    """Attributes of random trees of depth 3, the nodes of a tree after its root in any order."""
    found: dict[str, list[Any]] = {}

    def add(**values: object) -> None:
        for key, value in values.items():
            found.setdefault(key, []).append(value)

    for tree in range(trees):
        for own in [0, *(RNG.permutation(14) + 1).tolist()]:
            is_leaf = own >= 7
            add(
                nodes_treeids=tree,
                nodes_nodeids=own,
                nodes_featureids=0 if is_leaf else int(RNG.integers(5)),
                nodes_modes="LEAF" if is_leaf else str(RNG.choice(modes)),
                nodes_values=0.0 if is_leaf else float(RNG.choice(ROWS.reshape(-1))),
                nodes_truenodeids=0 if is_leaf else 2 * own + 1,
                nodes_falsenodeids=0 if is_leaf else 2 * own + 2,
            )
            for output in range(outputs) if is_leaf else ():
                add(**{
                    f"{what}_treeids": tree, f"{what}_nodeids": own, f"{what}_ids": output,
                    f"{what}_weights": float(RNG.normal()),
                })  # fmt: skip
    return dict(found)


LEQ = ("BRANCH_LEQ",)
MODES = ("BRANCH_LEQ", "BRANCH_LT", "BRANCH_GTE", "BRANCH_GT")


@pytest.mark.parametrize("aggregate", ["SUM", "AVERAGE"])
@pytest.mark.parametrize("modes", [LEQ, MODES], ids=["one test", "all tests"])
def test_tree_regressor(tmp_path: Path, aggregate: str, modes: tuple[str, ...]) -> None:
    trees = forest(4, what="target", outputs=2, modes=modes)
    node = ml(
        "TreeEnsembleRegressor", ["x"], ["y"], n_targets=2, aggregate_function=aggregate,
        base_values=[0.5, -2.0], **trees,
    )  # fmt: skip
    check(model_of([node], {"y": TensorProto.FLOAT}), tmp_path)


@pytest.mark.parametrize("post_transform", ["NONE", "LOGISTIC", "SOFTMAX"])
def test_tree_classifier(tmp_path: Path, post_transform: str) -> None:
    node = ml(
        "TreeEnsembleClassifier", ["x"], ["label", "scores"],
        classlabels_int64s=[0, 1, 2], post_transform=post_transform,
        **forest(5, what="class", outputs=3, modes=LEQ),
    )  # fmt: skip
    check(model_of([node], {"label": INTEGER, "scores": TensorProto.FLOAT}), tmp_path)


@pytest.mark.parametrize("post_transform", ["NONE", "LOGISTIC", "SOFTMAX"])
@pytest.mark.parametrize("positive", [False, True])
def test_trees_of_two_classes(tmp_path: Path, post_transform: str, positive: bool) -> None:
    """One number a leaf, as skl2onnx writes it: probabilities, or scores around zero."""
    trees = forest(4, what="class", outputs=1, modes=LEQ)
    if positive:
        trees["class_weights"] = [abs(w) / 8 for w in trees["class_weights"]]
    node = ml(
        "TreeEnsembleClassifier", ["x"], ["label", "scores"],
        classlabels_int64s=[0, 1], post_transform=post_transform, **trees,
    )  # fmt: skip
    model = model_of([node], {"label": INTEGER, "scores": TensorProto.FLOAT})
    if positive and post_transform == "LOGISTIC":
        with pytest.raises(EdgecError, match="unusual way"):
            imported(model, tmp_path)
    else:
        check(model, tmp_path)


KERNELS = {
    "LINEAR": [0.0, 0.0, 3.0],
    "RBF": [0.2, 0.0, 3.0],
    "POLY": [0.3, 0.5, 2.0],
    "SIGMOID": [0.1, 0.2, 3.0],
}


@pytest.mark.parametrize("kernel", KERNELS)
def test_svm_regressor(tmp_path: Path, kernel: str) -> None:
    node = ml(
        "SVMRegressor", ["x"], ["y"], kernel_type=kernel, kernel_params=KERNELS[kernel],
        n_supports=6, support_vectors=numbers(6, 5), coefficients=numbers(6), rho=[0.7],
    )  # fmt: skip
    check(model_of([node], {"y": TensorProto.FLOAT}), tmp_path)


def machine(sizes: list[int], kernel: str, **more: object) -> onnx.NodeProto:
    count, pairs = sum(sizes), len(sizes) * (len(sizes) - 1) // 2
    return ml(
        "SVMClassifier", ["x"], ["label", "scores"], kernel_type=kernel,
        kernel_params=KERNELS[kernel], vectors_per_class=sizes, support_vectors=numbers(count, 5),
        coefficients=numbers(len(sizes) - 1, count), rho=numbers(pairs),
        classlabels_ints=list(range(len(sizes))), **more,
    )  # fmt: skip


@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize("sizes", [[3, 4], [2, 3, 1], [2, 1, 3, 2]], ids=str)
def test_svm_classifier(tmp_path: Path, kernel: str, sizes: list[int]) -> None:
    model = model_of([machine(sizes, kernel)], {"label": INTEGER, "scores": TensorProto.FLOAT})
    check(model, tmp_path)


def test_svm_probabilities_of_two_classes(tmp_path: Path) -> None:
    node = machine([3, 4], "RBF", prob_a=[-1.5], prob_b=[0.2])
    model = model_of([node], {"label": INTEGER, "scores": TensorProto.FLOAT})
    # onnxruntime couples two classes as it does several: by an iteration that ends early.
    check(model, tmp_path, atol=5e-3)


def broken_trees(**changes: object) -> onnx.NodeProto:
    attributes = forest(1, what="target", outputs=1, modes=LEQ) | {"n_targets": 1} | changes
    return ml("TreeEnsembleRegressor", ["x"], ["y"], **attributes)


REFUSED = {
    "probabilities": (machine([2, 2, 2], "RBF", prob_a=[1.0] * 3, prob_b=[1.0] * 3),
                      "without probability=True"),
    "vectors": (ml("SVMRegressor", ["x"], ["y"], kernel_type="RBF", n_supports=2,
                   support_vectors=numbers(3), coefficients=numbers(2)), "do not fit its features"),
    "outliers": (ml("SVMRegressor", ["x"], ["y"], one_class=1), "it tells outliers"),
    "maximum": (broken_trees(aggregate_function="MAX"), "it takes the MAX of trees"),
    "test": (broken_trees(nodes_modes=["BRANCH_EQ"] * 15), "its nodes test by BRANCH_EQ"),
    "lengths": (broken_trees(nodes_values=[1.0]), "nodes_... attributes differ in length"),
    "cycle": (broken_trees(nodes_truenodeids=[0] * 15, nodes_falsenodeids=[0] * 15,
                           nodes_modes=["BRANCH_LEQ"] * 15), "a tree has two roots"),
    "loop": (broken_trees(nodes_treeids=[0], nodes_nodeids=[0], nodes_featureids=[0],
                          nodes_modes=["BRANCH_LEQ"], nodes_values=[0.0],
                          nodes_truenodeids=[0], nodes_falsenodeids=[0]), "form no trees"),
    "feature": (broken_trees(nodes_featureids=[9] * 15), "a feature that x does not have"),
    "leaves": (broken_trees(target_ids=[4] * 8), "name no leaf"),
    "post": (ml("LinearRegressor", ["x"], ["y"], coefficients=numbers(5), post_transform="PROBIT"),
             "post_transform is PROBIT"),
    "one row": (ml("LinearClassifier", ["x"], ["label", "scores"], coefficients=numbers(5),
                   classlabels_ints=[0, 1]), "5 coefficients do not fit 5 features and 2 outputs"),
    "coefficients": (ml("LinearRegressor", ["x"], ["y"], coefficients=numbers(7)),
                     "7 coefficients do not fit 5 features"),
    "intercepts": (ml("LinearRegressor", ["x"], ["y"], coefficients=numbers(5),
                      intercepts=[1.0, 2.0]),
                   "intercepts do not fit"),
    "norm": (ml("Normalizer", ["x"], ["y"], norm="L3"), "norm is 'L3'"),
    "imputer": (ml("Imputer", ["x"], ["y"], imputed_value_floats=[1.0], replaced_value_float=0.0),
                "replaces a number by another"),
}  # fmt: skip


@pytest.mark.parametrize("name", REFUSED)
def test_refused_in_words(tmp_path: Path, name: str) -> None:
    node, text = REFUSED[name]
    with pytest.raises(EdgecError) as caught:
        imported(model_of([node], {node.output[-1]: TensorProto.FLOAT}), tmp_path)
    assert text in str(caught.value)

"""Token ids before an Embedding, counted from the end or cast from real numbers, as Keras does."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from import_models import N, model_of, run, save
from onnx import TensorProto

from edgec.base.errors import UnsupportedModelError
from edgec.base.options import CompileOptions
from edgec.floatrun.executor import Executor
from edgec.importers.onnx.importer import import_model
from edgec.ir.verify import Stage, verify
from edgec.workflow.integer import integer_model

ROWS = 9
RNG = np.random.default_rng(4)
TABLE = RNG.normal(size=(ROWS, 4)).astype(np.float32)
INT32, INT64, FLOAT = TensorProto.INT32, TensorProto.INT64, TensorProto.FLOAT
NEGATIVE = {
    "less": [N("Less", ["ids", "zero"], ["c"])],
    "greater": [N("Greater", ["zero", "ids"], ["c"])],
    "at_most": [N("LessOrEqual", ["ids", "minus"], ["c"])],
    "not_from_zero": [N("GreaterOrEqual", ["ids", "zero"], ["d"]), N("Not", ["d"], ["c"])],
}
PLUS = {
    name: N("Add", names, ["p"]) for name, names in (("ids", ["ids", "n"]), ("n", ["n", "ids"]))
}
FORMS = {
    f"{negative}-{plus}": [*nodes, added, N("Where", ["c", "p", "ids"], ["k"])]
    for (negative, nodes), (plus, added) in itertools.product(NEGATIVE.items(), PLUS.items())
}
FORMS["positive"] = [
    N("LessOrEqual", ["zero", "ids"], ["c"]),
    PLUS["n"],
    N("Where", ["c", "ids", "p"], ["k"]),
]
FORMS["product"] = [
    N("Less", ["ids", "zero"], ["c"]),
    N("Cast", ["c"], ["i"], to=INT64),
    N("Mul", ["n", "i"], ["p"]),
    N("Add", ["p", "ids"], ["k"]),
]
FORMS["sum_of_products"] = [
    N("Cast", ["ids"], ["f"], to=FLOAT),
    N("Less", ["f", "zero_f"], ["c"]),
    *(N("Not", ["c"], ["d"]), N("Cast", ["d"], ["above"], to=INT64)),
    *(N("Mul", ["ids", "above"], ["kept"]), N("Cast", ["c"], ["below"], to=INT64), PLUS["ids"]),
    *(N("Mul", ["below", "p"], ["moved"]), N("Add", ["moved", "kept"], ["k"])),
]
FORMS["cast"] = [
    N("Less", ["ids", "zero"], ["c"]),
    PLUS["n"],
    N("Where", ["c", "p", "ids"], ["j"]),
    N("Cast", ["j"], ["k"], to=INT32),
]


def network(form: str, kind: int = INT64, rows: int = ROWS, opset: int = 16):
    """An Embedding and a mean of what it gives, [B, 5] -> [B, 4]."""
    nodes = [
        N("Cast", ["x"], ["ids"], to=INT64),
        *FORMS[form],
        N("Gather", ["table", "k"], ["e"]),
        N("ReduceMean", ["e"], ["y"], axes=[1], keepdims=0),
    ]
    numbers = {"zero": 0, "minus": -1, "n": rows}
    constants = {name: np.int64(number) for name, number in numbers.items()}
    constants |= {"table": TABLE, "zero_f": np.float32(0)}
    return model_of(nodes, {"x": ("N", 5)}, constants, opset=opset, input_type=kind)


@pytest.mark.parametrize("kind", [INT64, FLOAT])
@pytest.mark.parametrize("form", FORMS)
def test_indices_counted_from_the_end(form, kind, tmp_path):
    model = network(form, kind)
    graph = import_model(save(model, tmp_path))
    verify(graph, Stage.REAL)
    assert graph.values["x"].dtype.value == "int32"
    ids = RNG.integers(0, ROWS, (1, 5))
    found = Executor(graph, graph.outputs).run({"x": ids.astype(np.int32)[None]})["y"][0]
    feed = ids.astype(np.float32 if kind == FLOAT else np.int64)
    np.testing.assert_allclose(found, run(model, {"x": feed})[0], rtol=1e-5, atol=1e-6)


def test_real_ids_are_calibrated(tmp_path):
    """Keras' own: ids are float32 in the file and in the data."""
    data = RNG.integers(0, ROWS, (16, 5)).astype(np.float32)
    found = integer_model(save(network("less-ids", FLOAT), tmp_path), {"x": data}, CompileOptions())
    assert "QEmbedding" in [node.op for node in found.integer.nodes]


@pytest.mark.parametrize(
    "nodes",
    [
        [N("Less", ["ids", "n"], ["c"]), PLUS["n"], N("Where", ["c", "p", "ids"], ["k"])],
        [N("Less", ["ids", "zero"], ["c"]), PLUS["n"], N("Where", ["c", "ids", "p"], ["k"])],
        [N("Add", ["ids", "n"], ["k"])],
    ],
)
def test_other_sums_of_indices_are_refused(nodes, tmp_path, monkeypatch):
    monkeypatch.setitem(FORMS, "other", nodes)
    with pytest.raises(UnsupportedModelError, match="integers"):
        import_model(save(network("other"), tmp_path))


def test_real_numbers_that_are_read_as_such_stay(tmp_path):
    """An input is whole only if nothing reads its fractions."""
    nodes = [
        N("Cast", ["x"], ["ids"], to=INT64),
        N("Gather", ["table", "ids"], ["e"]),
        N("ReduceMean", ["e"], ["m"], axes=[2], keepdims=0),
        N("Add", ["m", "x"], ["y"]),
    ]
    model = model_of(nodes, {"x": ("N", 5)}, {"table": TABLE})
    with pytest.raises(UnsupportedModelError, match="float32 numbers to another kind"):
        import_model(save(model, tmp_path))

"""The float64 executor on whole graphs; `test_export_real` and tests of import check operators."""

from __future__ import annotations

import numpy as np
import pytest
from quant_samples import Sketch, branches, perceptron, residual_network, samples, upsampler
from random_real_graphs import random_graph
from small_transformers import cct, gated, inputs_of, relative, vit

from edgec.base.dtypes import Array
from edgec.base.errors import InternalError
from edgec.base.portable_algebra import Scaled, scaled
from edgec.exporters.onnx.export import export_real, tensor_names
from edgec.floatrun import activations as activations_module
from edgec.floatrun.activations import activations
from edgec.floatrun.executor import Executor
from edgec.floatrun.float_model import FloatModel
from edgec.ir import ops, qops
from edgec.ir.graph import Graph

NETWORKS = {
    "residual": residual_network,
    "branches": branches,
    "perceptron": perceptron,
    "upsampler": lambda: upsampler(1),
    "grouped": lambda: upsampler(2),
    "vit": vit,
    "cct": cct,
    "gated": gated,
    "relative": relative,
}


def data_of(name: str, count: int) -> tuple[Graph, dict[str, np.ndarray]]:
    graph = NETWORKS[name]()
    wanted = samples if name in ("residual", "branches", "perceptron") or "u" in name else inputs_of
    return graph, wanted(graph, count)


def all_values(graph: Graph) -> list[str]:
    return [name for name in graph.values if name not in graph.inputs]


def by_onnxruntime(graph: Graph, data: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
    names = all_values(graph)
    model = FloatModel(export_real(graph.replace(outputs=tuple(names), output_layouts={})))
    exported = tensor_names(graph.replace(outputs=tuple(names), output_layouts={}))
    found = model.run({exported[name]: array for name, array in data.items()})
    return {name: found[exported[name]] for name in names}


@pytest.mark.parametrize("name", NETWORKS)
def test_every_value_is_what_onnxruntime_says(name):
    graph, data = data_of(name, 3)
    found = Executor(graph, all_values(graph)).run(data)
    for value, wanted in by_onnxruntime(graph, data).items():
        ours = found[value].reshape(wanted.shape)
        np.testing.assert_allclose(ours, wanted, rtol=1e-4, atol=1e-5, err_msg=value)


@pytest.mark.parametrize("seed", range(30))
def test_random_graphs(seed):
    graph = random_graph(seed)
    shapes = {name: (2, *graph.shape(name)[1:]) for name in graph.inputs}
    rng = np.random.default_rng(seed)
    data = {name: rng.normal(size=shape).astype(np.float32) for name, shape in shapes.items()}
    found = Executor(graph, all_values(graph)).run(data)
    for value, wanted in by_onnxruntime(graph, data).items():
        ours = found[value].reshape(wanted.shape)
        np.testing.assert_allclose(ours, wanted, rtol=1e-4, atol=1e-4, err_msg=value)


@pytest.mark.parametrize("name", NETWORKS)
def test_the_size_of_a_batch_changes_no_bit(name):
    graph, data = data_of(name, 5)
    executor = Executor(graph, all_values(graph))
    together = executor.run(data)
    for index in range(5):
        alone = executor.run({n: array[index : index + 1] for n, array in data.items()})
        for value, array in alone.items():
            np.testing.assert_array_equal(array[0], together[value][index], err_msg=value)


def test_activations_come_in_batches_that_fit_memory(monkeypatch):
    graph = residual_network()
    data, names = samples(graph, 7), ["x", graph.outputs[0]]
    whole = list(activations(graph, names, data))
    assert [done for done, _ in whole] == [7]
    sample = Executor(graph, names).sample_bytes
    monkeypatch.setattr(activations_module, "_BATCH_BYTES", 3 * sample)
    parts = list(activations(graph, names, data))
    assert [done for done, _ in parts] == [3, 6, 7]
    for name in names:
        joined = np.concatenate([batch[name] for _, batch in parts])
        assert joined.dtype == np.float32
        np.testing.assert_array_equal(joined, whole[0][1][name])


def test_an_output_can_be_changed_on_the_way():
    graph = perceptron()
    data = samples(graph, 2)
    first = next(node for node in graph.nodes if isinstance(node.attrs, ops.Gemm))
    plain = Executor(graph, [first.output, *graph.outputs]).run(data)
    changed = Executor(graph, [first.output, *graph.outputs]).run(
        data, lambda node, output, known: output + 1.0 if node is first else output
    )
    np.testing.assert_array_equal(changed[first.output], plain[first.output] + 1.0)
    assert not np.array_equal(changed[graph.outputs[0]], plain[graph.outputs[0]])


def test_integer_operators_are_refused():
    s = Sketch()
    x = s.input("x", 1, 4)
    graph = s.graph(s(qops.QReshape((1, 4)), x))
    with pytest.raises(InternalError, match="QReshape cannot be executed in float"):
        Executor(graph, graph.outputs).run({"x": np.zeros((1, 1, 4))})


def test_an_output_given_instead_is_not_computed():
    graph, data = data_of("perceptron", 4)
    plain = Executor(graph, all_values(graph)).run(data)
    first = graph.nodes[0]
    asked, changed = [], []

    def instead(node, known):
        asked.append(node.name)
        assert all(name in known for name in node.inputs if name in graph.values)
        return plain[first.output] * 2.0 if node is first else None

    def change(node, output, _known):
        changed.append(node.name)
        return output / 2.0 if node is first else output

    found = Executor(graph, all_values(graph)).run(data, change, instead)
    assert asked == changed == [node.name for node in graph.nodes]
    for name, values in plain.items():
        np.testing.assert_array_equal(found[name], values)


def test_weights_that_stay_are_made_ready_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """However many runs read them."""
    graph = residual_network()
    layers = [node for node in graph.nodes if isinstance(node.attrs, ops.Weighted)]
    dense = [n for n in layers if not isinstance(n.attrs, ops.Conv) or n.attrs.group == 1]
    made: list[tuple[int, ...]] = []

    def counted(array: Array, axes: int, terms: int) -> Scaled:
        made.append(array.shape)
        return scaled(array, axes, terms)

    monkeypatch.setattr("edgec.floatrun.convolved.scaled", counted)
    monkeypatch.setattr("edgec.floatrun.ops_product.scaled", counted)
    executor = Executor(graph, graph.outputs)
    data = samples(graph, 5)
    parts = [executor.run({n: a[i : i + 1] for n, a in data.items()}) for i in range(5)]
    assert len(made) == len(dense) > 2
    whole = Executor(graph, graph.outputs).run(data)
    for name in graph.outputs:
        np.testing.assert_array_equal(np.concatenate([p[name] for p in parts]), whole[name])

"""Fine-tuning: it helps, repeats, resumes, gives a legal graph, and says what it cannot do."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch
from pooled_digits import constants, data, interrupting, pooled_digits
from trained_digits import accuracy, digits, trained_digits

from edgec.base.errors import ConfigError, TrainingError, WeightPoolError
from edgec.finetune.options import Augmentation, TrainingData
from edgec.finetune.pooled import FinetuneOptions, finetune
from edgec.ir import ops
from edgec.ir.graph import Graph
from edgec.ir.graph_builder import GraphBuilder
from edgec.ir.verify import Stage, verify

pytestmark = pytest.mark.torch
FAST = FinetuneOptions(epochs=3, batch=64, bits=(8, 4))
TEST = (digits().test_x, digits().test_y)


def test_improves_accuracy_and_gives_a_legal_pooled_graph(pooled: Graph):
    tuned = finetune(trained_digits(), pooled, data(1200), replace(FAST, epochs=12))
    verify(tuned, Stage.REAL)
    before, after = (accuracy(graph, digits().test_x, digits().test_y) for graph in (pooled, tuned))
    assert after > max(0.8, before + 0.02)
    for node in tuned.nodes:
        if node.name in ("conv2", "conv3"):
            weight = tuned.constants[node.inputs[1]]
            assert weight.pooled is not None
            assert weight.pooled.pool.size == 16
            assert np.array_equal(weight.array, weight.pooled.expand(weight.shape[-1]))
    pools = [c.pooled.pool for c in tuned.constants.values() if c.pooled is not None]
    assert len({pool.vectors.tobytes() for pool in pools}) == 1
    assert [node.name for node in tuned.nodes] == [node.name for node in pooled.nodes]


def test_activations_of_pooled_layers_get_a_fixed_range(pooled: Graph):
    tuned = finetune(trained_digits(), pooled, data(), replace(FAST, epochs=1))
    ranges = {
        node.name: node.attrs.high for node in tuned.nodes if isinstance(node.attrs, ops.Clip)
    }
    assert np.isfinite([ranges["relu1"], ranges["relu2"]]).all()
    assert ranges["relu3"] == float("inf"), "no pooled layer reads it"


def test_repeats(pooled: Graph):
    options = replace(FAST, epochs=2, augmentation=Augmentation(shift=1))
    one, two = (finetune(trained_digits(), pooled, data(), options) for _ in range(2))
    other = finetune(trained_digits(), pooled, data(), replace(options, seed=1))
    assert constants(one) == constants(two) != constants(other)


@pytest.mark.parametrize("stop", [1, 2])
def test_resumes_after_an_interruption(pooled: Graph, tmp_path: Path, stop: int):
    options = replace(FAST, frozen=0.5, checkpoint=tmp_path / "run.checkpoint")
    whole = finetune(trained_digits(), pooled, data(), replace(options, checkpoint=None))

    with pytest.raises(KeyboardInterrupt):
        finetune(trained_digits(), pooled, data(), options, interrupting(stop))
    parts: list[float] = []

    def told(_text: str, done: int = 0, total: int = 0) -> None:
        parts.append(done / total if total else 0.0)

    resumed = finetune(trained_digits(), pooled, data(), options, told)
    found = [part for part in parts if part]
    assert found[0] == pytest.approx(stop / 3)
    assert found == sorted(found)
    assert found[-1] == 1.0
    assert constants(resumed) == constants(whole)


def test_sums_of_vectors_are_trained_and_resumed(tmp_path: Path):
    """The terms of a vector are chosen one after the other, and stay as many as they were."""
    start = pooled_digits("conv2=2", "conv3=1")
    options = replace(FAST, frozen=0.4, latent_rate=30.0, checkpoint=tmp_path / "run.checkpoint")
    whole = finetune(trained_digits(), start, data(), replace(options, checkpoint=None))
    verify(whole, Stage.REAL)
    weights = {
        node.name: whole.constants[node.inputs[1]].pooled
        for node in whole.nodes
        if node.name in ("conv2", "conv3")
    }
    before = next(c.pooled for c in start.constants.values() if c.pooled and c.pooled.terms == 2)
    found = weights["conv2"]
    assert found is not None
    assert found.terms == 2
    assert weights["conv3"] is not None
    assert weights["conv3"].terms == 1
    changed = found.indices != before.indices
    assert changed[..., 0::2].any()
    assert changed[..., 1::2].any()
    # The rate makes indices change in a few epochs; what it leaves depends on the processor's sums
    # (0.77 to 0.80 were seen), and must be a network still.
    assert accuracy(whole, *TEST) > 0.6
    with pytest.raises(KeyboardInterrupt):
        finetune(trained_digits(), start, data(), options, interrupting(1))
    assert constants(finetune(trained_digits(), start, data(), options)) == constants(whole)


def test_a_checkpoint_of_another_run_is_refused(pooled: Graph, tmp_path: Path):
    options = replace(FAST, epochs=1, checkpoint=tmp_path / "run.checkpoint")
    finetune(trained_digits(), pooled, data(), options)
    with pytest.raises(ConfigError, match="another model"):
        finetune(trained_digits(), pooled, data(), replace(options, rate=1e-4))
    scaled = TrainingData({name: x / 2 for name, x in data().inputs.items()}, data().labels)
    with pytest.raises(ConfigError, match="other data"):
        finetune(trained_digits(), pooled, scaled, options)
    (tmp_path / "run.checkpoint").write_bytes(b"not a checkpoint")
    with pytest.raises(ConfigError, match="not a readable checkpoint"):
        finetune(trained_digits(), pooled, data(), options)


def test_a_shared_pool_stays_as_it_is(pooled: Graph):
    tuned = finetune(trained_digits(), pooled, data(), replace(FAST, epochs=1, train_pool=False))
    first, second = (
        next(c.pooled.pool.vectors for c in graph.constants.values() if c.pooled is not None)
        for graph in (pooled, tuned)
    )
    assert np.array_equal(first, second)


def test_another_teacher_and_the_weights_that_were_pooled_are_two_things(pooled: Graph):
    def tuned(teacher: Graph | None) -> Graph:
        options = replace(FAST, epochs=4, rate=0.02, distillation=1.0)
        return finetune(trained_digits(), pooled, data(), options, teacher=teacher)

    # A teacher that takes class 1 for class 0 and so on; no labels are looked at.
    builder = GraphBuilder.of(trained_digits())
    (last,) = (node for node in builder.nodes.values() if isinstance(node.attrs, ops.Gemm))
    inputs = ops.layer_inputs(last)
    rolled = [
        builder.constant(f"rolled{i}", np.roll(trained_digits().constants[name].real(), -1, axis=0))
        for i, name in enumerate((inputs.w, inputs.b))
        if name
    ]
    builder.put(replace(last, inputs=(last.first, *rolled)))
    teacher = builder.build()
    own, found = tuned(None), tuned(teacher)
    assert constants(own) == constants(tuned(trained_digits()))
    x, y = digits().test_x, (digits().test_y - 1) % 10
    assert accuracy(found, x, y) > accuracy(own, x, y) + 0.2


def test_a_teacher_of_other_classes_is_refused(pooled: Graph):
    builder = GraphBuilder.of(trained_digits())
    (last,) = (node for node in builder.nodes.values() if isinstance(node.attrs, ops.Gemm))
    weight = trained_digits().constants[ops.layer_inputs(last).w].real()
    fewer = builder.constant("fewer", weight[:9])
    output = builder.values[last.output]
    builder.values[last.output] = replace(output, shape=(*output.shape[:-1], 9))
    builder.put(replace(last, inputs=(last.first, fewer)))
    with pytest.raises(TrainingError, match="the teacher has 9 classes, the network 10"):
        finetune(trained_digits(), pooled, data(20), FAST, teacher=builder.build())


def test_validation_is_reported(pooled: Graph):
    texts: list[str] = []
    validation = TrainingData({"x": digits().test_x[:100]}, digits().test_y[:100])
    options = replace(FAST, epochs=2, validation=validation)
    finetune(
        trained_digits(), pooled, data(), options, lambda text, done=0, total=0: texts.append(text)
    )
    assert "validation" in texts[-1]
    assert "(8 bits)" in texts[-1]
    assert "(4 bits)" in texts[-1]


@pytest.mark.parametrize(
    ("labels", "message"),
    [
        (np.zeros(20, np.int64), "all 20 samples are of class 0"),
        (np.arange(20) % 11, "the labels go from 0 to 10, but the network has 10 classes"),
        (np.arange(20) % 10 - 1, "the labels go from -1"),
        (np.arange(20) / 2, "expected integers"),
        (np.arange(19) % 10, "expected integers"),
    ],
)
def test_bad_labels(pooled: Graph, labels: np.ndarray, message: str):
    with pytest.raises(ConfigError, match=message):
        finetune(trained_digits(), pooled, TrainingData({"x": digits().train_x[:20]}, labels))


def test_bad_inputs(pooled: Graph):
    with pytest.raises(ConfigError, match="shape"):
        finetune(trained_digits(), pooled, TrainingData({"x": np.zeros((4, 3))}, np.arange(4)))


def test_a_gpu_that_is_not_there(pooled: Graph):
    if torch.cuda.is_available():
        pytest.skip("this computer has a GPU")
    with pytest.raises(ConfigError, match="no GPU"):
        finetune(trained_digits(), pooled, data(20), replace(FAST, device="cuda"))


def test_nothing_is_pooled():
    with pytest.raises(WeightPoolError, match="no layer of the network is pooled"):
        finetune(trained_digits(), trained_digits(), data(20), FAST)


def test_an_operator_that_cannot_be_trained(pooled: Graph):
    builder = GraphBuilder.of(trained_digits())
    (last,) = (node for node in builder.nodes.values() if node.name == "relu3")
    builder.put(replace(last, attrs=ops.ArgMax(3)))
    with pytest.raises(TrainingError, match="ArgMax cannot be fine-tuned") as raised:
        finetune(builder.build(), pooled, data(20), FAST)
    assert raised.value.where == "relu3"


def test_a_rate_that_is_too_high_is_noticed(pooled: Graph):
    with pytest.raises(TrainingError, match="diverged"):
        finetune(trained_digits(), pooled, data(), replace(FAST, epochs=1, rate=1e30))


@pytest.mark.parametrize(
    "change",
    [{"epochs": 0}, {"batch": 0}, {"rate": 0.0}, {"rate": float("nan")}, {"distillation": 1.5},
     {"frozen": -0.1}, {"bits": ()}, {"bits": (9,)}, {"device": "tpu"}, {"temperature": 0.0}],
)  # fmt: skip
def test_bad_options(change: dict[str, object]):
    with pytest.raises(ConfigError):
        replace(FAST, **change)

"""Training in integers: the oracle's forward pass; it helps, repeats, resumes and checks itself."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import cache
from pathlib import Path

import numpy as np
import pytest
import torch
from pooled_digits import interrupting
from quant_samples import conv, gemm, nearest, perceptron, relu, residual_network, samples
from sketch import Sketch
from trained_digits import digits, trained_digits

from edgec.base.errors import ConfigError, TrainingError
from edgec.base.options import QuantOptions
from edgec.finetune.integers import IntegerRecipe, Trained, finetune
from edgec.finetune.integers.layer import as_codes, requantized
from edgec.finetune.integers.network import IntegerNetwork
from edgec.finetune.loss import Loss
from edgec.finetune.options import TrainingData
from edgec.interp import run_graph
from edgec.ir import ops, qops
from edgec.ir.graph import Graph
from edgec.ir.graph_builder import GraphBuilder
from edgec.ir.ops import UnaryKind
from edgec.ir.verify import Stage, verify
from edgec.quant import to_integer
from edgec.quant.cnn.annotation import annotate_beside
from edgec.quant.scales.known import calibrated_groups

pytestmark = pytest.mark.torch
FAST = IntegerRecipe(epochs=3, batch=64, device="cpu")


def quantized(graph: Graph, data: dict[str, np.ndarray]) -> tuple[Graph, Graph]:
    """The annotated graph, and the real one that it stands for."""
    found = annotate_beside(graph, data, QuantOptions())
    return found.graph, found.real


# -- the forward pass ----------------------------------------------------------------------------


def _mobile(s: Sketch, x: str) -> str:
    inner = s(ops.Clip(0.0, 6.0), conv(s, x, 6, depthwise=False))
    deep = s(ops.Unary(UnaryKind.HARD_SWISH), conv(s, inner, 6, stride=2, depthwise=True))
    gate = s(ops.Reduce(ops.ReduceKind.MEAN, (1, 2), keepdims=True), deep)
    gate = s(ops.Unary(UnaryKind.SIGMOID), conv(s, gate, 6, 1))
    return conv(s, s(ops.Mul(), deep, gate), 4, 1, bias=False)


def _moved(s: Sketch, x: str) -> str:
    a = relu(s, conv(s, x, 6))
    b = s(ops.Concat(3), a, s(ops.Pad(((0, 0), (0, 0), (0, 0), (1, 2))), conv(s, x, 3)))
    b = s(ops.Slice((0, 7, 0, 0), (1, -1, 1, 2), (1, 6, 8, 6)), b)
    b = s(ops.MaxPool((3, 3), (2, 2), (1, 1, 1, 1)), s(ops.Sub(), b, s.const("o", np.ones(6))))
    return gemm(s, s(ops.Reshape((1, 96)), s(ops.AveragePool((2, 2), (1, 1), (1, 0, 1, 1)), b)), 5)


NETWORKS: dict[str, Callable[[Sketch, str], str]] = {"mobile": _mobile, "moved": _moved}


def network_of(name: str) -> Graph:
    if name not in NETWORKS:
        return {"residual": residual_network, "perceptron": perceptron}[name]()
    s = Sketch(name)
    return s.graph(NETWORKS[name](s, s.input("x", 1, 8, 8, 3)))


def disturbed(network: IntegerNetwork) -> None:
    """Other weights, biases and scales, as steps of training make them."""
    generator = torch.Generator().manual_seed(1)
    with torch.no_grad():
        for parameters, size in (
            (network.latents(), 3.0),
            (network.biases(), 2.0),
            (network.scales(), 0.1),
        ):
            for each in parameters:
                each.add_(size * torch.randn(each.shape, generator=generator))
    network.keep_within()
    network.convert()


@pytest.mark.parametrize("name", [*NETWORKS, "residual", "perceptron"])
def test_computes_the_integers_of_the_oracle(name: str):
    graph = network_of(name)
    annotated, real = quantized(graph, samples(graph, 24))
    network = IntegerNetwork(annotated, real, [g.members for g in calibrated_groups(real)])
    x = samples(graph, 4, seed=2)
    for disturb in (False, True):
        if disturb:
            disturbed(network)
            verify(network.annotated(), Stage.ANNOTATED)
        integer = to_integer(network.annotated() if disturb else annotated)
        with torch.no_grad():
            found = network.codes({name: torch.from_numpy(a) for name, a in x.items()})
        codes = {name: integer.quant(name).quantize(array) for name, array in x.items()}
        zero = integer.quant(network.output).tensor_zero_point
        for at, row in enumerate(found.numpy()):
            one = run_graph(integer, {name: array[at : at + 1] for name, array in codes.items()})
            assert np.array_equal(one[network.output].reshape(-1) - np.int64(zero), row)


def test_inputs_become_codes_as_those_of_a_file_that_divides_in_float32():
    graph = network_of("perceptron")
    annotated, real = quantized(graph, samples(graph, 24))
    (name,) = annotated.inputs
    quant = replace(annotated.quant(name), in_float32=True)
    value = replace(annotated.values[name], quant=quant)
    annotated = annotated.replace(values={**annotated.values, name: value})
    network = IntegerNetwork(annotated, real, [g.members for g in calibrated_groups(real)])
    shape = annotated.shape(name)
    halves = np.linspace(-90, 90, int(np.prod(shape))).reshape(shape).astype(int) + 0.5
    x = (halves * np.float32(quant.tensor_scale)).astype(np.float32)
    with torch.no_grad():
        (found,) = network.codes({name: torch.from_numpy(x)}).numpy()
    integer = to_integer(annotated)
    wanted = run_graph(integer, {name: integer.quant(name).quantize(x)})[network.output]
    zero = integer.quant(network.output).tensor_zero_point
    assert np.array_equal(wanted.reshape(-1) - np.int64(zero), found)


def test_every_parameter_gets_a_gradient():
    graph = network_of("mobile")
    annotated, real = quantized(graph, samples(graph, 24))
    network = IntegerNetwork(annotated, real, [g.members for g in calibrated_groups(real)])
    x = torch.from_numpy(samples(graph, 8)["x"])
    network({"x": x}).square().sum().backward()
    for each in network.parameters():
        assert each.grad is not None
        assert float(each.grad.abs().max()) > 0


def test_sums_beyond_float32_stay_exact():
    s = Sketch("long")
    x = s.input("x", 1, 1100)
    rng = np.random.default_rng(0)
    signs = np.sign(rng.normal(size=(2, 1100)))
    # Nearly one number: of one alone codes are -1 and 1.
    weights = signs * rng.uniform(0.997, 1.0, signs.shape)
    graph = s.graph(s(ops.Gemm(), x, s.const("w", weights), ""))
    annotated, real = quantized(graph, samples(graph, 4))
    network = IntegerNetwork(annotated, real, [])
    # Odd codes at their ends: sums of 2^24 and more that are no multiples of 2.
    extreme = np.where(signs[:1] > 0, 9, -9).astype(np.float32)
    extreme[0, :3] = 0.03
    integer = to_integer(annotated)
    codes = run_graph(integer, {"x": integer.quant("x").quantize(extreme)})[network.output]
    found = network.codes({"x": torch.from_numpy(extreme)}).detach().numpy()
    zero = integer.quant(network.output).tensor_zero_point
    assert np.array_equal(codes.reshape(-1) - np.int64(zero), found.reshape(-1))
    (layer,) = network.layers.values()
    assert layer._exact(torch.ones(1), torch.ones(1))[0].dtype is torch.float64


def test_requantization_is_that_of_the_form():
    rng = np.random.default_rng(0)
    acc = rng.integers(-(2**23), 2**23, (3, 5, 2, 2))
    bias = rng.integers(-(2**20), 2**20, 5)
    multiplier = rng.integers(1, 2**31 - 1, 5)
    for shift in (31, 40, 47):
        form = qops.Requant31(shift, -7, -100, 90)
        each = (-1, 1, 1)
        wanted = form.apply(acc + bias.reshape(each), multiplier.reshape(each)) + 7
        tensors = (torch.tensor(a) for a in (acc.astype(np.float32), bias, multiplier))
        assert np.array_equal(requantized(*tensors, form).numpy(), wanted)


def test_gradients_of_a_scale_are_those_of_learned_steps():
    y = torch.tensor([-9.0, 0.3, 1.7, 30.0])
    scale = torch.tensor(0.5, requires_grad=True)
    codes = torch.floor(y / 0.5 + 0.5).clamp(-4, 11)
    (as_codes(y / scale, codes, -4, 11) * scale).sum().backward()
    inside = (codes - y / 0.5)[1:3].sum()
    assert float(scale.grad) == pytest.approx(float(inside) - 4 + 11)


# -- training ------------------------------------------------------------------------------------


def data(count: int = 300) -> TrainingData:
    return TrainingData({"x": digits().train_x[:count]}, digits().train_y[:count])


@cache
def hurt() -> tuple[Graph, Graph]:
    """The digits network with weights that are off by many codes, and the real graph."""
    annotated, real = quantized(trained_digits(), {"x": digits().train_x[:200]})
    rng, builder = np.random.default_rng(0), GraphBuilder.of(annotated)
    for name, constant in annotated.constants.items():
        if constant.array.dtype == np.int8:
            noise = rng.normal(0, 25, constant.shape).round()
            codes = np.clip(constant.array + noise, -127, 127).astype(np.int8)
            builder.constant(name, codes, constant.quant, keep_name=True)
    return builder.build(), real


def ending_in_sigmoid(graph: Graph) -> Graph:
    """The network with a probability of its own for each class."""
    builder = GraphBuilder.of(graph)
    (last,) = (node for node in graph.nodes if isinstance(node.attrs, ops.Softmax))
    builder.nodes[last.name] = replace(last, attrs=ops.Unary(UnaryKind.SIGMOID))
    return builder.build()


def run(recipe: IntegerRecipe = FAST, count: int = 300) -> Trained:
    annotated, real = hurt()
    return finetune(annotated, real, trained_digits(), data(count), recipe)


def constants(trained: Trained) -> dict[str, bytes]:
    return {name: each.real().tobytes() for name, each in trained.graph.constants.items()}


def test_brings_back_what_bad_weights_lost_and_checks_its_integers():
    trained = run(replace(FAST, epochs=6), count=800)
    report = trained.report
    verify(trained.graph, Stage.ANNOTATED)
    assert report.epoch > 0
    assert report.before < 0.8
    assert report.after > report.before + 0.2
    assert (report.trained, report.held_back) == (720, 80)
    assert (report.checked, report.unequal) == (320, 0)


def test_a_network_that_ends_in_sigmoid_is_trained_by_its_logits():
    annotated, real = hurt()
    annotated, real, teacher = map(ending_in_sigmoid, (annotated, real, trained_digits()))
    network = IntegerNetwork(annotated, real, [])
    assert network.output == annotated.nodes[-1].first
    report = finetune(annotated, real, teacher, data(800), replace(FAST, epochs=6)).report
    assert report.before < 0.8
    assert report.after > report.before + 0.2
    assert report.unequal == 0


def test_classes_apart_have_losses_apart():
    loss = Loss(distillation=1.0, temperature=2.0, separate=True)
    teacher, labels = torch.tensor([[3.0, -1.0], [0.0, 5.0]]), torch.tensor([0, 1])
    assert float(loss(teacher, teacher, labels)) == pytest.approx(0.0, abs=1e-6)
    # Higher by the same number: another distribution of sigmoids, the same softmax.
    assert float(loss(teacher + 1, teacher, labels)) > 0.1
    alike = Loss(distillation=1.0, temperature=2.0)
    assert float(alike(teacher + 1, teacher, labels)) == pytest.approx(0.0, abs=1e-6)
    hard = Loss(distillation=0.0, temperature=2.0, separate=True)
    chances = torch.sigmoid(teacher)
    wanted = -torch.log(torch.where(torch.eye(2) > 0, chances, 1 - chances)).sum() / 2
    assert float(hard(teacher, teacher, labels)) == pytest.approx(float(wanted))


def test_repeats_and_the_seed_counts():
    one, two, other = (run(replace(FAST, epochs=1, seed=seed)) for seed in (0, 0, 1))
    assert constants(one) == constants(two) != constants(other)
    assert one.report == two.report


def test_resumes_after_an_interruption(tmp_path: Path):
    recipe = replace(FAST, epochs=2, checkpoint=tmp_path / "run.checkpoint")
    whole = run(replace(recipe, checkpoint=None))

    annotated, real = hurt()
    with pytest.raises(KeyboardInterrupt):
        finetune(annotated, real, trained_digits(), data(), recipe, interrupting(1))
    resumed = run(recipe)
    assert constants(resumed) == constants(whole)
    assert resumed.report == whole.report


def test_without_improvement_the_start_is_given_back():
    trained = run(replace(FAST, epochs=1, rate=1e-12))
    assert trained.report.epoch == 0
    assert trained.graph is hurt()[0]
    assert trained.report.after == trained.report.before


def test_too_few_samples_and_other_teachers_are_refused():
    annotated, real = hurt()
    with pytest.raises(ConfigError, match="20 samples are too few"):
        finetune(annotated, real, trained_digits(), data(20), FAST)
    with pytest.raises(TrainingError, match="the teacher has 5 classes, the network 10"):
        finetune(annotated, real, residual_network(), data(), FAST)


def test_what_cannot_be_trained_is_named():
    s = Sketch("resized")
    x = conv(s, s.input("x", 1, 4, 4, 3), 4)
    graph = s.graph(s(ops.Resize(ops.ResizeMode.NEAREST, *nearest(4), *nearest(4)), x))
    annotated, real = quantized(graph, samples(graph, 24))
    with pytest.raises(TrainingError, match="Resize cannot be fine-tuned") as raised:
        IntegerNetwork(annotated, real, [])
    assert raised.value.where
    s = Sketch("bare")
    graph = s.graph(relu(s, s.input("x", 1, 4)))
    annotated, real = quantized(graph, samples(graph, 24))
    with pytest.raises(TrainingError, match="no layer of the network has weights"):
        IntegerNetwork(annotated, real, [])

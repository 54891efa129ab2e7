"""Activations of few bits in training: their steps are learned, and the file computes with them."""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import onnxruntime
import pytest
import torch
from pooled_digits import constants, data, interrupting
from trained_digits import accuracy, digits, trained_digits

from edgec.base.dtypes import Array
from edgec.base.options import FewBitsOptions, IntegerOptions, WeightBits
from edgec.finetune.network import Network
from edgec.finetune.options import TrainingData
from edgec.finetune.pooled import FinetuneOptions, export, finetune
from edgec.finetune.steps import LearnedStep
from edgec.floatrun.codes import nearest_codes
from edgec.floatrun.executor import Executor
from edgec.interp import run_graph
from edgec.ir import Graph, ops
from edgec.ir.verify import Stage, verify
from edgec.weightpool import narrowed
from edgec.weightpool.few_codes import Codes, FewCodes, few_codes_of
from edgec.workflow.exported import exported, read_again
from edgec.workflow.integer import quantized_model

pytestmark = pytest.mark.torch
LAYERS = ("conv2", "conv3")
FAST = FinetuneOptions(epochs=2, batch=64, bits=(8,), levels=WeightBits.TWO.levels)


@cache
def few_digits(bits: int = 2, layers: tuple[str, ...] = LAYERS, shift: float = 0.0) -> Graph:
    options = FewBitsOptions(WeightBits.TWO, layers, activation_bits=bits)
    return narrowed(trained_digits(), {"x": digits().train_x[:200] - shift}, options)


def read_by_layers(graph: Graph, layers: tuple[str, ...] = LAYERS) -> list[str]:
    return [node.first for node in graph.nodes if node.name in layers]


def steps(graph: Graph, layers: tuple[str, ...] = LAYERS) -> list[float]:
    found = [few_codes_of(graph, value) for value in read_by_layers(graph, layers)]
    return [each.codes.step for each in found if each is not None]


def test_loss_falls_and_steps_change():
    start, told = few_digits(), []
    options = replace(FAST, epochs=6)

    def tell(text: str, _done: int = 0, _total: int = 0) -> None:
        told.extend([text] if "loss" in text else [])

    tuned = finetune(trained_digits(), start, data(1200), options, tell)
    verify(tuned, Stage.REAL)
    losses = [float(text.split("loss ")[1].split(",")[0]) for text in dict.fromkeys(told)]
    assert losses[-1] < 0.8 * losses[0]
    before, after = (accuracy(graph, digits().test_x, digits().test_y) for graph in (start, tuned))
    assert after > before
    for old, new in zip(steps(start), steps(tuned), strict=True):
        assert 1e-3 < abs(np.log(new / old)) < 1
    assert [node.name for node in tuned.nodes] == [node.name for node in start.nodes]
    for value, numbers in (
        Executor(tuned, read_by_layers(tuned)).run({"x": data().inputs["x"]}).items()
    ):
        found = few_codes_of(tuned, value)
        assert found is not None
        assert set(np.unique(np.rint(numbers / found.codes.step))) == {0, 1, 2, 3}


def test_repeats_and_resumes_after_an_interruption(tmp_path: Path):
    options = replace(FAST, checkpoint=tmp_path / "run.checkpoint")
    whole = finetune(trained_digits(), few_digits(), data(), FAST)
    with pytest.raises(KeyboardInterrupt):
        finetune(trained_digits(), few_digits(), data(), options, interrupting(1))
    resumed = finetune(trained_digits(), few_digits(), data(), options)
    assert constants(resumed) == constants(whole)
    assert steps(resumed) == steps(whole)


def test_processes_that_share_a_batch_learn_the_same_steps():
    options = replace(FAST, device="cpu", devices=2)
    one, two = (finetune(trained_digits(), few_digits(), data(256), options) for _ in range(2))
    assert steps(one) == steps(two) != steps(few_digits())
    assert constants(one) == constants(two)


@pytest.mark.parametrize("codes", [Codes(0.25, 0, 3), Codes(0.1, -2, 1), Codes(0.3, 0, 1)])
def test_gradients_are_those_of_learned_step_sizes(codes: Codes):
    """Esser et al. 2020: equation 3, straight through between the bounds, and the scale of 2.2."""
    elements = 48
    learned = LearnedStep(replace(rounding(), codes=codes), elements)
    with torch.no_grad():
        learned.spread.fill_(0.3)
    x = torch.randn(5, elements, generator=torch.Generator().manual_seed(1), requires_grad=True)
    upstream = torch.randn(5, elements, generator=torch.Generator().manual_seed(2))
    (learned(x) * upstream).sum().backward()
    step = float(np.float32(codes.step) * np.exp(np.float32(0.3)))
    v, given = x.detach().double().numpy() / step, upstream.double().numpy()
    of_step = np.where(
        v <= codes.low, codes.low, np.where(v >= codes.high, codes.high, np.rint(v) - v)
    )
    wanted = (given * of_step).sum() / np.sqrt(elements * codes.high)
    # That of the logarithm of a step is the step's times the step.
    assert learned.spread.grad is not None
    assert np.isclose(float(learned.spread.grad), wanted * step, rtol=1e-4)
    within = (v >= codes.low) & (v <= codes.high)
    assert x.grad is not None
    assert np.array_equal(x.grad.numpy(), np.where(within, upstream.numpy(), 0))


@pytest.mark.parametrize("codes", [Codes(0.25, 0, 3), Codes(0.15, -2, 1), Codes(0.01, 0, 127)])
def test_training_rounds_as_the_nodes_do(codes: Codes):
    """Numbers halfway between two codes among them."""
    learned = LearnedStep(replace(rounding(), codes=codes), 1)
    with torch.no_grad():
        learned.spread.fill_(-0.2)
    step = float(learned.step.detach())
    halves = (np.arange(-6, 12) / 2 * step).astype(np.float32)
    x = np.concatenate([halves, np.random.default_rng(0).normal(size=4000).astype(np.float32)])
    now = replace(codes, step=step)
    limited = np.clip(x, np.float32(now.clip.low), np.float32(now.clip.high))
    wanted = nearest_codes(limited, now.quant)
    found = learned(torch.tensor(x)).detach().numpy()
    assert np.array_equal(found, (wanted.astype(np.float64) * step).astype(np.float32))


def rounding() -> FewCodes:
    """Nodes of some graph, to put other codes in."""
    found = few_codes_of(few_digits(), read_by_layers(few_digits())[0])
    assert found is not None
    return found


def test_bytes_that_a_file_rounds_to_are_not_trained():
    start = few_digits()
    found = rounding()
    limit, number, _ = found.nodes
    (value, _) = read_by_layers(start)
    wide = Codes(found.codes.step, 0, 255)
    nodes = tuple(replace(n, attrs=wide.clip) if n.name == limit.name else n for n in start.nodes)
    assert few_codes_of(start.replace(nodes=nodes), value) is None
    open_ended = tuple(
        replace(n, attrs=ops.Clip(0.0, np.inf)) if n.name == limit.name else n for n in start.nodes
    )
    assert few_codes_of(start.replace(nodes=open_ended), value) is None
    assert few_codes_of(start, number.output) is None
    assert few_codes_of(start, "x") is None


class Trained:
    """A network as training left it, and what its layers read."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.network: Network | None = None
        of_a_network = export.trained

        def kept(graph: Graph, network: Network, pools: Any) -> Graph:
            self.network = network
            return of_a_network(graph, network, pools)

        monkeypatch.setattr(export, "trained", kept)

    def read(self, x: Array) -> list[Array]:
        """The numbers that layers read of images, as codes."""
        assert self.network is not None
        network, found = self.network.eval(), []

        def keep(learned: LearnedStep, _x: object, y: torch.Tensor) -> None:
            found.append(np.rint(y.numpy() / float(learned.step.detach())))

        hooks = [each.register_forward_hook(keep) for each in network.roundings.values()]
        with torch.no_grad():
            network({"x": torch.tensor(x)})
        for hook in hooks:
            hook.remove()
        return found


@pytest.mark.parametrize(
    ("bits", "layers", "shift"), [(2, LAYERS, 0.0), (3, ("conv1", "conv2", "fc"), 0.5)]
)
def test_the_file_has_the_codes_of_training(
    bits: int, layers: tuple[str, ...], shift: float, monkeypatch: pytest.MonkeyPatch
):
    """Without a sign after a Relu, with one elsewhere; before convolutions and products."""
    start, trained = few_digits(bits, layers, shift), Trained(monkeypatch)
    samples = TrainingData({"x": digits().train_x[:512] - shift}, digits().train_y[:512])
    tuned = finetune(trained_digits(), start, samples, FAST)
    x = digits().test_x[:64] - shift
    expected = trained.read(x)
    data_of_file = exported(tuned)
    found = codes_of_file(data_of_file, x)
    assert len(found) == len(expected) == len(layers)
    assert [step for step, _ in found] == steps(tuned, layers) != steps(start, layers)
    assert [codes.dtype == np.int8 for _, codes in found] == [name == "conv1" for name in layers]
    for (_, codes), training in zip(found, expected, strict=True):
        # Normalizations are folded: a sum that lies between two numbers may become the other one.
        in_order = codes if codes.shape == training.shape else np.moveaxis(codes, 1, -1)
        assert np.mean(in_order == training) > 0.999
    again = read_again(data_of_file, "few.bits.onnx")
    integer = quantized_model(
        replace(again, calibration=dict(samples.inputs)), IntegerOptions()
    ).integer
    assert same_decisions(tuned, integer, x) > 0.9


def codes_of_file(file: bytes, x: Array) -> list[tuple[float, Array]]:
    """Step and codes [N, ...] of each value that a file rounds, as onnxruntime computes them."""
    model = onnx.load_from_string(file)
    stored = {each.name: onnx.numpy_helper.to_array(each) for each in model.graph.initializer}
    nodes = [node for node in model.graph.node if node.op_type == "QuantizeLinear"]
    model.graph.output.extend(onnx.ValueInfoProto(name=node.output[0]) for node in nodes)
    options = onnxruntime.SessionOptions()
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    session = onnxruntime.InferenceSession(model.SerializeToString(), options)
    names = [node.output[0] for node in nodes]
    runs = [session.run(names, {"x": each[None]}) for each in x]
    found = [np.concatenate(codes) for codes in zip(*runs, strict=True)]
    return [(float(stored[node.input[1]]), codes) for node, codes in zip(nodes, found, strict=True)]


def same_decisions(real: Graph, integer: Graph, x: Array) -> float:
    """Share of images of which a REAL and an INTEGER graph tell the same class."""
    (wanted,) = Executor(real, real.outputs).run({"x": x}).values()
    (name,), (output,) = integer.inputs, integer.outputs
    codes = nearest_codes(x, integer.quant(name))
    found = [run_graph(integer, {name: each[None]})[output].argmax() for each in codes]
    return float(np.mean(np.array(found) == wanted.reshape(len(x), -1).argmax(1)))

"""The training script of networks/ with the transformer; synthetic images."""

from __future__ import annotations

import argparse
import re
import subprocess
import sys
from collections import Counter
from pathlib import Path

import numpy as np
import pytest
import torch
from places import NETWORKS

from edgec.base.errors import ConfigError
from edgec.base.options import CompileOptions
from edgec.ir import ops, qops
from edgec.workflow.integer import integer_model, real_model

pytestmark = pytest.mark.torch


@pytest.fixture
def script(monkeypatch, tmp_path):
    """The module train_cifar10 over a few random images, its checkpoints in tmp_path."""
    monkeypatch.syspath_prepend(str(NETWORKS))
    import cifar10
    import train_cifar10

    def images(_folder, split):
        generator = torch.Generator().manual_seed(len(split))
        x = torch.randint(0, 256, (64, 3, 32, 32), generator=generator, dtype=torch.uint8)
        return cifar10.Images(x, torch.arange(64) % 10)

    monkeypatch.setattr(cifar10, "load", images)
    monkeypatch.setattr(train_cifar10, "BATCH", 32)
    monkeypatch.setattr(train_cifar10, "HERE", tmp_path)
    return train_cifar10


def options(script, **changes):
    values = {"network": "cct", "data_dir": None, "epochs": 2, "rate": 1e-3, "seed": 1}
    values |= {"device": "cpu", "float32": False, "restart": False, "teacher": None, "hold": False}
    return argparse.Namespace(**{**values, "out": script.HERE, **changes})


def test_an_interrupted_training_goes_on_as_if_it_had_not_been(script, monkeypatch):
    whole = script.train(options(script)).state_dict()
    measure = script.accuracy

    def interrupted(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr(script, "accuracy", interrupted)
    with pytest.raises(KeyboardInterrupt):
        script.train(options(script, restart=True))
    monkeypatch.setattr(script, "accuracy", measure)
    again = script.train(options(script)).state_dict()
    assert whole.keys() == again.keys()
    for name, value in whole.items():
        torch.testing.assert_close(again[name], value, msg=name)


def test_a_taught_training_goes_on_as_if_it_had_not_been_interrupted(script, monkeypatch):
    teacher = NETWORKS / "resnet8_narrow_cifar10.onnx"
    how = {"network": "binary", "teacher": teacher, "hold": True, "epochs": 3}
    whole = script.train(options(script, **how)).state_dict()
    # The first of three epochs is also the first of four: the rate has not begun to fall.
    checkpoint = script.HERE / "checkpoints" / "binary.pt"
    checkpoint.unlink()
    measure, calls = script.accuracy, []

    def interrupted(*found):
        calls.append(found)
        if len(calls) == 1:
            raise KeyboardInterrupt
        return measure(*found)

    monkeypatch.setattr(script, "accuracy", interrupted)
    with pytest.raises(KeyboardInterrupt):
        script.train(options(script, **{**how, "epochs": 4}))
    again = script.train(options(script, **how)).state_dict()
    for name, value in whole.items():
        assert torch.equal(again[name], value), name
    with pytest.raises(SystemExit, match="a run with other options"):
        script.train(options(script, **{**how, "epochs": 5}))
    kept = torch.load(checkpoint, weights_only=True)
    del kept["settings"]  # as checkpoints once were
    torch.save(kept, checkpoint)
    with pytest.raises(SystemExit, match="which it does not name: give them again, or --restart"):
        script.train(options(script, **how))


@pytest.mark.filterwarnings("ignore")  # PyTorch's exporter warns
@pytest.mark.parametrize("what", ["checkpoint", "network"])
def test_a_file_that_cannot_be_written_leaves_the_earlier_one(script, monkeypatch, what):
    import onnx_file

    def full(_path, _data):
        raise OSError(28, "No space left on device")

    places = {"checkpoint": "checkpoints/resnet8_narrow.pt", "network": "network.onnx"}
    path = script.HERE / places[what]
    path.parent.mkdir(exist_ok=True)
    path.write_bytes(b"earlier")
    monkeypatch.setattr(Path, "write_bytes", full)
    with pytest.raises(ConfigError, match="cannot be written: the disk is full"):
        if what == "checkpoint":
            script.train(options(script, network="resnet8_narrow", epochs=1, restart=True))
        else:
            onnx_file.export(script.build("resnet8_narrow"), path)
    assert path.read_bytes() == b"earlier"
    assert [each.name for each in path.parent.iterdir()] == [path.name]


def test_a_held_rate_rises_stays_and_falls_to_nothing(script):
    from schedule import held, held_steps

    rates, until = [held(step, 5000, 0.5) for step in range(5000)], held_steps(5000)
    assert rates[:300] == sorted(rates[:300])
    assert set(rates[300:until]) == {0.5}
    assert rates[until:] == sorted(rates[until:], reverse=True)
    assert 0 < rates[-1] < 0.001
    assert rates[:until] == [held(step, 10_000, 0.5) for step in range(until)]


def test_optimizers(script):
    model = script.build("cct")
    assert isinstance(script.make_optimizer(model, "cct", 0.1), torch.optim.AdamW)
    model = script.build("resnet8")
    assert isinstance(script.make_optimizer(model, "resnet8", 0.1), torch.optim.SGD)


@pytest.mark.parametrize(
    "name",
    [
        *("efficientnet_lite", "mobilenetv2", "mobilenetv3", "mobilevit", "shufflenetv2"),
        *("resnet8_narrow", "resnet10_narrow"),
    ],
)
def test_classifiers_are_small_and_have_an_output_a_class(script, name):
    model = script.build(name).eval()
    assert sum(each.numel() for each in model.parameters()) < 95_000  # 400 KB with the graph
    with torch.no_grad():
        assert model(torch.zeros(2, 3, 32, 32)).shape == (2, 10)


@pytest.mark.parametrize(
    ("narrow", "int8_bytes"), [("resnet8_narrow", 10_018), ("resnet10_narrow", 70_963)]
)
def test_narrow_networks_are_as_large_in_int8_as_pooled_ones(script, narrow, int8_bytes):
    """A byte for a weight; four for the bias and four for the multiplier of an output channel."""
    layers = [each for each in script.build(narrow).modules() if hasattr(each, "weight")]
    weights = [each.weight for each in layers if each.weight.ndim > 1]
    assert sum(each.numel() + 8 * each.shape[0] for each in weights) == int8_bytes


def test_a_binary_network_has_signs_and_two_weights_a_filter(script):
    import binary

    assert isinstance(
        script.make_optimizer(script.build("binary"), "binary", 0.1), torch.optim.Adam
    )
    model = script.build("binary").eval()
    images = torch.randn(2, 3, 32, 32, generator=torch.Generator().manual_seed(1))
    seen = []
    blocks = [each for each in model.modules() if isinstance(each, binary.BinaryBlock)]
    for block in blocks:
        block.sign.register_forward_hook(lambda _layer, _x, y: seen.append(y))
    with torch.no_grad():
        before = model(images)
        assert all(set(torch.unique(y).tolist()) == {-1.0, 1.0} for y in seen)
        after = binary.hardened(model)(images)
    torch.testing.assert_close(after, before)
    assert len(blocks) == 5
    for block in blocks:
        filters = block.conv.weight.detach().flatten(1)
        assert all(len(torch.unique(each)) == 2 for each in filters)
        assert torch.equal(filters.abs().amax(1), filters.abs().amin(1))


def test_gradients_pass_signs_where_the_approximation_has_a_slope(script):
    import binary

    x = torch.tensor([-2.0, -0.5, 0.0, 0.25, 1.5], requires_grad=True)
    y = binary.ApproximateSign.apply(x)
    y.sum().backward()
    assert y.tolist() == [-1, -1, 1, 1, 1]
    assert x.grad.tolist() == [0, 1, 2, 1.5, 0]


@pytest.mark.slow
def test_an_exported_binary_network_computes_with_bits(tmp_path):
    path = tmp_path / "binary.onnx"
    code = (
        "import sys, binary, torch; from onnx_file import export; from pathlib import Path; "
        "torch.manual_seed(0); export(binary.hardened(binary.build()), Path(sys.argv[1]))"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, path],
        cwd=NETWORKS,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    rng = np.random.default_rng(1)
    samples = {"input": rng.normal(size=(8, 3, 32, 32)).astype(np.float32)}
    integer = integer_model(path, samples, CompileOptions()).integer
    kinds = Counter(type(node.attrs) for node in integer.nodes)
    assert kinds[qops.QBinaryConv] == 5


@pytest.mark.parametrize("name", ["unet", "detector"])
def test_a_network_of_the_scenes_learns(monkeypatch, name, capsys):
    monkeypatch.syspath_prepend(str(NETWORKS))
    import train_shapes

    args = argparse.Namespace(epochs=4, scenes=32, validation=4, seed=1)
    train_shapes.train(train_shapes.TASKS[name], args)
    losses = re.findall(r"loss ([\d.]+)", capsys.readouterr().out)
    first, *_, last = map(float, losses)
    assert last < first


def test_what_the_detector_is_to_say_is_read_back_as_the_boxes(monkeypatch):
    monkeypatch.syspath_prepend(str(NETWORKS))
    import detection
    import detector
    import shapes

    scenes = shapes.scenes("train", 8)
    scores, distances = (each.numpy() for each in detector.targets(scenes))
    found = detection.decode(scores, np.nan_to_num(distances))
    for one, boxes, classes in zip(found, scenes.boxes, scenes.classes, strict=True):
        right = detection.matched(one, boxes, classes).right
        assert right.all()
        assert len(right) >= len(boxes) - 1  # two shapes may want the same cell


@pytest.mark.slow
def test_exported_transformer_is_read_as_one(tmp_path):
    path = tmp_path / "cct.onnx"
    # A process of its own: PyTorch's exporter warns.
    code = "import sys, cct, train_cifar10 as t; t.export(cct.CCT(), t.Path(sys.argv[1]))"
    done = subprocess.run(
        [sys.executable, "-c", code, path],
        cwd=NETWORKS,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    graph = real_model(path, None, CompileOptions()).graph
    kinds = Counter(type(node.attrs) for node in graph.nodes)
    # Four blocks; the sequence pooling becomes the fifth when it is quantized.
    assert kinds[ops.Attention] == 4
    assert kinds[ops.Softmax] == 1
    assert kinds[ops.LayerNormalization] == 9
    assert graph.shape(graph.outputs[0]) == (1, 10)


@pytest.mark.slow
@pytest.mark.parametrize("recipe", ["resnet8", "resnet8_sums"])
def test_a_pooled_network_is_one_command(recipe, script, monkeypatch, tmp_path):
    import pool_cifar10

    output = tmp_path / "resnet8.pool.onnx"
    wanted = [recipe, "--epochs", "1", "--pool-size", "16", "--device", "cpu"]
    assert pool_cifar10.main([*wanted, "--data-dir", str(tmp_path), "-o", str(output)]) == 0
    graph = real_model(output, None, CompileOptions()).graph
    pools = [c.pooled.pool.size for c in graph.constants.values() if c.pooled is not None]
    assert pools and set(pools) == {16}

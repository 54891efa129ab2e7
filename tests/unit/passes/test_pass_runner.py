from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import tf_networks
from data_folder import needed_data_folder
from own_networks import CONVOLUTIONAL, OWN_NETWORKS
from pass_samples import Maker, assert_same_function

from edgec.base.errors import InternalError
from edgec.exporters.onnx.export import export_real
from edgec.floatrun.float_model import FloatModel
from edgec.importers.onnx.importer import import_model
from edgec.ir import ops
from edgec.ir.graph import Graph
from edgec.ir.text import graph_text
from edgec.ir.verify import Stage
from edgec.passes import INTEGER_PASSES, REAL_PASSES, Pass, run_passes
from edgec.passes.layout import transposes

FLOAT = (
    "mlperf_resnet8_cifar10",
    "mlperf_dscnn_kws",
    "mlperf_mobilenetv1_025_vww96",
    "mlperf_autoencoder_toycar",
    "mcunet_vww80_float",
    "resnet20_cifar10",
    "resnet20_cifar10_torch_raw",
)
QDQ = tuple(f"{name}_int8_qdq" for name in FLOAT[:4])


def sample() -> Graph:
    m = Maker()
    x = m.op(ops.Transpose((0, 2, 3, 1)), m.input(1, 3, 6, 6))
    x = m.op(ops.Pad(((0, 0), (1, 1), (1, 1), (0, 0))), x)
    x = m.op(ops.Conv(), x, m.const(4, 3, 3, 3), "")
    x = m.op(ops.Transpose((0, 3, 1, 2)), m.op(ops.Mul(), x, m.const(4)))
    return m.graph(m.op(ops.Clip(0.0), x))


def test_the_whole_pipeline_and_its_dump(tmp_path: Path):
    graph = sample()
    result = run_passes(graph, REAL_PASSES, tmp_path, first_number=3)
    assert_same_function(graph, result.graph)
    assert [node.op for node in result.graph.nodes] == ["Conv", "Clip"]
    names = sorted(path.name for path in tmp_path.iterdir())
    assert names[:2] == ["03-clean.txt", "04-frame_spectra.txt"]
    assert (tmp_path / names[-1]).read_text() == graph_text(result.graph)


def test_notes_and_no_passes():
    note = Pass("p", Stage.REAL, Stage.REAL, lambda g: g, lambda a, b: (str(a is b),))
    graph = sample()
    assert [(n.pass_name, n.text) for n in run_passes(graph, (note,)).notes] == [("p", "False")]
    assert run_passes(graph, ()).graph is graph


def test_a_pass_that_breaks_the_graph_is_named():
    broken = Pass("breaker", Stage.REAL, Stage.REAL, lambda g: g.replace(inputs=()))
    with pytest.raises(InternalError, match="after breaker"):
        run_passes(sample(), (broken,))
    with pytest.raises(InternalError, match="before clean"):
        run_passes(sample().replace(inputs=()), REAL_PASSES)


def test_stages_must_follow_each_other():
    with pytest.raises(InternalError, match="stage"):
        run_passes(sample(), (REAL_PASSES[0], INTEGER_PASSES[0]))


def test_the_same_graph_whatever_the_hash_seed():
    code = (
        "from test_pass_runner import sample, run_passes, REAL_PASSES, graph_text;"
        "print(graph_text(run_passes(sample(), REAL_PASSES).graph))"
    )
    texts = {
        subprocess.run(
            [sys.executable, "-c", code],
            cwd=Path(__file__).parent,
            env={**os.environ, "PYTHONHASHSEED": seed, "PYTHONPATH": os.pathsep.join(sys.path)},
            capture_output=True,
            check=True,
        ).stdout
        for seed in ("1", "2")
    }
    assert len(texts) == 1


def check_no_transposes(path: Path, *, quantized: bool) -> None:
    """Every Transpose goes, and the network computes what it did."""
    after = run_passes(import_model(path), REAL_PASSES).graph
    assert transposes(after) == 0
    # The residual blocks of CIFAR's ResNet-20 pad channels where no convolution follows.
    padded = "resnet20" in path.stem
    assert padded or not {"Pad", "BatchNormalization", "Mul"} & {n.op for n in after.nodes}
    if quantized:
        return
    original = FloatModel(path)
    rewritten = FloatModel(export_real(after, model_layout=True))
    rng = np.random.default_rng(0)
    x = rng.normal(0, 1, (2, *original.inputs[0].shape[1:])).astype(np.float32)
    (expected,) = original.run({original.input_names[0]: x}).values()
    (found,) = rewritten.run({rewritten.input_names[0]: x}).values()
    np.testing.assert_allclose(found, expected, rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("quantized", [False, True], ids=["real", "quantized"])
@pytest.mark.parametrize("name", tf_networks.NETWORKS)
def test_tensorflow_networks_lose_every_transpose(name: str, quantized: bool, tmp_path: Path):
    path = tf_networks.save_written(name, tmp_path, quantized=quantized)
    check_no_transposes(path, quantized=quantized)


@pytest.mark.parametrize("name", CONVOLUTIONAL)
def test_own_networks_lose_every_transpose(name: str):
    check_no_transposes(OWN_NETWORKS[name], quantized=False)


@pytest.mark.data
@pytest.mark.parametrize("name", [*FLOAT, *QDQ])
def test_public_networks_lose_every_transpose(name: str):
    path = needed_data_folder() / "models" / f"{name}.onnx"
    check_no_transposes(path, quantized=name in QDQ)

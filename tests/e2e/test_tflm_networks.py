"""MLPerf Tiny's four int8 files: every tensor is TensorFlow Lite Micro's, on every kind of core."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from c_programs import Build
from cross import MACHINES, check_cross
from data_folder import data_folder
from emulated import check_emulated, need_emulator
from parity import Sample, check_build, compiled
from tflm_oracle import Micro, check_exact, compare, needs_tflm, plain_integers

from edgec.base.dtypes import Array
from edgec.base.options import CompileOptions
from edgec.importers.tflite.load import load_file
from edgec.interp import run_graph
from edgec.ir import Graph
from edgec.workflow.integer import integer_model

NETWORKS = (
    "mlperf_resnet8_cifar10",
    "mlperf_dscnn_kws",
    "mlperf_mobilenetv1_025_vww96",
    "mlperf_autoencoder_toycar",
)
WITHOUT_THE_LARGEST = [
    pytest.param(name, marks=pytest.mark.slow) if "vww" in name else name for name in NETWORKS
]
"""The same, the one that takes most of the time in the slow set."""
CORES = {
    "nucleo_g0b1re": "Cortex-M0+",
    "nucleo_f207zg": "Cortex-M3",
    "nucleo_l4r5zi": "Cortex-M4",
    "nucleo_h7a3zi_q": "Cortex-M7",
    "nucleo_u575zi_q": "Cortex-M33",
}
COUNT = 200
"""Samples that numpy and the C of this computer are compared on."""
EMULATED = 4
"""Samples for emulated cores."""
_RECORDED = {"mlperf_dscnn_kws": "kws01_eval_500.npz"}

pytestmark = [pytest.mark.data, needs_tflm]


def model_file(name: str) -> Path:
    folder = data_folder()
    assert folder is not None
    path = folder / "models" / f"{name}_int8.tflite"
    if not path.exists():
        pytest.skip(f"no {path.name} (docs/data.md)")
    return path


def samples_for(name: str, count: int) -> list[Array]:
    """Inputs as codes: recordings where there are some, smooth fields, and noise."""
    path, rng = model_file(name), np.random.default_rng(19)
    model = load_file(path)
    shape = model.tensors[model.inputs[0]].shape
    found = [rng.integers(-128, 128, shape) for _ in range(count // 4)]
    recorded = path.parent.parent / "data" / _RECORDED.get(name, "")
    if recorded.is_file():
        found += list(np.load(recorded)["x"][: count // 2].reshape(-1, *shape))
    while len(found) < count:
        walk = np.cumsum(rng.normal(size=shape), axis=int(np.argmax(shape)))
        spread = rng.uniform(30, 250) / max(float(np.ptp(walk)), 1e-6)
        found.append(np.clip((walk - walk.mean()) * spread + rng.normal(0, 20), -128, 127))
    return [np.asarray(codes).astype(np.int8) for codes in found]


def with_oracle(graph: Graph, inputs: list[Array]) -> list[Sample]:
    """Inputs in the graph's shape, with every tensor that numpy makes of them."""
    name = graph.inputs[0]
    axes = graph.input_layouts.get(name)
    shaped = [x.transpose(axes) if axes else x for x in inputs]
    codes = [np.ascontiguousarray(x).reshape(graph.shape(name)) for x in shaped]
    return [Sample([x], run_graph(graph, {name: x})) for x in codes]


def ready(name: str) -> Graph:
    return integer_model(model_file(name), None, CompileOptions()).integer


@pytest.mark.few_cases(1)
@pytest.mark.parametrize("name", WITHOUT_THE_LARGEST)
def test_every_tensor_of_200_samples_is_that_of_the_runtime(name: str):
    """The graph as converted holds every tensor of the file; the optimised one fewer channels."""
    path, codes = model_file(name), samples_for(name, COUNT)
    micro = Micro(path)
    samples = [{micro.model.tensors[micro.model.inputs[0]].name: x} for x in codes]
    whole = compare(path, plain_integers(path), samples, micro)
    assert not whole.missing and not whole.different, str(whole)
    optimised = compare(path, ready(name), samples, micro)
    assert not optimised.different, str(optimised)


@pytest.mark.few_cases(1)
@pytest.mark.parametrize("name", WITHOUT_THE_LARGEST)
def test_the_c_of_this_computer_makes_the_same_tensors(name: str, tmp_path: Path):
    graph = ready(name)
    program = compiled(graph, tmp_path / "library")
    samples = with_oracle(graph, samples_for(name, COUNT))
    check_build(Build("gcc", ("-O2",)), tmp_path / "library", program, samples, tmp_path)


@pytest.mark.slow
@pytest.mark.parametrize("board", CORES)
@pytest.mark.parametrize("name", NETWORKS)
def test_emulated_cores_make_the_same_tensors(name: str, board: str, tmp_path: Path):
    need_emulator(board)
    graph = ready(name)
    program = compiled(graph, tmp_path / "library", board=board)
    samples = with_oracle(graph, samples_for(name, EMULATED))
    check_emulated(board, tmp_path / "library", program, samples, tmp_path / "project")


@pytest.mark.slow
@pytest.mark.parametrize("name", NETWORKS)
def test_neon_makes_the_same_tensors(name: str, tmp_path: Path):
    graph = ready(name)
    samples = with_oracle(graph, samples_for(name, EMULATED))
    check_cross(MACHINES["a53"], graph, samples, tmp_path)


def test_a_wake_word_hears_what_tensorflow_lite_micro_hears():
    """A stream of features of sound; the variables of the file are kept from run to run."""
    path, rng = model_file("microwakeword_okay_nabu"), np.random.default_rng(5)
    walk = np.cumsum(rng.normal(size=(150, 40)), axis=0) * 20 - 40
    frames = np.clip(walk, -128, 127).astype(np.int8).reshape(-1, 1, 3, 40)
    found = check_exact(path, [{"input_audio": frame} for frame in frames])
    assert found.elements > 300_000

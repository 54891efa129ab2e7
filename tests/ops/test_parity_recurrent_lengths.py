"""Recurrent networks with a number of steps that each run chooses: float file, oracle, C."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import onnxruntime
import pytest
from emulated import check_emulated_lengths, need_emulator
from parity import compiled
from recurrent_lengths import BATCH_FIRST, LENGTHS, MODELS, MOST, calibration, for_all_lengths
from variable_nets import samples

from edgec.interp import run_graph
from edgec.ir import Graph
from edgec.ir.specialize import specialized
from edgec.ir.verify import Stage, verify
from edgec.sim.compare import compare_outputs, compare_trace
from edgec.sim.host import HostModel
from edgec.toolchain.cc import WARNING_FLAGS

_LEAST_DB = 22.0


@pytest.fixture(scope="module")
def graphs(tmp_path_factory: pytest.TempPathFactory) -> dict[str, tuple[Path, Graph]]:
    folder = tmp_path_factory.mktemp("recurrent")
    made = {name: for_all_lengths(name, folder) for name in MODELS}
    return {name: (path, model.integer) for name, (path, model) in made.items()}


@pytest.mark.parametrize("name", MODELS)
def test_each_length_is_the_float_network_on_as_many_steps(graphs, name: str) -> None:
    path, graph = graphs[name]
    session = onnxruntime.InferenceSession(path)
    fresh = calibration(name, 12, seed=9)
    for length in LENGTHS:
        one = specialized(graph, length)
        verify(one, Stage.INTEGER, "specialized")
        signal, noise = np.zeros(len(one.outputs)), np.zeros(len(one.outputs))
        for sequence in fresh:
            given = sequence[None, :length] if name in BATCH_FIRST else sequence[:length]
            features = graph.input_features.get("x")
            steps = given if features is None else features.in_steps(given)
            codes = one.quant("x").quantize(steps).reshape(one.shape("x"))
            tensors = run_graph(one, {"x": codes})
            wanted = session.run(None, {"x": given})
            for index, (output, real) in enumerate(zip(one.outputs, wanted, strict=True)):
                found = one.quant(output).dequantize(tensors[output]).reshape(real.shape)
                signal[index] += float((real.astype(np.float64) ** 2).sum())
                noise[index] += float(((found - real) ** 2).sum())
        assert np.all(10 * np.log10(signal / noise) > _LEAST_DB), (length, signal / noise)


@pytest.mark.parametrize("board", ["host", "nucleo_l4r5zi"])
@pytest.mark.parametrize("name", MODELS)
def test_every_length_on_the_host(graphs, name: str, board: str, tmp_path: Path) -> None:
    _, graph = graphs[name]
    program = compiled(graph, tmp_path / "library", board=board)
    model = HostModel(tmp_path / "library", tmp_path / "build", flags=("-O0", *WARNING_FLAGS))
    for length in LENGTHS:
        model.set_length(length)
        shorter = program.at(length)
        for inputs, oracle in samples(graph, length):
            compare_trace(shorter, oracle, model.trace(inputs), f"length {length}")
            outputs = model.run([array.reshape(1, -1) for array in inputs])
            compare_outputs(shorter, oracle, [array[0] for array in outputs], f"length {length}")


@pytest.mark.parametrize(
    ("name", "core"),
    [
        ("lstm_both", "nucleo_g0b1re"),
        ("last", "nucleo_l4r5zi"),
        pytest.param("steps", "nucleo_h7a3zi_q", marks=pytest.mark.slow),
        pytest.param("mean", "nucleo_u575zi_q", marks=pytest.mark.slow),
    ],
)
def test_every_length_on_emulated_cores(graphs, name: str, core: str, tmp_path: Path) -> None:
    need_emulator(core)
    _, graph = graphs[name]
    program = compiled(graph, tmp_path / "library", board=core)
    runs = {length: samples(graph, length, 1) for length in LENGTHS}
    check_emulated_lengths(core, tmp_path / "library", program, runs, tmp_path / "project")


def test_loops_have_as_many_turns_as_steps(graphs) -> None:
    _, graph = graphs["lstm_both"]
    names = {node.attrs.border.loop.name for node in graph.nodes if node.attrs.border}
    assert graph.length.loops == names and len(names) == 2
    for length in LENGTHS:
        counts = {loop.count for loop in specialized(graph, length).scopes.nodes.values() if loop}
        assert counts == {length}
    assert graph.length.maximum == MOST

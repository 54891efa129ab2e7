"""Loops and state: the oracle = C on this computer = firmware, every tensor of every turn."""

from functools import partial

import numpy as np
import pytest
from emulated import emulated_models, need_emulator
from loop_nets import LOOPS, STREAMS, moving_average, stream_of, two_states
from parity import compiled
from quantized_loops import RECURRENT, recurrent_graph
from random_loops import random_loops

from edgec.sim.compare import compare_crcs, compare_outputs, compare_trace, value_of
from edgec.sim.host import HostModel
from edgec.toolchain.cc import WARNING_FLAGS

ALL = {**LOOPS, **STREAMS, **{name: partial(recurrent_graph, name) for name in RECURRENT}}
BOARDS = {
    "nucleo_g0b1re": "Cortex-M0+",
    "mps2_an385": "Cortex-M3",
    "nucleo_l4r5zi": "Cortex-M4",
    "nucleo_f767zi": "Cortex-M7",
    "nucleo_u575zi_q": "Cortex-M33",
    "raspberry_pi_zero_2": "Cortex-A53",
}
FLAGS = ("-O1", *WARNING_FLAGS, "-fsanitize=undefined", "-fno-sanitize-recover=all")


@pytest.mark.parametrize("apart", [False, True], ids=["planned", "apart"])
@pytest.mark.parametrize("name", ALL)
def test_every_tensor_of_every_turn_equals_the_oracle(name, apart, tmp_path):
    graph = ALL[name]()
    program = compiled(graph, tmp_path / "library", one_buffer_per_tensor=apart)
    model = HostModel(tmp_path / "library", tmp_path / "build", flags=FLAGS)
    stream = model.stream()
    samples = stream_of(graph, 6)
    for inputs, oracle in samples:
        compare_trace(program, oracle, stream.trace(inputs))
    batch = [np.stack(each) for each in zip(*(inputs for inputs, _ in samples), strict=True)]
    outputs = model.run(batch)
    for index, (_, oracle) in enumerate(samples):
        compare_outputs(program, oracle, [each[index] for each in outputs], "host")


def check_random(seed, folder):
    graph = random_loops(seed)
    if graph is None:
        return
    program = compiled(graph, folder / "library")
    model = HostModel(folder / "library", folder / "build", flags=("-O0", *WARNING_FLAGS))
    stream = model.stream()
    for inputs, oracle in stream_of(graph, 3):
        compare_trace(program, oracle, stream.trace(inputs))
        compare_outputs(program, oracle, stream.outputs, f"seed {seed}")


@pytest.mark.parametrize("seed", range(12))
def test_random_loops(seed, tmp_path):
    check_random(seed, tmp_path)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(12, 200))
def test_more_random_loops(seed, tmp_path):
    check_random(seed, tmp_path)


@pytest.mark.parametrize("board", BOARDS)
def test_firmware_computes_every_turn_and_every_step_of_a_stream(board, tmp_path):
    """All models in one firmware: they use one arena, and the memory of states, in turn."""
    need_emulator(board)
    graphs = {name: make().replace(name=name) for name, make in ALL.items()}
    programs = {
        name: compiled(graph, tmp_path / name, board=board) for name, graph in graphs.items()
    }
    models = [(tmp_path / name, program) for name, program in programs.items()]
    with emulated_models(board, models, tmp_path / "project") as firmware:
        for index, (name, program) in enumerate(programs.items()):
            firmware.client.select(index)
            assert firmware.info().state_bytes == program.state_bytes
            samples = stream_of(graphs[name], 3 if program.state_bytes else 1)
            for inputs, oracle in samples:
                run = firmware.run(inputs, trace=True)
                where = f"{board}, {name}"
                compare_crcs(program, oracle, run.steps, where)
                compare_outputs(program, oracle, run.outputs, where)
            check_dump(firmware.client, program, *samples[-1])
            firmware.client.reset()
            run = firmware.run(samples[0][0])
            compare_outputs(program, samples[0][1], run.outputs, f"{board}, {name} after a reset")


def check_dump(client, program, inputs, oracle):
    """The bytes of all calls of each step; of a stream, at its last step again."""
    for step in range(len(program.steps)):
        calls = (call for call in program.calls() if call.step == step)
        wanted = b"".join(value_of(program, oracle, call).tobytes() for call in calls)
        assert client.dump(inputs, step) == wanted


@pytest.mark.parametrize("make", [moving_average, two_states])
def test_two_streams_of_10_000_steps_side_by_side(make, tmp_path):
    graph = make()
    program = compiled(graph, tmp_path / "library")
    model = HostModel(tmp_path / "library", tmp_path / "build")
    streams = [(model.stream(), stream_of(graph, 10_000, seed)) for seed in (1, 2)]
    for first in range(0, 10_000, 250):
        for stream, samples in streams:
            part = samples[first : first + 250]
            batch = [np.stack(each) for each in zip(*(i for i, _ in part), strict=True)]
            outputs = stream.run(batch)
            for index, (_, oracle) in enumerate(part):
                compare_outputs(program, oracle, [each[index] for each in outputs], "host")

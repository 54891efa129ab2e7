"""Models with a state over the serial protocol, on clean and disturbed lines."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from loop_nets import moving_average, stream_of, two_states
from parity import compiled
from test_protocol_client import DisturbedLine

from edgec.base.calls import Call
from edgec.codegen.cnames import library_names
from edgec.codegen.project import FirmwareModel, emit_project
from edgec.sim.protocol import FirmwareClient
from edgec.target.board import load_board
from edgec.toolchain.live_process import StreamingProcess, open_stream
from edgec.toolchain.platformio import build
from edgec.workflow.session import run_samples
from edgec.workflow.traced import _Firmware

GRAPHS = {"sums": two_states(), "means": moving_average()}
STEPS = {name: stream_of(graph, 6) for name, graph in GRAPHS.items()}


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A program for this computer that serves both models."""
    folder = tmp_path_factory.mktemp("streams")
    models = []
    for name, graph in GRAPHS.items():
        made = compiled(graph.replace(name=name), folder / name)
        names = library_names(name)
        models.append(
            FirmwareModel(
                *(folder / name, names.name, names.header, names.symbol, made.arena_bytes, 1),
                state_bytes=made.state_bytes,
            )
        )
    emit_project(models, load_board("host"), folder / "project")
    return build(folder / "project", load_board("host")).elf


@pytest.fixture
def stream(program: Path) -> Iterator[StreamingProcess]:
    with open_stream([program]) as running:
        yield running


def check_steps(client: FirmwareClient, name: str) -> None:
    """The next steps of a stream, from its begin."""
    for inputs, oracle in STEPS[name]:
        for found, output in zip(client.run(inputs).outputs, GRAPHS[name].outputs, strict=True):
            assert np.array_equal(found, oracle[output].reshape(-1))


def test_a_stream_begins_with_the_model_and_with_a_reset(stream):
    client = FirmwareClient(stream)
    for index, name in enumerate(GRAPHS):
        client.select(index)
        for _ in range(2):
            check_steps(client, name)
            client.reset()


def test_the_firmware_says_how_large_the_state_is(stream):
    assert FirmwareClient(stream).info().state_bytes == 16


def test_samples_of_a_session_are_one_stream(stream):
    client = FirmwareClient(stream)
    inputs = np.stack([inputs[0] for inputs, _ in STEPS["sums"]])
    for _ in range(2):
        found = run_samples(client, [inputs], None, None, None)
        for output, arrays in zip(GRAPHS["sums"].outputs, found, strict=True):
            wanted = [oracle[output].reshape(-1) for _, oracle in STEPS["sums"]]
            assert np.array_equal(arrays, np.stack(wanted))


def test_a_dump_repeats_the_last_step_and_no_other(stream):
    tracer = _Firmware(FirmwareClient(stream), counts=False)
    for inputs, oracle in STEPS["sums"]:
        tracer.trace(inputs)
        for _ in range(2):
            data = tracer.dump(inputs, Call(0))
            assert data == oracle["qlut"].tobytes()


@pytest.mark.parametrize("seed", range(4))
def test_a_disturbed_line_takes_no_step_twice(stream, seed):
    line = DisturbedLine(stream, seed, flip=0.0006, drop=0.0001)
    client = FirmwareClient(line, reply_timeout_s=0.1, run_timeout_s=2.0)
    for _ in range(3):
        check_steps(client, "sums")
        client.reset()
    assert line.damaged > 0

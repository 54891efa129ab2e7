"""The protocol's `length`: runs of a model that takes several."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from toy_firmware import build_toy_firmware

from edgec.base.errors import SimulationError
from edgec.sim.link import RequestError
from edgec.sim.protocol import FirmwareClient
from edgec.target.board import load_board
from edgec.toolchain.live_process import open_stream

_SANITIZERS = ("-fsanitize=address,undefined", "-fno-sanitize-recover=all")
X = np.arange(1, 11, dtype=np.int8)


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("toy_length")
    return build_toy_firmware(folder, load_board("host"), ("toy_length", "toy"), _SANITIZERS)


@pytest.fixture
def client(program: Path) -> Iterator[FirmwareClient]:
    with open_stream([program]) as stream:
        yield FirmwareClient(stream)


def sizes(client: FirmwareClient) -> list[int]:
    info = client.info()
    return [tensor.size_bytes for tensor in (*info.inputs, *info.outputs)]


def test_the_longest_run_is_the_first(client: FirmwareClient) -> None:
    assert client.info().max_length == 5
    assert sizes(client) == [10, 10, 1]
    outputs = client.run([X]).outputs
    assert outputs[0].tolist() == X[::-1].tolist()
    assert outputs[1].tolist() == [5]


def test_runs_of_several_lengths(client: FirmwareClient) -> None:
    for length in (1, 3, 5, 2):
        client.set_length(length)
        assert sizes(client) == [2 * length, 2 * length, 1]
        run = client.trace([X[: 2 * length]])
        assert run.outputs[0].tolist() == X[: 2 * length][::-1].tolist()
        assert run.outputs[1].tolist() == [length]
        assert [step.size_bytes for step in run.steps] == [2 * length]


def test_inputs_must_have_the_length(client: FirmwareClient) -> None:
    client.set_length(3)
    with pytest.raises(SimulationError, match="expected int8 of 6 bytes"):
        client.run([X])


def test_a_new_length_forgets_inputs_and_outputs(program: Path) -> None:
    with open_stream([program]) as stream:
        link = FirmwareClient(stream)._link
        link.request(f"write 0 0 {X.tobytes().hex()}")
        link.request("run")
        link.request("length 2")
        for request, why in (("read 0", "run first"), ("run", "write all inputs")):
            with pytest.raises(RequestError, match=why):
                link.request(request)
        with pytest.raises(RequestError, match="beyond the input"):
            link.request("write 0 0 0102030405")


def test_lengths_that_no_run_has(client: FirmwareClient) -> None:
    for wrong in (0, 6, 2**32 - 1):
        with pytest.raises(RequestError, match="no such length"):
            client.set_length(wrong)
    assert sizes(client) == [10, 10, 1]


def test_another_model_starts_with_its_longest_run(client: FirmwareClient) -> None:
    client.set_length(2)
    client.select(1)
    assert client.info().max_length == 0
    with pytest.raises(RequestError, match="no such length"):
        client.set_length(1)
    client.select(0)
    assert sizes(client) == [10, 10, 1]

"""TensorFlow Lite Micro's features of sound: the bits of its library, and the same bits in C."""

import hashlib
from pathlib import Path

import numpy as np
import pytest
from emulated import emulated, need_emulator
from parity import compiled

from edgec.base.errors import ConfigError
from edgec.base.options.front_end import FrontEndOptions
from edgec.frontends.nodes import FrontEnd
from edgec.frontends.parameters import parameters_of
from edgec.interp import run_graph, state_after
from edgec.sim.compare import compare_crcs, compare_outputs, compare_trace
from edgec.sim.host import HostModel

WANTED = "c922b1d94d942967db728c3f241fb31e0a9b8c2956637a01a7aba872ef521be7"


def front_end(text: str = "micro") -> FrontEnd:
    return FrontEnd(text, parameters_of(FrontEndOptions.parse(text)))


def sound() -> np.ndarray:
    """Noise, whispers, silence, clipped squares and a glide, of whole numbers: int16 [16000]."""
    random = np.random.default_rng(5)
    n = np.arange(4000)
    parts = [
        random.integers(-32768, 32768, 3000),
        random.integers(-2, 3, 2000),
        np.zeros(1000),
        np.where(n // 29 % 2, 32767, -32768),
        (n * (n // 8) % 8192 - 4096) * (n // 500 % 3),
        random.integers(-500, 500, 2000),
    ]
    return np.concatenate(parts).astype(np.int16)


@pytest.mark.parametrize("text", ["micro", "micro:hop=320"])
def test_c_gives_the_same_bits_with_its_noise_as_state(text: str, tmp_path: Path):
    front = front_end(text)
    graph = front.graph(2)
    program = compiled(graph, tmp_path / "library")
    assert program.state_bytes
    stream = HostModel(tmp_path / "library", tmp_path / "build").stream()
    state: dict[str, np.ndarray] = {}
    for piece in pieces(front):
        oracle = run_graph(graph, {"samples": piece}, state)
        state = state_after(graph, oracle)
        compare_trace(program, oracle, stream.trace([piece]))


def pieces(front: FrontEnd) -> list[np.ndarray]:
    """Parts of the sound, each two frames long: int16 [1, L]."""
    size = front.samples(2)
    return [sound()[None, at : at + size] for at in range(0, 16_000 - size, 2 * front.hop)]


def test_firmware_gives_the_same_bits(tmp_path: Path):
    need_emulator("nucleo")
    front = front_end()
    graph = front.graph(2)
    program = compiled(graph, tmp_path / "library", board="nucleo")
    state: dict[str, np.ndarray] = {}
    with emulated("nucleo", tmp_path / "library", program, tmp_path / "project") as firmware:
        for piece in pieces(front)[::6]:
            oracle = run_graph(graph, {"samples": piece}, state)
            state = state_after(graph, oracle)
            run = firmware.run([piece], trace=True)
            compare_crcs(program, oracle, run.steps, "nucleo")
            compare_outputs(program, oracle, run.outputs, "nucleo")


def test_bits_are_those_of_the_library():
    """Of pymicro-features 2.0.2 with GNU's C library 2.36, recorded once."""
    found = np.rint(front_end().features_of(sound()[None]) / 0.0390625).astype("<i2")
    assert found.shape == (1, 98, 40)
    assert hashlib.sha256(found.tobytes()).hexdigest() == WANTED


def test_frames_that_are_left_out_do_not_teach_the_noise():
    front = front_end()
    graph = front.graph(4)
    samples = np.concatenate([np.full(320, 9, np.int16), sound()[: front.samples(2)]])
    (carry,) = graph.state
    late = run_graph(graph, {"samples": samples[None]}, {carry: np.full((1, 40), -2, np.int32)})
    early = run_graph(front.graph(2), {"samples": samples[None, 320:]})
    (output,) = graph.outputs
    assert not late[output][:, :2].any()
    assert np.array_equal(late[output][:, 2:], early[front.graph(2).outputs[0]])


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("micro:hop=200", "hop cannot be 200"),
        ("micro:filters=129", "filters cannot be 129"),
        ("micro:to-hz=8000", "with to-hz 8000"),
        ("micro:window=400", "has no parameter 'window'"),
    ],
)
def test_parameters_that_cannot_be(text: str, words: str):
    with pytest.raises(ConfigError, match=words):
        parameters_of(FrontEndOptions.parse(text))


def test_a_filter_without_a_bin():
    with pytest.raises(ConfigError, match="has no bin"):
        front_end("micro:filters=128").graph(1)

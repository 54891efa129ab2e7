"""Sound through a build with a front end: scores over time of recordings, and live."""

from __future__ import annotations

import io
import json
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np
import pytest
from bad_input_support import CALIBRATION, MLP, check_one_message, edgec
from emulated import need_emulator
from serial_lines import disturbed, machine_on_socket, noise
from test_front_end import CLIPS, SWW, built, write_wav

from edgec.base.options import StreamOptions
from edgec.cli.app import run_app
from edgec.commands.new import new_project
from edgec.interp import run_stream
from edgec.report.heard import Scale, detections, picture
from edgec.sim.protocol import FirmwareClient
from edgec.workflow.listening import listening, overhearing

Capsys = pytest.CaptureFixture[str]
WATCH = ("watch", "--on", "host")
SOUND = CLIPS[:3].reshape(-1)[:30_000]


@pytest.fixture(scope="module")
def ear(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Firmware for a Nucleo, a recording, and the scores that the reference gives for it."""
    folder = tmp_path_factory.mktemp("ear")
    result = built(folder, SWW, "nucleo_f446re", stream=StreamOptions({"": 2}), verify=False)
    write_wav(folder / "clip.wav", SOUND)
    graph, front = result.model.integer, result.report.front_end
    runs = SOUND[: len(SOUND) // front.frames * front.frames].reshape(-1, 1, front.frames)
    steps = list(run_stream(graph, [{graph.inputs[0]: run} for run in runs]))
    (output,) = result.report.outputs
    codes = np.concatenate([step[graph.outputs[0]] for step in steps])[front.warm_up :]
    np.savez(folder / "wanted.npz", y=output.quant.dequantize(codes), first=front.warm_up + 1)
    return folder


def lines_of(out: str) -> list[dict[str, object]]:
    """Results, without the summary after what was watched."""
    found = [json.loads(line) for line in out.splitlines()]
    return [line for line in found if "summary" not in line]


def check_lines(out: str, ear: Path) -> None:
    """The scores of every run are there, each at its time."""
    with np.load(ear / "wanted.npz") as wanted:
        scores, first = wanted["y"], int(wanted["first"])
    found = lines_of(out)
    assert np.array_equal([next(iter(line["outputs"].values())) for line in found], scores)
    times = [line["time"] for line in found]
    assert np.allclose(times, (first + np.arange(len(scores))) * 0.032, atol=1e-4)


@pytest.mark.parametrize("on", ["host", "emulator"])
def test_a_recording_gives_every_result(ear: Path, capsys: Capsys, on: str) -> None:
    if on == "emulator":
        need_emulator("nucleo_f446re")
    words = ("run", ear / "out", "--input", ear / "clip.wav", "--on", on)
    done = edgec(capsys, *words, "--json")
    assert done.code == 0, done.err
    check_lines(done.out, ear)


def test_the_picture_of_a_recording(ear: Path, capsys: Capsys, tmp_path: Path) -> None:
    words = ("run", ear / "out", "--input", ear / "clip.wav", "--threshold", "0")
    done = edgec(capsys, *words, "--output", tmp_path / "scores.npz")
    assert done.code == 0, done.err
    lines = done.out.splitlines()
    assert len(lines) <= 24
    assert max(map(len, lines)) <= 80
    assert "results, one every 32 ms, on host" in lines[0]
    with np.load(tmp_path / "scores.npz") as found, np.load(ear / "wanted.npz") as wanted:
        (name,) = found.files
        assert np.array_equal(found[name], wanted["y"])


def test_live_from_a_file_and_from_a_pipe(
    ear: Path, capsys: Capsys, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("time.sleep", lambda seconds: None)
    done = edgec(capsys, *WATCH, ear / "out", "--input", ear / "clip.wav", "--json")
    assert done.code == 0, done.err
    check_lines(done.out, ear)

    class Pipe(io.StringIO):
        buffer = io.BytesIO(SOUND.astype("<i2").tobytes())

    Pipe.buffer.isatty = lambda: False  # type: ignore[method-assign]
    monkeypatch.setattr(sys, "stdin", Pipe())
    done = edgec(capsys, *WATCH, ear / "out", "--input", "-")
    assert done.code == 0, done.err
    lines = done.out.splitlines()
    # A line in each quarter of a second, from the first result on, and the summary.
    assert sum("│" in line for line in lines) == 7
    assert max(map(len, lines[:7])) <= 80
    with np.load(ear / "wanted.npz") as wanted:
        assert f"{len(wanted['y'])} results, on host" in lines
    assert " mW at 31.25 a second" in done.out


def test_watching_ends_after_some_results(ear: Path, capsys: Capsys) -> None:
    words = ("--input", ear / "clip.wav", "--limit", "5", "--json")
    done = edgec(capsys, *WATCH, ear / "out", *words)
    assert done.code == 0, done.err
    assert len(lines_of(done.out)) == 5
    assert json.loads(done.out.splitlines()[-1])["summary"]["results"] == 5


@pytest.fixture(scope="module")
def line(ear: Path) -> Iterator[str]:
    with machine_on_socket(ear / "out" / "firmware.elf") as machine:
        yield machine.url


def test_live_on_a_board_over_a_bad_line(
    ear: Path, line: str, capsys: Capsys, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Damaged bytes change no score, and only the sound that still plays a part is sent again."""
    sent: list[int] = []
    run = FirmwareClient.run

    def counted(client: FirmwareClient, inputs: Sequence[np.ndarray]) -> object:
        found = run(client, inputs)
        sent.append(len(client._stream))
        return found

    monkeypatch.setattr("time.sleep", lambda seconds: None)
    monkeypatch.setattr(FirmwareClient, "run", counted)
    monkeypatch.setattr("edgec.sim.device._REPLY_TIMEOUT_S", 0.5)
    with disturbed(line, noise(3, 0.0003)) as port:
        words = ("--on", "device", "--port", port, "--json")
        done = edgec(capsys, "watch", ear / "out", "--input", ear / "clip.wav", *words)
    assert done.code == 0, done.err
    check_lines(done.out, ear)
    with listening(ear / "out", "host") as listener:
        assert max(sent) == listener.front_end.runs < len(sent)


@pytest.fixture(scope="module")
def wake(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The example, with sound that its main program makes in the place of a microphone's."""
    folder = tmp_path_factory.mktemp("wake") / "p"
    new_project(folder, "nucleo", "wakeword")
    path = folder / "src" / "main.c"
    text = path.read_text()
    old = "    (void)samples;\n    (void)most;\n    return 0;\n"
    assert old in text
    path.write_text(text.replace(old, RAMP))
    words = ["compile", "--project", str(folder), "--no-verify", "--effort", "fast"]
    assert run_app(words) == 0
    return folder / "build" / "wakeword-nucleo_f446re"


RAMP = """    static uint32_t heard;
    static uint32_t calls;
    if (++calls % 256U != 0U) {
        return 0;
    }
    for (uint32_t at = 0; at < most; at++) {
        heard++;
        samples[at] = (int16_t)((heard * heard * 7U) & 0x3fffU);
    }
    return most;
"""


def test_the_results_of_a_board_that_hears_by_itself(wake: Path, capsys: Capsys) -> None:
    """They are those of the same samples on the host; requests go on working meanwhile."""
    words = ("--on", "device", "--json", "--port")
    with machine_on_socket(wake / "firmware.elf") as machine:
        with overhearing(wake, machine.url) as results:
            found = [next(results) for _ in range(20)]
        write_wav(wake / "clip.wav", SOUND)
        by_itself = edgec(capsys, "watch", wake, *words, machine.url, "--limit", 3)
        assert len(lines_of(by_itself.out)) == 3, by_itself.err
        played = edgec(capsys, "watch", wake, *words, machine.url, "--input", wake / "clip.wav")
        assert played.code == 0, played.err
    with listening(wake, "host") as listener:
        runs = listener.front_end.runs
        last = round(float(found[-1].times[0]) / 0.032)
        first = last - len(found) + 1 - runs
        # Only the sound of some runs plays a part.
        number = np.arange(512 * first + 1, 512 * last + 1).astype(np.uint32)
        sound = (number * number * np.uint32(7)) & np.uint32(0x3FFF)
        wanted = listener.hear(sound.astype(np.int16))
    assert np.array_equal(
        np.concatenate([each.scores for each in found]), wanted.scores[-len(found) :]
    )
    on_host = edgec(capsys, "run", wake, "--input", wake / "clip.wav", "--json")
    known = lines_of(on_host.out)
    # What the board takes is estimated beside.
    assert all(line["milliseconds"] > 0 < line["microjoules"] for line in lines_of(played.out))
    assert [{key: line[key] for key in known[0]} for line in lines_of(played.out)] == known


def test_a_board_that_says_nothing_by_itself(
    ear: Path, line: str, capsys: Capsys, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("edgec.workflow.listening._QUIET_S", 0.2)
    done = edgec(capsys, "watch", ear / "out", "--on", "device", "--port", line)
    check_one_message(done, "gives no results by itself", "read_microphone", code=10)
    done = edgec(capsys, *WATCH, ear / "out")
    check_one_message(done, "on host there is no microphone", "--input clip.wav", code=2)


def test_sound_in_parts_of_any_size(ear: Path) -> None:
    with np.load(ear / "wanted.npz") as wanted:
        scores = wanted["y"]
    for size in (100, 1000, 7000):
        with listening(ear / "out", "host") as listener:
            parts = [listener.hear(SOUND[at : at + size]) for at in range(0, len(SOUND), size)]
        found = np.concatenate([part.scores for part in parts if len(part.times)])
        assert np.array_equal(found, scores.reshape(len(scores), -1))


def test_a_recording_that_is_too_short_ends_in_silence(ear: Path, capsys: Capsys, tmp_path) -> None:
    write_wav(tmp_path / "short.wav", SOUND[:1000])
    done = edgec(capsys, "run", ear / "out", "--input", tmp_path / "short.wav", "--json")
    assert done.code == 0, done.err
    assert len(lines_of(done.out)) == 1


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("--input", "-"), "samples from a pipe are heard live"),
        (("--input", "clip.wav", "--normalize", "scale=1"), "a front end takes samples"),
    ],
)
def test_options_that_mean_nothing_for_sound(
    words: tuple[str, ...],
    message: str,
    ear: Path,
    capsys: Capsys,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(ear)
    check_one_message(edgec(capsys, "run", "out", *words), message)


def test_builds_without_a_front_end(capsys: Capsys, tmp_path: Path) -> None:
    out = tmp_path / "mlp"
    words = ("--board", "host", "--calibration", CALIBRATION, "--out", out, "--no-build")
    assert edgec(capsys, "compile", MLP, *words, "--effort", "fast").code == 0
    write_wav(tmp_path / "clip.wav", SOUND)
    done = edgec(capsys, *WATCH, out, "--input", "-")
    check_one_message(done, "takes no sound", "--front-end")
    done = edgec(capsys, "run", out, "--input", CALIBRATION, "--threshold", "0.5")
    check_one_message(done, "--threshold")


def test_a_detection_goes_on_while_the_score_is_soon_high_again() -> None:
    times = np.arange(1, 9) / 5
    scores = np.array([[0.1, 0.6, 0.9, 0.2, 0.5, 0.4, 0.0, 0.7]]).T
    found = detections(times, scores, ("word",), 0.5)
    assert [(each.start_s, each.end_s, each.best) for each in found] == [
        (0.4, 1.0, 0.9),
        (1.6, 1.6, 0.7),
    ]
    assert detections(times, scores, ("word",), 1.0) == []


@pytest.mark.parametrize("channels", [1, 2, 3, 12, 300])
@pytest.mark.parametrize("count", [1, 5, 64, 1000])
def test_a_picture_fits_a_screen(channels: int, count: int) -> None:
    random = np.random.default_rng(channels)
    names = tuple(f"a class with a long name {number}" for number in range(channels))
    scores = random.random((count, channels))
    for scale in (Scale(names, 0.0, 1.0), Scale(names, None, None)):
        lines = picture(np.arange(1, count + 1) * 0.032, scores, scale)
        assert len(lines) <= 17
        assert max(map(len, lines)) <= 79

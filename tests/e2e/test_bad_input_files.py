"""Sample files, output folders, build folders and options that are wrong."""

import json
import zipfile
from pathlib import Path

import numpy as np
import pytest
from bad_input_support import (
    CALIBRATION,
    MLP,
    TEST_DATA,
    Done,
    check_one_message,
    constant,
    edgec,
    model_of,
    saved,
    snapshot,
)
from dynamic_onnx import ids, write_bert
from onnx import helper

Capsys = pytest.CaptureFixture[str]


def write(path: Path, **arrays: object) -> Path:
    np.savez(path, **{name: np.asarray(array) for name, array in arrays.items()})
    return path


# --- calibration files ---------------------------------------------------------------------------

GOOD = np.zeros((5, 1, 8, 8), np.float32)
BAD_CALIBRATION = {
    "other rank": {"x": GOOD.reshape(5, 64)},
    "other size": {"x": np.zeros((5, 1, 9, 9), np.float32)},
    "transposed": {"x": np.zeros((5, 8, 8, 1), np.float32)},
    "no batch": {"x": np.zeros((1, 8, 8), np.float32)},
    "scalar": {"x": np.float32(1)},
    "no samples": {"x": GOOD[:0]},
    "other name": {"images": GOOD},
    "nothing": {},
    "not a number": {"x": np.full_like(GOOD, np.nan)},
    "infinite": {"x": np.full_like(GOOD, np.inf)},
    "beyond float32": {"x": np.full(GOOD.shape, 1e300)},
    "text": {"x": np.full(GOOD.shape, "a")},
    "complex": {"x": GOOD.astype(complex)},
}


@pytest.mark.parametrize("arrays", BAD_CALIBRATION.values(), ids=BAD_CALIBRATION)
def test_bad_calibration(
    capsys: Capsys, tmp_path: Path, earlier: Path, arrays: dict[str, np.ndarray]
) -> None:
    samples = write(tmp_path / "samples.npz", **arrays)
    check_bad_calibration(capsys, samples, earlier)


def check_bad_calibration(capsys: Capsys, samples: Path, earlier: Path) -> None:
    before = snapshot(earlier)
    options = ("--board", "host", "--calibration", samples)
    done = edgec(capsys, "compile", MLP, *options, "--out", earlier, "--no-build")
    check_one_message(done, samples.name, code=2)
    done = edgec(capsys, "quantize", MLP, "--calibration", samples, "-o", earlier.parent / "q.onnx")
    check_one_message(done, samples.name, code=2)
    assert snapshot(earlier) == before


def test_calibration_that_is_no_npz(capsys: Capsys, tmp_path: Path, earlier: Path) -> None:
    data = CALIBRATION.read_bytes()
    for name, content in (
        ("empty.npz", b""),
        ("noise.npz", np.random.default_rng(0).bytes(1000)),
        ("cut.npz", data[: len(data) // 2]),
        ("model.npz", MLP.read_bytes()),
    ):
        (tmp_path / name).write_bytes(content)
        check_bad_calibration(capsys, tmp_path / name, earlier)
    check_bad_calibration(capsys, tmp_path / "absent.npz", earlier)
    check_bad_calibration(capsys, tmp_path, earlier)


@pytest.mark.parametrize("word", [-7, 1000])
def test_words_that_the_vocabulary_lacks(
    capsys: Capsys, tmp_path: Path, earlier: Path, word: int
) -> None:
    model = write_bert(tmp_path / "bert.onnx", tokens=8, features=False)
    words = ids(4, 8)
    words[0, 0] = word
    np.savez(tmp_path / "words.npz", ids=words)
    before = snapshot(earlier)
    options = ("--board", "host", "--no-build", "--calibration", tmp_path / "words.npz")
    done = edgec(capsys, "compile", model, *options, "--out", earlier)
    check_one_message(done, "words.npz: ids", str(word), "0 to 29", code=2)
    assert snapshot(earlier) == before


def test_words_that_the_compiled_vocabulary_lacks(capsys: Capsys, tmp_path: Path) -> None:
    model = write_bert(tmp_path / "bert.onnx", tokens=8, features=False)
    words = ids(4, 8)
    np.savez(tmp_path / "words.npz", ids=words)
    options = ("--board", "host", "--no-build", "--calibration", tmp_path / "words.npz")
    assert edgec(capsys, "compile", model, *options, "--out", tmp_path / "out").code == 0
    words[3, 2] = 30
    np.savez(tmp_path / "more.npz", ids=words, y=np.zeros(4, np.int64))
    for command in (("run", "--input"), ("evaluate", "--data"), ("validate", "--data")):
        done = edgec(capsys, command[0], tmp_path / "out", command[1], tmp_path / "more.npz")
        check_one_message(done, "more.npz: ids", "holds 30", "0 to 29", code=2)


def test_damaged_archive(capsys: Capsys, tmp_path: Path, earlier: Path) -> None:
    data = bytearray(CALIBRATION.read_bytes())
    for at in range(100, len(data), 97):
        data[at] ^= 0xFF
    (tmp_path / "damaged.npz").write_bytes(data)
    check_bad_calibration(capsys, tmp_path / "damaged.npz", earlier)


def test_pickles_are_not_opened(capsys: Capsys, tmp_path: Path, earlier: Path) -> None:
    evidence = tmp_path / "evidence"

    class Evil:
        def __reduce__(self) -> tuple[object, tuple[Path]]:
            return Path.touch, (evidence,)

    np.savez(tmp_path / "evil.npz", x=np.array([Evil()], dtype=object))
    check_bad_calibration(capsys, tmp_path / "evil.npz", earlier)
    assert not evidence.exists()


def test_array_that_claims_more_than_it_holds(
    capsys: Capsys, tmp_path: Path, earlier: Path
) -> None:
    header = str({"descr": "<f4", "fortran_order": False, "shape": (2**40, 1, 8, 8)})
    header = header.ljust(117) + "\n"
    npy = b"\x93NUMPY\x01\x00" + len(header).to_bytes(2, "little") + header.encode()
    with zipfile.ZipFile(tmp_path / "huge.npz", "w") as archive:
        archive.writestr("x.npy", npy + bytes(64))
    check_bad_calibration(capsys, tmp_path / "huge.npz", earlier)


# --- running and evaluating ----------------------------------------------------------------------


def test_missing_and_bad_labels(capsys: Capsys, tmp_path: Path, compiled_mlp: Path) -> None:
    x = np.zeros((3, 1, 8, 8), np.float32)
    for labels in (
        {},
        {"y": np.zeros(4, np.int64)},
        {"y": np.zeros((3, 1), np.int64)},
        {"y": np.zeros(3, np.float32)},
        {"y": np.array(["a", "b", "c"])},
        {"labels": np.zeros(3, np.int64)},
    ):
        data = write(tmp_path / "data.npz", x=x, **labels)
        done = edgec(capsys, "evaluate", compiled_mlp, "--data", data)
        check_one_message(done, "labels", code=2)


def test_labels_that_the_model_has_not(capsys: Capsys, tmp_path: Path, compiled_mlp: Path) -> None:
    x = np.zeros((2, 1, 8, 8), np.float32)
    for y in ([0, 10], [-1, 0]):
        data = write(tmp_path / "data.npz", x=x, y=np.array(y))
        check_one_message(edgec(capsys, "evaluate", compiled_mlp, "--data", data), "label", code=2)


def test_run_with_wrong_input(capsys: Capsys, tmp_path: Path, compiled_mlp: Path) -> None:
    data = write(tmp_path / "data.npz", x=np.zeros((3, 65), np.float32))
    output = write(tmp_path / "output.npz", kept=1)
    before = output.read_bytes()
    done = edgec(capsys, "run", compiled_mlp, "--input", data, "--output", output)
    check_one_message(done, "[3, 65]", code=2)
    assert output.read_bytes() == before


def test_target_that_does_not_exist(capsys: Capsys, compiled_mlp: Path) -> None:
    done = edgec(capsys, "run", compiled_mlp, "--input", TEST_DATA, "--on", "moon")
    check_one_message(done, "moon", "emulator", code=2)


def test_emulator_without_firmware(capsys: Capsys, compiled_mlp: Path) -> None:
    done = edgec(capsys, "run", compiled_mlp, "--input", TEST_DATA, "--on", "emulator")
    check_one_message(done)


@pytest.mark.parametrize("command", ["run --input", "evaluate --data", "flash"])
def test_folder_that_is_no_build(capsys: Capsys, tmp_path: Path, command: str) -> None:
    empty, garbage, other = (tmp_path / name for name in ("empty", "garbage", "other"))
    for folder in (empty, garbage, other):
        folder.mkdir()
    (garbage / "report.json").write_bytes(b"\xff\x00{")
    (other / "report.json").write_text(json.dumps({"a": [1]}))
    name, *option = command.split()
    for folder in (empty, garbage, other, tmp_path / "absent", MLP):
        data = [TEST_DATA] if option else []
        check_one_message(edgec(capsys, name, folder, *option, *data), code=2)


def test_edited_report(capsys: Capsys, earlier: Path) -> None:
    path = earlier / "report.json"
    report = json.loads(path.read_text())
    for key in report:
        for value in (None, "text", -1, [], {}):
            path.write_text(json.dumps({**report, key: value}))
            done = edgec(capsys, "run", earlier, "--input", TEST_DATA, "--on", "moon")
            check_one_message(done, code=2)


# --- output folders ------------------------------------------------------------------------------


def compile_to(capsys: Capsys, out: Path) -> Done:
    options = ("--board", "host", "--calibration", CALIBRATION, "--no-build", "--no-verify")
    return edgec(capsys, "compile", MLP, *options, "--out", out)


def test_output_folder_is_a_file(capsys: Capsys, tmp_path: Path) -> None:
    out = tmp_path / "out"
    out.write_text("precious")
    check_one_message(compile_to(capsys, out), "is a file", code=2)
    check_one_message(compile_to(capsys, out / "below"), code=2)
    assert out.read_text() == "precious"
    assert list(tmp_path.iterdir()) == [out]


def test_output_folder_of_somebody_else(capsys: Capsys, tmp_path: Path) -> None:
    (tmp_path / "thesis.txt").write_text("precious")
    check_one_message(compile_to(capsys, tmp_path), "not made by edgec", code=2)
    assert snapshot(tmp_path).keys() >= {f"{tmp_path.name}/thesis.txt"}
    assert [path.name for path in tmp_path.iterdir()] == ["thesis.txt"]


def test_edited_results_are_not_overwritten(capsys: Capsys, earlier: Path) -> None:
    (earlier / "report.txt").write_text("my notes")
    before = snapshot(earlier)
    check_one_message(compile_to(capsys, earlier), "report.txt", "--force", code=2)
    assert snapshot(earlier) == before


def test_quantized_model_into_a_folder(capsys: Capsys, tmp_path: Path) -> None:
    options = ("--calibration", CALIBRATION)
    check_one_message(edgec(capsys, "quantize", MLP, *options, "-o", tmp_path), code=2)
    absent = tmp_path / "absent" / "q.onnx"
    done = edgec(capsys, "quantize", MLP, *options, "-o", absent)
    assert done.code == 0 or done.code == 2


# --- options -------------------------------------------------------------------------------------


@pytest.mark.parametrize("board", ["nucleus", "", "../boards/host", "/etc/passwd", "n" * 5000])
def test_unknown_board(capsys: Capsys, earlier: Path, board: str) -> None:
    before = snapshot(earlier)
    done = edgec(capsys, "compile", MLP, "--board", board, "--out", earlier)
    check_one_message(done, code=2)
    assert snapshot(earlier) == before


def test_bad_board_file(capsys: Capsys, tmp_path: Path) -> None:
    for text in ("", "flash = ", "[board]\nwings = 2\n", "\x00", "a = 1\n" * 3):
        (tmp_path / "my.toml").write_text(text)
        done = edgec(capsys, "compile", MLP, "--board", tmp_path / "my.toml")
        check_one_message(done, "my.toml", code=2)


@pytest.mark.parametrize(
    "shape", ["x", "x=", "=1,2", "x=a", "x=1,-8", "x=0,1,8,8", "x=1,1,9,9", "z=1,1,8,8", "x=1"]
)
def test_bad_shape_option(capsys: Capsys, shape: str) -> None:
    check_one_message(edgec(capsys, "inspect", MLP, "--shape", shape))


@pytest.mark.parametrize("percentile", ["0", "-1", "101", "nan"])
def test_bad_percentile(capsys: Capsys, tmp_path: Path, percentile: str) -> None:
    options = ("--observer", "percentile", "--percentile", percentile)
    options += ("--calibration", CALIBRATION)
    done = edgec(capsys, "quantize", MLP, *options, "-o", tmp_path / "q.onnx")
    check_one_message(done)
    assert not any(tmp_path.iterdir())


@pytest.mark.parametrize(
    ("line", "said", "hint"),
    [
        ("compile", "missing argument 'MODEL', and there is no edgec.toml", "edgec new DIR"),
        ("compile m.onnx", "missing option '--board'", "compile --help"),
        ("compile m.onnx --board", "option '--board' requires an argument", "compile --help"),
        ("compile m.onnx --build=3", "option '--build' does not take a value", "compile --help"),
        ("quantize m.onnx", "missing option '-o'", "quantize --help"),
        ("no-such-command", "no such command 'no-such-command'", "--help"),
        ("boards no-such-command", "no such command 'no-such-command'", "boards --help"),
        ("boards show", "missing argument 'BOARD'", "boards show --help"),
        ("inspect m.onnx --no-such-option", "no such option: --no-such-option", "inspect --help"),
        ("inspect m.onnx n.onnx", "got unexpected extra argument", "inspect --help"),
        ("-v", "missing command", "--help"),
    ],
)
def test_usage_errors(capsys: Capsys, line: str, said: str, hint: str) -> None:
    done = edgec(capsys, *line.split())
    check_one_message(done, f"error: {said}", f"{hint}", code=2)
    assert "│" not in done.err


def test_without_words_there_is_help(capsys: Capsys) -> None:
    done = edgec(capsys)
    assert done.code == 2
    assert "Compile trained networks" in done.out + done.err


@pytest.mark.parametrize(
    ("option", "value", "words"),
    [
        ("--observer", "crystal-ball", ["takes minmax, percentile, mse, entropy, not 'crystal-"]),
        ("--precision", "int61", ["takes int8, int16, auto, not 'int61'", "did you mean int16?"]),
        ("--target-db", "high", ["takes a number, not 'high'"]),
    ],
)
@pytest.mark.parametrize("joined", [False, True])
def test_values_that_an_option_does_not_take(
    capsys: Capsys, option: str, value: str, words: list[str], joined: bool
) -> None:
    given = [f"{option}={value}"] if joined else [option, value]
    done = edgec(capsys, "compile", "m.onnx", "--board", "host", *given)
    check_one_message(done, f"error: {option}: ", *words, code=2)


def test_numbers_that_an_option_does_not_take(capsys: Capsys) -> None:
    for value, words in (("0", "give 1 or more"), ("many", "takes a whole number, not 'many'")):
        done = edgec(capsys, "evaluate", "dir", "--data", "d.npz", "--limit", value)
        check_one_message(done, "error: --limit: ", words, code=2)


def test_network_too_large_for_the_board(capsys: Capsys, tmp_path: Path, earlier: Path) -> None:
    """It says by how much, names the largest tensors, and what would help."""
    nodes = [
        helper.make_node("Conv", ["x", "w"], ["a"], name="stem", pads=[1, 1, 1, 1]),
        helper.make_node("Relu", ["a"], ["y"]),
    ]
    weights = np.random.default_rng(0).normal(size=(64, 3, 3, 3))
    model = saved(model_of(nodes, [constant("w", weights)], input_shape=(1, 3, 96, 96)), tmp_path)
    before = snapshot(earlier)
    done = edgec(capsys, "compile", model, "--board", "nucleo", "--out", earlier)
    check_one_message(done, "RAM is short of", "largest tensors", "1x96x96x64", "hint", code=6)
    assert snapshot(earlier) == before

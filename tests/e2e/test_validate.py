"""`edgec validate`: what is equal passes, a changed weight is found and its layer named."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import numpy as np
import pytest
from bad_input_support import (
    CALIBRATION,
    RESNET,
    TEST_DATA,
    check_one_message,
    edgec,
    model_of,
    saved,
)
from elftools.elf.elffile import ELFFile
from onnx import helper
from serial_lines import qemu_socket

from edgec.cli.app import run_app
from edgec.report.model import Report

Capsys = pytest.CaptureFixture[str]


@pytest.fixture(scope="module")
def build(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("validate") / "resnet"
    options = ["--board", "nucleo", "--calibration", str(CALIBRATION), "--out", str(folder)]
    assert run_app(["compile", str(RESNET), *options, "--no-verify"]) == 0
    return folder


@pytest.fixture(scope="module")
def changed(build: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The build with one bit of one weight flipped in firmware.elf."""
    folder = tmp_path_factory.mktemp("changed") / "resnet"
    shutil.copytree(build, folder)
    _flip_a_weight(folder / "firmware.elf")
    return folder


def heaviest(folder: Path) -> int:
    """The layer with the most weights."""
    sizes = [layer.weight_bytes for layer in Report.read(folder).layers]
    return sizes.index(max(sizes))


def _flip_a_weight(elf: Path) -> None:
    """Change one bit of the largest constant, which is the weights of `heaviest`."""
    with elf.open("rb") as file:
        image = ELFFile(file)
        symbols = image.get_section_by_name(".symtab").iter_symbols()
        constants = [each for each in symbols if each.name.endswith("_weights")]
        found = max(constants, key=lambda each: each["st_size"])
        section = image.get_section(found["st_shndx"])
        offset = found["st_value"] - section["sh_addr"] + section["sh_offset"]
    data = bytearray(elf.read_bytes())
    data[offset] ^= 0x40
    elf.write_bytes(data)


def result(capsys: Capsys, *arguments: object, code: int = 0) -> dict:
    done = edgec(capsys, "validate", *arguments, "--json")
    assert done.code == code, done.err + done.out
    return json.loads(done.out)


@pytest.mark.parametrize("on", ["host", "emulator"])
def test_what_is_equal_passes(capsys: Capsys, build: Path, on: str) -> None:
    found = result(capsys, build, "--on", on, "--data", TEST_DATA, "--limit", 4)
    assert found["bit_exact"] is True
    assert found["first_differing"] is None
    assert found["samples"] == 4
    assert [layer["name"] for layer in found["layers"]] == [
        layer.name for layer in Report.read(build).layers
    ]
    assert all(layer["largest_gap"] == 0 for layer in found["layers"])
    (output,) = found["outputs"]
    assert output["accuracy"] == output["float_accuracy"] == 1.0
    assert output["classes"]  # the samples have labels
    assert 0 < output["distance"]["rmse"] < 0.5
    assert output["distance"]["nse"] > 0.99
    assert output["distance"]["cosine"] > 0.99


def test_a_changed_weight_is_found(capsys: Capsys, changed: Path) -> None:
    number = heaviest(changed)
    layer = Report.read(changed).layers[number]
    found = result(capsys, changed, "--on", "emulator", code=10)
    assert found["first_differing"] == layer.name
    assert found["layers"][number]["largest_gap"] > 0  # firmware says what the step wrote
    assert not found["layers"][number]["bit_exact"]
    assert all(layer["bit_exact"] for layer in found["layers"][:number])
    done = edgec(capsys, "validate", changed, "--on", "emulator")
    assert done.code == 10
    assert f"layer {number}, {layer.sources[0]} (Conv), is the first" in done.err
    assert result(capsys, changed)["bit_exact"]  # library/ is as it was


def test_a_changed_source_is_found_on_the_host(capsys: Capsys, build: Path, tmp_path: Path) -> None:
    folder = tmp_path / "out"
    shutil.copytree(build, folder)
    weights = next((folder / "library" / "src").glob("*weights*.c"))
    text = weights.read_text("utf-8")
    start = text.index("{", text.index("= {")) + 1
    number = text[start:].split(",")[0].strip()
    changed = str(int(number) ^ 0x40)
    weights.write_text(text[:start] + text[start:].replace(number, changed, 1), "utf-8")
    found = result(capsys, folder, code=10)
    first = next(layer for layer in found["layers"] if not layer["bit_exact"])
    assert first["name"] == found["first_differing"]
    assert first["largest_gap"] > 0


@pytest.mark.slow
def test_on_the_device(capsys: Capsys, build: Path, changed: Path) -> None:
    for folder, code in ((build, 0), (changed, 10)):
        with qemu_socket(folder / "firmware.elf") as port:
            found = result(capsys, folder, "--on", "device", "--port", port, code=code)
        assert found["bit_exact"] is (code == 0)
        assert all((layer["largest_gap"] > 0) != layer["bit_exact"] for layer in found["layers"])
        assert found["cycles"] is None  # QEMU counts none


def test_next_command_and_help(capsys: Capsys, build: Path) -> None:
    done = edgec(capsys, "validate", build)
    assert done.code == 0
    assert f"next: edgec validate {build} --on emulator" in done.out


def test_bad_input(capsys: Capsys, build: Path, tmp_path: Path) -> None:
    check_one_message(edgec(capsys, "validate", tmp_path), "report.json", code=2)
    check_one_message(edgec(capsys, "validate", build, "--limit", 3), "--limit", code=2)
    check_one_message(edgec(capsys, "validate", build, "--on", "moon"), "host or emul", code=2)
    labels = tmp_path / "labels.npz"
    np.savez(labels, x=np.load(TEST_DATA)["x"][:2], y=np.array([0.5, 1.0]))
    check_one_message(edgec(capsys, "validate", build, "--data", labels), "labels 'y'", code=2)
    np.savez(labels, x=np.load(TEST_DATA)["x"][:2], y=np.array(["cat", 1], object))
    check_one_message(edgec(capsys, "validate", build, "--data", labels), "labels.npz", code=2)
    folder = tmp_path / "out"
    shutil.copytree(build, folder)
    whole = (build / "reference.npz").read_bytes()
    for content in (b"", b"PK", whole[: len(whole) // 2], whole.replace(b"QConv", b"QConw")):
        (folder / "reference.npz").write_bytes(content)
        words = ("reference.npz", "compile it again")
        check_one_message(edgec(capsys, "validate", folder), *words, code=2)
    (folder / "reference.npz").unlink()
    check_one_message(edgec(capsys, "validate", folder), "holds no reference.npz", code=2)


def test_an_input_that_is_called_as_labels_are(capsys: Capsys, tmp_path: Path) -> None:
    node = helper.make_node("Relu", ["y"], ["z"])
    model = saved(model_of([node], input_name="y", output="z"), tmp_path)
    data, out = tmp_path / "data.npz", tmp_path / "out"
    np.savez(data, y=np.linspace(-1, 1, 32, dtype=np.float32).reshape(8, 4))
    options = ("--board", "host", "--calibration", data, "--no-verify", "--out", out)
    assert edgec(capsys, "compile", model, *options).code == 0
    assert result(capsys, out, "--data", data)

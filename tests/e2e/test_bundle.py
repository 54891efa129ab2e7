"""`edgec bundle`: several models in one firmware."""

import json
from pathlib import Path

import numpy as np
import pytest
from bad_input_support import CALIBRATION, MLP
from elftools.elf.elffile import ELFFile
from pooled_models import GROUP, pool_of, small_network, write_pooled

from edgec.cli.app import run_app
from edgec.sim.emulator import EmulatedFirmware
from edgec.target.board import load_board

RESNET = MLP.with_name("digits_resnet.onnx")


@pytest.fixture(scope="module")
def folders(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    root = tmp_path_factory.mktemp("bundle")
    for model, name in ((MLP, "mlp"), (RESNET, "resnet")):
        options = ["--board", "nucleo", "--calibration", str(CALIBRATION)]
        arguments = ["compile", str(model), *options, "--out", str(root / name), "--no-verify"]
        assert run_app([*arguments, "--no-build"]) == 0
    return root / "mlp", root / "resnet"


def test_one_firmware_serves_both(
    folders: tuple[Path, Path], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "both"
    assert run_app(["bundle", *map(str, folders), "--out", str(out), "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert [model["name"] for model in found["models"]] == ["digits_mlp", "digits_resnet"]
    assert all(model["checked"] for model in found["models"])
    assert found == json.loads((out / "bundle.json").read_text())
    with EmulatedFirmware(out / "firmware.elf", load_board("nucleo")) as firmware:
        assert firmware.info().models == 2
        for index, classes in enumerate((10, 10)):
            firmware.client.select(index)
            inputs = [np.zeros(tensor.size_bytes, np.int8) for tensor in firmware.info().inputs]
            assert firmware.run(inputs).outputs[0].size == classes


@pytest.mark.few_cases(1)
@pytest.mark.parametrize(("others", "level"), [("size", "-Os"), ("speed", "-O2")])
def test_the_compiler_prefers_what_all_builds_do(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], others: str, level: str
) -> None:
    folders = []
    for model, optimize in ((MLP, "size"), (RESNET, others)):
        folders.append(str(tmp_path / model.stem))
        options = ["--board", "nucleo", "--calibration", str(CALIBRATION), "--optimize", optimize]
        arguments = ["compile", str(model), *options, "--out", folders[-1], "--no-verify"]
        assert run_app([*arguments, "--no-build"]) == 0
    assert run_app(["bundle", *folders, "--out", str(tmp_path / "both")]) == 0
    capsys.readouterr()
    settings = (tmp_path / "both" / "project" / "platformio.ini").read_text()
    assert level in settings.split()


def test_flash_takes_a_bundle(
    folders: tuple[Path, Path],
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    out = tmp_path / "both"
    assert run_app(["bundle", *map(str, folders), "--out", str(out)]) == 0
    monkeypatch.setenv("PATH", "")
    assert run_app(["flash", str(out)]) != 0
    assert "no upload program" in capsys.readouterr().err


def _weak_objects(elf: Path) -> list[tuple[str, int]]:
    """Names and sizes of weak constants."""
    with elf.open("rb") as stream:
        table = ELFFile(stream).get_section_by_name(".symtab")
        return sorted(
            (symbol.name, symbol["st_size"])
            for symbol in table.iter_symbols()
            if symbol["st_info"]["bind"] == "STB_WEAK"
            and symbol["st_info"]["type"] == "STT_OBJECT"
            and symbol["st_shndx"] != "SHN_UNDEF"
        )


@pytest.mark.few_cases(1)
@pytest.mark.parametrize("same", [True, False])
def test_a_pool_that_models_share_is_stored_once(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], same: bool
) -> None:
    rng = np.random.default_rng(1)
    pools = [pool_of(rng.normal(size=(32, GROUP))) for _ in range(2)]
    table = 256 * 32  # of the look-up kernel: patterns of 8 bits, bytes
    folders, weights = [], 0
    for number in range(2):
        name = f"net{number}"
        model = tmp_path / f"{name}.onnx"
        write_pooled(small_network(seed=number), model, pool=pools[0 if same else number])
        out = tmp_path / name
        options = ["--board", "nucleo", "--no-build", "--no-verify", "--pool-kernel", "direct"]
        assert run_app(["compile", str(model), *options, "--out", str(out)]) == 0
        folders.append(str(out))
        weights += json.loads((out / "report.json").read_text())["memory"]["weight_bytes"]
    capsys.readouterr()
    out = tmp_path / "both"
    assert run_app(["bundle", *folders, "--out", str(out), "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert all(model["checked"] for model in found["models"])
    tables = _weak_objects(out / "firmware.elf")
    assert [size for _, size in tables] == ([table] if same else [table, table])
    padding = 64
    saved = table if same else 0
    assert saved - padding <= found["shared_bytes"] <= saved
    with (out / "firmware.elf").open("rb") as stream:
        stored = ELFFile(stream).get_section_by_name(".weights")["sh_size"]
    assert weights - saved <= stored <= weights - saved + padding


@pytest.mark.parametrize(
    ("take", "message"),
    [
        (lambda mlp, resnet, host: [mlp], "two build folders"),
        (lambda mlp, resnet, host: [mlp, mlp], "same name"),
        (lambda mlp, resnet, host: [resnet, host], "compiled for host"),
        (lambda mlp, resnet, host: [mlp, mlp.parent], "report.json"),
    ],
)
def test_what_does_not_go_together(
    folders: tuple[Path, Path],
    compiled_mlp: Path,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    take: object,
    message: str,
) -> None:
    assert callable(take)
    arguments = [str(folder) for folder in take(*folders, compiled_mlp)]
    assert run_app(["bundle", *arguments, "--out", str(tmp_path / "no")]) == 2
    assert message in capsys.readouterr().err
    assert not (tmp_path / "no").exists()

"""`--placement`: firmware whose weights lie in RAM computes the same, faster in the model."""

import json
import shlex
import subprocess
from pathlib import Path

import pytest
from bad_input_support import CALIBRATION, MLP
from elftools.elf.elffile import ELFFile
from exported_library import need

from edgec.base.options import CompileOptions, Placement
from edgec.cli.app import run_app
from edgec.commands.compile import CompileResult, compile_model
from edgec.profile import profile
from edgec.profile.inputs import profile_input
from edgec.report.model import Report
from edgec.sim.trace import trace_inference
from edgec.target.board import load_board
from edgec.timing.types import MemoryMode

ROOT = Path(__file__).resolve().parents[2]
RESNET = MLP.with_name("digits_resnet.onnx")


def compiled(
    model: Path, board: str, out: Path, placement: Placement | None, *, verify: bool = True
) -> CompileResult:
    options = CompileOptions(placement=placement, verify=verify)
    return compile_model(model, board, calibration=str(CALIBRATION), out=out, options=options)


def small_dtcm(folder: Path) -> str:
    """The file of a board with a Cortex-M7 whose DTCM holds variables and little else."""
    text = (ROOT / "boards" / "nucleo_h7a3zi_q.toml").read_text()
    assert text.count("131_072") == 1
    path = folder / "small_dtcm.toml"
    path.write_text(text.replace("131_072", "12_288").replace("nucleo_h7a3zi_q", "small_dtcm"))
    return str(path)


def addresses(folder: Path) -> dict[str, int]:
    """Addresses of the constants of a firmware."""
    with (folder / "firmware.elf").open("rb") as stream:
        table = ELFFile(stream).get_section_by_name(".symtab")
        return {
            symbol.name: symbol["st_value"]
            for symbol in table.iter_symbols()
            if symbol["st_info"]["type"] == "STT_OBJECT"
        }


@pytest.fixture(scope="module")
def in_flash(tmp_path_factory: pytest.TempPathFactory) -> CompileResult:
    folder = tmp_path_factory.mktemp("flash") / "out"
    return compiled(MLP, "nucleo_l4r5zi", folder, None, verify=False)


@pytest.fixture(scope="module")
def in_ram(tmp_path_factory: pytest.TempPathFactory) -> CompileResult:
    folder = tmp_path_factory.mktemp("ram") / "out"
    return compiled(MLP, "nucleo_l4r5zi", folder, Placement.AUTO)


def test_weights_lie_in_ram(in_ram: CompileResult) -> None:
    check_places(in_ram)


@pytest.mark.parametrize(
    ("board", "placement"),
    [
        ("nucleo_h7a3zi_q", None),
        pytest.param("nucleo_l4r5zi", Placement.SRAM, marks=pytest.mark.slow),
        pytest.param("nucleo_f207zg", Placement.AUTO, marks=pytest.mark.slow),
        pytest.param("nucleo_g0b1re", Placement.SRAM, marks=pytest.mark.slow),
        pytest.param("nucleo_h7a3zi_q", Placement.SRAM, marks=pytest.mark.slow),
        pytest.param("teensy41", None, marks=pytest.mark.slow),
        pytest.param("disco_f407vg", Placement.SRAM, marks=pytest.mark.slow),
    ],
)
def test_weights_lie_in_ram_on_every_kind_of_board(
    board: str, placement: Placement | None, tmp_path: Path
) -> None:
    result = compiled(MLP, board, tmp_path / "out", placement)
    check_places(result)
    found = result.report.placement
    if placement is Placement.SRAM:
        assert found is not None and found.ram_bytes == result.report.memory.weight_bytes


def check_places(result: CompileResult) -> None:
    """Constants and arena lie where the report says, and every tensor equals the reference."""
    assert [check.what for check in result.report.checks] == ["host", "emulator"]
    assert not any(check.skipped for check in result.report.checks)
    report = Report.read(result.folder)
    found, memory = report.placement, report.board.memory
    assert found is not None and found.weights and memory is not None
    places = addresses(result.folder)
    for each in found.weights:
        region = memory.region(each.region)
        assert region.origin <= places[each.symbol] < region.end
    arena = memory.region(found.arena_in)
    assert arena.origin <= places["app_arena"] < arena.end
    sizes = report.memory
    assert sizes.ram_weight_bytes is not None and sizes.ram_weight_bytes >= found.ram_bytes
    assert sizes.ram_bytes == sum(
        (
            sizes.arena_bytes,
            sizes.stack_bytes or 0,
            sizes.variable_bytes or 0,
            sizes.ram_weight_bytes,
        )
    )


def test_the_profile_shows_what_is_gained(in_flash: CompileResult, in_ram: CompileResult) -> None:
    """All that was waited for weights is gone; what the estimate said is close to it."""
    before, after = (profile(each.folder) for each in (in_flash, in_ram))
    assert after.total.data_stalls < before.total.data_stalls // 20
    flash, ram = in_flash.report.placement, in_ram.report.placement
    assert flash is not None and ram is not None
    saved = before.total_cycles - after.total_cycles
    assert ram.saved_cycles == pytest.approx(saved, rel=0.1)
    assert flash.possible_cycles == ram.saved_cycles
    assert "bytes of weights in sram" in after.memory_words
    ideal = profile(in_ram.folder, memory=MemoryMode.IDEAL)
    assert ideal.memory_words == "memory supposed without wait states"


@pytest.mark.slow
def test_both_tracers_see_weights_in_cached_ram(tmp_path: Path) -> None:
    """Weights in AXI SRAM take the place of others in the data cache."""
    result = compiled(MLP, small_dtcm(tmp_path), tmp_path / "out", Placement.SRAM, verify=False)
    board, elf = result.report.board, result.folder / "firmware.elf"
    arrays = profile_input(result.report, None).arrays
    runs = [
        trace_inference(elf, board, arrays, MemoryMode.FLASH, native=native).trace
        for native in (True, False)
    ]
    assert "axi_sram" in (result.report.placement or pytest.fail()).regions
    native, python = ([segment.data_stalls for segment in run.segments] for run in runs)
    assert native == python


def test_report_and_page_say_what_lies_where(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out, page = tmp_path / "out", tmp_path / "page.html"
    options = ["--board", "nucleo_l4r5zi", "--calibration", str(CALIBRATION), "--no-verify"]
    arguments = ["compile", str(MLP), *options, "--out", str(out), "--placement", "sram"]
    assert run_app([*arguments, "--html", str(page), "-v"]) == 0
    text = " ".join(capsys.readouterr().out.split())
    weights = Report.read(out).memory.weight_bytes
    assert f"weights in RAM: {weights:,} of {weights:,} bytes" in text
    assert "in sram; estimated to save" in text
    assert f"weights {weights:,} B" in page.read_text()
    script = (out / "project" / "linker.ld").read_text()
    assert ".weights_sram" in script and "*(.rodata.edgec_digits_mlp_" in script
    assert run_app(["profile", str(out), "-v"]) == 0
    assert "bytes of weights in sram" in " ".join(capsys.readouterr().out.split())


def test_flash_build_says_what_auto_would_save(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    options = ["--board", "nucleo_l4r5zi", "--calibration", str(CALIBRATION), "--no-verify"]
    out = tmp_path / "out"
    assert run_app(["compile", str(MLP), *options, "--no-build", "--out", str(out), "-v"]) == 0
    assert "--placement auto would copy" in capsys.readouterr().out
    header = next((out / "library" / "src").glob("*-weights.h")).read_text()
    assert "EDGEC_HOT_WEIGHTS" not in header


@pytest.mark.parametrize("placement", ["auto", "flash", "sram"])
def test_an_operating_system_places_by_itself(
    placement: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = str(tmp_path / "out")
    arguments = ["compile", str(MLP), "--board", "host", "--out", out, "--placement", placement]
    assert run_app(arguments) == 2
    assert "--placement: host has an operating system" in capsys.readouterr().err


def test_weights_that_do_not_fit_are_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "out"
    options = ["--board", "microbit", "--placement", "sram", "--out", str(out)]
    calibration = ["--calibration", str(CALIBRATION)]
    assert run_app(["compile", str(RESNET), *options, *calibration]) == 6
    assert "the weights do not fit into RAM" in capsys.readouterr().err
    assert not out.exists()


@pytest.mark.slow
def test_a_budget_of_ram_holds_back_weights(tmp_path: Path) -> None:
    """On a board where weights go to RAM by default, a budget that the rest meets is met."""
    options = ["--board", "nucleo_h7a3zi_q", "--calibration", str(CALIBRATION), "--no-verify"]
    arguments = ["compile", str(RESNET), *options, "--out"]
    plain, small = tmp_path / "plain", tmp_path / "small"
    assert run_app([*arguments, str(plain)]) == 0
    memory = Report.read(plain).memory
    assert memory.ram_bytes is not None and memory.ram_weight_bytes
    budget = memory.ram_bytes - memory.ram_weight_bytes // 2 + 4096
    assert run_app([*arguments, str(small), "--budget", f"ram={budget}"]) == 0
    assert (Report.read(small).memory.ram_bytes or 0) <= budget


def test_exported_libraries_take_the_user_s_section(in_ram: CompileResult, tmp_path: Path) -> None:
    """Without a definition nothing changes; with one the constants lie where it says."""
    need("arm-none-eabi-gcc")
    library = tmp_path / "library"
    assert run_app(["export", str(in_ram.folder), "--as", "c", "--out", str(library)]) == 0
    (source,) = library.rglob("*-weights.c")
    include = next(path.parent for path in library.rglob("edgec_digits_mlp-weights.h"))
    section = '-DEDGEC_HOT_WEIGHTS=__attribute__((section(".fast_data")))'
    for flags, expected in (([], ".rodata"), ([section], ".fast_data")):
        target = tmp_path / "weights.o"
        words = ["arm-none-eabi-gcc", "-std=c11", "-Wall", "-Wextra", "-Werror", *flags]
        command = [*words, "-I", str(include), "-c", str(source), "-o", str(target)]
        subprocess.run(command, check=True, cwd=tmp_path)
        with target.open("rb") as stream:
            sizes = {s.name: s["sh_size"] for s in ELFFile(stream).iter_sections()}
        assert sizes[expected] >= in_ram.report.memory.weight_bytes, shlex.join(command)


@pytest.mark.slow
def test_a_bundle_keeps_what_fits(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Two models whose weights were placed alone, together in one firmware."""
    folders = []
    for model in (MLP, RESNET):
        folder = tmp_path / model.stem
        compiled(model, "nucleo_h7a3zi_q", folder, None, verify=False)
        folders.append(str(folder))
    out = tmp_path / "both"
    assert run_app(["bundle", *folders, "--out", str(out), "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert all(model["checked"] for model in found["models"])
    places = addresses(out)
    region = load_board("nucleo_h7a3zi_q").memory
    assert region is not None
    dtcm = region.region("dtcm")
    symbols = [
        each.symbol
        for folder in folders
        for each in (Report.read(Path(folder)).placement or pytest.fail()).weights
    ]
    assert all(dtcm.origin <= places[symbol] < dtcm.end for symbol in symbols)

"""`edgec export`: libraries that are built and run as their users would, and what is refused."""

import json
import shutil
from pathlib import Path

import numpy as np
import pytest
from bad_input_support import check_one_message, edgec
from exported_library import STRICT, computed, example_text, export, need, run

from edgec.codegen.formats.registry import FORMATS
from edgec.codegen.includes import library_folder
from edgec.codegen.project import FirmwareModel, emit_project
from edgec.report.model import Report
from edgec.target.board import load_board
from edgec.toolchain.platformio import Mode, run_platformio

Capsys = pytest.CaptureFixture[str]
PREFIX = "edgec_digits_mlp"
NEEDLESS = ("neon", "pool", "attention", "norm", "planes", "triples")
"""What the names of headers begin with that a small network of Gemm layers has no use for."""


@pytest.fixture
def expected(compiled_mlp: Path, tmp_path: Path) -> str:
    """What every example prints."""
    need("gcc")
    port = Report.read(compiled_mlp).inputs[0]
    return example_text(compiled_mlp, port.zero_point, port.size_bytes, tmp_path / "host")


def contents(folder: Path) -> dict[str, bytes]:
    """Every file of a folder, by its path in it."""
    return {str(p.relative_to(folder)): p.read_bytes() for p in folder.rglob("*") if p.is_file()}


@pytest.mark.parametrize("form", FORMATS)
def test_every_format_has_what_a_library_needs(compiled_mlp: Path, form: str, tmp_path: Path):
    out = export(compiled_mlp, form, tmp_path / "out")
    names = {path.relative_to(out).as_posix() for path in out.rglob("*") if path.is_file()}
    assert {"README.md", "LICENSE", f"src/{PREFIX}.c", f"src/{PREFIX}-weights.c"} < names
    headers = FORMATS[form].headers
    shared = library_folder()
    assert {f"{headers}/{PREFIX}.h", f"{headers}/{shared}/edgec.h"} < names
    assert any(name.startswith(("example", "samples")) for name in names)
    runtime = {Path(name).name for name in names if f"{headers}/{shared}/" in name}
    built = compiled_mlp / "library" / "include" / shared
    assert runtime == {path.name for path in built.rglob("*.h")}
    assert not [name for name in runtime if name.startswith(NEEDLESS)]
    assert len(runtime) < 12
    assert "Licence" in (out / "README.md").read_text()
    second = export(compiled_mlp, form, tmp_path / "again")
    assert contents(out) == contents(second)


def test_plain_c_with_make(compiled_mlp: Path, expected: str, tmp_path: Path):
    need("make", "cc")
    out = export(compiled_mlp, "c", tmp_path / "c")
    flags = " ".join(("-O1", *STRICT))
    assert expected in run("make", f"CFLAGS={flags}", cwd=out)


@pytest.mark.parametrize("way", ["fetched", "itself"])
def test_cmake_from_its_sources(compiled_mlp: Path, expected: str, way: str, tmp_path: Path):
    need("cmake", "gcc")
    out = export(compiled_mlp, "cmake", tmp_path / "cmake")
    source = out / "example" if way == "fetched" else out
    run("cmake", "-S", source, "-B", tmp_path / "build")
    run("cmake", "--build", tmp_path / "build")
    program = "program" if way == "fetched" else f"{PREFIX}_example"
    assert run(tmp_path / "build" / program) == expected


def test_cmake_installed_and_found(compiled_mlp: Path, expected: str, tmp_path: Path):
    need("cmake", "gcc")
    out = export(compiled_mlp, "cmake", tmp_path / "cmake")
    run("cmake", "-S", out, "-B", tmp_path / "build")
    run("cmake", "--build", tmp_path / "build")
    run("cmake", "--install", tmp_path / "build", "--prefix", tmp_path / "installed")
    user = tmp_path / "user"
    user.mkdir()
    shutil.copy(out / "example" / "main.c", user)
    for version, found in (("0.1", True), ("9.0", False)):
        (user / "CMakeLists.txt").write_text(
            "cmake_minimum_required(VERSION 3.16)\nproject(user C)\n"
            f"find_package({PREFIX} {version} QUIET)\n"
            f"if(NOT {PREFIX}_FOUND)\n  file(WRITE ${{CMAKE_BINARY_DIR}}/absent 1)\n  return()\n"
            f"endif()\nadd_executable(app main.c)\ntarget_link_libraries(app edgec::{PREFIX})\n"
        )
        build = tmp_path / f"user-{version}"
        run("cmake", "-S", user, "-B", build, f"-DCMAKE_PREFIX_PATH={tmp_path / 'installed'}")
        assert (build / "absent").exists() is not found
        if found:
            run("cmake", "--build", build)
            assert run(build / "app") == expected


def test_cmake_in_a_project_of_cpp_alone(compiled_mlp: Path, expected: str, tmp_path: Path):
    """The project enables C++ only; the export brings C for itself and asks nothing of the user."""
    need("cmake", "gcc", "g++")
    out = export(compiled_mlp, "cmake", tmp_path / "cmake")
    shutil.copy(out / "example" / "main.c", tmp_path / "main.cpp")
    (tmp_path / "CMakeLists.txt").write_text(
        "cmake_minimum_required(VERSION 3.16)\nproject(user CXX)\ninclude(FetchContent)\n"
        f"FetchContent_Declare(net SOURCE_DIR {out})\nFetchContent_MakeAvailable(net)\n"
        f"add_executable(app main.cpp)\ntarget_link_libraries(app edgec::{PREFIX})\n"
    )
    run("cmake", "-S", tmp_path, "-B", tmp_path / "build")
    run("cmake", "--build", tmp_path / "build")
    assert run(tmp_path / "build" / "app") == expected


def test_the_example_of_the_header_in_cpp(compiled_mlp: Path, tmp_path: Path):
    need("g++")
    out = export(compiled_mlp, "c", tmp_path / "out")
    readme = (compiled_mlp / "library" / "README.md").read_text()
    (tmp_path / "main.cpp").write_text(readme.split("```c\n")[1].split("```")[0])
    options = ("-std=c++11", "-Wall", "-Wextra", "-Werror", "-fsyntax-only")
    run("g++", *options, f"-I{out / 'include'}", tmp_path / "main.cpp")


def test_platformio_builds_its_example(compiled_mlp: Path, expected: str, tmp_path: Path):
    from platformio.package.manifest.parser import ManifestParserFactory
    from platformio.package.manifest.schema import ManifestSchema

    need("gcc")
    out = export(compiled_mlp, "platformio", tmp_path / PREFIX)
    manifest = ManifestParserFactory.new_from_file(str(out / "library.json")).as_dict()
    # PlatformIO fetches the list of licences to check this one.
    assert manifest.pop("license") == "MIT"
    assert ManifestSchema().load_manifest(manifest)["name"] == PREFIX
    emit_project([_firmware_model(compiled_mlp)], load_board("host"), tmp_path / "edgecs")
    project = tmp_path / "user"
    (project / "src").mkdir(parents=True)
    shutil.copy(out / "examples" / "run_once" / "main.c", project / "src")
    for part in ("platform", "boards"):
        shutil.copytree(tmp_path / "edgecs" / part, project / part)
    (project / "platformio.ini").write_text(
        "[env:host]\nplatform = symlink://platform\nboard = host\n"
        f"build_flags = -Wall -Wextra -Werror\nlib_deps = symlink://{out}\n"
    )
    run_platformio(project, ["run"], mode=Mode.INSTALLED, timeout_s=300)
    assert run(project / ".pio" / "build" / "host" / "firmware.elf") == expected


def _firmware_model(folder: Path) -> FirmwareModel:
    header, symbol = f"{PREFIX}.h", f"{PREFIX}_model"
    return FirmwareModel(folder / "library", "digits_mlp", header, symbol, 1 << 16, 1)


@pytest.mark.parametrize("compiler", ["g++", "clang++"])
@pytest.mark.parametrize("standard", ["c++11", "c++20"])
def test_a_program_in_cpp(compiled_mlp: Path, compiler: str, standard: str, tmp_path: Path):
    """The interface and the labels compile without a warning, and link with the C."""
    need("gcc", compiler)
    (tmp_path / "labels.txt").write_text("".join(f"digit {number}\n" for number in range(10)))
    out = export(compiled_mlp, "arduino", tmp_path / "out", "--labels", tmp_path / "labels.txt")
    (tmp_path / "main.cpp").write_text(
        f'#include "{PREFIX}.h"\n#include "{PREFIX}-labels.h"\n#include <cstdio>\n'
        "alignas(EDGEC_ARENA_ALIGNMENT) static uint8_t arena[EDGEC_DIGITS_MLP_ARENA_BYTES];\n"
        "int main() {\n    edgec_context_t context;\n"
        f"    if ({PREFIX}_init(&context, arena, sizeof arena) != EDGEC_OK) return 1;\n"
        f"    int8_t *x = static_cast<int8_t *>({PREFIX}_input(&context, 0));\n"
        "    for (int i = 0; i < EDGEC_DIGITS_MLP_INPUT_0_ELEMENTS; i++)\n"
        "        x[i] = static_cast<int8_t>(i % 100);\n"
        f"    if ({PREFIX}_run(&context) != EDGEC_OK) return 1;\n"
        f"    const int8_t *y = static_cast<const int8_t *>({PREFIX}_output(&context, 0));\n"
        '    for (uint32_t i = 0; i < 10; i++) std::printf("%d ", y[i]);\n'
        f'    std::printf("%s %s\\n", {PREFIX}_label(3), {PREFIX}_label(10));\n}}\n'
    )
    include = f"-I{out / 'src'}"
    for source in out.glob("src/*.c"):
        run("gcc", "-std=c11", *STRICT, include, "-c", source, "-o", tmp_path / f"{source.stem}.o")
    objects = sorted(tmp_path.glob("*.o"))
    words = (f"-std={standard}", *STRICT, include, tmp_path / "main.cpp", *objects)
    run(compiler, *words, "-o", tmp_path / "program")
    size = Report.read(compiled_mlp).inputs[0].size_bytes
    codes = computed(compiled_mlp, (np.arange(size) % 100).astype(np.int8), tmp_path / "host")
    assert run(tmp_path / "program") == f"{' '.join(map(str, codes))} digit 3 \n"


def test_json_and_the_default_folder(compiled_mlp: Path, capsys: Capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    done = edgec(capsys, "export", compiled_mlp, "--as", "zephyr", "--json")
    found = json.loads(done.out)
    assert (found["format"], found["header"]) == ("zephyr", f"{PREFIX}.h")
    folder = tmp_path / "build" / "digits_mlp-zephyr"
    assert all((folder / name).is_file() for name in found["files"])
    assert found["size_bytes"] == sum((folder / name).stat().st_size for name in found["files"])
    done = edgec(capsys, "export", compiled_mlp, "--as", "zephyr")
    assert "written to build/digits_mlp-zephyr" in done.out.replace("\n", " ")
    assert done.code == 0


def test_an_edited_library_is_not_replaced(earlier: Path, capsys: Capsys, tmp_path: Path):
    out = export(earlier, "c", tmp_path / "c")
    (out / "example" / "main.c").write_text("int main(void) { return 0; }\n")
    before = contents(out)
    command = ("export", earlier, "--as", "cmake", "--out", out)
    check_one_message(edgec(capsys, *command), "changed by hand", "main.c", code=2)
    assert contents(out) == before
    assert edgec(capsys, *command, "--force").code == 0
    assert (out / "CMakeLists.txt").is_file()
    assert not (out / "Makefile").exists()


def test_what_is_refused(earlier: Path, capsys: Capsys, tmp_path: Path):
    own, other, out = tmp_path / "own", tmp_path / "other", tmp_path / "out"
    own.mkdir()
    (own / "thesis.txt").write_text("mine\n")
    shutil.copytree(earlier, other)
    before = contents(tmp_path)
    cases = {
        ("export", earlier, "--as", "zephir", "-o", out): ("zephir", "arduino"),
        ("export", tmp_path, "--as", "c", "-o", out): ("holds no report.json",),
        ("export", earlier, "--as", "c", "-o", own): ("not made by edgec",),
        ("export", earlier, "--as", "c", "-o", own / "thesis.txt"): ("is a file",),
        ("export", earlier, "--as", "c", "-o", earlier): ("lies in the build folder",),
        ("export", earlier, "--as", "c", "-o", earlier / "library"): ("lies in the build folder",),
        ("export", earlier, "--as", "c", "-o", other): ("is a build folder",),
    }
    for command, words in cases.items():
        check_one_message(edgec(capsys, *command), *words, code=2)
    assert contents(tmp_path) == before
    shutil.rmtree(earlier / "library" / "src")
    done = edgec(capsys, "export", earlier, "--as", "c", "-o", out)
    check_one_message(done, "holds no library", code=2)
    assert not out.exists()

"""The generated library in other people's hands: CMake, C++, PlatformIO, several models at once."""

import json
import re
import shutil
import subprocess
from pathlib import Path

import numpy as np
import pytest
from c_programs import SANITIZE, Build
from data_folder import needed_data_folder
from disassembly import reachable, symbols
from library_use import Library, compiled_example, example_libraries, expected_text, program_text
from own_networks import OWN_NETWORKS, digit_images
from parity import Sample, check_build
from public_data import QDQ_TASKS, TASKS
from random_graphs import adversarial_inputs

from edgec.base.options import CompileOptions
from edgec.base.resources import data_dir
from edgec.codegen.cnames import library_names
from edgec.codegen.library import emit_library
from edgec.codegen.project import emit_project
from edgec.commands.compile import CompileResult, compile_model
from edgec.floatrun.float_model import FloatModel
from edgec.interp import run_graph
from edgec.sim.emulator import EmulatedFirmware
from edgec.target.board import load_board
from edgec.toolchain.cc import WARNING_FLAGS
from edgec.toolchain.platformio import Mode, build, run_platformio

NETWORKS = {**TASKS, **QDQ_TASKS}
OWN = ("resnet8", "cct")
Libraries = tuple[Library, Library, Library]


@pytest.fixture(scope="module")
def libraries(tmp_path_factory: pytest.TempPathFactory) -> Libraries:
    """The digits networks, the first of them twice."""
    return example_libraries(tmp_path_factory.mktemp("libraries"))


def need(*programs: str) -> None:
    for program in programs:
        if shutil.which(program) is None:
            pytest.skip(f"{program} is not installed")


def run(*argv: str | Path, cwd: Path | None = None) -> str:
    done = subprocess.run(argv, cwd=cwd, capture_output=True, text=True, check=False, timeout=300)
    assert done.returncode == 0, done.stdout[-2000:] + done.stderr[-4000:]
    return done.stdout


def cmake_text(libraries: Libraries) -> str:
    lines = ["cmake_minimum_required(VERSION 3.16)", "project(user C CXX)"]
    lines += [f"add_subdirectory({item.folder} {item.names.prefix})" for item in libraries]
    lines += ["add_executable(in_c main.c)", "add_executable(in_cpp main.cpp)"]
    names = " ".join(item.names.prefix for item in libraries)
    lines += [f"target_link_libraries({program} {names})" for program in ("in_c", "in_cpp")]
    flags = "-Wall -Wextra -Wpedantic -Wconversion -Wsign-conversion -Wshadow -Werror"
    lines += [
        f"target_compile_options({program} PRIVATE {flags})" for program in ("in_c", "in_cpp")
    ]
    lines += ["set_property(TARGET in_cpp PROPERTY CXX_STANDARD 11)"]
    return "\n".join(lines) + "\n"


@pytest.mark.parametrize("generator", ["Ninja", "Unix Makefiles"])
def test_cmake_project_in_c_and_cpp(libraries: Libraries, generator: str, tmp_path: Path):
    """Three models in one program, sharing one arena in turn, give what the reference gives."""
    need("cmake", "gcc", "g++", "ninja" if generator == "Ninja" else "make")
    (tmp_path / "CMakeLists.txt").write_text(cmake_text(libraries))
    for name in ("main.c", "main.cpp"):
        (tmp_path / name).write_text(program_text(libraries))
    run("cmake", "-S", tmp_path, "-B", tmp_path / "build", "-G", generator)
    run("cmake", "--build", tmp_path / "build")
    for program in ("in_c", "in_cpp"):
        assert run(tmp_path / "build" / program) == expected_text(libraries)


def test_example_of_the_firmware_readme_compiles(libraries: Libraries, tmp_path: Path):
    readme = (data_dir("firmware") / "README.md").read_text("utf-8")
    (example,) = re.findall(r"```c\n(.*?)```", readme, re.DOTALL)
    emit_library(libraries[0].result.program, tmp_path / "library", library_names("digits"))
    prototype = "int classify(const int8_t *image, int8_t *scores);\n"
    (tmp_path / "main.c").write_text(
        f"#include <stdint.h>\n{prototype}{example}int main(void) {{\n"
        "    int8_t image[EDGEC_DIGITS_INPUT_0_BYTES] = {0}, scores[EDGEC_DIGITS_OUTPUT_0_BYTES];\n"
        "    return classify(image, scores);\n}\n"
    )
    sources = [tmp_path / "main.c", *sorted((tmp_path / "library" / "src").glob("*.c"))]
    includes = [tmp_path / "library" / "include"]
    run(Build("gcc", ("-O1",)).compile(sources, includes, tmp_path / "program"))


def test_example_of_the_librarys_own_readme_compiles(libraries: Libraries, tmp_path: Path):
    library = libraries[0]
    text = (library.folder / "README.md").read_text("utf-8")
    (example,) = re.findall(r"```c\n(.*?)```", text, re.DOTALL)
    (tmp_path / "main.c").write_text(
        f"#include <stdint.h>\nuint32_t infer(const float *values);\n{example}int main(void) {{\n"
        f"    static float values[{library.names.macro}_INPUT_0_ELEMENTS];\n"
        f"    return infer(values) < {library.names.macro}_OUTPUT_0_ELEMENTS ? 0 : 1;\n}}\n"
    )
    sources = [tmp_path / "main.c", *sorted((library.folder / "src").glob("*.c"))]
    program = Build("gcc", ("-O1",)).compile(sources, [library.folder / "include"], tmp_path / "p")
    run(program)
    assert "## Licence" in text
    assert (library.folder / "LICENSE").read_text() == Path(
        data_dir("firmware").parent, "LICENSE"
    ).read_text()


@pytest.mark.parametrize("standard", ["c99", "gnu99", "c90"])
@pytest.mark.parametrize("compiler", ["gcc", "clang"])
def test_older_c_is_refused_in_words(libraries: Libraries, compiler: str, standard: str):
    need(compiler)
    folder, prefix = libraries[0].folder, libraries[0].names.prefix
    argv = [compiler, f"-std={standard}", f"-I{folder / 'include'}", "-fsyntax-only"]
    argv.append(str(folder / "src" / f"{prefix}.c"))
    done = subprocess.run(argv, capture_output=True, text=True, check=False, timeout=60)
    assert done.returncode != 0
    errors = [line for line in done.stderr.splitlines() if "error:" in line]
    assert "edgec's code is C11: compile it with -std=c11 or newer" in errors[0]


@pytest.mark.parametrize("compiler", ["gcc", "clang"])
def test_one_arena_in_turn_under_sanitizers(libraries: Libraries, compiler: str, tmp_path: Path):
    main = tmp_path / "main.c"
    main.write_text(program_text(libraries))
    sources = [main, *(path for item in libraries for path in sorted(item.folder.glob("src/*.c")))]
    includes = [item.folder / "include" for item in libraries]
    program = Build(compiler, SANITIZE).compile(sources, includes, tmp_path / "program")
    assert run(program) == expected_text(libraries)


def test_platformio_library_in_another_project(libraries: Libraries, tmp_path: Path):
    """Libraries in lib/ and in lib_deps of a project that edgec did not write."""
    need("gcc")
    host = load_board("host")
    emit_project([libraries[0].firmware_model], host, tmp_path / "edgecs")
    project = tmp_path / "user"
    (project / "src").mkdir(parents=True)
    (project / "src" / "main.c").write_text(program_text(libraries))
    for item in libraries[:2]:
        shutil.copytree(item.folder, project / "lib" / f"any_{item.names.name}")
        manifest = json.loads((item.folder / "library.json").read_text())
        assert manifest["name"] == item.names.prefix
    # PlatformIO's own `native` platform would come from its registry.
    for part in ("platform", "boards"):
        shutil.copytree(tmp_path / "edgecs" / part, project / part)
    (project / "platformio.ini").write_text(
        "[env:host]\nplatform = symlink://platform\nboard = host\nbuild_flags = -Wall -Werror\n"
        f"lib_deps = symlink://{libraries[2].folder}\n"
    )
    run_platformio(project, ["run"], mode=Mode.INSTALLED, timeout_s=300)
    assert run(project / ".pio" / "build" / "host" / "firmware.elf") == expected_text(libraries)


@pytest.mark.few_cases(1)
@pytest.mark.parametrize("board_name", ["host", "mps2_an385", "nucleo_g0b1re"])
def test_several_models_in_one_firmware(libraries: Libraries, board_name: str, tmp_path: Path):
    board = load_board(board_name)
    need("gcc" if board.is_host else "arm-none-eabi-gcc")
    if board.emulator.kind == "qemu":
        need("qemu-system-arm")
    if board.emulator.kind == "unicorn":
        pytest.importorskip("unicorn")
    emit_project([item.firmware_model for item in libraries], board, tmp_path / "project")
    files = build(tmp_path / "project", board)
    with EmulatedFirmware(files.elf, board) as firmware:
        assert firmware.info().models == len(libraries)
        for index, item in [*enumerate(libraries), *enumerate(libraries)]:
            firmware.client.select(index)
            assert firmware.info().model == item.names.name
            (found,) = firmware.run([item.input()]).outputs
            np.testing.assert_array_equal(found, item.output())


CORES = {"nucleo_g0b1re": "M0+", "nucleo_f207zg": "M3", "nucleo_f446re": "M4"}
# libgcc's and newlib's names: float arithmetic, division of 64 bits, heap.
FORBIDDEN = re.compile(
    r"__aeabi_([fdh]|c[fd]|u?[il]2[fdh]|u?ldivmod).*|__(fix|float)\w+"
    r"|__(add|sub|mul|div|neg|pow|eq|ne|lt|le|gt|ge|cmp|unord|extend|trunc)[sd]f\w*"
    r"|__u?(div|mod|divmod)di\d|([mc]|re)alloc|free|_?sbrk"
)
# Every mnemonic with a leading v is an instruction of the floating point unit.  GCC copies pairs
# of integer constants to the stack through its registers; loads and stores compute nothing.
FLOAT = re.compile(r"v(?!(push|pop|ldr|str|ldmia|stmia)\b)")


@pytest.mark.few_cases(1)
@pytest.mark.parametrize("board_name", CORES, ids=CORES.values())
def test_model_code_has_no_float_no_heap_no_64_bit_division(board_name: str, tmp_path: Path):
    """In the linked firmware: what the model's functions call, and their instructions."""
    need("arm-none-eabi-gcc", "arm-none-eabi-objdump")
    library = compiled_example("digits_resnet", tmp_path)
    emit_project([library.firmware_model], load_board(board_name), tmp_path / "project")
    elf = build(tmp_path / "project", load_board(board_name)).elf
    assert offences(elf, library.names.prefix) == []


def offences(elf: Path, prefix: str) -> list[str]:
    """Symbols of the firmware, and instructions of the model, that should not be there."""
    code = reachable(elf, f"{prefix}_")
    assert {f"{prefix}_run", f"{prefix}_init"} <= code.keys()
    found = [name for name in sorted({*code, *symbols(elf)}) if FORBIDDEN.fullmatch(name)]
    return found + [line for lines in code.values() for line in lines if FLOAT.match(line)]


SUSPECTS = {
    "float": "volatile float x; void edgec_bad_run(void) { x = x * 3.0F; }",
    "64-bit division": "volatile long long x; void edgec_bad_run(void) { x = 99 / x; }",
    "heap": "void *malloc(unsigned); void edgec_bad_run(void) { *(char *)malloc(4) = 1; }",
}


@pytest.mark.parametrize("suspect", SUSPECTS)
@pytest.mark.parametrize("cpu", ["cortex-m0plus", "cortex-m4+fp"])
def test_the_search_finds_what_it_looks_for(suspect: str, cpu: str, tmp_path: Path):
    need("arm-none-eabi-gcc", "arm-none-eabi-objdump")
    others = "void edgec_bad_init(void) {}\nchar heap[8];\n__attribute__((noinline)) "
    others += "void *malloc(unsigned n) { return heap + n; }\n"
    (tmp_path / "bad.c").write_text(f"{SUSPECTS[suspect]}\n{others}")
    target = ["-mthumb", f"-mcpu={cpu.removesuffix('+fp')}"]
    target += ["-mfpu=fpv4-sp-d16", "-mfloat-abi=hard"] if cpu.endswith("+fp") else []
    flags = ["-O1", "-nostdlib", "-fno-builtin", "-ffunction-sections", "-Wl,--gc-sections"]
    flags += ["-Wl,-e,edgec_bad_run", "-Wl,-u,edgec_bad_init", *target]
    elf = tmp_path / "bad.elf"
    run("arm-none-eabi-gcc", *flags, tmp_path / "bad.c", "-lgcc", "-o", elf)
    assert offences(elf, "edgec_bad") != []


def compiled_network(name: str, folder: Path, board: str, *, built: bool) -> CompileResult:
    if name in OWN:
        path, samples = OWN_NETWORKS[name], {"input": digit_images("calibration", 20)}
    else:
        data = needed_data_folder()
        path, samples = data / "models" / NETWORKS[name].model, None
        if name in TASKS:
            (input_name,) = FloatModel(path).input_names
            samples = {input_name: TASKS[name].data(data, "calibration").x[:20]}
    options = CompileOptions(build=built, verify=False)
    return compile_model(path, board, calibration=samples, out=folder, options=options)


ARM_NETWORKS = (*OWN, *(name for name in NETWORKS if name not in OWN))
ARM_LEVELS = ("-Os", "-O2", "-O3")
"""Each network is compiled for each core at one of these, of which the next network has the next:
all nine pairs see networks of all kinds."""


@pytest.mark.slow
@pytest.mark.parametrize(
    "name",
    [*OWN, *(pytest.param(name, marks=pytest.mark.data) for name in ARM_NETWORKS[len(OWN) :])],
)
def test_network_under_every_compiler(name: str, tmp_path: Path):
    """All warnings are errors; sanitizers see extreme and random inputs and stay silent."""
    result = compiled_network(
        name, tmp_path / "compiled", "nucleo", built=shutil.which("arm-none-eabi-gcc") is not None
    )
    graph, library = result.model.integer, result.folder / "library"
    samples = [
        Sample([inputs[key] for key in graph.inputs], run_graph(graph, inputs))
        for inputs in adversarial_inputs(graph, np.random.default_rng(5))
    ]
    for build_ in (Build("gcc", SANITIZE), Build("clang", SANITIZE), Build("clang", ("-O3",))):
        check_build(build_, library, result.program, samples, tmp_path)
    first = ARM_NETWORKS.index(name)
    for number, core in enumerate(("cortex-m0plus", "cortex-m3", "cortex-m4")):
        compile_for_arm(library, core, ARM_LEVELS[(first + number) % len(ARM_LEVELS)], tmp_path)
    if (result.folder / "firmware.elf").is_file():
        prefix = f"edgec_{result.report.c_name}"
        assert offences(result.folder / "firmware.elf", prefix) == []


def compile_for_arm(library: Path, core: str, level: str, folder: Path) -> None:
    need("arm-none-eabi-gcc")
    options = ["-std=c11", "-mthumb", level, f"-mcpu={core}", *WARNING_FLAGS]
    for source in sorted((library / "src").glob("*.c")):
        argv = ["arm-none-eabi-gcc", *options, f"-I{library / 'include'}"]
        run(*argv, "-c", source, "-o", folder / "object.o")

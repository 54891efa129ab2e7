"""The emitted library: bytes, names, compilers, several models in one program."""

import dataclasses
import os
import stat
from pathlib import Path

import pytest
from c_programs import Build, run_program
from kernel_records import param_structs
from lower_samples import NetBuilder, emitted, lowered, small_net

from edgec.base.errors import CodegenError, InternalError
from edgec.codegen import emit_library, library_names
from edgec.codegen.files import write_tree
from edgec.codegen.includes import library_folder
from edgec.ir import Graph
from edgec.toolchain import process
from edgec.toolchain.cc import WARNING_FLAGS

_HOSTILE = '../../x"; int main */ /* \\\n#include <y>\r\u2028??/'


def _tree(folder: Path) -> dict[str, bytes]:
    files = (path for path in folder.rglob("*") if path.is_file())
    return {str(path.relative_to(folder)): path.read_bytes() for path in files}


def test_files_of_a_library(tmp_path: Path) -> None:
    emitted(small_net("Sample Net"), tmp_path)
    names = set(_tree(tmp_path))
    assert {name for name in names if not name.startswith(f"include/{library_folder()}/")} == {
        "CMakeLists.txt",
        "LICENSE",
        "README.md",
        "library.json",
        "include/edgec_sample_net.h",
        "src/edgec_sample_net.c",
        "src/edgec_sample_net-weights.c",
        "src/edgec_sample_net-weights.h",
    }
    headers = ("edgec", "arithmetic/math", "arithmetic/params")
    runtime = {f"include/{library_folder()}/{name}.h" for name in headers}
    assert runtime <= names


def test_same_input_same_bytes(tmp_path: Path) -> None:
    emitted(small_net(), tmp_path / "one")
    emitted(small_net(), tmp_path / "two")
    assert _tree(tmp_path / "one") == _tree(tmp_path / "two")


def test_unchanged_files_are_not_touched(tmp_path: Path) -> None:
    program = emitted(small_net(), tmp_path).program
    for path in tmp_path.rglob("*.[ch]"):
        os.utime(path, (1, 1))
    emit_library(program, tmp_path)
    assert all(path.stat().st_mtime == 1 for path in tmp_path.rglob("*.[ch]"))


def test_no_time_user_or_path_in_the_output(tmp_path: Path) -> None:
    emitted(small_net(), tmp_path)
    text = b"".join(_tree(tmp_path).values())
    assert str(tmp_path).encode() not in text


def test_header_says_what_a_caller_needs(tmp_path: Path) -> None:
    graph = small_net().replace(input_layouts={"x": (0, 2, 3, 1)})
    program = emitted(graph, tmp_path).program
    header = (tmp_path / "include" / "edgec_sample.h").read_text("utf-8")
    for text in (
        f"#define EDGEC_SAMPLE_ARENA_BYTES {program.arena_bytes}\n",
        "#define EDGEC_SAMPLE_INPUT_0_BYTES 243\n",
        "#define EDGEC_SAMPLE_INPUT_0_SCALE 0.05\n",
        "#define EDGEC_SAMPLE_INPUT_0_ZERO_POINT (-3)\n",
        "#define EDGEC_SAMPLE_OUTPUT_0_ELEMENTS 10\n",
        "int8_t [1, 9, 9, 3], the model's axes in the order 0, 2, 3, 1",
        "extern const edgec_model_t edgec_sample_model;",
        program.digest[:16],
    ):
        assert text in header


def _hostile_net() -> Graph:
    net = NetBuilder(_HOSTILE)
    x = net.input(_HOSTILE + "x", 1, 4, 4, 2)
    y = net.conv(x, "b" * 10_000 + "*/", (1, 4, 4, 2), kernel=3, pad=1)
    return net.build(net.add(x, y, "int"))


def test_hostile_names_compile_and_stay_inside(tmp_path: Path) -> None:
    library = tmp_path / "deep" / "library"
    emitted(_hostile_net(), library)
    assert {path.name for path in tmp_path.iterdir()} == {"deep"}
    assert {path.name for path in (tmp_path / "deep").iterdir()} == {"library"}
    _compile(library, "gcc", (), tmp_path)


_TARGETS = (
    ("gcc", ()),
    ("clang", ()),
    ("arm-none-eabi-gcc", ("-mcpu=cortex-m0plus", "-mthumb")),
    ("arm-none-eabi-gcc", ("-mcpu=cortex-m4", "-mthumb", "-mfpu=fpv4-sp-d16", "-mfloat-abi=hard")),
)


@pytest.mark.few_cases(3)
@pytest.mark.parametrize(("compiler", "flags"), _TARGETS, ids="".join)
@pytest.mark.parametrize("level", ["-Os", "-O2"])
def test_compiles_clean(compiler: str, flags: tuple[str, ...], level: str, tmp_path: Path) -> None:
    emitted(small_net(), tmp_path / "library")
    _compile(tmp_path / "library", compiler, (*flags, level), tmp_path)


def _compile(library: Path, compiler: str, flags: tuple[str, ...], folder: Path) -> list[Path]:
    program = process.which(compiler)
    if program is None:
        pytest.skip(f"{compiler} is not installed")
    objects = []
    for source in sorted((library / "src").glob("*.c")):
        output = folder / f"{source.stem}.o"
        options = ["-std=c11", *WARNING_FLAGS, "-Werror", *flags, f"-I{library / 'include'}"]
        done = process.run([program, *options, "-c", source, "-o", output], timeout_s=120)
        assert done.returncode == 0, done.stderr
        objects.append(output)
    return objects


def test_needs_no_heap_no_float_and_no_64_bit_division(tmp_path: Path) -> None:
    emitted(small_net(), tmp_path / "library")
    flags = ("-mcpu=cortex-m0plus", "-mthumb", "-Os")
    objects = _compile(tmp_path / "library", "arm-none-eabi-gcc", flags, tmp_path)
    nm = process.which("arm-none-eabi-nm")
    assert nm is not None
    done = process.run([nm, "--undefined-only", *objects], timeout_s=60)
    undefined = {line.split()[-1] for line in done.stdout.splitlines() if " U " in line}
    allowed = {"memcpy", "memset", "memmove", "__aeabi_lmul", "__aeabi_uidiv", "__aeabi_idiv"}
    foreign = {name for name in undefined - allowed if not name.startswith("edgec_sample_")}
    assert not foreign


_MAIN = """
#include "edgec_first.h"
#include "edgec_second.h"
#include <stddef.h>
#include <string.h>

static _Alignas(EDGEC_ARENA_ALIGNMENT) uint8_t arena[65536];

static int check(const edgec_model_t *model, uint32_t arena_bytes)
{
    edgec_context_t context;
    memset(&context, 0, sizeof context);
    if (model->run(&context) != EDGEC_ERROR_NOT_READY) {
        return 1;
    }
    if (model->run(NULL) != EDGEC_ERROR_NULL || model->init(NULL, arena, 1U) != EDGEC_ERROR_NULL) {
        return 2;
    }
    if (model->init(&context, arena, arena_bytes - 1U) != EDGEC_ERROR_ARENA ||
        model->init(&context, arena + 1, arena_bytes) != EDGEC_ERROR_ARENA) {
        return 3;
    }
    if (model->init(&context, arena, arena_bytes) != EDGEC_OK) {
        return 4;
    }
    return (model->run(&context) == EDGEC_OK) ? 0 : 5;
}

int main(void)
{
    edgec_context_t context;
    memset(&context, 0, sizeof context);
    if (edgec_first_input(&context, 0U) != NULL) {
        return 6;
    }
    edgec_first_init(&context, arena, sizeof arena);
    if (edgec_first_input(&context, 0U) == NULL || edgec_first_input(&context, 1U) != NULL ||
        edgec_first_output(&context, 0U) == NULL || edgec_first_output(NULL, 0U) != NULL) {
        return 7;
    }
    const int first = check(&edgec_first_model, EDGEC_FIRST_ARENA_BYTES);
    return (first != 0) ? first : check(&edgec_second_model, EDGEC_SECOND_ARENA_BYTES);
}
"""


@pytest.mark.parametrize("compiler", ["gcc", "clang"])
def test_two_models_in_one_program(compiler: str, tmp_path: Path) -> None:
    folders = [tmp_path / name for name in ("first", "second")]
    for folder in folders:
        emitted(small_net(folder.name), folder)
    main = tmp_path / "main.c"
    main.write_text(_MAIN)
    sources = [main, *(path for folder in folders for path in sorted(folder.glob("src/*.c")))]
    build = Build(compiler, ("-O1", "-g"))
    includes = [folder / "include" for folder in folders]
    run_program(build.compile(sources, includes, tmp_path / "program"))


def test_given_names_replace_the_models_name(tmp_path: Path) -> None:
    program = lowered(small_net()).program
    emit_library(program, tmp_path, library_names("other"))
    assert (tmp_path / "include" / "edgec_other.h").is_file()


def test_parameter_structs_have_the_fields_of_the_c_header() -> None:
    from edgec.base.resources import data_dir

    folder = data_dir("firmware") / "runtime" / "include" / "edgec"
    text = "".join(
        (folder / name).read_text("utf-8") for name in ("arithmetic/params.h", "arithmetic/math.h")
    )
    for cls in param_structs():
        start = text.index(f"typedef struct {cls.c_type.removesuffix('_t')} {{")
        body = text[start : text.index("}", start)].splitlines()[1:]
        declared = [line.split(";")[0].split()[-1].lstrip("*") for line in body if ";" in line]
        assert declared == [field.name for field in dataclasses.fields(cls)]


def test_write_failure_is_one_clear_error(tmp_path: Path) -> None:
    blocker = tmp_path / "library"
    blocker.write_text("a file")
    with pytest.raises(CodegenError, match="cannot write generated code"):
        emit_library(lowered(small_net()).program, blocker)
    assert blocker.read_text() == "a file"


@pytest.mark.skipif(os.geteuid() == 0, reason="root writes everywhere")
def test_read_only_folder_is_one_clear_error(tmp_path: Path) -> None:
    tmp_path.chmod(stat.S_IRUSR | stat.S_IXUSR)
    with pytest.raises(CodegenError, match="Permission denied"):
        emit_library(lowered(small_net()).program, tmp_path)


@pytest.mark.parametrize("name", ["/etc/x", "../x", "a/../../x", ""])
def test_no_path_leaves_the_folder(name: str, tmp_path: Path) -> None:
    with pytest.raises(InternalError, match="outside its folder"):
        write_tree(tmp_path, {name: ""})

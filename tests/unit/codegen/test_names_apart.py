"""Names in C: those of any two models, and those of the runtime, never meet."""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from lower_samples import emitted, small_net

from edgec.base.resources import data_dir
from edgec.codegen import library_names
from edgec.codegen.includes import library_folder, runtime_number
from edgec.kernels.registry import FAMILIES
from edgec.toolchain import process
from edgec.toolchain.cc import WARNING_FLAGS

_PACKAGE = Path(__file__).parents[3] / "edgec"
_END = re.compile(r"names\.(?:prefix|macro)(?: \}\}|\})_(\w+)")
_COMMENT = re.compile(r"/\*.*?\*/|%#[^\n]*", re.S)
_NAMES = (
    *("attention", "line", "batch", "fill4", "widen4", "neon", "trimmed", "pool_add"),
    *("net", "net_quantize", "digits", "digits_weights", "digits_labels", "digits_0"),
)


def _ends() -> set[str]:
    """Ends of the names of functions and macros of a model, without those that hold a number."""
    folders = (_PACKAGE / "templates", _PACKAGE / "codegen")
    files = [path for folder in folders for path in folder.rglob("*") if path.is_file()]
    texts = (path.read_text("utf-8") for path in files if path.suffix in {".py", ".j2"})
    found = {end for text in texts for end in _END.findall(text) if not end.endswith("_")}
    # Members of no library: targets and programs around it.
    others = {"example", "program", "run_once", "H"}
    return {"model", "label", *found} - others - {""}


def test_the_ends_are_found() -> None:
    expected = {"init", "run", "run_length", "input", "output", "quantize", "argmax", "ARENA_BYTES"}
    assert expected <= _ends()


def test_no_end_ends_in_another_one() -> None:
    ends = _ends()
    assert not [(a, b) for a in ends for b in ends if a.endswith(f"_{b}")]
    stems = {family.constant_stem for family in FAMILIES} | {"weights", "bias"}
    parts = {"_".join(stem.split("_")[i:]) for stem in stems for i in range(stem.count("_") + 1)}
    assert not parts & ends
    assert library_names("m").constant(3, "bias") == "edgec_m_3_bias"


def _runtime_names() -> Iterator[str]:
    firmware = data_dir("firmware")
    folders = [firmware / part for part in ("runtime", "host", "app", "port")]
    for folder in (*folders, _PACKAGE / "kernels"):
        for path in sorted(folder.rglob("*")):
            if path.suffix in {".c", ".h", ".j2"}:
                yield from re.findall(r"\bedgec_\w+|\bEDGEC_\w+", _code(path))


def _code(path: Path) -> str:
    return _COMMENT.sub("", path.read_text("utf-8"))


def test_no_name_of_the_runtime_has_such_an_end() -> None:
    ends = tuple(f"_{end}" for end in _ends())
    names = set(_runtime_names()) - {"edgec_model"}  # a tag without a model's name before its end
    assert len(names) > 300
    assert not sorted(name for name in names if name.endswith(ends))
    assert not sorted(name for name in names if re.search(r"_(IN|OUT)PUT_\d", name))


def test_no_include_guard_is_that_of_a_model() -> None:
    guards = {name for name in _runtime_names() if name.endswith("_H")}
    kinds = ("EDGEC_MODEL_EDGEC_", "EDGEC_LABELS_EDGEC_", "EDGEC_CONSTANTS_EDGEC_")
    assert not [guard for guard in guards if guard.startswith(kinds)]


def test_models_of_hard_names_stand_in_one_program(tmp_path: Path) -> None:
    sources = []
    includes = []
    for name in _NAMES:
        emitted(small_net(name), tmp_path / name)
        sources += sorted((tmp_path / name / "src").glob("*.c"))
        includes += [f"-I{tmp_path / name / 'include'}"]
    main = tmp_path / "main.cpp"
    lines = [f'#include "{library_names(name).header}"' for name in _NAMES]
    calls = [f"edgec_{name}_model.num_steps" for name in _NAMES]
    main.write_text("\n".join((*lines, f"int main() {{ return ({' + '.join(calls)}) == 0U; }}\n")))
    names = [source.name for source in sources]
    assert len(set(names)) == len(names)
    objects = []
    for source in sources:
        objects.append(tmp_path / f"{source.stem}.o")
        _run(
            "gcc", "-std=c11", *WARNING_FLAGS, "-Werror", *includes, "-c", source, "-o", objects[-1]
        )
    _run("g++", "-Wall", "-Werror", *includes, main, *objects, "-o", tmp_path / "program")
    _run(str(tmp_path / "program"))


def _compile(source: Path, output: Path, includes: list[str]) -> None:
    _run("gcc", "-std=c11", *WARNING_FLAGS, "-Werror", *includes, "-c", source, "-o", output)


def _run(program: str, *options: str | Path) -> None:
    done = process.run([program, *options], timeout_s=120)
    assert done.returncode == 0, done.stderr


def _other_version(library: Path) -> None:
    """Turn a library into that of another version, whose contexts have another size."""
    number = "0badc0de"
    folder = library / "include" / library_folder()
    for path in library.rglob("*.[ch]"):
        text = path.read_text("utf-8").replace(runtime_number(), number)
        if path.name == "edgec.h":
            assert "    uint8_t *arena;\n" in text
            text = text.replace(
                "    uint8_t *arena;\n", "    int64_t new[8];\n    uint8_t *arena;\n"
            )
        path.write_text(text)
    folder.rename(folder.with_name(f"edgec_{number}"))


@pytest.mark.parametrize("order", [("early", "late"), ("late", "early")])
def test_libraries_of_two_versions(order: tuple[str, str], tmp_path: Path) -> None:
    """All include folders on one path, as Zephyr has them: each library finds its own headers."""
    for name in ("early", "late"):
        emitted(small_net(name), tmp_path / name)
    _other_version(tmp_path / "early")
    includes = [f"-I{tmp_path / name / 'include'}" for name in order]
    objects = []
    for name in ("early", "late"):
        user = tmp_path / f"use_{name}.c"
        user.write_text(
            f'#include "edgec_{name}.h"\n'
            f"unsigned {name}_bytes(void);\n"
            f"unsigned {name}_bytes(void) {{ return (unsigned)sizeof(edgec_context_t); }}\n"
        )
        for source in (user, *sorted((tmp_path / name / "src").glob("*.c"))):
            objects.append(tmp_path / f"{source.stem}.o")
            _run(
                "gcc",
                "-std=c11",
                *WARNING_FLAGS,
                "-Werror",
                *includes,
                "-c",
                source,
                "-o",
                objects[-1],
            )
    main = tmp_path / "main.c"
    main.write_text(
        "unsigned early_bytes(void);\nunsigned late_bytes(void);\n"
        "int main(void) { return early_bytes() == late_bytes() + 64U ? 0 : 1; }\n"
    )
    _run("gcc", main, *objects, "-o", tmp_path / "program")
    _run(str(tmp_path / "program"))


def test_two_versions_in_one_file_are_an_error(tmp_path: Path) -> None:
    for name in ("early", "late"):
        emitted(small_net(name), tmp_path / name)
    _other_version(tmp_path / "early")
    both = tmp_path / "both.c"
    both.write_text('#include "edgec_early.h"\n#include "edgec_late.h"\n')
    includes = [f"-I{tmp_path / name / 'include'}" for name in ("early", "late")]
    done = process.run(["gcc", *includes, "-c", both, "-o", tmp_path / "x.o"], timeout_s=120)
    assert done.returncode != 0
    assert "different versions of edgec" in done.stderr

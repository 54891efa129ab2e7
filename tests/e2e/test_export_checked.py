"""Exported libraries for build systems that are not at hand: the rules that their files follow.

The functions of ESP-IDF and of Zephyr that the CMake files call are stubs here, which compile the
sources for this computer.
"""

import re
import shutil
import sys
from pathlib import Path

import kconfiglib
import pytest
import yaml
from exported_library import example_text, export, need, run

from edgec.codegen.includes import library_folder
from edgec.report.model import Report

PREFIX = "edgec_digits_mlp"
CATEGORIES = {
    *("Display", "Communication", "Signal Input/Output", "Sensors", "Device Control", "Timing"),
    *("Data Storage", "Data Processing", "Other", "Uncategorized"),
}
"""Those of Arduino's library specification."""
IDF = """
set(COMPONENT_SOURCES "")
function(idf_component_register)
    cmake_parse_arguments(C "" "" "SRCS;INCLUDE_DIRS;REQUIRES" ${ARGN})
    get_filename_component(name ${CMAKE_CURRENT_SOURCE_DIR} NAME)
    add_library(${name} STATIC ${C_SRCS})
    target_compile_features(${name} PUBLIC c_std_11)
    if(C_INCLUDE_DIRS)
        target_include_directories(${name} PUBLIC ${C_INCLUDE_DIRS})
    endif()
    foreach(other ${C_REQUIRES})
        target_link_libraries(${name} PUBLIC ${other})
    endforeach()
endfunction()
"""
ZEPHYR = """
file(STRINGS ${CMAKE_SOURCE_DIR}/prj.conf lines REGEX "^CONFIG_")
foreach(line ${lines})
    string(REGEX MATCH "^(CONFIG_[A-Z0-9_]+)=(.*)$" found "${line}")
    set(${CMAKE_MATCH_1} ${CMAKE_MATCH_2})
endforeach()
enable_language(C)
add_executable(app)
add_library(zephyr_interface INTERFACE)
macro(zephyr_include_directories)
    target_include_directories(zephyr_interface INTERFACE ${ARGN})
endmacro()
macro(zephyr_library_named name)
    set(ZEPHYR_CURRENT_LIBRARY ${name})
    add_library(${name} STATIC)
    target_compile_features(${name} PUBLIC c_std_11)
    target_link_libraries(${name} PUBLIC zephyr_interface)
    target_link_libraries(app PRIVATE ${name})
endmacro()
macro(zephyr_library_sources)
    target_sources(${ZEPHYR_CURRENT_LIBRARY} PRIVATE ${ARGN})
endmacro()
foreach(module ${ZEPHYR_EXTRA_MODULES})
    add_subdirectory(${module}/zephyr ${CMAKE_BINARY_DIR}/module)
endforeach()
"""


@pytest.fixture
def expected(compiled_mlp: Path, tmp_path: Path) -> str:
    """What every example prints."""
    need("gcc")
    port = Report.read(compiled_mlp).inputs[0]
    return example_text(compiled_mlp, port.zero_point, port.size_bytes, tmp_path / "host")


def properties(path: Path) -> dict[str, str]:
    """A file of `key=value` lines, as Arduino reads it."""
    lines = [line for line in path.read_text().splitlines() if line and line[0] != "#"]
    return dict(line.split("=", 1) for line in lines)


def test_rules_of_arduino_lint(compiled_mlp: Path, tmp_path: Path):
    out = export(compiled_mlp, "arduino", tmp_path / PREFIX)
    found = properties(out / "library.properties")
    needed = {"name", "version", "author", "maintainer", "sentence", "paragraph", "category"}
    assert found.keys() == needed | {"url", "architectures", "includes"}
    assert all(value and value == value.strip() for value in found.values())
    assert re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9 _.\-]{0,62}", found["name"])
    assert not re.search("arduino|library", found["name"], re.I)
    assert "arduino" not in f"{found['author']}{found['maintainer']}".lower()
    assert re.fullmatch(r"\d+\.\d+\.\d+", found["version"])
    assert found["category"] in CATEGORIES
    assert found["architectures"] == "*"
    assert found["url"].startswith("https://")
    assert not found["paragraph"].startswith(found["sentence"])
    assert not re.search("library", found["sentence"], re.I)
    assert (out / "src" / found["includes"]).is_file()
    assert found["includes"] == f"{found['name']}.h"


def test_folders_of_arduino(compiled_mlp: Path, tmp_path: Path):
    out = export(compiled_mlp, "arduino", tmp_path / PREFIX)
    names = {path.name for path in out.iterdir()}
    assert not names & {"utility", "extras.development", ".development", "include"}
    assert not [path for path in out.rglob("*") if path.is_symlink() or path.suffix == ".exe"]
    sketches = list((out / "examples").rglob("*.ino"))
    assert sketches
    assert all(path.stem == path.parent.name for path in sketches)
    assert all(path.is_file() for path in (out / "README.md", out / "LICENSE"))
    text = (out / "keywords.txt").read_text()
    for line in text.splitlines():
        assert re.fullmatch(r"[A-Za-z_]\w*\t(KEYWORD1|KEYWORD2|LITERAL1)", line), line
    header = (out / "src" / f"{PREFIX}.h").read_text()
    header += (out / "src" / library_folder() / "edgec.h").read_text()
    assert [word for line in text.splitlines() if (word := line.split()[0]) not in header] == []


def test_esp_idf(compiled_mlp: Path, expected: str, tmp_path: Path):
    """The component and its example, built with stubs of ESP-IDF's functions."""
    need("cmake", "gcc")
    out = export(compiled_mlp, "idf", tmp_path / "components" / PREFIX)
    manifest = yaml.safe_load((out / "idf_component.yml").read_text())
    assert manifest.keys() == {"version", "description", "license", "dependencies"}
    assert re.fullmatch(r"\d+\.\d+\.\d+", manifest["version"])
    assert re.fullmatch(r">=\d+\.\d+", manifest["dependencies"]["idf"])
    main = out / "examples" / "run_once" / "main"
    ((name, dependency),) = yaml.safe_load((main / "idf_component.yml").read_text())[
        "dependencies"
    ].items()
    assert (main / dependency["path"]).resolve() == out.resolve()
    assert name == PREFIX
    (tmp_path / "start.c").write_text("void app_main(void);\nint main(void) { app_main(); }\n")
    (tmp_path / "CMakeLists.txt").write_text(
        f"cmake_minimum_required(VERSION 3.16)\nproject(idf C)\n{IDF}\n"
        f"add_subdirectory({out} component)\nadd_subdirectory({main} main)\n"
        "add_executable(firmware start.c)\ntarget_link_libraries(firmware main)\n"
    )
    run("cmake", "-S", tmp_path, "-B", tmp_path / "build")
    run("cmake", "--build", tmp_path / "build")
    assert run(tmp_path / "build" / "firmware") == expected


def test_component_is_packed(compiled_mlp: Path, tmp_path: Path):
    """By ESP-IDF's own tool, of PyPI's idf-component-manager."""
    compote = Path(sys.executable).with_name("compote")
    out = export(compiled_mlp, "idf", tmp_path / PREFIX)
    run(compote, "component", "pack", "--name", PREFIX, cwd=out)
    assert (out / "dist" / f"{PREFIX}_0.1.0.tgz").is_file()


def test_zephyr(compiled_mlp: Path, expected: str, tmp_path: Path):
    """The module and its sample, built with stubs of Zephyr's functions."""
    need("cmake", "gcc")
    out = export(compiled_mlp, "zephyr", tmp_path / "module")
    module = yaml.safe_load((out / "zephyr" / "module.yml").read_text())
    assert module["name"] == PREFIX
    assert (out / module["build"]["cmake"] / "CMakeLists.txt").is_file()
    assert (out / module["build"]["kconfig"]).is_file()
    sample = out / "samples" / "run_once"
    twister = yaml.safe_load((sample / "sample.yaml").read_text())
    assert twister.keys() == {"sample", "common", "tests"}
    (pattern,) = twister["common"]["harness_config"]["regex"]
    assert re.match(pattern, expected)
    (tmp_path / "ZephyrConfig.cmake").write_text(ZEPHYR)
    run("cmake", "-S", sample, "-B", tmp_path / "build", f"-DZephyr_DIR={tmp_path}")
    run("cmake", "--build", tmp_path / "build")
    assert run(tmp_path / "build" / "app") == expected


def test_kconfig(compiled_mlp: Path, tmp_path: Path):
    out = export(compiled_mlp, "zephyr", tmp_path / "module")
    found = kconfiglib.Kconfig(str(out / "zephyr" / "Kconfig"))
    assert found.warnings == []
    (symbol,) = found.unique_defined_syms
    assert (symbol.name, symbol.type) == (PREFIX.upper(), kconfiglib.BOOL)
    found.load_config(str(shutil.copy(out / "samples/run_once/prj.conf", tmp_path)))
    assert symbol.str_value == "y"

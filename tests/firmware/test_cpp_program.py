"""A main program of the user's own in C++, in place of src/app, with the port and a library."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest
from lower_samples import emitted, small_net

from edgec.base.resources import data_dir
from edgec.codegen.cnames import library_names
from edgec.codegen.project import FirmwareModel, emit_project
from edgec.target.board import load_board
from edgec.toolchain.platformio import build

PROGRAM = """
#include "edgec_user.h"
#include "port.h"

namespace {
PORT_ARENA alignas(EDGEC_ARENA_ALIGNMENT) uint8_t arena[EDGEC_USER_ARENA_BYTES];

class Network {
  public:
    bool begin() { return edgec_user_init(&context_, arena, sizeof arena) == EDGEC_OK; }
    int8_t first() {
        (void)edgec_user_run(&context_);
        return *static_cast<const int8_t *>(edgec_user_output(&context_, 0));
    }

  private:
    edgec_context_t context_;
};

Network network;
} // namespace

int main() {
    port_init();
    if (!network.begin()) {
        port_halt();
    }
    const char answer = static_cast<char>(network.first());
    port_write(&answer, 1);
    port_reset();
}
"""


@pytest.mark.few_cases(2)
@pytest.mark.parametrize("board", ["nucleo", "microbit", "rpi_pico", "host"])
def test_cpp_firmware_is_built(tmp_path: Path, board: str) -> None:
    target = load_board(board)
    for tool in ("gcc", "g++"):
        if shutil.which(f"{target.core.gcc_prefix}{tool}") is None:
            pytest.skip(f"{target.core.gcc_prefix}{tool} is not installed")
    program = emitted(small_net("user"), tmp_path / "library").program
    names = library_names("user")
    model = FirmwareModel(
        tmp_path / "library", names.name, names.header, names.symbol, program.arena_bytes, 1
    )
    emit_project([model], target, tmp_path / "project")
    for path in (tmp_path / "project" / "src" / "app").iterdir():
        path.unlink()
    (tmp_path / "project" / "src" / "app" / "main.cpp").write_text(PROGRAM)
    assert build(tmp_path / "project", target).elf.is_file()


@pytest.mark.parametrize("compiler", ["g++", "clang++"])
@pytest.mark.parametrize("standard", ["c++11", "c++20"])
def test_port_in_cpp_declares_c_functions(tmp_path: Path, compiler: str, standard: str) -> None:
    if shutil.which(compiler) is None:
        pytest.skip(f"{compiler} is not installed")
    source = tmp_path / "use.cpp"
    source.write_text('#include "port.h"\nint stop() { port_reset(); }\n')
    flags = [f"-std={standard}", "-Wall", "-Wextra", "-Wpedantic", "-Wundef", "-Werror"]
    argv = [compiler, *flags, f"-I{data_dir('firmware') / 'port'}", "-c", source, "-o"]
    subprocess.run([*argv, tmp_path / "use.o"], check=True, timeout=60)
    symbols = subprocess.run(
        ["nm", tmp_path / "use.o"], check=True, capture_output=True, text=True, timeout=60
    ).stdout
    assert "U port_reset" in symbols

"""The firmware program stays small, and free of the C library."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

_FIRMWARE = Path(__file__).parents[2] / "firmware"
_APP = (
    *("common/crc32", "common/text"),
    *("console/frame", "console/protocol", "console/reply", "console/steps"),
)
_FOLDERS = ("app/common", "app/console", "port", "runtime/include")


@pytest.mark.skipif(shutil.which("arm-none-eabi-gcc") is None, reason="no arm-none-eabi-gcc")
@pytest.mark.parametrize("cpu", ["cortex-m0plus", "cortex-m4"])
def test_size_of_the_program(tmp_path: Path, cpu: str) -> None:
    objects = []
    for name in _APP:
        target = tmp_path / f"{Path(name).name}.o"
        command = ["arm-none-eabi-gcc", f"-mcpu={cpu}", "-mthumb", "-std=c11", "-Os", "-c"]
        # As the project does: a loop stays a loop instead of becoming strlen.
        command += ["-fno-tree-loop-distribute-patterns"]
        command += [f"-I{_FIRMWARE / folder}" for folder in _FOLDERS]
        source = _FIRMWARE / "app" / f"{name}.c"
        subprocess.run([*command, str(source), "-o", str(target)], check=True)
        objects.append(str(target))
    sizes = subprocess.run(
        ["arm-none-eabi-size", *objects], check=True, capture_output=True, text=True
    )
    rows = [line.split() for line in sizes.stdout.splitlines()[1:]]
    assert sum(int(row[0]) for row in rows) <= 4500  # code and strings
    assert sum(int(row[1]) for row in rows) == 0  # initialised variables
    symbols = subprocess.run(
        ["arm-none-eabi-nm", "-u", *objects], check=True, capture_output=True, text=True
    )
    outside = {line.split()[-1] for line in symbols.stdout.splitlines() if " U " in line}
    own = ("port_", "text_", "crc32_", "frame_", "reply_", "memset", "memcpy", "__gnu_thumb1_case")
    rest = {name for name in outside if not name.startswith(own)}
    assert rest == {"trace_step", "dump_step", "bench_step"}

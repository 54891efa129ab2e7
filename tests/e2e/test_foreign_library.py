"""The library of a build folder that somebody has changed: it runs in a confined process."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest
from bad_input_support import TEST_DATA, Done, check_one_message, edgec

from edgec.toolchain.confined import Confinement, confinement

Capsys = pytest.CaptureFixture[str]
_HEAD = """
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>
__attribute__((constructor)) static void before(void)
{
    %s
}
"""


def changed(build: Path, folder: Path, constructor: str) -> Path:
    """A copy of a build folder whose library does something when it is loaded."""
    copy = Path(shutil.copytree(build, folder / "foreign"))
    source = copy / "library" / "src" / "edgec_digits_mlp.c"
    source.write_text(source.read_text() + _HEAD % constructor)
    return copy


def evaluated(capsys: pytest.CaptureFixture[str], folder: Path) -> Done:
    return edgec(capsys, "evaluate", folder, "--data", TEST_DATA, "--on", "host")


def test_it_reaches_no_file(compiled_mlp: Path, tmp_path: Path, capsys: Capsys) -> None:
    if confinement() is Confinement.NONE:
        pytest.skip("nothing confines programs on this computer")
    mark = tmp_path / "ESCAPED"
    write = f'int file = open("{mark}", O_WRONLY | O_CREAT, 0600); if (file >= 0) close(file);'
    done = evaluated(capsys, changed(compiled_mlp, tmp_path, write))
    assert done.code == 0, done.err
    assert not mark.exists()


def test_it_is_not_in_this_process(compiled_mlp: Path, tmp_path: Path, capsys: Capsys) -> None:
    done = evaluated(
        capsys, changed(compiled_mlp, tmp_path, f"if (getpid() == {os.getpid()}) abort();")
    )
    assert done.code == 0, done.err


def said(message: bytes) -> str:
    """C that writes a message to every open file and ends the process."""
    text = "".join(f"\\{byte:03o}" for byte in message)
    size = len(message)
    return f'for (int f = 1; f < 64; f++) if (write(f, "{text}", {size}) == {size}) _exit(0);'


def framed(text: str) -> bytes:
    return len(text).to_bytes(4, "little") + text.encode()


@pytest.mark.parametrize(
    "constructor",
    [
        "abort();",
        "_exit(0);",
        *(
            said(message)
            for message in (
                b"nonsense, nonsense",
                b"\xff\xff\xff\xff",
                framed("{}"),
                framed("[" * 100_000),
                framed('{"arrays": [["int8", [-1]]]}'),
                framed('{"arrays": [["int8", [3000000000]]]}'),
                framed('{"arrays": [["object", [1]]]}'),
                framed('{"arrays": []}'),
                framed('{"arrays": [], "error": "\\u001b"}'),
                framed('{"arrays": [], "error": ["\\u001b[2J", 1, null]}'),
            )
        ),
    ],
    ids=range(12),
)
def test_whatever_it_says_is_one_message(
    compiled_mlp: Path, tmp_path: Path, capsys: Capsys, constructor: str
) -> None:
    done = evaluated(capsys, changed(compiled_mlp, tmp_path, constructor))
    check_one_message(done, code=10)

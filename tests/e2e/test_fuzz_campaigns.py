"""The campaigns of hostile input, short, as one would start them; planted faults are found."""

from __future__ import annotations

import random
import subprocess
import sys
from pathlib import Path

import pytest

from edgec.target.board import load_board
from tests.firmware.toy_firmware import compile_project, emit_toy_project
from tests.fuzz.campaigns import MODULES
from tests.fuzz.protocol import shrunk, wrong_reply
from tests.fuzz.protocol_lines import conversation
from tests.fuzz.protocol_reference import TOYS

pytestmark = pytest.mark.usefixtures("terminal_signals")
ROOT = Path(__file__).parents[2]
SHORT = {
    "boards": 200,
    "data": 1000,
    "models": 60,
    "networks": 40,
    "protocol": 100_000,
    "signals": 6,
    "projects": 20,
    "tflite": 60,
}
"""Cases of the short run of each campaign."""


@pytest.mark.slow
@pytest.mark.parametrize("name", SHORT)
def test_short_campaign(tmp_path: Path, name: str) -> None:
    words = ["-m", "tests.fuzz", name, "--cases", str(SHORT[name]), "--keep", str(tmp_path)]
    done = subprocess.run(
        [sys.executable, *words], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert "0 findings" in done.stdout


def test_every_campaign_has_a_short_run() -> None:
    assert set(SHORT) == set(MODULES)


FAULTS = (
    ("count > bytes - start", "count > bytes"),
    ("if (start > protocol->written[index]) {", "if (start > bytes) {"),
    ("left > size - start", "left > size"),
    ("protocol->line_length == PROTOCOL_LINE_BYTES", "protocol->line_length > 2000U"),
    ("return crc == expected ? request : NULL;", "return request;"),
    ("    protocol_forget(protocol);\n    protocol->context.hook", "    protocol->context.hook"),
)


@pytest.mark.parametrize(
    ("right", "wrong"),
    [FAULTS[0], *(pytest.param(*fault, marks=pytest.mark.slow) for fault in FAULTS[1:])],
)
def test_planted_fault_of_the_protocol_is_found(tmp_path: Path, right: str, wrong: str) -> None:
    board = load_board("host")
    project = emit_toy_project(tmp_path, board, tuple(toy.name for toy in TOYS))
    source = project / "src" / "app" / "protocol.c"
    text = source.read_text()
    assert text.count(right) == 1
    source.write_text(text.replace(right, wrong))
    flags = ("-fsanitize=address,undefined", "-fno-sanitize-recover=all", "-Wno-unused")
    program = compile_project(project, board, tmp_path / "firmware.elf", flags)
    pieces = conversation(random.Random(1), 3000)
    assert wrong_reply(program, pieces)
    few = shrunk(pieces, lambda some: bool(wrong_reply(program, some)))
    assert wrong_reply(program, few)
    assert len(few) < 40

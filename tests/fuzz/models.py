"""Campaign `models`: damaged ONNX files, through the command line and beside the float network.

A finding is a traceback or exit code 70, a file outside of the output folder, a file left behind,
memory or time beyond the limits, or numbers that the network does not mean.
"""

from __future__ import annotations

import contextlib
import logging
import os
import random
import tempfile
from pathlib import Path

import onnx

from .campaign import Campaign, Case, Outcome
from .command_line import left_behind, run_command
from .model_damage import DAMAGES, damaged_bytes

_MODEL = "model.onnx"
_OUT = "out"
_BOARDS = ("host", "host", "nucleo_f446re", "microbit", "mps2_an500", "rpi_pico", "raspberry_pi_4")
_NUMBERS_SHARE = 0.5
_CHECKED_SHARE = 0.04
_BYTES_SHARE = 0.1

_SEEDS: list[onnx.ModelProto] = []


def prepare(shared: Path) -> None:
    """Build the seeds and import what cases need."""
    del shared
    import edgec.commands.compile
    import edgec.commands.inspect
    import edgec.commands.quantize
    import edgec.report.text
    import edgec.workflow.session  # noqa: F401

    from . import numbers  # noqa: F401
    from .model_seeds import seed_models

    logging.disable(logging.WARNING)
    _SEEDS[:] = seed_models()
    logging.disable(logging.NOTSET)


def run(case: Case) -> Outcome:
    """Damage a seed and give it to a command."""
    rng = case.random()
    os.chdir(case.folder)
    _surroundings(case.folder)
    Path(_MODEL).write_bytes(_damaged(rng))
    before = {path.name for path in case.folder.iterdir()}
    words = _command(rng)
    print("command:", *words, flush=True)
    code, problem = run_command(words)
    problem = problem or left_behind(case.folder, before | {_OUT, "q.onnx"})
    if problem:
        return Outcome(f"{words[0]}: exit code {code}", problem)
    if code == 0 and words[0] == "compile" and rng.random() < _NUMBERS_SHARE:
        return _numbers(words[0])
    return Outcome(f"{words[0]}: exit code {code}")


def _numbers(command: str) -> Outcome:
    from . import numbers

    print("numbers", flush=True)
    problem = numbers.problem(Path(_MODEL))
    return Outcome(f"{command}: numbers {'wrong' if problem else 'right'}", problem)


def _surroundings(folder: Path) -> None:
    """What external data may point to: a file, a folder, a link that leaves."""
    (folder / "data.bin").write_bytes(bytes(range(256)) * 64)
    (folder / "sub").mkdir()
    with contextlib.suppress(OSError):
        (folder / "link").symlink_to("/etc/passwd")
    (folder / "tmp").mkdir()
    tempfile.tempdir = str(folder / "tmp")
    os.environ["TMPDIR"] = tempfile.tempdir


def _damaged(rng: random.Random) -> bytes:
    model = onnx.ModelProto()
    model.CopyFrom(rng.choice(_SEEDS))
    as_bytes = rng.random() < _BYTES_SHARE
    for _ in range(rng.choice((0, 1)) if as_bytes else rng.choice((1, 1, 1, 1, 1, 2, 3))):
        with contextlib.suppress(
            ValueError, TypeError, OverflowError
        ):  # protobuf refuses it itself
            rng.choice(DAMAGES)(model, rng)
    data = model.SerializeToString()
    return damaged_bytes(data, rng) if as_bytes else data


def _command(rng: random.Random) -> list[str]:
    json = ["--json"] if rng.random() < 0.2 else []
    kind = rng.random()
    if kind < 0.08:
        return ["inspect", _MODEL, *json]
    if kind < 0.16:
        return ["quantize", _MODEL, "--output", "q.onnx", *json]
    verify = "--verify" if rng.random() < _CHECKED_SHARE else "--no-verify"
    board = "host" if verify == "--verify" else rng.choice(_BOARDS)
    words = ["compile", _MODEL, "--board", board, "--out", _OUT, "--no-build", verify]
    return [*words, *json]


CAMPAIGN = Campaign(
    summary="damaged ONNX models: the command line, and numbers beside the float network",
    run=run,
    nightly=20_000,
    prepare=prepare,
    seconds=90.0,
    memory_bytes=6 << 30,
)

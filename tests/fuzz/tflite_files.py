"""Campaign `tflite`: damaged TensorFlow Lite files through the command line.

Files are damaged byte by byte, field by field of any of their tables, and in what they say of
tensors and operators.

A finding is a traceback or exit code 70, a file left behind, memory or time beyond the limits.
"""

from __future__ import annotations

import logging
import os
import random
from pathlib import Path
from typing import Any

from .campaign import Campaign, Case, Outcome
from .command_line import left_behind, own_scratch, run_command

_TESTS = Path(__file__).resolve().parent.parent
_MODEL, _OUT = "model.tflite", "out"
_LIES_SHARE, _FIELDS_SHARE = 0.35, 0.4
_BOARDS = ("host", "host", "nucleo_f446re", "microbit", "rpi_pico")

_WHOLE: list[bytes] = []
"""Networks and files of one operator, to be damaged in bytes and fields."""
_RECORDS: list[tuple[Any, Any]] = []
"""Tensors and operator of files of one operator, to be written with lies."""


def prepare(shared: Path) -> None:
    """Build the seeds and import what cases need."""
    from tflite_cases import CASES, model_of
    from tflite_damage import as_codes
    from tflite_metadata import metadata, with_files
    from tflite_models import tflite_bytes
    from tflite_networks import float_network, int8_network
    from tflite_wide import network as wide_network

    import edgec.commands.compile
    import edgec.commands.inspect
    import edgec.commands.quantize
    import edgec.report.text
    import edgec.workflow.session  # noqa: F401

    logging.disable(logging.WARNING)
    real = [model_of(name) for name in CASES]
    codes = [(as_codes(own, kind), op) for own, op in real for kind in ("int8", "int16", "uint8")]
    _RECORDS[:] = [*real, *codes]
    makers = (float_network, int8_network, wide_network)
    networks = [make(shared / f"{make.__name__}.tflite") for make in makers]
    _WHOLE[:] = [path.read_bytes() for path in networks] * 20
    _WHOLE.extend(tflite_bytes(tensors, [operator]) for tensors, operator in _RECORDS)
    described = [tflite_bytes(*each, metadata=metadata()) for each in _whole_operators(real)]
    _WHOLE.extend(with_files(data, {"labels.txt": "a\nb\n"}) for data in described)
    logging.disable(logging.NOTSET)


def _whole_operators(records: list[tuple[Any, Any]]) -> list[tuple[Any, Any]]:
    return [(tensors, [operator]) for tensors, operator in records]


def run(case: Case) -> Outcome:
    """Damage a seed and give it to a command."""
    rng = case.random()
    os.chdir(case.folder)
    own_scratch(case.folder)
    Path(_MODEL).write_bytes(_damaged(rng))
    before = {path.name for path in case.folder.iterdir()}
    words = _command(rng)
    print("command:", *words, flush=True)
    code, problem = run_command(words)
    problem = problem or left_behind(case.folder, before | {_OUT, "q.onnx"})
    return Outcome(f"{words[0]}: exit code {code}", problem)


def _damaged(rng: random.Random) -> bytes:
    from tflite_damage import lying_model, mutated
    from tflite_fields import damaged_fields

    kind = rng.random()
    if kind < _LIES_SHARE:
        return lying_model(rng, *rng.choice(_RECORDS))
    if kind < _LIES_SHARE + _FIELDS_SHARE:
        return damaged_fields(rng, rng.choice(_WHOLE))
    return mutated(rng, rng.choice(_WHOLE))


def _command(rng: random.Random) -> list[str]:
    kind = rng.random()
    if kind < 0.6:
        return ["inspect", _MODEL]
    if kind < 0.7:
        return ["quantize", _MODEL, "--output", "q.onnx"]
    board = rng.choice(_BOARDS)
    return ["compile", _MODEL, "--board", board, "--out", _OUT, "--no-build", "--no-verify"]


CAMPAIGN = Campaign(
    summary="damaged TensorFlow Lite files through the command line",
    run=run,
    nightly=20_000,
    prepare=prepare,
    seconds=90.0,
    memory_bytes=6 << 30,
)

"""The state of a training run in a file, so that it can go on after an interruption."""

from __future__ import annotations

import dataclasses
import hashlib
import io
import pickle
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import torch

from edgec.base.errors import ConfigError
from edgec.base.output_file import write_whole
from edgec.finetune.options import Recipe, TrainingData
from edgec.ir.graph import Graph

_NOT_OF_THE_RUN = ("device", "checkpoint", "validation")
"""Options that may change between two parts of a run."""


def fingerprint(graphs: Sequence[Graph], data: TrainingData, options: Recipe) -> str:
    """A text that tells runs apart: weights, scales, the data, and the recipe."""
    digest = hashlib.sha256()
    for graph in graphs:
        for name in sorted(graph.constants):
            digest.update(name.encode())
            digest.update(graph.constants[name].array.tobytes())
        for name in sorted(graph.values):
            digest.update(f"{name} {graph.values[name].quant}".encode())
    for name in sorted(data.inputs):
        digest.update(f"{name} {data.inputs[name].shape}".encode())
        digest.update(np.ascontiguousarray(data.inputs[name]).data)
    digest.update(data.labels.tobytes())
    recipe = {
        field.name: getattr(options, field.name)
        for field in dataclasses.fields(options)
        if field.name not in _NOT_OF_THE_RUN
    }
    digest.update(repr(recipe).encode())
    return digest.hexdigest()


def save(path: Path, run: str, state: dict[str, Any]) -> None:
    """Write a state; an earlier one is replaced as a whole or not at all.

    Raises:
        ConfigError: the file cannot be written.
    """
    buffer = io.BytesIO()
    torch.save({"run": run, "state": state}, buffer)
    write_whole(path, buffer.getvalue())


def load(path: Path, run: str, device: torch.device) -> dict[str, Any] | None:
    """The state of this run in a file; None if there is no file.

    Raises:
        ConfigError: the file cannot be read, or is of another run.
    """
    if not path.exists():
        return None
    hint = "remove the file to start anew"
    try:
        found = torch.load(path, map_location=device, weights_only=True)
        other, state = found["run"], found["state"]
    except (OSError, RuntimeError, EOFError, pickle.UnpicklingError, KeyError, TypeError) as error:
        raise ConfigError(
            "not a readable checkpoint of fine-tuning", where=str(path), hint=hint
        ) from error
    if other != run:
        raise ConfigError(
            "the checkpoint is of a run with another model, other data or other options",
            where=str(path),
            hint=hint,
        )
    return dict(state)

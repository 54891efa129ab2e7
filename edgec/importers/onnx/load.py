"""Reads an ONNX file that nobody vouches for."""

from __future__ import annotations

from pathlib import Path

import onnx

from edgec.base.errors import ImportModelError
from edgec.base.limits import MAX_MODEL_BYTES
from edgec.base.names import shown
from edgec.importers.common.boundary import library_call
from edgec.importers.common.files import read_file
from edgec.importers.onnx.external import external_locations, load_external_data
from edgec.importers.onnx.screen import check_text, screen


def load_model(path: Path) -> onnx.ModelProto:
    """The model of a file: parsed, external data read in, structure screened.

    Raises:
        ImportModelError: the file is missing, too large, not ONNX, or breaks a rule of ONNX.
    """
    model = _parse(read_file(path, MAX_MODEL_BYTES), path)
    check_text(model)
    load_external_data(model, path.parent)
    screen(model)
    return model


def external_files(path: Path) -> tuple[str, ...]:
    """The files that hold external data of a model, as paths from its folder, sorted.

    Raises:
        ImportModelError: the file is missing, too large or not ONNX.
    """
    model = _parse(read_file(path, MAX_MODEL_BYTES), path)
    return tuple(sorted(external_locations(model)))


def _parse(data: bytes, path: Path) -> onnx.ModelProto:
    model = onnx.ModelProto()
    with library_call(f"{shown(str(path))} is not an ONNX model, or it was cut short"):
        model.ParseFromString(data)
    if not model.HasField("graph") or not model.graph.output:
        raise ImportModelError(
            "the file holds no network",
            where=shown(str(path)),
            hint="it may be cut short, or be no ONNX model at all",
        )
    return model

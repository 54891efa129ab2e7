"""The front end that an ONNX file names among its properties."""

from __future__ import annotations

from pathlib import Path

from edgec.base.limits import MAX_MODEL_BYTES
from edgec.base.options.front_end import METADATA_KEY
from edgec.importers.common.boundary import read_file
from edgec.importers.onnx.load import load_model


def front_end_of(path: Path) -> str:
    """The text of the property `METADATA_KEY`; "" where there is none.

    Args:
        path: ONNX file.

    Raises:
        ImportModelError: the file is no sound model.
    """
    if METADATA_KEY.encode() not in read_file(path, MAX_MODEL_BYTES):
        return ""  # without parsing a large model for nothing
    found = {str(each.key): str(each.value) for each in load_model(path).metadata_props}
    return found.get(METADATA_KEY, "")

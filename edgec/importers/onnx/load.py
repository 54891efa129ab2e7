"""Read an untrusted ONNX file.

External tensor data, confined to the model's own folder.

A model may keep tensors in files beside it.  The file name is the model's word, so it may point
anywhere: only plain files inside the folder of the model are read, never through a symbolic link.
"""

from __future__ import annotations

from pathlib import Path, PurePosixPath, PureWindowsPath

import onnx

from edgec.base.errors import ImportModelError
from edgec.base.limits import MAX_EXTERNAL_BYTES, MAX_MODEL_BYTES
from edgec.base.names import printable, shown
from edgec.importers.common.boundary import library_call, read_file
from edgec.importers.onnx.screen import check_text, screen
from edgec.importers.onnx.walk import all_tensors

_ARCHIVE = b"PK\x03\x04"
"""First bytes of a zip file."""


def load_external_data(model: onnx.ModelProto, folder: Path) -> None:
    """Read the external data of every tensor into the model.

    Raises:
        ImportModelError: a location leaves the folder, is no plain file, or is too short.
    """
    budget = MAX_EXTERNAL_BYTES
    for tensor, _ in all_tensors(model):
        if tensor.data_location == onnx.TensorProto.EXTERNAL:
            budget -= _load(tensor, folder, budget)


def external_locations(model: onnx.ModelProto) -> set[str]:
    """The files that tensors of a model name, before their data are loaded."""
    return {
        entry.value
        for tensor, _ in all_tensors(model)
        if tensor.data_location == onnx.TensorProto.EXTERNAL
        for entry in tensor.external_data
        if entry.key == "location"
    }


def _load(tensor: onnx.TensorProto, folder: Path, budget: int) -> int:
    """Read one tensor; the number of bytes read."""
    entries = {entry.key: entry.value for entry in tensor.external_data}
    try:
        path = _confined(entries.get("location", ""), folder, tensor.name)
        size = path.stat().st_size
        offset = _number(entries.get("offset", "0"), tensor.name)
        length = _number(entries.get("length", str(max(size - offset, 0))), tensor.name)
        if offset + length > size:
            raise _error(f"needs bytes {offset} to {offset + length} of {size}", tensor.name)
        if length > budget:
            raise _error(f"external data exceed {MAX_EXTERNAL_BYTES >> 20} MiB", tensor.name)
        with path.open("rb") as file:
            file.seek(offset)
            tensor.raw_data = file.read(length)
    except OSError as error:
        raise _error(f"external data cannot be read: {error}", tensor.name) from error
    del tensor.external_data[:]
    tensor.data_location = onnx.TensorProto.DEFAULT
    return length


def _confined(location: str, folder: Path, tensor: str) -> Path:
    """The file of a location; ImportModelError unless it is a plain file inside `folder`."""
    parts = PurePosixPath(location).parts
    absolute = PurePosixPath(location).is_absolute() or bool(PureWindowsPath(location).anchor)
    if not parts or absolute or ".." in parts or "\\" in location or "\0" in location:
        raise _error(f"external data at {shown(location)!r} lie outside its folder", tensor)
    path = folder
    for part in parts:
        path = path / part
        if path.is_symlink():
            raise _error(f"external data at {shown(location)!r} go through a link", tensor)
    if not path.is_file():
        raise _error(f"external data file {shown(location)!r} does not exist", tensor)
    return path


def _number(text: str, tensor: str) -> int:
    if not (text.isascii() and text.isdigit() and len(text) < 20):
        raise _error(f"external data with a bad offset or length {shown(text)!r}", tensor)
    return int(text)


def _error(what: str, tensor: str) -> ImportModelError:
    return ImportModelError(
        what,
        where=f"tensor {shown(tensor)}",
        hint="keep the data file beside the model, or save the model as one file",
    )


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
    if data.startswith(_ARCHIVE):
        raise ImportModelError(
            "an archive, as PyTorch and Keras save models, and no ONNX model",
            where=printable(str(path)),
            hint="export it: torch.onnx.export(model, (example,), 'model.onnx'); Keras: tf2onnx",
        )
    model = onnx.ModelProto()
    with library_call(f"{printable(str(path))} is not an ONNX model, or it was cut short"):
        model.ParseFromString(data)
    if not model.HasField("graph") or not model.graph.output:
        raise ImportModelError(
            "the file holds no network",
            where=printable(str(path)),
            hint="it may be cut short, or be no ONNX model at all",
        )
    return model

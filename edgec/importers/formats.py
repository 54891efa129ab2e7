"""Every kind of model file that edgec reads; files are told apart by what they hold."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from edgec.base.description import ONNX_SUFFIX, TFLITE_SUFFIX, Description
from edgec.base.errors import ConfigError
from edgec.base.options import MaxLength, StatePairs
from edgec.importers.common.boundary import read_file
from edgec.importers.common.input_shapes import NO_SHAPES, batch_notes, samples_first
from edgec.importers.common.input_values import NO_VALUES, Values
from edgec.importers.common.states import BY_NAMES
from edgec.importers.common.summary import ModelSummary
from edgec.importers.onnx.front_end import front_end_of
from edgec.importers.onnx.importer import import_model as import_onnx
from edgec.importers.onnx.importer import inspect_model as inspect_onnx
from edgec.importers.onnx.input_shapes import declared_inputs, recurrent_batches
from edgec.importers.onnx.input_shapes import shapes_at as shapes_of_onnx
from edgec.importers.onnx.input_values import load_fixed
from edgec.importers.onnx.labels import labels_of
from edgec.importers.onnx.load import external_files, load_model
from edgec.importers.tflite import is_tflite
from edgec.ir.graph import Graph

_HEAD_BYTES = 8


def import_model(
    path: Path,
    shapes: Mapping[str, tuple[int, ...]] = NO_SHAPES,
    state: StatePairs = BY_NAMES,
    values: Values = NO_VALUES,
) -> Graph:
    """Read a model file into a graph of the REAL stage.

    Args:
        path: the model.
        shapes: input name to shape, for inputs with open dimensions.
        state: inputs and outputs of an ONNX model that are kept from run to run; none: of a
            TensorFlow Lite file no variable tensor is kept either.
        values: numbers that inputs of an ONNX model are fixed to, by name.

    Raises:
        UnsupportedModelError: nodes that cannot be compiled, all of them.
        ImportModelError: the file is no sound model.
        ConfigError: `shapes`, `state` or `values` do not fit the model.
    """
    if not _holds_tflite(path):
        return samples_first(import_onnx(path, shapes, state=state, values=values))
    _need_no_values(values)
    if state.pairs:
        raise ConfigError("a TensorFlow Lite file has no such pairs", where="--state")
    from edgec.importers.tflite import importer  # noqa: PLC0415  (its schema is 190 modules)

    return samples_first(importer.import_model(path, shapes, keeps_state=state.automatic))


def _need_no_values(values: Values) -> None:
    if values:
        raise ConfigError(
            "inputs of a TensorFlow Lite file cannot be fixed",
            where="--value",
            hint="convert the network with this input as a constant, or export it to ONNX",
        )


def inspect_model(
    path: Path,
    shapes: Mapping[str, tuple[int, ...]] = NO_SHAPES,
    state: StatePairs = BY_NAMES,
    values: Values = NO_VALUES,
) -> ModelSummary:
    """Read a model file and describe every node of it.

    Args:
        path: the model.
        shapes, state, values: as for `import_model`.

    Raises:
        ImportModelError: the file is no sound model.
        ConfigError: `shapes`, `state` or `values` do not fit the model.
    """
    if not _holds_tflite(path):
        return inspect_onnx(path, shapes, state, values)
    _need_no_values(values)
    from edgec.importers.tflite import importer  # noqa: PLC0415  (see above)

    return importer.inspect_model(path, shapes)


def shapes_at(
    path: Path, option: MaxLength, shapes: Mapping[str, tuple[int, ...]], length: int
) -> dict[str, tuple[int, ...]]:
    """Shapes of the inputs of a model when its variable dimension has one length.

    Args:
        path: the model.
        option: the dimension and its maximum.
        shapes: shapes that the user gave, of the longest run.
        length: length of the variable dimension.

    Raises:
        ConfigError: the model has no such dimension, or `shapes` says something else.
        ImportModelError: the file is no sound model.
    """
    if _holds_tflite(path):
        raise ConfigError(
            "a TensorFlow Lite file fixes the lengths of its tensors",
            where="--max-length",
            hint="export the network to ONNX with a dynamic axis for the tokens",
        )
    return shapes_of_onnx(load_model(path), option, shapes, length)


def describe(path: Path) -> Description:
    """Metadata of a model file: labels, normalization, author.

    Raises:
        ImportModelError: the file is no sound model.
    """
    if not _holds_tflite(path):
        return Description(labels=labels_of(path), front_end=front_end_of(path))
    from edgec.importers.tflite import metadata  # noqa: PLC0415  (see above)

    return metadata.describe(path)


def standalone_copy(
    path: Path,
    shapes: Mapping[str, tuple[int, ...]] = NO_SHAPES,
    state: StatePairs = BY_NAMES,
    values: Values = NO_VALUES,
) -> tuple[str, bytes]:
    """A model file that needs no other file: the suffix of its name, and its bytes.

    Args:
        path: the model.
        shapes, state, values: as for `import_model`; inputs that are fixed are constants of the
            copy.

    Raises:
        ImportModelError: the file is no sound model.
    """
    if _holds_tflite(path):
        return TFLITE_SUFFIX, read_file(path)
    return ONNX_SUFFIX, load_fixed(path, values, shapes, state)[0].SerializeToString()


def files_beside(path: Path) -> tuple[str, ...]:
    """The files that hold some of a model's weights, as paths from the folder of the model.

    Raises:
        ImportModelError: the file is no sound model.
    """
    return () if _holds_tflite(path) else external_files(path)


def batch_notes_of(path: Path) -> tuple[str, ...]:
    """Notes for users whose model takes another number of samples than the build does.

    Args:
        path: the model.

    Raises:
        ImportModelError: the file is no sound model.
    """
    if _holds_tflite(path):
        return ()
    model = load_model(path)
    return batch_notes(declared_inputs(model), recurrent_batches(model.graph))


def _holds_tflite(path: Path) -> bool:
    """Whether a file holds a TensorFlow Lite model; anything else is left to the ONNX importer."""
    try:
        with path.open("rb") as file:
            head = file.read(_HEAD_BYTES)
    except (OSError, ValueError):
        return path.suffix == TFLITE_SUFFIX
    # A damaged file of this name gets the message of its own format.
    return is_tflite(head) or path.suffix == TFLITE_SUFFIX

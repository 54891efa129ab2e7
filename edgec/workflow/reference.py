"""The numpy reference in a build folder: the integer graph that the generated code must equal."""

from __future__ import annotations

import io
import json
import zipfile
from pathlib import Path

import numpy as np

from edgec.base.dtypes import Array
from edgec.base.errors import ConfigError
from edgec.ir.graph import Graph
from edgec.ir.stored import graph_from_data, graph_to_data

REFERENCE_NPZ = "reference.npz"
_GRAPH = "graph"
_MAX_BYTES = 1 << 30


def write_reference(graph: Graph, folder: Path) -> None:
    """Write the integer graph of a build into its folder; the same graph gives the same bytes."""
    data, arrays = graph_to_data(graph)
    text = json.dumps(data, separators=(",", ":")).encode()
    named = {_GRAPH: np.frombuffer(text, np.uint8)}
    named.update({str(number): array for number, array in enumerate(arrays)})
    # Not compressed: the compressed form differs between versions of zlib.
    with zipfile.ZipFile(folder / REFERENCE_NPZ, "w", zipfile.ZIP_STORED) as archive:
        for name, array in named.items():
            content = io.BytesIO()
            np.lib.format.write_array(content, array, allow_pickle=False)
            archive.writestr(zipfile.ZipInfo(f"{name}.npy"), content.getvalue())


def read_reference(folder: Path) -> Graph:
    """The integer graph of a build folder.

    Raises:
        ConfigError: there is none, or it is damaged or of another version.
    """
    path = folder / REFERENCE_NPZ
    hint = "compile it again with this version of edgec"
    if not path.is_file():
        raise ConfigError(f"holds no {REFERENCE_NPZ}", where=str(folder), hint=hint)
    try:
        if path.stat().st_size > _MAX_BYTES:
            raise ConfigError("the file is too large")
        with path.open("rb") as stream, np.load(stream, allow_pickle=False) as file:
            data = json.loads(file[_GRAPH].tobytes())
            arrays: list[Array] = [file[str(n)] for n in range(len(file.files) - 1)]
        return graph_from_data(data, arrays)
    except (OSError, ValueError, KeyError, zipfile.BadZipFile, EOFError) as error:
        raise ConfigError(f"is damaged: {error}", where=str(path), hint=hint) from error
    except ConfigError as error:
        raise ConfigError(error.what, where=str(path), hint=hint) from error

"""Generated libraries for programs that use them without edgec, and what those must print."""

from dataclasses import dataclass
from pathlib import Path

import numpy as np

from edgec.base.dtypes import Array
from edgec.base.options import CompileOptions
from edgec.codegen.cnames import LibraryNames, library_names
from edgec.codegen.library import emit_library
from edgec.codegen.project import FirmwareModel
from edgec.commands.compile import CompileResult, compile_model
from edgec.interp import run_graph

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"
USER_PROGRAM = Path(__file__).with_name("library_user.c")


@dataclass(frozen=True)
class Library:
    """An emitted library and the model that it was made from."""

    folder: Path
    names: LibraryNames
    result: CompileResult

    @property
    def firmware_model(self) -> FirmwareModel:
        """As `emit_project` takes it."""
        return FirmwareModel(
            self.folder,
            self.names.name,
            self.names.header,
            self.names.symbol,
            self.result.program.arena_bytes,
            len(self.result.program.inputs),
        )

    def input(self) -> Array:
        """The input that `library_user.c` writes: int8 [elements]."""
        size = self.result.program.inputs[0].tensor.size_bytes
        return (np.arange(size) * 37 % 256 - 128).astype(np.int8)

    def output(self) -> Array:
        """What the numpy reference makes of it: int8 [elements]."""
        graph = self.result.model.integer
        name = graph.inputs[0]
        values = run_graph(graph, {name: self.input().reshape(graph.shape(name))})
        return values[graph.outputs[0]].reshape(-1)


def example_libraries(folder: Path) -> tuple[Library, Library, Library]:
    """Two different models, and the first once more under another name."""
    resnet, mlp = (compiled_example(name, folder) for name in ("digits_resnet", "digits_mlp"))
    twin = library_names("twin")
    emit_library(resnet.result.program, folder / twin.name, twin)
    return resnet, mlp, Library(folder / twin.name, twin, resnet.result)


def compiled_example(name: str, folder: Path) -> Library:
    """The library of an example network, as `edgec compile` leaves it."""
    result = compile_model(
        EXAMPLES / f"{name}.onnx",
        "host",
        calibration=str(EXAMPLES / "digits_calibration.npz"),
        out=folder / name,
        options=CompileOptions(build=False, verify=False),
    )
    return Library(result.folder / "library", library_names(name), result)


def program_text(libraries: tuple[Library, ...]) -> str:
    """`library_user.c` for these libraries; C and C++."""
    includes = "".join(f'#include "{library.names.header}"\n' for library in libraries)
    models = ", ".join(f"&{library.names.symbol}" for library in libraries)
    first = libraries[0].names
    return (
        f"{includes}\n#define MODELS {models}\n#define FIRST(what) {first.prefix}_##what\n"
        f"#define FIRST_MACRO(what) {first.macro}_##what\n" + USER_PROGRAM.read_text("utf-8")
    )


def expected_text(libraries: tuple[Library, ...]) -> str:
    """What the program prints: every model twice, in turn, then the first once more."""
    lines = [
        f"{library.names.name}: {' '.join(map(str, library.output().tolist()))}\n"
        for library in libraries
    ]
    return "".join([*lines, *lines, lines[0]])

"""Layout of a library for one build system (`Format`), and the context of its templates."""

from __future__ import annotations

from dataclasses import dataclass

from edgec.codegen.cnames import LibraryNames


@dataclass(frozen=True, slots=True)
class Format:
    """A way to lay a library out, for one build system.

    A further format is a module with such a record, its templates, and a line of the registry.

    Attributes:
        name: what `--as` takes.
        title: what the result is, in words.
        code: folder of the C sources.
        headers: folder of the headers.
        templates: the template of each further file, by its path; `{prefix}` in a path stands for
            the library's name, such as `edgec_digits`.
        next_step: what to do with the folder, one sentence.
    """

    name: str
    title: str
    code: str
    headers: str
    templates: dict[str, str]
    next_step: str


@dataclass(frozen=True, slots=True)
class ExportedPort:
    """An input or output, as readmes and examples speak of it.

    Attributes:
        number: position among the inputs, or among the outputs.
        name: the model's name for it, of harmless characters only.
        c_type: type of an element.
        shape: as C reads it, e.g. `[1, 32, 32, 3]`.
        meaning: what a code stands for, in words.
        rest: the code that an example fills an input with, a macro or a number.
    """

    number: int
    name: str
    c_type: str
    shape: str
    meaning: str
    rest: str


@dataclass(frozen=True, slots=True)
class Exported:
    """A library for templates; all its text is fit for C comments, quotes and Markdown.

    Attributes:
        names: its names in C.
        title: the model's name, of harmless characters only.
        version: that of the edgec that writes it, which the library takes over.
        digest: 16 hexadecimal digits of the model's SHA-256.
        arena_bytes, weight_bytes: its memory.
        state_bytes: memory that it keeps from run to run; 0: none.
        sources: file names of its C sources, without folder.
        inputs, outputs: in the model's order.
        labels: how many names of classes it has.
        labelled: number of the output that they belong to.
        warm_up: runs of a stream, or of an image that comes by rows, that give no output yet.
        stack: what its functions need, in words; "": not measured.
    """

    names: LibraryNames
    title: str
    version: str
    digest: str
    arena_bytes: int
    weight_bytes: int
    state_bytes: int
    sources: tuple[str, ...]
    inputs: tuple[ExportedPort, ...]
    outputs: tuple[ExportedPort, ...]
    labels: int
    labelled: int
    warm_up: int
    stack: str

    @property
    def scores(self) -> ExportedPort:
        """The output that an example looks at."""
        return self.outputs[self.labelled]


@dataclass(frozen=True, slots=True)
class ExportContext:
    """Context of every template of every format: the library `x`."""

    x: Exported

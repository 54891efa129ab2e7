"""Contexts of templates, a frozen dataclass for each; tests check that templates use all fields."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from edgec.base.dtypes import Array
from edgec.codegen.cnames import LibraryNames
from edgec.codegen.rows_context import RowsContext
from edgec.kernels.family import KernelSpec


@dataclass(frozen=True, slots=True)
class KernelContext:
    """One C function: the template of its family.

    Attributes:
        title: what it computes, in words.
        name: name of the function.
        k: the specification of the kernel: all its numbers.
    """

    title: str
    name: str
    k: KernelSpec


@dataclass(frozen=True, slots=True)
class PortContext:
    """An input or output of the model.

    Attributes:
        number: position among the inputs, or among the outputs.
        name: in the model, fit for a comment.
        shape: as C reads it, e.g. `[1, 32, 32, 3]`.
        layout: what the axes are, in words.
        dtype: enumerator of `edgec_dtype_t`.
        c_type: type of an element.
        offset_bytes, size_bytes, elements: place and size.
        scale: literal of a double.
        zero_point: code of the real number 0.
        row_bytes: bytes of one token, where its size depends on the run; 0: its size is fixed.
        run_bytes: its size in a run of `length`, in words; "" where it is fixed.
        features: number of features that have a scale each; 0: they share one.
    """

    number: int
    name: str
    shape: str
    layout: str
    dtype: str
    c_type: str
    offset_bytes: int
    size_bytes: int
    elements: int
    scale: str
    zero_point: int
    row_bytes: int
    run_bytes: str
    features: int = 0


@dataclass(frozen=True, slots=True)
class HeaderContext:
    """Context of `model.h.j2`.

    Attributes:
        runtime_bits: the width of activations of pooled layers is a variable.
        max_bits: the widest of such layers.
        max_length: longest run; 0: all runs have one length.
        helpers: functions for real numbers, pixels and results, rendered.
        example: a program that uses the library, as lines of a comment.
        labels: the library has a header with the names of classes.
        state_bytes: what a context keeps between runs.
        warm_up: runs after a reset without outputs.
        rows: the input that comes by rows, one; none where runs take it whole.
        sound_samples: samples of sound that a run takes; 0: it takes no sound.
        runtime: the number of the runtime's headers, eight hexadecimal digits.
        stack: what its functions need, in words, one text; none where it was not measured.
    """

    template: ClassVar[str] = "model.h.j2"
    names: LibraryNames
    title: str
    version: str
    digest: str
    arena_bytes: int
    weight_bytes: int
    macs: int
    num_steps: int
    inputs: tuple[PortContext, ...]
    outputs: tuple[PortContext, ...]
    runtime_bits: bool
    max_bits: int
    max_length: int
    helpers: tuple[str, ...]
    example: tuple[str, ...]
    labels: bool
    state_bytes: int
    warm_up: int
    rows: tuple[RowsContext, ...]
    sound_samples: int
    runtime: str
    stack: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class ParamsContext:
    """One table of arguments: `static const <c_type> <name> = {.<field> = <value>, ...}`."""

    c_type: str
    name: str
    fields: tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True)
class CopyContext:
    """Weights that are copied to the arena before a call.

    Attributes:
        c_type: type of the argument struct that names them.
        params: the struct.
        variable: the copy of the struct that names the copied weights.
        offset_bytes, size_bytes: where the copy lies in the arena.
    """

    c_type: str
    params: str
    variable: str
    offset_bytes: int
    size_bytes: int


@dataclass(frozen=True, slots=True)
class LoopContext:
    """A loop around steps.

    Attributes:
        comment: its name in the model, a comment in C.
        head: its beginning in C.
        depth: number of blocks of C around it.
    """

    comment: str
    head: str
    depth: int


@dataclass(frozen=True, slots=True)
class FiringContext:
    """The turns of a loop in which a step runs.

    Attributes:
        time: the variable of the number of the time that lies in a turn.
        found: that number, negative where none does; an expression.
        count: times that it computes rows.
        slide: moves rows that later turns read; "" where there are none.
        padding: writes rows of padding in place of a later time; "" where there are none.
        depth: number of blocks of C around it.
    """

    time: str
    found: str
    count: int
    slide: str
    padding: str
    depth: int


@dataclass(frozen=True, slots=True)
class StepContext:
    """One call.

    Attributes:
        number: number of the step.
        comment: the nodes it stands for, fit for a comment.
        function: the function to call.
        arguments: expressions, in order.
        outputs: place and bytes of each output, expressions.
        depth: number of blocks of C around it.
        copy: the weights that are copied to the arena before the call, if they are.
        hoisted: copies before the outermost of the loops that begin with it, for all steps in them.
        opens: the loops that begin with it, from the outermost on.
        closes: the depth of each loop that ends with it, from the innermost on.
        firing: the turns in which it runs, if not all.
        fills: statements before the loops that begin with it.
        begins, ends: the input that comes by rows, at the first and last step of its loop.
    """

    number: int
    comment: str
    function: str
    arguments: tuple[str, ...]
    outputs: tuple[tuple[str, str], ...]
    depth: int
    copy: CopyContext | None
    hoisted: tuple[CopyContext, ...]
    opens: tuple[LoopContext, ...]
    closes: tuple[int, ...]
    firing: FiringContext | None = None
    fills: tuple[str, ...] = ()
    begins: RowsContext | None = None
    ends: RowsContext | None = None


@dataclass(frozen=True, slots=True)
class StateContext:
    """A part of the state.

    Attributes:
        comment: its name in the model, fit for a comment.
        offset_bytes, size_bytes: place and size.
        byte: what all its bytes are after a reset.
        constant: what it is after a reset; "" where `byte` says it.
        held: runs without an output leave it so, as long as more than `held_above` are to come.
        held_above: see there.
    """

    comment: str
    offset_bytes: int
    size_bytes: int
    byte: int
    constant: str
    held: bool = False
    held_above: int = 0


@dataclass(frozen=True, slots=True)
class SoundContext:
    """Samples of sound that wait for a run.

    Attributes:
        samples: as many as a run takes.
        lead: zeros before the first sample of a stream.
        offset_bytes: where their number lies in the state; they follow it.
    """

    samples: int
    lead: int
    offset_bytes: int


@dataclass(frozen=True, slots=True)
class SourceContext:
    """Context of `model.c.j2`.

    Attributes:
        includes: file names of the runtime headers that it uses.
        kernels: C functions, rendered.
        runtime_bits: the width of activations of pooled layers is a variable.
        max_length: longest run; 0: all runs have one length.
        init: the function that gives a context its arena alone.
        state: what a context keeps between runs, in parts.
        warm_up: runs after a reset without outputs.
        rows: the input that comes by rows, one; none where runs take it whole.
        sound: how it collects samples of sound, one record; none where it takes no sound.
    """

    template: ClassVar[str] = "model.c.j2"
    names: LibraryNames
    title: str
    version: str
    digest: str
    includes: tuple[str, ...]
    uses_weights: bool
    kernels: tuple[str, ...]
    params: tuple[ParamsContext, ...]
    steps: tuple[StepContext, ...]
    inputs: tuple[PortContext, ...]
    outputs: tuple[PortContext, ...]
    runtime_bits: bool
    max_length: int
    init: str
    state: tuple[StateContext, ...]
    warm_up: int
    rows: tuple[RowsContext, ...]
    sound: tuple[SoundContext, ...]


@dataclass(frozen=True, slots=True, eq=False)
class ConstantContext:
    """One constant array.

    Attributes:
        c_type: type of an element.
        name: name of the array.
        shape: in words, e.g. `[16, 3, 3, 3]`.
        length: number of elements.
        values: row-major.
        shared: libraries of other models define it, too.
        hot: it was planned to lie in RAM.
    """

    c_type: str
    name: str
    shape: str
    length: int
    values: Array
    shared: bool
    hot: bool


@dataclass(frozen=True, slots=True, eq=False)
class WeightsContext:
    """Context of `weights.h.j2` and `weights.c.j2`; `any_hot`: some constants are to lie in RAM."""

    template: ClassVar[str] = "weights.c.j2"
    header_template: ClassVar[str] = "weights.h.j2"
    names: LibraryNames
    title: str
    version: str
    digest: str
    constants: tuple[ConstantContext, ...]
    any_hot: bool


@dataclass(frozen=True, slots=True)
class ReadmeContext:
    """Context of `README.md.j2`; the fields are those of `HeaderContext`, `example` is C."""

    template: ClassVar[str] = "README.md.j2"
    names: LibraryNames
    title: str
    version: str
    arena_bytes: int
    weight_bytes: int
    inputs: tuple[PortContext, ...]
    outputs: tuple[PortContext, ...]
    example: str
    state_bytes: int
    stack: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class LabelsContext:
    """Context of `labels.h.j2`.

    Attributes:
        title: the model's name, fit for a comment.
        version: the version of edgec.
        labelled: position of the output whose classes have names.
        labels: these names, as C string literals.
    """

    template: ClassVar[str] = "labels.h.j2"
    names: LibraryNames
    title: str
    version: str
    labelled: int
    labels: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class CMakeContext:
    """Context of `CMakeLists.txt.j2`."""

    template: ClassVar[str] = "CMakeLists.txt.j2"
    target: str
    sources: tuple[str, ...]

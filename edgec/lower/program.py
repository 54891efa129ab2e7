"""The program: everything that code generation needs, with all numbers final.

Code generation sees a Program and never a graph.  Names that come from the model (`Program.name`,
tensor names, sources) are untrusted: only `codegen.cnames` turns them into C.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, fields, replace

from edgec.base.calls import Call, StepLoop, calls_of, loops_around, times_called
from edgec.base.digests import LATER
from edgec.base.dtypes import DType
from edgec.ir.length import shortened
from edgec.ir.qparams import QuantParams
from edgec.kernels.common.constants import ConstantRef, Params, ProgramConstant
from edgec.kernels.common.extent import Extent
from edgec.kernels.family import KernelSpec
from edgec.lower.inputs import Fill, HandedInput, ProgramSound, Slide
from edgec.memory import Space


@dataclass(frozen=True, slots=True)
class ProgramTensor:
    """An activation tensor.

    Attributes:
        name: from the model, untrusted.
        shape: static, batch 1, in edgec's layout.
        dtype: INT8, INT16 of a transformer's stream, or INT32 of indices.
        offset_bytes: from the start of its space, in the first turns; a multiple of 8.
        scale, zero_point: quantization; 1.0 and 0 for indices and where channels have their own.
        strides: bytes by which it moves on with each turn of the loops around it, from the
            outermost on; multiples of 8.
        space: where it lies.
        in_float32: see `QuantParams`.
    """

    name: str
    shape: tuple[int, ...]
    dtype: DType
    offset_bytes: int
    size_bytes: int
    scale: float
    zero_point: int
    strides: tuple[int, ...] = field(default=(), metadata=LATER)
    space: Space = field(default=Space.ARENA, metadata=LATER)
    in_float32: bool = field(default=False, metadata=LATER)

    @property
    def argument(self) -> TensorArg:
        """The tensor as a kernel gets it."""
        return TensorArg(self.offset_bytes, self.dtype, self.strides, self.space)


@dataclass(frozen=True, slots=True)
class ProgramPort:
    """An input or output of the model.

    Attributes:
        tensor: where and what it is.
        model_perm: the permutation that takes the model's axes to the tensor's
            (``tensor = model.transpose(model_perm)``); None when they are the same.
    """

    tensor: ProgramTensor
    model_perm: tuple[int, ...] | None = None


@dataclass(frozen=True, slots=True)
class FeaturePort(ProgramPort):
    """An input of the model whose features have a scale each.

    Attributes:
        features: what its codes mean, one scale for each feature along an axis.
    """

    features: QuantParams = field(kw_only=True)


@dataclass(frozen=True, slots=True)
class Kernel:
    """A C function.

    Attributes:
        name: a legal C identifier chosen by edgec, unique in the program, e.g. `conv2d_s8_0`.
        spec: what it computes.
    """

    name: str
    spec: KernelSpec


@dataclass(frozen=True, slots=True)
class TensorArg:
    """An argument that points into the arena or the state; see `ProgramTensor`."""

    offset_bytes: int
    dtype: DType = DType.INT8
    strides: tuple[int, ...] = field(default=(), metadata=LATER)
    space: Space = field(default=Space.ARENA, metadata=LATER)


@dataclass(frozen=True, slots=True)
class TurnedConstant(ConstantRef):
    """A constant of which each turn of a loop reads a part.

    Attributes:
        offset_bytes: from the start of the constant, in the first turns.
        strides: see `ProgramTensor`.
    """

    offset_bytes: int = 0
    strides: tuple[int, ...] = ()


Argument = TensorArg | ConstantRef


def constants_of(operands: Iterable[object], params: Iterable[Params]) -> tuple[int, ...]:
    """Indices of the constants among operands and in argument structs, each once."""
    used = (getattr(table, each.name) for table in params for each in fields(table))
    found = (ref.index for ref in (*operands, *used) if isinstance(ref, ConstantRef))
    return tuple(dict.fromkeys(found))


@dataclass(frozen=True, slots=True)
class WeightCopy:
    """Weights in the arena while their step runs, or the loops around it.

    Attributes:
        offset_bytes: their place.
        size_bytes: all of them.
        each_call: they are copied before each call, not before the loops around the step.
    """

    offset_bytes: int
    size_bytes: int
    each_call: bool = field(default=False, metadata=LATER)


@dataclass(frozen=True, slots=True)
class Step:
    """One kernel call.

    Attributes:
        kernel: index into `Program.kernels`.
        inputs: in the kernel's order; constants where the model has them.
        output: the tensor it writes.
        scratch: working memory, when the kernel needs some.
        params: argument structs, in the kernel's order.
        node: name of the graph's node, untrusted.
        sources: names of the ONNX nodes it stands for, untrusted.
        macs: multiply-accumulates.
        runtime_bits: for a kernel that takes the width of activations as its last argument, the
            width that the layer was made for, 1 to 8.
        copy: where the weights of the first argument struct are copied, before the call or before
            the loops around it.
        written: where it writes, if that is only the part of a turn of `output`.
        more: further tensors that it writes, of an operator with several outputs.
        slide: rows of its output that later turns read.
        fills: padding that is written before it, and before the loop that it begins.
        first_channel: where it computes some channels of `output`, the first of them.
    """

    kernel: int
    inputs: tuple[Argument, ...]
    output: ProgramTensor
    scratch: TensorArg | None
    params: tuple[Params, ...]
    node: str
    sources: tuple[str, ...]
    macs: int
    runtime_bits: int | None = None
    copy: WeightCopy | None = field(default=None, metadata=LATER)
    written: TensorArg | None = field(default=None, metadata=LATER)
    more: tuple[ProgramTensor, ...] = field(default=(), metadata=LATER)
    slide: Slide | None = field(default=None, metadata=LATER)
    fills: tuple[Fill, ...] = field(default=(), metadata=LATER)
    first_channel: int | None = field(default=None, metadata=LATER)

    @property
    def outputs(self) -> tuple[ProgramTensor, ...]:
        """All tensors that it writes."""
        return (self.output, *self.more)

    def with_tensors(self, tensors: Mapping[str, ProgramTensor]) -> Step:
        """The step with other tensors of the same names as its outputs."""
        output, *more = (tensors[each.name] for each in self.outputs)
        return replace(self, output=output, more=tuple(more))

    @property
    def constants(self) -> tuple[int, ...]:
        """Indices of the constants that it reads, as operands or through its argument structs."""
        return constants_of(self.inputs, self.params)


@dataclass(frozen=True, slots=True)
class ProgramLength:
    """Parts of a program that depend on the length of a run.

    Attributes:
        maximum: the longest run, whose sizes the rest of the program states.
        axes: (tensor, its variable axis); names from the model, untrusted.
        arguments: for each step, the sizes that its kernel takes after all other arguments.
    """

    maximum: int
    axes: tuple[tuple[str, int], ...]
    arguments: tuple[tuple[Extent, ...], ...]


@dataclass(frozen=True, slots=True)
class ProgramState:
    """A part of the state of the model.

    Attributes:
        tensor: where and what it is.
        byte: what all its bytes are after a reset; None: `constant` has them.
        constant: what it is after a reset, an index into `Program.constants`.
        held_runs: runs after a reset that leave it so.
    """

    tensor: ProgramTensor
    byte: int | None = None
    constant: int | None = None
    held_runs: int = field(default=0, metadata=LATER)


@dataclass(frozen=True, slots=True)
class Resident:
    """A constant that is copied to RAM when the firmware starts.

    Attributes:
        constant: index into `Program.constants`.
        region: name of the board's RAM region.
    """

    constant: int
    region: str


@dataclass(frozen=True, eq=False, slots=True)
class Program:
    """A model, ready to be written as C.

    Attributes:
        name: name of the model, untrusted.
        digest: 64 hexadecimal digits, SHA-256 over the canonical form (`base.digests`) of
            everything else here.
        arena_bytes: size of the arena.
        inputs, outputs: in the model's order.
        tensors: every tensor in arena and state, views included, in graph order.
        constants: every constant, equal ones once.
        kernels: every C function, in order of first use.
        steps: the calls, in order; those of a loop once.
        length: None where every run has the same.
        resident: constants that lie in RAM, by index; the others lie in flash.
        loops: the steps that are repeated, an outer loop before those within it.
        state_bytes: size of the state.
        state: its parts.
        warm_up: runs after a reset whose outputs mean nothing.
        handed: where the caller hands the input over by rows; None: a run takes all of it.
        sound: how samples of sound are collected for runs; None: it takes none.
    """

    name: str
    digest: str
    arena_bytes: int
    inputs: tuple[ProgramPort, ...]
    outputs: tuple[ProgramPort, ...]
    tensors: tuple[ProgramTensor, ...]
    constants: tuple[ProgramConstant, ...]
    kernels: tuple[Kernel, ...]
    steps: tuple[Step, ...]
    length: ProgramLength | None = None
    resident: tuple[Resident, ...] = field(default=(), metadata=LATER)
    loops: tuple[StepLoop, ...] = field(default=(), metadata=LATER)
    state_bytes: int = field(default=0, metadata=LATER)
    state: tuple[ProgramState, ...] = field(default=(), metadata=LATER)
    warm_up: int = field(default=0, metadata=LATER)
    handed: HandedInput | None = field(default=None, metadata=LATER)
    sound: ProgramSound | None = field(default=None, metadata=LATER)

    def loops_around(self, step: int) -> tuple[StepLoop, ...]:
        """The loops that repeat a step, from the outermost on."""
        return loops_around(self.loops, step)

    def turns(self, loop: StepLoop) -> Extent:
        """The number of turns of a loop."""
        return Extent(1, loop.count - self.max_length) if loop.varies else Extent(0, loop.count)

    def times(self, step: int) -> int:
        """Number of calls of a step in a run."""
        return times_called(self.loops, step)

    def parts(self, step: int) -> int:
        """Calls of a step that compute its output together, each some rows of it; mostly 1."""
        found = [loop.firing(step) for loop in self.loops_around(step)]
        return next((firing.count for firing in found if firing is not None), 1)

    def calls(self) -> Iterator[Call]:
        """Every output of every call of a run, in order."""
        yield from calls_of(self.loops, [len(step.outputs) for step in self.steps])

    @property
    def constant_bytes(self) -> int:
        """Bytes of all constants."""
        return sum(constant.array.nbytes for constant in self.constants)

    @property
    def macs(self) -> int:
        """Multiply-accumulates of one run."""
        return sum(step.macs * self.times(number) for number, step in enumerate(self.steps))

    def at(self, length: int) -> Program:
        """The program with the shapes and sizes that its tensors have in a run of `length`."""
        tensors = {tensor.name: self._tensor_at(tensor, length) for tensor in self.tensors}

        def ports(found: tuple[ProgramPort, ...]) -> tuple[ProgramPort, ...]:
            return tuple(replace(port, tensor=tensors[port.tensor.name]) for port in found)

        return replace(
            self,
            inputs=ports(self.inputs),
            outputs=ports(self.outputs),
            tensors=tuple(tensors.values()),
            loops=tuple(loop.less(self.max_length - length) for loop in self.loops),
            steps=tuple(step.with_tensors(tensors) for step in self.steps),
        )

    def _tensor_at(self, tensor: ProgramTensor, length: int) -> ProgramTensor:
        axis = self.axis(tensor)
        if axis is None:
            return tensor
        shape = shortened(tensor.shape, axis, self.max_length - length)
        return replace(tensor, shape=shape, size_bytes=self.extent(tensor).at(length))

    def whole_shape(self, port: ProgramPort) -> tuple[tuple[int, ...], int]:
        """The shape of an input or output of a sample, and the runs that it takes."""
        shape, handed = port.tensor.shape, self.handed
        if handed is None or port not in self.inputs:
            return shape, 1
        return (1, handed.height, *shape[2:]), handed.runs

    @property
    def max_length(self) -> int:
        """The longest run; 0 where every run has the same length."""
        return 0 if self.length is None else self.length.maximum

    def axis(self, tensor: ProgramTensor) -> int | None:
        """The axis of a tensor whose size goes with the length of a run."""
        axes = () if self.length is None else self.length.axes
        return next((axis for name, axis in axes if name == tensor.name), None)

    def extent(self, tensor: ProgramTensor) -> Extent:
        """Bytes of a tensor."""
        axis = self.axis(tensor)
        if axis is None:
            return Extent(0, tensor.size_bytes)
        each = tensor.size_bytes // tensor.shape[axis]
        return Extent(each, tensor.size_bytes - each * self.max_length)

    def sizes_of_run(self, step: int) -> tuple[Extent, ...]:
        """Sizes that the kernel of a step takes after all other arguments."""
        return () if self.length is None else self.length.arguments[step]

    @property
    def runtime_bits(self) -> bool:
        """The width of activations of some layers can be lowered between runs."""
        return any(step.runtime_bits is not None for step in self.steps)

    @property
    def max_activation_bits(self) -> int:
        """The widest of the layers whose width can be lowered; 8 without any."""
        return max((step.runtime_bits for step in self.steps if step.runtime_bits), default=8)

"""Calls of a graph with their kernels and constants, before anything has an address: `bind`.

Packing the constants is most of the work of lowering, and no place changes them.  So they are
packed once, and who decides where they lie asks this record.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from edgec.base.calls import StepLoop, times_called
from edgec.base.dtypes import DType
from edgec.base.errors import LoweringError
from edgec.ir import qops
from edgec.ir.graph import Graph, Node
from edgec.kernels.buffers import copy_name, loop_steps
from edgec.kernels.common.constants import (
    ConstantPool,
    ConstantRef,
    Params,
    ProgramConstant,
    check_codes,
)
from edgec.kernels.family import KernelSpec, Named
from edgec.kernels.generic.fill import only_byte
from edgec.kernels.places import is_state, part_place
from edgec.kernels.rows import chain_steps
from edgec.kernels.select import KernelChoice
from edgec.lower.program import Kernel, TurnedConstant, constants_of


@dataclass(frozen=True, slots=True, eq=False)
class BoundCall:
    """A call of a kernel.

    Attributes:
        choice: the kernel of the step.
        kernel: index into `Bound.kernels`.
        constants: for each tensor that the kernel reads, the constant that it is; None: no
            constant.
        params: argument structs, in the kernel's order.
        copy: name of the buffer for a copy of its weights, which a plan of memory may have.
    """

    choice: KernelChoice
    kernel: int
    constants: tuple[ConstantRef | None, ...]
    params: tuple[Params, ...]
    copy: str

    @property
    def reads(self) -> tuple[int, ...]:
        """Indices of the constants that it reads, as operands or through its argument structs."""
        return constants_of(self.constants, self.params)


@dataclass(frozen=True, slots=True, eq=False)
class Bound:
    """All calls of a graph.

    Attributes:
        calls: one a step, in order.
        kernels: every C function, in order of first use.
        constants: every constant, equal ones once.
        loops: the steps that are repeated.
        state: by tensor of the state what it is after a reset: all bytes the same, or a constant.
    """

    calls: tuple[BoundCall, ...]
    kernels: tuple[Kernel, ...]
    constants: tuple[ProgramConstant, ...]
    loops: tuple[StepLoop, ...]
    state: Mapping[str, tuple[int | None, int | None]]

    def times(self, step: int) -> int:
        """Number of calls of a step in a run."""
        return times_called(self.loops, step)

    @property
    def constant_bytes(self) -> int:
        """Bytes of all constants."""
        return sum(constant.array.nbytes for constant in self.constants)

    @property
    def macs(self) -> int:
        """Multiply-accumulates of one run."""
        return sum(
            call.choice.spec.macs * self.times(number) for number, call in enumerate(self.calls)
        )


def bind(graph: Graph, choices: Sequence[KernelChoice]) -> Bound:
    """The calls of a graph.

    Args:
        graph: INTEGER stage.
        choices: what `select_kernels` chose for this graph.

    Raises:
        LoweringError: the graph has no input, or an output that depends on none.
        InternalError: a number does not fit the type that a kernel has for it.
    """
    _check_ports(graph)
    kernels = _kernels(graph, choices)
    numbers = {spec: number for number, spec in enumerate(kernels)}
    pool = ConstantPool()
    calls = tuple(_call(graph, choice, numbers[choice.spec], pool) for choice in choices)
    varying = frozenset[str]() if graph.length is None else graph.length.loops
    loops = tuple(
        StepLoop(
            each.loop.name,
            each.loop.count,
            each.first_step,
            each.end_step,
            varies=each.loop.name in varying,
        )
        for each in loop_steps(graph, choices)
    )
    loops += tuple(
        StepLoop(
            each.chain.name,
            each.chain.turns,
            each.first_step,
            each.end_step,
            tuple(each.chain.firings.values()),
        )
        for each in chain_steps(graph, choices)
    )
    names = (*graph.inputs, *(out for node in graph.nodes for out in node.outputs))
    state = {name: _initial(graph, name, pool) for name in names if is_state(graph, name)}
    return Bound(calls, tuple(kernels.values()), tuple(pool.constants), loops, state)


def _check_ports(graph: Graph) -> None:
    if not graph.inputs or not graph.outputs:
        raise LoweringError("the model has no inputs or no outputs", where=graph.name)
    for name in graph.outputs:
        if graph.is_constant(name):
            raise LoweringError(
                "this output is always the same: it depends on no input",
                where=name,
                hint="remove it from the model's outputs",
            )


def _initial(graph: Graph, name: str, pool: ConstantPool) -> tuple[int | None, int | None]:
    """A part of the state after a reset."""
    constant = graph.constants[graph.producers[name].input]
    byte = only_byte(constant.array)
    return (byte, None) if byte is not None else (None, pool.add("state", constant.array).index)


def _kernels(graph: Graph, choices: Sequence[KernelChoice]) -> dict[KernelSpec, Kernel]:
    kernels: dict[KernelSpec, Kernel] = {}
    for choice in choices:
        if choice.spec not in kernels:
            name = f"{_stem(graph, choice)}_{len(kernels)}"
            kernels[choice.spec] = Kernel(name, choice.spec)
    return kernels


def _stem(graph: Graph, choice: KernelChoice) -> str:
    """Operator and types of a kernel, as the name of its function begins."""
    if isinstance(choice.spec, Named):
        return choice.spec.stem
    return f"{choice.spec.family}_{_elements(graph, choice.node)}"


def _elements(graph: Graph, node: Node) -> str:
    """Element type in the name of a kernel: s16 if it reads or writes int16, else s8, b1 or s32."""
    names = (*node.inputs, *node.outputs)
    found = {graph.values[name].dtype for name in names if name in graph.values}
    if DType.INT16 in found:
        return "s16"
    if DType.INT8 in found:
        return "s8"
    return "b1" if qops.SIGNS in found else "s32"


def _call(graph: Graph, choice: KernelChoice, kernel: int, pool: ConstantPool) -> BoundCall:
    constants = tuple(
        _constant(graph, choice, name, pool) if graph.is_constant(name) else None
        for name in choice.reads
    )
    params = choice.family.arguments(graph, choice.node, choice.spec, pool)
    for struct in params:
        check_codes(struct, graph, choice.node)
    return BoundCall(choice, kernel, constants, params, copy_name(graph, choice))


def _constant(graph: Graph, choice: KernelChoice, name: str, pool: ConstantPool) -> ConstantRef:
    """A constant that a kernel reads as a tensor."""
    attrs = choice.node.attrs
    found = pool.add(choice.family.constant_stem, graph.constants[name].array)
    if isinstance(attrs, qops.QTurnSlice):
        part = part_place(graph, name, attrs.part, attrs.loop)
        return TurnedConstant(found.index, part.offset_bytes, part.strides)
    return found

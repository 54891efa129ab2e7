"""Integer graph + kernel choices + memory plan -> program."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence

from edgec.base.canonical import canonical_digest
from edgec.base.dtypes import DType
from edgec.base.errors import InternalError, LoweringError
from edgec.base.fixedpoint import INT32_MAX
from edgec.ir.graph import Graph, Node
from edgec.kernels.buffers import aliases_of, copy_name, root, scratch_name
from edgec.kernels.common.constants import ConstantPool, check_codes
from edgec.kernels.common.params import Params
from edgec.kernels.family import KernelSpec
from edgec.kernels.select import KernelChoice, operands
from edgec.kernels.variable_length import sizes_of_run
from edgec.lower.program import (
    Argument,
    FeaturePort,
    Kernel,
    Program,
    ProgramLength,
    ProgramPort,
    ProgramTensor,
    Resident,
    Step,
    TensorArg,
    WeightCopy,
)
from edgec.memory import MemoryPlan


def lower(
    graph: Graph,
    choices: Sequence[KernelChoice],
    plan: MemoryPlan,
    resident: tuple[Resident, ...] = (),
) -> Program:
    """The program of a graph.

    Args:
        graph: INTEGER stage.
        choices: what `select_kernels` chose for this graph.
        plan: places of the buffers of `buffers_of`, checked.
        resident: constants that lie in RAM; no plan changes their order.

    Raises:
        LoweringError: the graph has no input, or an output that depends on none; or the arena is
            beyond what 32-bit offsets reach.
        InternalError: the plan lacks a buffer.
    """
    _check_ports(graph)
    if plan.arena_bytes > INT32_MAX:
        raise LoweringError(
            f"an arena of {plan.arena_bytes} bytes is too large for 32-bit offsets",
            where=graph.name,
        )
    tensors = _tensors(graph, choices, plan)
    kernels = _kernels(graph, choices)
    pool = ConstantPool()
    numbers = {spec: number for number, spec in enumerate(kernels)}
    steps = tuple(_step(graph, choice, plan, tensors, numbers, pool) for choice in choices)
    program = Program(
        name=graph.name,
        digest="",
        arena_bytes=plan.arena_bytes,
        inputs=tuple(_input(graph, tensors, name) for name in graph.inputs),
        outputs=tuple(_port(tensors, name, graph.output_layouts) for name in graph.outputs),
        tensors=tuple(tensors.values()),
        constants=tuple(pool.constants),
        kernels=tuple(kernels.values()),
        steps=steps,
        length=_length(graph, choices),
        resident=resident,
    )
    return dataclasses.replace(program, digest=canonical_digest(program))


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


def _tensors(
    graph: Graph, choices: Sequence[KernelChoice], plan: MemoryPlan
) -> dict[str, ProgramTensor]:
    aliases = aliases_of(graph, choices)
    found: dict[str, ProgramTensor] = {}
    for name in (*graph.inputs, *(out for node in graph.nodes for out in node.outputs)):
        value = graph.values[name]
        whole = value.quant is not None and value.quant.axis is None
        slot = plan.slots.get(root(aliases, name))
        if slot is None:
            raise InternalError("the memory plan has no place for a tensor", where=name)
        found[name] = ProgramTensor(
            name=name,
            shape=value.shape,
            dtype=value.dtype,
            offset_bytes=slot.offset,
            size_bytes=value.size_bytes,
            scale=value.quant.tensor_scale if value.quant is not None and whole else 1.0,
            zero_point=value.quant.tensor_zero_point if value.quant is not None and whole else 0,
        )
    return found


def _kernels(graph: Graph, choices: Sequence[KernelChoice]) -> dict[KernelSpec, Kernel]:
    kernels: dict[KernelSpec, Kernel] = {}
    for choice in choices:
        if choice.spec not in kernels:
            name = f"{choice.spec.family}_{_elements(graph, choice.node)}_{len(kernels)}"
            kernels[choice.spec] = Kernel(name, choice.spec)
    return kernels


def _elements(graph: Graph, node: Node) -> str:
    """Element type in the name of a kernel: s16 if it reads or writes int16, else s8 or s32."""
    names = (*node.inputs, node.output)
    found = {graph.values[name].dtype for name in names if name in graph.values}
    if DType.INT16 in found:
        return "s16"
    return "s8" if DType.INT8 in found else "s32"


def _step(
    graph: Graph,
    choice: KernelChoice,
    plan: MemoryPlan,
    tensors: Mapping[str, ProgramTensor],
    numbers: Mapping[KernelSpec, int],
    pool: ConstantPool,
) -> Step:
    node, spec = choice.node, choice.spec
    scratch = None
    if choice.scratch_bytes:
        scratch = TensorArg(plan.slots[scratch_name(graph, choice)].offset)
    return Step(
        kernel=numbers[spec],
        inputs=tuple(_argument(graph, choice, name, tensors, pool) for name in operands(node)),
        output=tensors[node.output],
        scratch=scratch,
        params=_params(graph, choice, pool),
        node=node.name,
        sources=node.sources,
        macs=spec.macs,
        runtime_bits=choice.family.runtime_bits(node, spec),
        copy=_copy(graph, choice, plan),
    )


def _copy(graph: Graph, choice: KernelChoice, plan: MemoryPlan) -> WeightCopy | None:
    """Where the plan has a copy of the weights, if it has one."""
    slot = plan.slots.get(copy_name(graph, choice))
    return None if slot is None else WeightCopy(slot.offset, slot.size_bytes)


def _params(graph: Graph, choice: KernelChoice, pool: ConstantPool) -> tuple[Params, ...]:
    """The argument structs of one call, in the function's order.

    Raises:
        InternalError: a number does not fit the type that the kernel has for it.
    """
    found = choice.family.arguments(graph, choice.node, choice.spec, pool)
    for struct in found:
        check_codes(struct, choice.node)
    return found


def _length(graph: Graph, choices: Sequence[KernelChoice]) -> ProgramLength | None:
    """What the length of a run decides."""
    variable = graph.length
    if variable is None:
        return None
    return ProgramLength(
        maximum=variable.maximum,
        axes=tuple((name, axis) for name, axis in variable.axes.items() if name in graph.values),
        arguments=tuple(sizes_of_run(c.family, graph, c.node, c.spec) for c in choices),
    )


def _argument(
    graph: Graph,
    choice: KernelChoice,
    name: str,
    tensors: Mapping[str, ProgramTensor],
    pool: ConstantPool,
) -> Argument:
    if graph.is_constant(name):
        return pool.add(choice.family.constant_stem, graph.constants[name].array)
    return TensorArg(tensors[name].offset_bytes, tensors[name].dtype)


def _input(graph: Graph, tensors: Mapping[str, ProgramTensor], name: str) -> ProgramPort:
    port = _port(tensors, name, graph.input_layouts)
    features = graph.input_features.get(name)
    return (
        port if features is None else FeaturePort(port.tensor, port.model_perm, features=features)
    )


def _port(
    tensors: Mapping[str, ProgramTensor], name: str, layouts: Mapping[str, tuple[int, ...]]
) -> ProgramPort:
    return ProgramPort(tensors[name], layouts.get(name))

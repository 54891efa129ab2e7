"""Integer graph + kernel choices + memory plan -> program."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence

from edgec.base.digests import canonical_digest
from edgec.base.errors import InternalError, LoweringError
from edgec.base.fixedpoint import INT32_MAX
from edgec.ir import qops
from edgec.ir.graph import Graph, Node
from edgec.kernels.buffers import scratch_name
from edgec.kernels.places import Place, part_place, places_of
from edgec.kernels.select import KernelChoice
from edgec.kernels.variable_length import sizes_of_run
from edgec.lower.bind import Bound, BoundCall, bind
from edgec.lower.inputs import ProgramSound
from edgec.lower.program import (
    FeaturePort,
    Program,
    ProgramLength,
    ProgramPort,
    ProgramState,
    ProgramTensor,
    Resident,
    Step,
    TensorArg,
    WeightCopy,
)
from edgec.lower.rows import fills_of, handed_input, slide_of
from edgec.memory import MemoryPlan


def lower(
    graph: Graph,
    choices: Sequence[KernelChoice],
    plan: MemoryPlan,
    resident: tuple[Resident, ...] = (),
    bound: Bound | None = None,
) -> Program:
    """The program of a graph.

    Args:
        graph: INTEGER stage.
        choices: what `select_kernels` chose for this graph.
        plan: places of the buffers of `buffers_of`, checked.
        resident: constants that lie in RAM; no plan changes their order.
        bound: the calls of these choices, where somebody has them already (`bind`).

    Raises:
        LoweringError: the graph has no input, or an output that depends on none; or the arena is
            beyond what 32-bit offsets reach.
        InternalError: the plan lacks a buffer.
    """
    if plan.arena_bytes > INT32_MAX:
        raise LoweringError(
            f"an arena of {plan.arena_bytes} bytes is too large for 32-bit offsets",
            where=graph.name,
        )
    bound = bound or bind(graph, choices)
    tensors = _tensors(graph, places_of(graph, choices), plan)
    sound = _sound(graph, plan)
    program = Program(
        name=graph.name,
        digest="",
        arena_bytes=plan.arena_bytes,
        inputs=tuple(_input(graph, tensors, name) for name in graph.inputs),
        outputs=tuple(_port(tensors, name, graph.output_layouts) for name in graph.outputs),
        tensors=tuple(tensors.values()),
        constants=bound.constants,
        kernels=bound.kernels,
        steps=tuple(_step(graph, call, plan, tensors) for call in bound.calls),
        length=_length(graph, choices),
        resident=resident,
        loops=bound.loops,
        state_bytes=plan.state_bytes + (0 if sound is None else sound.size_bytes),
        state=tuple(
            ProgramState(tensors[name], *initial, _held_runs(graph, name))
            for name, initial in bound.state.items()
        ),
        warm_up=graph.warm_up,
        handed=handed_input(graph, plan),
        sound=sound,
    )
    return dataclasses.replace(program, digest=canonical_digest(program))


def _held_runs(graph: Graph, name: str) -> int:
    """Runs after a reset that leave a part of the state as it is."""
    return graph.producers[name].attrs_as(qops.QCarry).held_runs


def _sound(graph: Graph, plan: MemoryPlan) -> ProgramSound | None:
    """The place in the state at which samples of sound wait for a run."""
    if graph.lead is None:
        return None
    elements = sum(graph.values[name].elements for name in graph.inputs)  # of the one that there is
    return ProgramSound(elements, graph.lead, plan.state_bytes)


def _tensors(
    graph: Graph, places: Mapping[str, Place], plan: MemoryPlan
) -> dict[str, ProgramTensor]:
    found: dict[str, ProgramTensor] = {}
    for name in (*graph.inputs, *(out for node in graph.nodes for out in node.outputs)):
        value = graph.values[name]
        whole = value.quant is not None and value.quant.axis is None
        place = places.get(name, Place(name))
        slot = plan.slots.get(place.root)
        if slot is None:
            raise InternalError("the memory plan has no place for a tensor", where=name)
        found[name] = ProgramTensor(
            name=name,
            shape=value.shape,
            dtype=value.dtype,
            offset_bytes=slot.offset + place.offset_bytes,
            size_bytes=value.size_bytes,
            scale=value.quant.tensor_scale if value.quant is not None and whole else 1.0,
            zero_point=value.quant.tensor_zero_point if value.quant is not None and whole else 0,
            strides=place.strides if any(place.strides) else (),
            space=slot.space,
            in_float32=value.quant is not None and value.quant.in_float32,
        )
    return found


def _step(
    graph: Graph, call: BoundCall, plan: MemoryPlan, tensors: Mapping[str, ProgramTensor]
) -> Step:
    choice, node, spec = call.choice, call.choice.node, call.choice.spec
    scratch = None
    if choice.scratch_bytes:
        scratch = TensorArg(plan.slots[scratch_name(graph, choice)].offset)
    copy = plan.slots.get(call.copy)
    operands = zip(choice.reads, call.constants, strict=True)
    output, *more = (tensors[name] for name in node.outputs)
    chain = next((each for each in graph.chains if node.name in each.firings), None)
    if chain is not None:
        output = dataclasses.replace(output, name=chain.outputs[node.name])
    first_channel = None
    if node.outputs[0] in graph.channels:
        name, first_channel = graph.channels[node.outputs[0]]
        output = dataclasses.replace(output, name=name)
    begins = chain is not None and next(iter(chain.firings)) == node.name
    in_turns = chain is not None and copy is not None and copy.lives_for_a_step
    return Step(
        kernel=call.kernel,
        inputs=tuple(found or _argument(graph, node, tensors[name]) for name, found in operands),
        output=output,
        scratch=scratch,
        params=call.params,
        node=node.name,
        sources=node.sources,
        macs=spec.macs,
        runtime_bits=choice.family.runtime_bits(node, spec),
        copy=None if copy is None else WeightCopy(copy.offset, copy.size_bytes, in_turns),
        written=_written(graph, node, tensors),
        more=tuple(more),
        slide=None if chain is None else slide_of(graph, chain, node.name, plan),
        fills=fills_of(graph, chain, plan) if chain is not None and begins else (),
        first_channel=first_channel,
    )


def _length(graph: Graph, choices: Sequence[KernelChoice]) -> ProgramLength | None:
    """Sizes that depend on the length of a run; None for a fixed length."""
    variable = graph.length
    if variable is None:
        return None
    return ProgramLength(
        maximum=variable.maximum,
        axes=tuple((name, axis) for name, axis in variable.axes.items() if name in graph.values),
        arguments=tuple(sizes_of_run(c.family, graph, c.node, c.spec) for c in choices),
    )


def _argument(graph: Graph, node: Node, tensor: ProgramTensor) -> TensorArg:
    """An operand in the arena or the state, of which a turn may read a part."""
    attrs = node.attrs
    if isinstance(attrs, qops.QTurnSlice):
        return _moved(tensor, part_place(graph, tensor.name, attrs.part, attrs.loop))
    return tensor.argument


def _written(graph: Graph, node: Node, tensors: Mapping[str, ProgramTensor]) -> TensorArg | None:
    """Target of a step that copies the value of a turn to those of all turns."""
    attrs = node.attrs
    if not isinstance(attrs, qops.QTurnStack):
        return None
    return _moved(tensors[node.output], part_place(graph, node.output, attrs.part, attrs.loop))


def _moved(tensor: ProgramTensor, part: Place) -> TensorArg:
    """The part of a tensor that belongs to a turn."""
    whole = Place(tensor.name, tensor.offset_bytes, tensor.strides)
    place = part.within(whole)
    return TensorArg(place.offset_bytes, tensor.dtype, place.strides, tensor.space)


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

"""Control flow whose course is known at compile time: Scan, Loop and If."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import onnx_ir as ir

from edgec.importers.common.attributes import normal_axis
from edgec.importers.common.loops import carry, is_real, new_loop, part, stacked, updated
from edgec.importers.common.tensors import Tensor, UnknownTensorError, UnsupportedError
from edgec.importers.common.turned import Turned, is_number, turn_number, turned
from edgec.importers.onnx.loop_numbers import (
    Course,
    course,
    hands_on_condition,
    passed_through,
)
from edgec.importers.onnx.node import Context, OnnxNode
from edgec.ir.graph import Constant, Value
from edgec.ir.turns import Loop

_BATCHED_OPSET = 8
"""The version of Scan with a batch axis and lengths of sequences."""


def scan(ctx: Context, node: OnnxNode) -> tuple[Tensor, ...]:
    """Any axes and directions, several states, inputs and outputs; of opset 8 without lengths."""
    batched = node.opset == _BATCHED_OPSET
    if batched and node.has(0):
        raise UnsupportedError("its sequences have lengths of their own", "give whole sequences")
    first = int(batched)
    operands = [
        _unbatched(ctx, node.any_tensor(i), batched) for i in range(first, node.input_count)
    ]
    parts = node.integer("num_scan_inputs", 0)
    states = len(operands) - parts
    if parts < 1 or states < 0:
        raise UnsupportedError("it scans no input", "correct the model")
    ahead = node.integers("directions" if batched else "scan_input_directions") or (0,) * parts
    axes = node.integers("scan_input_axes") or (0,) * parts
    read = operands[states:]
    if not len(ahead) == len(axes) == parts:
        raise UnsupportedError("its axes or directions do not fit its inputs", "correct the model")
    axes = tuple(normal_axis(a, len(x.shape)) for a, x in zip(axes, read, strict=True))
    counts = {x.shape[axis] for axis, x in zip(axes, read, strict=True)}
    if len(counts) > 1:
        raise UnsupportedError(
            f"its inputs are scanned in {_listed(counts)} turns", "give them one length"
        )
    loop = new_loop(ctx, node.name, counts.pop())
    carried = [carry(ctx, x, loop) for x in operands[:states]]
    given = [
        part(ctx, x, loop, axis, backwards=bool(back))
        for x, axis, back in zip(read, axes, ahead, strict=True)
    ]
    found = _body(ctx, node, "body", loop, [*carried, *given])
    count = len(found) - states
    out_axes = node.integers("scan_output_axes") or (0,) * count
    out_back = node.integers("scan_output_directions") or (0,) * count
    if count < 0 or not len(out_axes) == len(out_back) == count:
        raise UnsupportedError("its axes or directions do not fit its outputs", "correct the model")
    outputs = _finals(ctx, node, loop, carried, found[:states])
    outputs += [
        stacked(ctx, y, loop, axis, backwards=bool(back))
        for y, axis, back in zip(found[states:], out_axes, out_back, strict=True)
    ]
    return tuple(_batched(ctx, y, batched) for y in outputs)


def loop(ctx: Context, node: OnnxNode) -> tuple[Tensor, ...]:
    """A number of turns that is known at import; whole numbers that it carries count turns."""
    body = node.body("body")
    given = [node.any_tensor(i) for i in range(2, node.input_count)]
    if len(body.inputs) != len(given) + 2 or len(body.outputs) <= len(given):
        raise UnsupportedError(
            f"its body has {len(body.inputs)} inputs and {len(body.outputs)} outputs, which does "
            f"not fit {len(given)} carried tensors",
            "correct the model",
        )
    through = passed_through(body)
    known = _course(ctx, node, body, given, through)
    loop = new_loop(ctx, node.name, known.count)
    own: dict[int, Value] = {}
    inputs: list[Tensor] = [turn_number(f"{loop.name}/turn", loop)]
    inputs.append(Constant(f"{loop.name}/true", np.asarray(True)))
    for place, x in enumerate(given):
        if place in through:
            inputs.append(x)
        elif place in known.numbers:
            name = f"{loop.name}/number{place}"
            inputs.append(turned(name, loop, known.numbers[place][:-1]))
        else:
            own[place] = carry(ctx, x, loop)
            inputs.append(own[place])
    condition, *found = _body(ctx, node, "body", loop, inputs)
    _check_condition(condition, loop)
    outputs: list[Tensor] = []
    for place, x in enumerate(given):
        if place in through:
            outputs.append(x)
        elif place in known.numbers:
            outputs.append(Constant(f"{loop.name}/last{place}", known.numbers[place][-1]))
        else:
            outputs.append(_final(ctx, node, loop, own[place], found[place], place))
    outputs += [stacked(ctx, y, loop, 0, backwards=False) for y in found[len(given) :]]
    return tuple(outputs)


def _course(
    ctx: Context,
    node: OnnxNode,
    body: ir.Graph,
    given: Sequence[Tensor],
    through: frozenset[int],
) -> Course:
    """The number of turns, and the numbers that they count in."""
    most = node.whole_number(0, "number of turns") if node.has(0) else None
    begins = not node.has(1) or bool(node.whole_number(1, "condition"))
    counts = any(is_number(x) for place, x in enumerate(given) if place not in through)
    if not begins:
        return Course(0, {})
    if most is not None and not counts and hands_on_condition(body):
        return Course(most, {})
    return course(body, given, through, ctx.tensors, node.opset, most)


def if_(ctx: Context, node: OnnxNode) -> tuple[Tensor, ...]:
    """A constant condition: the branch that it chooses."""
    name = "then_branch" if node.whole_number(0, "condition") else "else_branch"
    return tuple(_body(ctx, node, name, ctx.loop, []))


def _check_condition(condition: Tensor, loop: Loop) -> None:
    """A condition is true after every turn but the last, after which nobody asks."""
    if loop.count == 1:
        return
    known = condition.turns[:-1] if isinstance(condition, Turned) else None
    if isinstance(condition, Constant) and known is None:
        known = condition.array
    if known is None or not known.all():
        raise UnsupportedError(
            "its condition changes, so that the data decide how many turns it has",
            "give it a constant number of turns and no condition",
        )


def _body(
    ctx: Context, node: OnnxNode, name: str, loop: Loop | None, inputs: Sequence[Tensor]
) -> list[Tensor]:
    """The outputs of a body.

    Raises:
        UnknownTensorError: some could not be translated, for a reason that is noted.
    """
    graph, source, outside = node.body(name), ctx.current, ctx.loop
    if len(graph.inputs) != len(inputs):
        raise UnsupportedError(
            f"its body has {len(graph.inputs)} inputs, {len(inputs)} are given", "correct the model"
        )
    ctx.loop = loop
    try:
        found = ctx.translate(graph, f"{ctx.loop_name(node.name)}/", inputs)
    finally:
        ctx.loop = outside
        ctx.begin(source)
    outputs = [tensor for tensor in found if tensor is not None]
    if len(outputs) < len(found):
        raise UnknownTensorError(node.name)
    return outputs


def _finals(
    ctx: Context,
    node: OnnxNode,
    loop: Loop,
    carried: Sequence[Value],
    found: Sequence[Tensor],
) -> list[Tensor]:
    """Carried values after the last turn."""
    if len(found) < len(carried):
        raise UnsupportedError("its body does not give all that it carries", "correct the model")
    pairs = zip(carried, found, strict=True)
    return [_final(ctx, node, loop, own, x, place) for place, (own, x) in enumerate(pairs)]


def _final(ctx: Context, node: OnnxNode, loop: Loop, own: Value, x: Tensor, place: int) -> Tensor:
    """A carried value after the last turn."""
    if x.shape != own.shape or not is_real(x):
        raise UnsupportedError(
            f"what it carries is {_text(own)} before a turn and {_text(x)} after it",
            "carry a tensor of one shape and type",
        )
    return updated(ctx, loop, own, x, is_used=node.is_used(place))


def _unbatched(ctx: Context, x: Tensor, batched: bool) -> Tensor:
    if not batched:
        return x
    if x.shape[:1] != (1,):
        raise UnsupportedError(f"it has a batch of {x.shape[0] if x.shape else 0}", "use one of 1")
    return ctx.reshape(x, x.shape[1:])


def _batched(ctx: Context, x: Tensor, batched: bool) -> Tensor:
    return ctx.reshape(x, (1, *x.shape)) if batched else x


def _text(x: Tensor) -> str:
    return f"{x.dtype.value} {list(x.shape)}"


def _listed(counts: set[int]) -> str:
    return " and ".join(str(count) for count in sorted(counts))

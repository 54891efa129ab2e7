"""Whole numbers that a Loop carries and its condition: computed before its body is translated.

TensorFlow's loops, as tf2onnx writes them, count their turns in tensors of their own and carry
weights through each turn unchanged.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import onnx
import onnx_ir as ir
from onnx import helper, numpy_helper
from onnx.reference import ReferenceEvaluator

from edgec.base.dtypes import Array
from edgec.base.limits import MAX_TURN_CONSTANTS
from edgec.importers.common.boundary import library_call
from edgec.importers.common.tensors import Tensor, UnsupportedError
from edgec.importers.common.turned import MAX_EVALUATED, is_number, starts_of
from edgec.importers.onnx.bodies import types_around
from edgec.importers.onnx.evaluation import MAX_NUMBERS, OF_SHAPES, evaluator, is_plain

_COUNTS = OF_SHAPES | {"Abs", "Ceil", "Floor", "Identity", "Sign"}
"""Operators with which loops count."""
_FIRST = 2
"""Inputs of a body before those that it carries: the number of the turn, and the condition."""


@dataclass(frozen=True, slots=True, eq=False)
class Course:
    """The turns of a loop, as far as they are known at import.

    Attributes:
        count: how many there are.
        numbers: whole numbers that it carries, by place among what it carries: arrays
            [count + 1, ...], before each turn and after the last one.
    """

    count: int
    numbers: Mapping[int, Array]


def passed_through(body: ir.Graph) -> frozenset[int]:
    """Places of carried tensors that each turn hands on as it got them."""
    _, _, *before = body.inputs
    _, *after = body.outputs
    pairs = enumerate(zip(before, after, strict=False))
    return frozenset(place for place, (x, y) in pairs if _source(y, body) is x)


def hands_on_condition(body: ir.Graph) -> bool:
    """Whether the condition after a turn is that before it, or always true."""
    source = _source(body.outputs[0], body)
    constant = source.const_value if source is not None else None
    return source is body.inputs[1] or (constant is not None and bool(constant.numpy().all()))


def _source(value: ir.Value | None, body: ir.Graph) -> ir.Value | None:
    """The value that a value of a body is, but for its name."""
    made = {output: node for node in body for output in node.outputs}
    while value in made and made[value].op_type == "Identity":
        (value,) = made[value].inputs
    return value


def course(
    body: ir.Graph,
    carried: Sequence[Tensor],
    through: frozenset[int],
    around: Mapping[str, Tensor],
    opset: int,
    most: int | None,
) -> Course:
    """Follow the whole numbers of a loop from turn to turn until its condition ends it.

    Args:
        body: the graph of a turn; the loop's condition holds before the first turn.
        carried: what it carries, as it is before the first turn.
        through: places that it hands on unchanged.
        around: tensors that it may read beside these.
        opset: version of ONNX's operators.
        most: number of turns, if the condition does not end it before; None: only it does.

    Raises:
        UnsupportedError: the data decide a number or the condition, there are too many turns, or
            the numbers are too large to be known in each turn.
    """
    numbers = [n for n, x in enumerate(carried) if n not in through and is_number(x)]
    states = [starts_of(carried[n] for n in numbers)]
    part = _Part(body, [carried[n] if n in through else None for n in range(len(carried))], around)
    free = [_FIRST + n for n in numbers]
    kept = [part.output(place + 1) for place in numbers]
    if not part.knows(free, kept):
        raise UnsupportedError(
            "it carries whole numbers that the data decide", "carry real numbers"
        )
    ends = [part.output(0)] if part.knows(free, [part.output(0)]) else []
    if not ends and most is None:
        raise UnsupportedError(
            "its condition changes, so that the data decide how many turns it has",
            "give it a constant number of turns and no condition",
        )
    turn = _Turn(part, free, [*kept, *ends], opset)
    size = sum(x.size for x in states[0])
    while most is None or len(states) <= most:
        if len(states) > MAX_EVALUATED:
            raise UnsupportedError(f"it has more than {MAX_EVALUATED:,} turns", "use fewer")
        if (len(states) + 1) * size > MAX_TURN_CONSTANTS:
            raise UnsupportedError(
                f"it carries {size:,} whole numbers through {len(states):,} turns and more",
                "carry fewer, or real numbers",
            )
        found = turn(len(states) - 1, states[-1])
        after, goes_on = found[: len(kept)], found[len(kept) :]
        if any(x.shape != old.shape for x, old in zip(after, states[0], strict=True)):
            raise UnsupportedError(
                "it carries whole numbers whose shape changes", "carry tensors of one shape"
            )
        states.append(after)
        if not all(x.all() for x in goes_on):
            break
    columns = zip(numbers, zip(*states, strict=True), strict=True)
    return Course(len(states) - 1, {n: np.stack(column) for n, column in columns})


class _Part:
    """The nodes of a body that compute some of its outputs of known numbers alone.

    Attributes:
        inputs: names of the body's inputs.
        constants: what is known beside the numbers that change, by name.
    """

    def __init__(
        self, body: ir.Graph, through: Sequence[Tensor | None], around: Mapping[str, Tensor]
    ) -> None:
        with library_call("the body of a loop cannot be read"):
            types = types_around(body)
            graph = onnx.GraphProto.FromString(ir.serde.serialize_graph(body).SerializeToString())
            constants = {x.name: numpy_helper.to_array(x) for x in graph.initializer}
        self._graph = graph
        self._kinds = {info.name: info.type.tensor_type.elem_type for info in graph.input}
        self.inputs = [info.name for info in graph.input]
        self._made = {name: node for node in graph.node for name in node.output}
        own = {*self.inputs, *constants, *self._made}
        given = {n: x for n, x in around.items() if n not in own}
        given |= {n: x for n, x in zip(self.inputs[_FIRST:], through, strict=True) if x is not None}
        for name, x in given.items():
            if is_plain(x) and x.array.size <= MAX_NUMBERS:
                declared = self._kinds.get(name) or int(types.get(name) or 0)
                constants[name] = _of_type(x.array, declared)
        self.constants = constants

    def output(self, place: int) -> str:
        """The name of an output."""
        return str(self._graph.output[place].name)

    def knows(self, numbers: Sequence[int], outputs: Sequence[str]) -> bool:
        """Whether outputs follow from the number of the turn and inputs that hold numbers."""
        free = {*self.inputs[:_FIRST], *(self.inputs[n] for n in numbers)}
        known = {"", *free, *self.constants, *self._made}
        nodes = self.needed(outputs)
        return {*outputs} <= known and all(
            node.op_type in _COUNTS and {*node.input} <= known for node in nodes
        )

    def needed(self, outputs: Sequence[str]) -> list[onnx.NodeProto]:
        """The nodes that outputs need, in the order of the body."""
        wanted = {*outputs}
        found = []
        for node in reversed(self._graph.node):
            if wanted & {*node.output}:
                found.append(node)
                wanted |= {*node.input}
        return found[::-1]

    def typed(self, place: int, array: Array) -> Array:
        """An array in the type that the body declares for an input."""
        return _of_type(array, self._kinds[self.inputs[place]])


class _Turn:
    """Computes the numbers of one turn after the other, with ONNX's own reference."""

    def __init__(
        self, part: _Part, free: Sequence[int], outputs: Sequence[str], opset: int
    ) -> None:
        self._part = part
        self._free = free
        self._outputs = outputs
        self._opset = opset
        self._nodes = part.needed(outputs)
        self._runs: list[ReferenceEvaluator] = []

    def __call__(self, number: int, state: Sequence[Array]) -> list[Array]:
        part = self._part
        start = (np.asarray(number), np.asarray(True), *state)
        places = zip((0, 1, *self._free), start, strict=True)
        known = part.constants | {part.inputs[n]: part.typed(n, x) for n, x in places}
        for index, node in enumerate(self._nodes):
            read = {name: known[name] for name in node.input if name}
            if any(x.size > MAX_NUMBERS for x in read.values()):
                raise UnsupportedError(
                    f"it counts with tensors of more than {MAX_NUMBERS} numbers", "use fewer"
                )
            with library_call("the numbers of a loop cannot be computed"):
                if index == len(self._runs):
                    self._runs.append(evaluator(node, read, self._opset))
                found = self._runs[index].run(None, read)
            known |= {name: np.asarray(x) for name, x in zip(node.output, found, strict=True)}
        return [known[name] for name in self._outputs]


def _of_type(array: Array, declared: int) -> Array:
    return array.astype(helper.tensor_dtype_to_np_dtype(declared)) if declared else array

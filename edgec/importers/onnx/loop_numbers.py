"""Whole numbers that a Loop carries and its condition: computed before its body is translated.

TensorFlow's loops, as tf2onnx writes them, count their turns in tensors of their own and carry
weights through each turn unchanged.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import onnx
import onnx_ir as ir
from onnx import helper, numpy_helper
from onnx.reference import ReferenceEvaluator

from edgec.base.dtypes import Array
from edgec.importers.common.boundary import library_call
from edgec.importers.common.tensors import Tensor, UnsupportedError
from edgec.importers.common.turned import Turned
from edgec.importers.onnx.bodies import types_around
from edgec.importers.onnx.evaluation import MAX_EVALUATED, is_plain
from edgec.importers.onnx.walk import subgraphs
from edgec.ir.graph import Constant

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
    made = {output: node for node in body for output in node.outputs}
    _, _, *before = body.inputs
    _, *after = body.outputs
    found = set()
    for place, (given, output) in enumerate(zip(before, after, strict=False)):
        source: ir.Value | None = output
        while source in made and made[source].op_type == "Identity":
            (source,) = made[source].inputs
        if source is given:
            found.add(place)
    return frozenset(found)


def is_number(x: Tensor) -> bool:
    """Whether a tensor holds whole numbers or truth values that are known."""
    return isinstance(x, Constant) and x.quant is None and x.array.dtype.kind in "iub"


def course(
    body: ir.Graph,
    carried: Sequence[Tensor],
    through: frozenset[int],
    around: Mapping[str, Tensor],
    most: int,
) -> Course:
    """Follow the whole numbers of a loop from turn to turn until its condition ends it.

    Args:
        body: the graph of a turn; the loop's condition holds before the first turn.
        carried: what it carries, as it is before the first turn.
        through: places that it hands on unchanged.
        around: tensors that it may read beside these.
        most: most turns.

    Raises:
        UnsupportedError: the data decide a number or the condition, or there are too many turns.
    """
    numbers = [n for n, x in enumerate(carried) if n not in through and is_number(x)]
    if any(isinstance(carried[n], Turned) for n in numbers):
        raise UnsupportedError("it begins with the number of a turn", "begin with a constant")
    part = _Part(body, [carried[n] if n in through else None for n in range(len(carried))], around)
    kept = [part.output(place + 1) for place in numbers]
    condition = part.output(0)
    if not part.knows({_FIRST + n for n in numbers}, kept):
        raise UnsupportedError(
            "it carries whole numbers that the data decide", "carry real numbers"
        )
    if not part.knows({_FIRST + n for n in numbers}, [condition]):
        raise UnsupportedError(
            "its condition changes, so that the data decide how many turns it has",
            "give it a constant number of turns and no condition",
        )
    turn = part.evaluator([condition, *kept])
    states = [[_array(carried[n]) for n in numbers]]
    for number in range(most):
        if number == MAX_EVALUATED:
            raise UnsupportedError(f"it has more than {MAX_EVALUATED:,} turns", "use fewer")
        goes_on, *after = turn(
            number, {_FIRST + n: x for n, x in zip(numbers, states[-1], strict=True)}
        )
        if any(x.shape != old.shape for x, old in zip(after, states[0], strict=True)):
            raise UnsupportedError(
                "it carries whole numbers whose shape changes", "carry tensors of one shape"
            )
        states.append(after)
        if not goes_on.all():
            break
    columns = zip(numbers, zip(*states, strict=True), strict=True)
    return Course(len(states) - 1, {n: np.stack(column) for n, column in columns})


class _Part:
    """The nodes of a body that compute some of its outputs of known numbers alone."""

    def __init__(
        self, body: ir.Graph, through: Sequence[Tensor | None], around: Mapping[str, Tensor]
    ) -> None:
        with library_call("the body of a loop cannot be read"):
            self._types = types_around(body)
            self._graph = onnx.GraphProto.FromString(
                ir.serde.serialize_graph(body).SerializeToString()
            )
            self._version = body.opset_imports.get("", 17)
        inputs = self._graph.input
        self._kinds = {info.name: info.type.tensor_type.elem_type for info in inputs}
        self._inputs = [info.name for info in inputs]
        self._known = {tensor.name for tensor in self._graph.initializer}
        self._given = {
            name: x
            for name, x in zip(self._inputs[_FIRST:], through, strict=True)
            if x is not None and is_plain(x)
        }
        own = {*self._inputs, *(name for node in self._graph.node for name in node.output)}
        self._given |= {n: x for n, x in around.items() if n not in own and is_plain(x)}
        self._made = {name: node for node in self._graph.node for name in node.output}

    def output(self, place: int) -> str:
        """The name of an output."""
        return str(self._graph.output[place].name)

    def knows(self, numbers: Iterable[int], outputs: Sequence[str]) -> bool:
        """Whether outputs follow from the number of the turn and inputs that hold numbers."""
        free = {*self._inputs[:_FIRST], *(self._inputs[n] for n in numbers)}
        known = free | self._known | self._given.keys()
        return (
            all(
                not list(subgraphs(node)) and {*node.input} - {""} - self._made.keys() <= known
                for node in self._needed(outputs)
            )
            and {*outputs} <= known | self._made.keys()
        )

    def evaluator(self, outputs: Sequence[str]) -> _Turn:
        """A function that computes outputs, turn by turn."""
        nodes = self._needed(outputs)
        read = {name for node in nodes for name in node.input} | {*outputs}
        free = [name for name in self._inputs if name in read and name not in self._given]
        constants = [x for x in self._graph.initializer if x.name in read]
        for name in sorted(read & self._given.keys()):
            constants.append(numpy_helper.from_array(self._typed(name), name))
        infos = [helper.make_tensor_value_info(n, self._kinds.get(n, 0), None) for n in free]
        ends = [helper.make_tensor_value_info(f"end{n}", 0, None) for n in range(len(outputs))]
        names = {*read, *(name for node in nodes for name in node.output)}
        for n, name in enumerate(outputs):
            while ends[n].name in names:
                ends[n].name += "_"
            nodes.append(helper.make_node("Identity", [name], [ends[n].name]))
        graph = helper.make_graph(nodes, "numbers", infos, ends, constants)
        model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", self._version)])
        return _Turn(model, self._inputs, {n: self._kinds[n] for n in free})

    def _typed(self, name: str) -> Array:
        array = _array(self._given[name])
        declared = self._kinds.get(name) or int(self._types.get(name) or 0)
        return array.astype(helper.tensor_dtype_to_np_dtype(declared)) if declared else array

    def _needed(self, outputs: Sequence[str]) -> list[onnx.NodeProto]:
        """The nodes that outputs need, in the order of the body."""
        wanted = {*outputs}
        found = []
        for node in reversed(self._graph.node):
            if wanted & {*node.output}:
                found.append(node)
                wanted |= {*node.input}
        return found[::-1]


class _Turn:
    """One turn's numbers, computed by the reference of ONNX."""

    def __init__(
        self, model: onnx.ModelProto, inputs: Sequence[str], kinds: Mapping[str, int]
    ) -> None:
        with library_call("the numbers of a loop cannot be computed"):
            self._run = ReferenceEvaluator(model).run
        self._inputs = inputs
        self._kinds = kinds

    def __call__(self, number: int, given: Mapping[int, Array]) -> list[Array]:
        known: dict[int, Array] = {0: np.asarray(number), 1: np.asarray(True), **given}
        feeds = {
            self._inputs[n]: x.astype(helper.tensor_dtype_to_np_dtype(self._kinds[self._inputs[n]]))
            for n, x in known.items()
            if self._inputs[n] in self._kinds
        }
        with library_call("the numbers of a loop cannot be computed"):
            return [np.asarray(x) for x in self._run(None, feeds)]


def _array(x: Tensor) -> Array:
    assert isinstance(x, Constant)
    return x.array

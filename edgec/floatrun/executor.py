"""Executes graphs of the real stage in float64, with the same bits on every computer.

onnxruntime's sums depend on the processor.  Here every operator is made of `base.portable_algebra`,
`base.portable_functions` and single operations that IEEE 754 defines.  What is computed for a
sample does not depend on the other samples of its batch, except where the model has state: there
the samples are the steps of streams, in order.

A value has a row for each sample, a value of a loop one for each turn of each sample: row
``sample * turns + turn``.  So whatever looks at values looks at those of loops, too.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from types import MappingProxyType

import numpy as np

from edgec.base.dtypes import Array
from edgec.base.errors import InternalError
from edgec.base.streams import RESETS
from edgec.floatrun import cycles as ops_turns
from edgec.floatrun import ops_elementwise, ops_move, ops_product, ops_reduce, ops_sound, ops_trees
from edgec.floatrun.codes import dequantized, nearest_codes
from edgec.floatrun.cycles import Cycle, Step, gives, reads, repeated, steps
from edgec.floatrun.operands import Rule
from edgec.ir import ops
from edgec.ir.graph import Graph, Node
from edgec.ir.real import RealOperator
from edgec.ir.turns import Scope, contains, joined, turns_between

RULES = ops_elementwise.RULES.joined(
    ops_move.RULES,
    ops_product.RULES,
    ops_reduce.RULES,
    ops_sound.RULES,
    ops_trees.RULES,
    ops_turns.RULES,
)

_ELEMENT_BYTES = 8

Change = Callable[[Node, Array, Mapping[str, Array]], Array]
Instead = Callable[[Node, Mapping[str, Array]], Array | None]


@dataclass(frozen=True, slots=True, eq=False)
class _Frame:
    """Values that a step reads: those of the whole run, or of a turn of a cycle.

    Attributes:
        live: the values that are known, by name.
        rows: rows of a value that belongs to no loop within the frame.
        within: the loop whose turn it is; None: the whole run, or a step of streams.
        given: values that take the place of what is computed.
    """

    live: dict[str, Array]
    rows: int
    within: Scope = None
    given: Mapping[str, Array] = field(default_factory=dict)

    def rows_in(self, scope: Scope) -> int:
        """Rows of a value of a loop."""
        return self.rows * turns_between(self.within, scope)


class Executor:
    """A graph, ready to run on samples."""

    def __init__(
        self,
        graph: Graph,
        names: Sequence[str],
        scopes: Mapping[str, Scope] = MappingProxyType({}),
    ) -> None:
        """Prepare a graph of the REAL (or ANNOTATED) stage.

        Args:
            graph: quantization pinned on values is ignored, except by QuantizeLinear and
                DequantizeLinear; integer weights count as what they stand for.
            names: values wanted.
            scopes: loops of the inputs of a graph that is cut out of another one.
        """
        self._names = tuple(dict.fromkeys(names))
        self._graph = graph.replace(outputs=self._names, output_layouts={}).pruned()
        constants = self._graph.constants.values()
        # With an axis for samples, like values.
        self._constants = {constant.name: constant.real64()[None] for constant in constants}
        self._steps = steps(self._graph)
        self._released = _released(self._graph, self._steps, self._names)
        self._in_place = _in_place(self._graph, self._steps, self._released)
        self._scopes = {**self._graph.scopes.values, **scopes}
        self._is_straight = not any(self._scopes.values()) and not self._graph.updates
        self._state: dict[str, Array] = {}
        # By node, found when it is first run.
        self._rules: dict[str, Rule | None] = {}
        self._read: dict[str, Scope] = {}

    @property
    def sample_bytes(self) -> int:
        """Bytes of the values of one sample that are in memory at a time, at most."""
        live = most = sum(self._bytes(name) for name in self._graph.inputs)
        for step, released in zip(self._steps, self._released, strict=True):
            live += sum(self._bytes(name) for name in gives(step))
            most = max(most, live)
            live -= sum(self._bytes(name) for name in released)
        return most

    def _bytes(self, name: str) -> int:
        turns = turns_between(None, self._scopes.get(name))
        return _ELEMENT_BYTES * self._graph.values[name].elements * turns

    def run(
        self,
        inputs: Mapping[str, Array],
        change: Change | None = None,
        instead: Instead | None = None,
    ) -> dict[str, Array]:
        """Values of samples.

        Args:
            inputs: for each graph input an array of S samples, [S, ...]; codes or whole numbers
                where it holds such.  `RESETS`, bool [S], says before which samples the state of
                the model is reset, and the state of the last run goes on before a first one that
                is not among them; where it is left out the samples are one stream.
            change: told each node with one output, this output and the values that are known at
                this point, by name; what it returns takes the output's place.  A node of a cycle
                (`cycles`) is told once a turn.
            instead: asked before a node outside of cycles is computed, with the values that are
                known; what it returns is the output, unless that is None.

        Returns:
            For each of the names [S, ...shape of the value...], of a value of a loop
            [S * turns, ...]: float64, int32, or codes.
        """
        live = dict(self._constants)
        for name in self._graph.inputs:
            live[name] = self._samples(name, np.asarray(inputs[name]))
        frame = self._whole(live, inputs)
        resets = inputs.get(RESETS)
        with np.errstate(invalid="ignore", over="ignore", divide="ignore", under="ignore"):
            for step, released in zip(self._steps, self._released, strict=True):
                self._run(step, frame, change, resets, instead)
                for name in released:
                    live.pop(name, None)
        return {name: live[name] for name in self._names}

    def run_again(
        self, known: Mapping[str, Array], changed: Mapping[str, Array]
    ) -> dict[str, Array]:
        """Compute again only the values that depend on some changed ones.

        Args:
            known: every value of the graph, from `run`, and `RESETS` if it was there.
            changed: some of them, with other numbers in them.

        Returns:
            All values that are others, by name; those of `changed` are among them.
        """
        live = {**self._constants, **known, **changed}
        frame = replace(self._whole(live, known), given=changed)
        touched = set(changed)
        with np.errstate(invalid="ignore", over="ignore", divide="ignore", under="ignore"):
            for step in self._steps:
                inner = isinstance(step, Cycle) and not touched.isdisjoint(gives(step))
                if inner or not touched.isdisjoint(reads(step)):
                    self._run(step, frame, None, known.get(RESETS))
                    touched.update(gives(step))
        return {name: live[name] for name in touched}

    def _samples(self, name: str, array: Array) -> Array:
        full = array.reshape(len(array), *self._graph.shape(name))
        return full.astype(np.float64, copy=False) if full.dtype.kind == "f" else full

    def _whole(self, live: dict[str, Array], inputs: Mapping[str, Array]) -> _Frame:
        """The frame of a whole run."""
        first = next(iter(self._graph.inputs), None)
        if first is None:
            return _Frame(live, 1)
        return _Frame(live, len(inputs[first]) // turns_between(None, self._scopes.get(first)))

    def _run(
        self,
        step: Step,
        frame: _Frame,
        change: Change | None,
        resets: Array | None = None,
        instead: Instead | None = None,
    ) -> None:
        if isinstance(step, Cycle):
            self._turn_by_turn(step, frame, change, resets)
            return
        given = None if instead is None else instead(step, frame.live)
        if given is None and step.name in self._in_place and not frame.given:
            clip, array = step.attrs_as(ops.Clip), frame.live.pop(step.first)
            given = ops_elementwise.clipped(array, clip.low, clip.high, out=array)
        outputs = self._computed(step, frame) if given is None else (given,)
        if change is not None and len(outputs) == 1:
            outputs = (change(step, outputs[0], frame.live),)
        for name, output in zip(step.outputs, outputs, strict=True):
            frame.live[name] = frame.given.get(name, output)

    def _turn_by_turn(
        self, cycle: Cycle, frame: _Frame, change: Change | None, resets: Array | None
    ) -> None:
        """Run a cycle, turn after turn."""
        lanes, count, starts = self._turns_of(cycle, frame, resets)
        views = {
            name: self._by_turn(name, frame.live[name], cycle, lanes, count) for name in cycle.reads
        }
        given = {
            name: self._by_turn(name, array, cycle, lanes, count)
            for name, array in frame.given.items()
        }
        carried = {name: self._graph.updates[name].output for name in cycle.carried}
        state = self._state if cycle.loop is None else {}
        found: dict[str, list[Array]] = {name: [] for name in cycle.gives}
        for turn in range(count):
            live = {name: view(turn) for name, view in views.items()}
            now = {name: view(turn) for name, view in given.items()}
            inner = _Frame(live, lanes, cycle.loop, now)
            before = {} if starts[turn] else state
            for step in cycle.body:
                if isinstance(step, Node) and step.output in carried:
                    self._begin(step, inner, before)
                else:
                    self._run(step, inner, change)
            for name, parts in found.items():
                parts.append(live[name])
            state = {name: live[update] for name, update in carried.items()}
        if cycle.loop is None and not frame.given:
            self._state = {name: array[-1:] for name, array in state.items()}
        for name, parts in found.items():
            frame.live[name] = _joined(parts, lanes)

    def _turns_of(
        self, cycle: Cycle, frame: _Frame, resets: Array | None
    ) -> tuple[int, int, Array]:
        """Rows that run side by side, turns, and the turns that begin anew."""
        if cycle.loop is not None:
            starts = np.arange(cycle.loop.count) == 0
            return frame.rows_in(cycle.loop.within), cycle.loop.count, starts
        starts = np.arange(frame.rows) == 0 if resets is None else np.asarray(resets, bool)
        first = np.flatnonzero(starts)
        length = frame.rows // max(len(first), 1)
        even = len(first) * length == frame.rows
        if even and np.array_equal(first, np.arange(len(first)) * length):
            # Streams of one length: side by side.
            return len(first), length, np.arange(length) == 0
        return 1, frame.rows, starts

    def _by_turn(
        self, name: str, array: Array, cycle: Cycle, lanes: int, count: int
    ) -> Callable[[int], Array]:
        """The part that a turn reads of a tensor that is known before its cycle."""
        inside = name in self._graph.values and contains(cycle.loop, self._scopes.get(name))
        if not inside or len(array) % (lanes * count):
            return lambda _turn: array
        turns = array.reshape(lanes, count, len(array) // (lanes * count), *array.shape[1:])
        return lambda turn: turns[:, turn].reshape(-1, *array.shape[1:])

    def _begin(self, node: Node, frame: _Frame, before: Mapping[str, Array]) -> None:
        """The carried value of a turn."""
        name = node.output
        array = before[name] if name in before else frame.live[node.first]
        frame.live[name] = frame.given.get(name, repeated(array, frame.rows))

    def _computed(self, node: Node, frame: _Frame) -> tuple[Array, ...]:
        arrays = self._operands(node, frame)
        match node.attrs:
            case ops.QuantizeLinear():
                return (nearest_codes(frame.live[node.input], self._graph.quant(node.output)),)
            case ops.DequantizeLinear():
                return (dequantized(frame.live[node.input], self._graph.quant(node.input)),)
        rule = self._rule(node)
        if rule is None:
            return _evaluated(node, arrays)
        found = rule(node.attrs, node.attrs.Inputs.of(arrays))
        return found if isinstance(found, tuple) else (found,)

    def _scope_read(self, node: Node) -> Scope:
        """The loop whose turns a node's operands have rows for."""
        if node.name not in self._read:
            border = node.attrs.border
            scope = joined(self._scopes.get(name) for name in node.inputs)
            if border is not None:
                outside = border.loop.within if border.loop else None
                scope = outside if border.enters else border.loop
            self._read[node.name] = scope
        return self._read[node.name]

    def _rule(self, node: Node) -> Rule | None:
        """The rule of a node, by its own weights if it has some."""
        if node.name not in self._rules:
            kind, own = type(node.attrs), None
            prepare = ops_product.PREPARED.get(kind)
            if prepare is not None:
                own = self._constants.get(ops.layer_inputs(node).w)
            rule = RULES.get(kind) if prepare is None or own is None else prepare(node.attrs, own)
            self._rules[node.name] = rule
        return self._rules[node.name]

    def _operands(self, node: Node, frame: _Frame) -> list[Array | None]:
        """Operands of a node; a tensor from outside of the turns is repeated for each of them."""
        arrays = [frame.live[name] if name else None for name in node.inputs]
        border = node.attrs.border
        if self._is_straight and border is None:
            return arrays
        rows = frame.rows_in(self._scope_read(node))
        return [
            repeated(array, rows)
            if array is not None and (name in self._graph.values or border is not None)
            else array
            for name, array in zip(node.inputs, arrays, strict=True)
        ]


def _joined(parts: Sequence[Array], lanes: int) -> Array:
    """The rows of all turns from those of each: [lanes * k, ...] each, to [lanes * turns * k]."""
    first = parts[0]
    if lanes == 1:
        return np.concatenate(parts)
    split = [part.reshape(lanes, -1, *first.shape[1:]) for part in parts]
    return np.stack(split, axis=1).reshape(-1, *first.shape[1:])


def _evaluated(node: Node, arrays: Sequence[Array | None]) -> tuple[Array, ...]:
    """The output of an operator without a rule, by its `evaluate`, one sample after the other."""
    count = max(len(array) for array in arrays if array is not None)
    outputs = []
    for sample in range(count):
        own = [None if a is None else a[min(sample, len(a) - 1)] for a in arrays]
        attrs, operands = node.attrs, node.attrs.Inputs.of(own)
        output = attrs.evaluate(operands) if isinstance(attrs, RealOperator) else None
        if output is None:
            raise InternalError(f"operator {node.op} cannot be executed in float", where=node.name)
        outputs.append(output)
    return (np.stack(outputs),)


def is_quantized(graph: Graph) -> bool:
    """True for a model with integer weights or rounding between its operators.

    Args:
        graph: REAL stage, as imported.
    """
    rounding = ops.QuantizeLinear | ops.DequantizeLinear
    weights = any(constant.quant is not None for constant in graph.constants.values())
    return weights or any(isinstance(node.attrs, rounding) for node in graph.nodes)


def _in_place(
    graph: Graph, order: Sequence[Step], released: Sequence[Sequence[str]]
) -> frozenset[str]:
    """Names of Clips whose input is an array of its own that nobody else reads."""
    found = set()
    for step, gone in zip(order, released, strict=True):
        if isinstance(step, Node) and isinstance(step.attrs, ops.Clip) and step.first in gone:
            layer = graph.producers.get(step.first)
            if layer is not None and isinstance(layer.attrs, ops.Weighted):
                found.add(step.name)
    return frozenset(found)


def _released(graph: Graph, order: Sequence[Step], kept: Sequence[str]) -> list[list[str]]:
    """For each step the values that nobody reads after it."""
    last: dict[str, int] = {}
    for index, step in enumerate(order):
        last.update(dict.fromkeys((*reads(step), *gives(step)), index))
    released: list[list[str]] = [[] for _ in order]
    for name, index in last.items():
        if name not in kept and name in graph.values:
            released[index].append(name)
    return released

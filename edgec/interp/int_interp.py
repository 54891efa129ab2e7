"""Executes an INTEGER graph: the oracle that the generated C is compared with, bit for bit."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

import numpy as np

from edgec.base.dtypes import Array, DType, frozen
from edgec.base.errors import InternalError
from edgec.base.streams import RESETS
from edgec.interp.together import SideBySide, in_groups, samples_together
from edgec.ir import Graph, Node
from edgec.ir.qops import IntegerOperator, Operand, QCarry, QTurnSlice, QTurnStack
from edgec.ir.turns import CARRY_OPERAND, Turns

Change = Callable[[str, Array], Array]


def run_graph(
    graph: Graph,
    inputs: Mapping[str, Array],
    state: Mapping[str, Array] | None = None,
    change: Change | None = None,
) -> dict[str, Array]:
    """Every tensor of one run.

    Args:
        graph: INTEGER stage.
        inputs: codes of each graph input, in its shape.
        state: codes of the state by the name of its `QCarry`, from `state_after`; None: as after a
            reset.
        change: told each value by its name, and its codes, of one turn where it is in a loop; what
            it returns takes their place.

    Returns:
        Read-only codes of every value by name, graph inputs included; int8, int16, or int32 of
        indices and masks.  A value of a loop has one more axis, its turns, before all others, and
        one for each loop around that one.

    Raises:
        InternalError: an input is missing or misshapen, an operator is not an integer one, or a
            promise of the quantizer is broken.
    """
    live = _inputs(graph, inputs)
    if change is not None:
        live = {name: change(name, codes) for name, codes in live.items()}
    return {**live, **_Run(graph, live, state or {}, change).all_of(graph.sequence)}


def _inputs(graph: Graph, inputs: Mapping[str, Array]) -> dict[str, Array]:
    """The codes of the graph's inputs, checked."""
    for name in graph.inputs:
        if name not in inputs:
            raise InternalError("no codes for a graph input", where=name)
    return {name: _checked(graph, name, inputs[name]) for name in graph.inputs}


def state_after(graph: Graph, found: Mapping[str, Array]) -> dict[str, Array]:
    """The state that the next run begins with.

    Args:
        graph: INTEGER stage.
        found: every tensor of a run, from `run_graph`.

    Returns:
        Codes by the name of their `QCarry`; empty for a model without state.
    """
    return {
        name: found[update.output]
        for name, update in graph.updates.items()
        if graph.scopes.values[name] is None
    }


class Stream:
    """Runs of a graph one after the other, each with the state that the one before it left."""

    def __init__(self, graph: Graph) -> None:
        """Begin with the state after a reset.

        Args:
            graph: INTEGER stage.
        """
        self.graph = graph
        self._state: dict[str, Array] = {}
        self._held = {
            name: graph.producers[name].attrs_as(QCarry).held_runs for name in graph.state
        }
        self._runs = 0

    def reset(self) -> None:
        """Begin anew."""
        self._state = {}
        self._runs = 0

    def run(self, inputs: Mapping[str, Array], change: Change | None = None) -> dict[str, Array]:
        """Every tensor of the next run; see `run_graph`."""
        found = run_graph(self.graph, inputs, self._state, change)
        self._runs += 1
        self._state = {
            name: codes
            for name, codes in state_after(self.graph, found).items()
            if self._runs > self._held[name]
        }
        return found


def run_stream(
    graph: Graph,
    samples: Iterable[Mapping[str, Array]],
    resets: Array | None = None,
    change: Change | None = None,
) -> Iterator[dict[str, Array]]:
    """Every tensor of each step of a stream, which begins after a reset.

    Samples of a model without a state are independent; of a small one many are computed at once.

    Args:
        graph: INTEGER stage.
        samples: codes of each graph input, in its shape, for each step.
        resets: bool [N], the steps that begin a stream anyway; None: the first one alone.
        change: see `run_graph`.

    Raises:
        InternalError: see `run_graph`.
    """
    size = samples_together(graph) if change is None else 1
    if size > 1:
        for group in in_groups(samples, size):
            yield from _together(graph, group)
        return
    stream = Stream(graph)
    for index, sample in enumerate(samples):
        if resets is not None and resets[index]:
            stream.reset()
        yield stream.run(sample, change)


def _together(graph: Graph, group: Sequence[Mapping[str, Array]]) -> Iterator[dict[str, Array]]:
    """Every tensor of each of some samples that can be computed at once."""
    samples = [_inputs(graph, sample) for sample in group]
    live = {name: frozen(np.stack([each[name] for each in samples])) for name in graph.inputs}
    found = {**live, **_Run(graph, live, {}, None, len(group)).all_of(graph.sequence)}
    for index in range(len(group)):
        # An ellipsis keeps a scalar an array.
        yield {name: array[index, ...] for name, array in found.items()}


def run_graph_batch(graph: Graph, inputs: Mapping[str, Array]) -> dict[str, Array]:
    """The graph's outputs for several samples, one after the other.

    Args:
        graph: INTEGER stage.
        inputs: codes [N, *shape[1:]] by graph input, where shape (batch 1) is the input's.  The
            samples of a model with state are steps; `RESETS`, bool [N], says which of them begin a
            stream: by default the first.

    Returns:
        Codes [N, *shape[1:]] of each graph output by name.

    Raises:
        InternalError: see `run_graph`.
    """
    count = len(next(iter(inputs.values())))
    results: dict[str, list[Array]] = {name: [] for name in graph.outputs}
    resets = inputs.get(RESETS)
    samples = ({name: inputs[name][i : i + 1] for name in graph.inputs} for i in range(count))
    for values in run_stream(graph, samples, resets):
        for name, arrays in results.items():
            arrays.append(values[name])
    # A scalar is one number a sample.
    return {name: np.concatenate([*map(np.atleast_1d, a)]) for name, a in results.items()}


def run_node(graph: Graph, node: Node, found: Mapping[str, Array]) -> Array:
    """The output of one node that has one.

    Args:
        graph: INTEGER stage.
        node: a node of the graph, or a variant of one with the same inputs and outputs.
        found: the codes of its inputs by name, those of one turn where it is in a loop.

    Raises:
        InternalError: see `run_graph`.
    """
    (output,) = _computed(graph, node, found)
    return output


class _Run:
    """One run of a graph.

    Attributes:
        live: codes of values by name, in a loop those of the present turn; with an axis for the
            samples before all others where there are several.
    """

    def __init__(
        self,
        graph: Graph,
        live: dict[str, Array],
        state: Mapping[str, Array],
        change: Change | None,
        samples: int | None = None,
    ) -> None:
        self._graph = graph
        self.live = live
        self._state = state
        self._change = change
        self._samples = () if samples is None else (samples,)
        self._many = None if samples is None else SideBySide(graph, samples)

    def all_of(self, items: Iterable[Node | Turns], turn: int = 0) -> dict[str, Array]:
        """Run nodes and loops in order; the codes of all values that they give."""
        found: dict[str, Array] = {}
        for item in items:
            if isinstance(item, Turns):
                found |= self._turns(item)
            else:
                self._run(item, turn)
                found |= {name: self.live[name] for name in item.outputs}
        return found

    def _turns(self, turns: Turns) -> dict[str, Array]:
        """Run a loop; values by name with an axis for its turns, and stacked ones as they are."""
        scopes = self._graph.scopes.values
        carried = [
            node.inputs[CARRY_OPERAND]
            for node in turns.nodes()
            if node.attrs.updates and scopes[node.output] == turns.loop
        ]
        each: list[dict[str, Array]] = []
        for turn in range(turns.loop.count):
            begun = {name: self.live[name] for name in carried}
            each.append(begun | self.all_of(turns.body, turn))
            for name in carried:
                self.live[name] = self.live[self._graph.updates[name].output]
        return {
            name: each[-1][name]
            if scopes[name] == turns.loop.within
            else frozen(np.stack([found[name] for found in each], axis=len(self._samples)))
            for name in each[-1]
        }

    def _run(self, node: Node, turn: int) -> None:
        """Run a node in a turn of its loop."""
        graph, attrs = self._graph, node.attrs
        border = attrs.border
        if border is not None and border.carries and node.output in self._state:
            self.live[node.output] = _checked(graph, node.output, self._state[node.output])
            return
        seen: Mapping[str, Array] = self.live
        if isinstance(attrs, QTurnSlice):
            whole = _codes(graph, node.first, seen)
            samples = () if graph.is_constant(node.first) else self._every_sample
            seen = {node.first: whole[(*samples, *attrs.part.index(turn))]}
        outputs = _computed(graph, node, seen, self._many)
        if isinstance(attrs, QTurnStack):
            self._stack(node.output, attrs, outputs[0], turn)
            return
        for name, output in zip(node.outputs, outputs, strict=True):
            codes = _checked(graph, name, output, self._samples)
            self.live[name] = codes if self._change is None else self._change(name, codes)

    def _stack(self, name: str, attrs: QTurnStack, part: Array, turn: int) -> None:
        """Write the part of a turn into the tensor of all turns."""
        if turn == 0:
            self.live[name] = np.zeros((*self._samples, *self._graph.shape(name)), part.dtype)
        self.live[name][(*self._every_sample, *attrs.part.index(turn))] = part
        if turn == attrs.loop.count - 1:
            self.live[name] = _checked(self._graph, name, self.live[name], self._samples)

    @property
    def _every_sample(self) -> tuple[slice, ...]:
        """Index of all samples, before that of a tensor."""
        return (slice(None),) * len(self._samples)


def _computed(
    graph: Graph, node: Node, found: Mapping[str, Array], many: SideBySide | None = None
) -> tuple[Array, ...]:
    """The outputs of a node from codes of its operands by name."""
    operands = [_operand(graph, name, found) if name else None for name in node.inputs]
    try:
        attrs = node.attrs_as(IntegerOperator)
        if many is not None:
            return many.outputs(node, operands)
        return attrs.compute_outputs(attrs.Inputs.of(operands))
    except InternalError as error:
        raise InternalError(error.what, where=node.name) from error


def _codes(graph: Graph, name: str, found: Mapping[str, Array]) -> Array:
    if name in found or not graph.is_constant(name):
        return found[name]
    return graph.constants[name].array


def _operand(graph: Graph, name: str, found: Mapping[str, Array]) -> Operand:
    return Operand(_codes(graph, name, found), _zero_point(graph, name))


def _zero_point(graph: Graph, name: str) -> int:
    """The zero point of a per-tensor quantization; 0 where there is none."""
    tensor = graph.constants[name] if graph.is_constant(name) else graph.values[name]
    quant = tensor.quant
    return quant.tensor_zero_point if quant is not None and quant.axis is None else 0


def _checked(graph: Graph, name: str, array: Array, samples: tuple[int, ...] = ()) -> Array:
    value = graph.values[name]
    shape = (*samples, *value.shape)
    if array.shape != shape or DType.of(array) is not value.dtype:
        raise InternalError(
            f"codes are {array.dtype} {list(array.shape)}, "
            f"expected {value.dtype.value} {list(shape)}",
            where=name,
        )
    return frozen(array)

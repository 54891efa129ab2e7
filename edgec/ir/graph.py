"""The graph: values, constants and nodes.  A graph is replaced, never edited."""

from __future__ import annotations

import copyreg
import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from types import MappingProxyType
from typing import Any, TypeVar, overload

import numpy as np

from edgec.base.dtypes import Array, DType, frozen
from edgec.base.errors import InternalError
from edgec.base.rounding import Rounding
from edgec.ir.length import VariableLength
from edgec.ir.operator import Operator, Shape
from edgec.ir.qparams import QuantParams
from edgec.ir.rows import RowChain
from edgec.ir.turns import CARRY_OPERAND, Scopes, Turns, find_scopes, sequence
from edgec.ir.weight_pool import PooledWeights

_A = TypeVar("_A", bound=Operator)
_B = TypeVar("_B", bound=Operator)
_C = TypeVar("_C", bound=Operator)
_D = TypeVar("_D", bound=Operator)


def _view(items: dict[Any, Any]) -> MappingProxyType[Any, Any]:
    return MappingProxyType(items)


# The views of mappings that graphs hold travel to other processes as mappings.
copyreg.pickle(MappingProxyType, lambda view: (_view, (dict(view),)))


@dataclass(frozen=True, slots=True)
class Value:
    """A tensor that exists at run time: a graph input or the output of a node.

    Attributes:
        name: unique in the graph, among constants too.  Comes from the model, so it is untrusted:
            only `codegen.cnames` may turn it into C.
        shape: static, batch 1.
        dtype: FLOAT32 in the real stage; INT8 (or INT32 for ArgMax) in the integer stage.
        quant: in the real stage, parameters pinned by a QDQ model (None: to be calibrated); in the
            integer stage always set, except on ArgMax indices.
        form_of: in the integer stage, the value of the real graph that this is a further form of;
            "" where the name is the same, or there is no such value.
    """

    name: str
    shape: tuple[int, ...]
    dtype: DType = DType.FLOAT32
    quant: QuantParams | None = None
    form_of: str = ""

    @property
    def elements(self) -> int:
        """Number of elements."""
        return math.prod(self.shape)

    @property
    def size_bytes(self) -> int:
        """Bytes of the tensor, unpadded."""
        return self.elements * self.dtype.size_bytes


@dataclass(frozen=True, slots=True, eq=False)
class Constant:
    """A tensor known at compile time.

    Attributes:
        array: read-only.  Integer codes when `quant` is set, else float32 (or int32 in the integer
            stage: biases, multipliers, tables).
        quant: set when the model came with integer weights; the real value is
            ``quant.dequantize(array)``.
        pooled: set when the weights come from a pool; `array` then is its expansion, int8.
    """

    name: str
    array: Array
    quant: QuantParams | None = None
    pooled: PooledWeights | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "array", frozen(self.array))

    @property
    def shape(self) -> tuple[int, ...]:
        """Shape of the array."""
        return tuple(self.array.shape)

    @property
    def dtype(self) -> DType:
        """Element type of the array."""
        return DType.of(self.array)

    def real(self) -> Array:
        """The real values: dequantized if the constant is quantized; read-only float32."""
        if self.quant is None:
            return frozen(self.array, "float32")
        return frozen(self.quant.dequantize(self.array))

    def real64(self) -> Array:
        """The real values in float64, which holds int32 biases exactly."""
        if self.quant is None:
            return self.array.astype(np.float64)
        return self.quant.dequantize64(self.array)


_MAPPINGS = (
    "values",
    "constants",
    "input_layouts",
    "output_layouts",
    "input_features",
    "metadata",
    "channels",
)
"""The fields of a graph that are mappings; they are made read-only."""

Tensor = Value | Constant
"""Operand of an operator: a value computed at run time, or a constant."""


@dataclass(frozen=True, slots=True)
class Node:
    """One operator.

    Attributes:
        name: unique in the graph; untrusted, like value names.
        attrs: attributes, of `ir.ops` (real stage) or `ir.qops` (integer stage); their class is
            the operator.
        inputs: names of values and constants in the order of the operator's record `Inputs`; ""
            for an optional operand that is absent.  Walks over all operands read it; whoever wants
            a certain operand takes it from the record: ``Conv.Inputs.of(node.inputs).w``.
        outputs: names of values.
        sources: names of the ONNX nodes it stands for, in graph order, for reports.
    """

    name: str
    attrs: Operator
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]
    sources: tuple[str, ...] = ()

    @property
    def carries(self) -> bool:
        """Whether it gives a carried value."""
        border = self.attrs.border
        return border is not None and border.carries

    @property
    def op(self) -> str:
        """Operator name, e.g. `Conv`."""
        return type(self.attrs).__name__

    @overload
    def attrs_as(self, a: type[_A], /) -> _A: ...
    @overload
    def attrs_as(self, a: type[_A], b: type[_B], /) -> _A | _B: ...
    @overload
    def attrs_as(self, a: type[_A], b: type[_B], c: type[_C], /) -> _A | _B | _C: ...
    @overload
    def attrs_as(
        self, a: type[_A], b: type[_B], c: type[_C], d: type[_D], /
    ) -> _A | _B | _C | _D: ...
    def attrs_as(self, *operators: type[Operator]) -> Operator:
        """The attributes of a node that is known to be of these operators, or of bases of some.

        Raises:
            InternalError: it is of another one.
        """
        if not isinstance(self.attrs, operators):
            wanted = " or ".join(operator.__name__ for operator in operators)
            raise InternalError(f"{self.op} where {wanted} belongs", where=self.name)
        return self.attrs

    @property
    def input(self) -> str:
        """The operand of an operator that has one; InternalError when it has several."""
        if len(self.inputs) != 1:
            raise InternalError("node has several operands", where=self.name)
        return self.inputs[0]

    @property
    def first(self) -> str:
        """The first operand: what an operator works on, by the parameters that may follow."""
        return self.inputs[0]

    @property
    def others(self) -> tuple[str, ...]:
        """All operands but the first one."""
        return self.inputs[1:]

    @property
    def output(self) -> str:
        """The single output; InternalError when there are several."""
        if len(self.outputs) != 1:
            raise InternalError("node has several outputs", where=self.name)
        return self.outputs[0]


@dataclass(frozen=True, eq=False)
class Graph:
    """A directed acyclic graph in topological order.

    Attributes:
        name: model name, untrusted.
        values: every run-time tensor by name, graph inputs included.
        constants: every constant by name.
        nodes: topologically sorted.
        inputs, outputs: names of values, in the model's order.
        input_layouts, output_layouts: for a tensor whose layout edgec changed, the permutation
            that takes the model's axes to the graph's: ``graph = model.transpose(perm)``.
        input_features: for an input whose features have a scale each, what the codes of the model's
            numbers mean: int8, one scale a feature of the last axis.  The input of the graph is
            ``(x / scale + zero_point) * FEATURE_STEP`` then, quantized as a whole.
        metadata: `edgec.*` properties of the model.
        length: the axis whose length a run chooses; None: all are fixed, or nobody has looked yet.
        rounding: whose rounding its integer operators compute with.
        chains: layers that run in turns of a few rows, in order; of a graph that is to be lowered.
        channels: values that are channels of another tensor, with its name and the first of them;
            of a graph that is to be lowered.
        warm_up: runs after a reset whose outputs say nothing yet: frames are missing.
        lead: zeros before the first sample of sound; None: it takes no sound.
    """

    name: str
    values: Mapping[str, Value]
    constants: Mapping[str, Constant]
    nodes: tuple[Node, ...]
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]
    input_layouts: Mapping[str, tuple[int, ...]] = field(default_factory=dict)
    output_layouts: Mapping[str, tuple[int, ...]] = field(default_factory=dict)
    input_features: Mapping[str, QuantParams] = field(default_factory=dict)
    metadata: Mapping[str, str] = field(default_factory=dict)
    length: VariableLength | None = None
    rounding: Rounding = Rounding.EDGEC
    chains: tuple[RowChain, ...] = ()
    channels: Mapping[str, tuple[str, int]] = field(default_factory=dict)
    warm_up: int = 0
    lead: int | None = None

    def __post_init__(self) -> None:
        for name in _MAPPINGS:
            mapping = getattr(self, name)
            object.__setattr__(self, name, MappingProxyType(dict(mapping)))

    @cached_property
    def producers(self) -> Mapping[str, Node]:
        """The node that computes each value; graph inputs have none."""
        return MappingProxyType({out: node for node in self.nodes for out in node.outputs})

    @cached_property
    def consumers(self) -> Mapping[str, tuple[Node, ...]]:
        """The nodes that read each value or constant, in order, each once."""
        found: dict[str, list[Node]] = {name: [] for name in (*self.values, *self.constants)}
        for node in self.nodes:
            for name in dict.fromkeys(node.inputs):
                if name:
                    found[name].append(node)
        return MappingProxyType({name: tuple(nodes) for name, nodes in found.items()})

    @cached_property
    def scopes(self) -> Scopes:
        """The loops in which nodes run and values are known.

        Raises:
            ValueError: loops are not nested.
        """
        return find_scopes(self.nodes)

    @cached_property
    def sequence(self) -> tuple[Node | Turns, ...]:
        """The nodes as a tree of loops, in the order in which they run.

        Raises:
            ValueError: a loop does not stand in one piece.
        """
        return sequence(self.nodes, self.scopes)

    @cached_property
    def updates(self) -> Mapping[str, Node]:
        """The node that gives each carried value the number of the next turn."""
        return MappingProxyType(
            {node.inputs[CARRY_OPERAND]: node for node in self.nodes if node.attrs.updates}
        )

    def reached(self, names: Iterable[str]) -> frozenset[str]:
        """Values that are computed from some others in the same turn, and these."""
        found = set(names)
        for node in self.nodes:
            if found.intersection(node.inputs):
                found.update(node.outputs)
        return frozenset(found)

    @property
    def only_input(self) -> str:
        """Name of the input of a graph that has one."""
        (name,) = self.inputs
        return name

    @property
    def is_straight(self) -> bool:
        """Whether nothing repeats and nothing is carried."""
        return not any(node.attrs.border or node.attrs.updates for node in self.nodes)

    @property
    def has_state(self) -> bool:
        """Whether a run leaves something to the next one."""
        return bool(self.state)

    @property
    def state(self) -> tuple[str, ...]:
        """Names of the carried values that a run leaves to the next one."""
        return tuple(name for name in self.updates if self.scopes.values[name] is None)

    def is_constant(self, name: str) -> bool:
        """True when `name` is a constant."""
        return name in self.constants

    def shape(self, name: str) -> tuple[int, ...]:
        """Shape of a value or constant."""
        return self.constants[name].shape if name in self.constants else self.values[name].shape

    def tensor(self, name: str) -> Tensor:
        """The value or constant of that name."""
        return self.constants[name] if name in self.constants else self.values[name]

    def shapes(self, node: Node) -> tuple[Shape | None, ...]:
        """Shapes of the operands of a node, None where one is absent; for `Operands.of`."""
        return tuple(self.shape(name) if name else None for name in node.inputs)

    def tensors(self, node: Node) -> tuple[Tensor | None, ...]:
        """The operands of a node, None where one is absent; for `Operands.of`."""
        return tuple(self.tensor(name) if name else None for name in node.inputs)

    def dtype(self, name: str) -> DType:
        """Element type of a value or constant."""
        return self.constants[name].dtype if name in self.constants else self.values[name].dtype

    def quant(self, name: str) -> QuantParams:
        """Quantization of a value or constant of the integer stage; InternalError if absent."""
        found = (self.constants if name in self.constants else self.values)[name].quant
        if found is None:
            raise InternalError("tensor has no quantization", where=name)
        return found

    def sole_consumer(self, name: str) -> Node | None:
        """The only reader of a value that is not a graph output, else None."""
        readers = self.consumers[name]
        return readers[0] if len(readers) == 1 and name not in self.outputs else None

    def replace(self, **changes: Any) -> Graph:
        """A graph with some fields changed."""
        return replace(self, **changes)

    def with_constant(self, constant: Constant) -> Graph:
        """A graph with another array, or other parameters, of a constant that nodes read."""
        return replace(self, constants={**self.constants, constant.name: constant})

    def pruned(self) -> Graph:
        """Without nodes, values and constants that no output needs; graph inputs stay."""
        kept, live = self._needed(set(self.outputs))
        # What a carried value will be in the next turn is needed where that value is.
        while more := {u.output for name, u in self.updates.items() if name in live} - live:
            kept, live = self._needed(live | more)
        live.update(self.inputs)
        live.update(out for node in kept for out in node.outputs)
        return replace(
            self,
            nodes=tuple(reversed(kept)),
            values={n: v for n, v in self.values.items() if n in live},
            constants={n: c for n, c in self.constants.items() if n in live},
        )

    def _needed(self, live: set[str]) -> tuple[list[Node], set[str]]:
        """The nodes that some values need, in reverse order, and all tensors of them."""
        kept: list[Node] = []
        for node in reversed(self.nodes):
            if any(out in live for out in node.outputs):
                kept.append(node)
                live.update(node.inputs)
        return kept, live

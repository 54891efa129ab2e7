"""The graph: values, constants and nodes.  A graph is replaced, never edited."""

from __future__ import annotations

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
from edgec.ir.operator import Operands, Operator, Shape
from edgec.ir.qparams import QuantParams
from edgec.ir.weight_pool import PooledWeights

_A = TypeVar("_A", bound=Operator)
_B = TypeVar("_B", bound=Operator)
_C = TypeVar("_C", bound=Operator)
_D = TypeVar("_D", bound=Operator)


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
)
"""The fields of a graph that are mappings; they are made read-only."""

Tensor = Value | Constant
"""What an operator reads."""


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

    def pruned(self) -> Graph:
        """Without nodes, values and constants that no output needs; graph inputs stay."""
        live = set(self.outputs)
        kept: list[Node] = []
        for node in reversed(self.nodes):
            if any(out in live for out in node.outputs):
                kept.append(node)
                live.update(node.inputs)
        live.update(self.inputs)
        live.update(out for node in kept for out in node.outputs)
        return replace(
            self,
            nodes=tuple(reversed(kept)),
            values={n: v for n, v in self.values.items() if n in live},
            constants={n: c for n, c in self.constants.items() if n in live},
        )


class GraphBuilder:
    """Collects the pieces of a new graph; used by the importer, passes and tests.

    Start from nothing or from an existing graph (`GraphBuilder.of(graph)`), add and remove, then
    `build()`, which sorts the nodes topologically and drops what no output needs.
    """

    def __init__(self, name: str) -> None:
        self.name = name
        self.values: dict[str, Value] = {}
        self.constants: dict[str, Constant] = {}
        self.nodes: dict[str, Node] = {}
        self.inputs: list[str] = []
        self.outputs: list[str] = []
        self.input_layouts: dict[str, tuple[int, ...]] = {}
        self.output_layouts: dict[str, tuple[int, ...]] = {}
        self.input_features: dict[str, QuantParams] = {}
        self.metadata: dict[str, str] = {}
        self.length: VariableLength | None = None
        self.rounding = Rounding.EDGEC
        self._reserved: frozenset[str] = frozenset()

    @classmethod
    def of(cls, graph: Graph) -> GraphBuilder:
        """A builder that holds all of `graph`."""
        builder = cls(graph.name)
        builder.values = dict(graph.values)
        builder.constants = dict(graph.constants)
        builder.nodes = {node.name: node for node in graph.nodes}
        builder.inputs = list(graph.inputs)
        builder.outputs = list(graph.outputs)
        builder.input_layouts = dict(graph.input_layouts)
        builder.output_layouts = dict(graph.output_layouts)
        builder.input_features = dict(graph.input_features)
        builder.metadata = dict(graph.metadata)
        builder.length = graph.length
        builder.rounding = graph.rounding
        return builder

    def reserve(self, names: Iterable[str]) -> None:
        """Keep names for values that are added later: `fresh` gives others."""
        self._reserved = frozenset(names)

    def fresh(self, stem: str) -> str:
        """`stem`, with a number when that is taken (tensors and nodes share names)."""
        if not self._taken(stem):
            return stem
        number = 1
        while self._taken(f"{stem}#{number}"):
            number += 1
        return f"{stem}#{number}"

    def value(self, value: Value) -> str:
        """Add or replace a value; its name."""
        self.values[value.name] = value
        return value.name

    def constant(
        self,
        stem: str,
        array: Array,
        quant: QuantParams | None = None,
        *,
        pooled: PooledWeights | None = None,
        keep_name: bool = False,
    ) -> str:
        """Add a constant under a fresh name (`keep_name`: exactly `stem`, replacing); its name."""
        name = stem if keep_name else self.fresh(stem)
        self.constants[name] = Constant(name, array, quant, pooled)
        return name

    def node(
        self,
        stem: str,
        attrs: Operator,
        inputs: Iterable[str] | Operands[str],
        outputs: Iterable[str],
        sources: Iterable[str] = (),
    ) -> Node:
        """Add a node under a fresh name; `inputs`: the operator's record, or its flat names."""
        name = stem if stem not in self.nodes else self.fresh(stem)
        names = inputs.names() if isinstance(inputs, Operands) else tuple(inputs)
        node = Node(name, attrs, names, tuple(outputs), tuple(sources))
        self.nodes[name] = node
        return node

    def put(self, node: Node) -> None:
        """Add a node, or replace the node of the same name in place."""
        self.nodes[node.name] = node

    def remove(self, node: Node) -> None:
        """Take a node out; its outputs stay as values until `build` finds them unused."""
        del self.nodes[node.name]

    def rewire(self, old: str, new: str) -> None:
        """Make every reader of `old`, and the graph outputs, read `new` instead."""
        for node in self.nodes.values():
            if old in node.inputs:
                inputs = tuple(new if name == old else name for name in node.inputs)
                self.nodes[node.name] = replace(node, inputs=inputs)
        self.outputs = [new if name == old else name for name in self.outputs]

    def build(self) -> Graph:
        """The graph, topologically sorted (stable) and pruned.

        Raises:
            InternalError: the nodes form a cycle or read a name that nothing defines.
        """
        return Graph(
            name=self.name,
            values=self.values,
            constants=self.constants,
            nodes=self._sorted_nodes(),
            inputs=tuple(self.inputs),
            outputs=tuple(self.outputs),
            input_layouts=self.input_layouts,
            output_layouts=self.output_layouts,
            input_features=self.input_features,
            metadata=self.metadata,
            length=self.length,
            rounding=self.rounding,
        ).pruned()

    def _taken(self, name: str) -> bool:
        known = (self.values, self.constants, self.nodes, self._reserved)
        return any(name in names for names in known)

    def _sorted_nodes(self) -> tuple[Node, ...]:
        ready = {"", *self.constants, *self.inputs}
        waiting = list(self.nodes.values())
        done: list[Node] = []
        while waiting:
            later: list[Node] = []
            for node in waiting:
                if all(name in ready for name in node.inputs):
                    done.append(node)
                    ready.update(node.outputs)
                else:
                    later.append(node)
            if len(later) == len(waiting):
                raise InternalError(
                    "nodes form a cycle or read undefined tensors", where=later[0].name
                )
            waiting = later
        return tuple(done)

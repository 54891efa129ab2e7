"""The state of one ONNX export: names, initializers, nodes, and the layouts each tensor exists in.

Graphs are channels last, ONNX's spatial operators channels first.  A rank-4 value is stored in the
layout that its producer computes (`Layout.NCHW` for ONNX's spatial operators) and transposed only
when a reader needs the other one, so that an exported network has few Transposes or none.
"""

from __future__ import annotations

import enum
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

import numpy as np
import onnx
from onnx import helper, numpy_helper

from edgec.base.dtypes import Array, DType
from edgec.base.errors import InternalError
from edgec.base.version import __version__
from edgec.exporters.onnx.names import NamePool, tensor_names
from edgec.ir import ops
from edgec.ir.graph import Graph, Value
from edgec.ir.metadata import record_pairs
from edgec.ir.qparams import FEATURE_STEP, QuantParams

OPSET = 20
"""The first opset with Gelu; every operator used here is stable from it on."""
ML_OPSET = 3
"""Version of the domain ai.onnx.ml, the only other one."""
IR_VERSION = 9
NHWC_TO_NCHW = (0, 3, 1, 2)
NCHW_TO_NHWC = (0, 2, 3, 1)


class Layout(enum.Enum):
    """Axis order of a tensor in the exported model: as in the graph, or channels first."""

    GRAPH = "graph"
    NCHW = "nchw"


class Emitter:
    """Collects the nodes and initializers of a float model; `QdqEmitter` adds quantization.

    Attributes:
        graph: what is exported.
        names: exported name of each value.
    """

    def __init__(self, graph: Graph) -> None:
        self.graph = graph
        self.names = tensor_names(graph)
        self._tensor_pool = NamePool()
        for name in self.names.values():
            self._tensor_pool.fresh(name)
        self._node_pool = NamePool()
        self._nodes: list[onnx.NodeProto] = []
        self._initializers: dict[str, onnx.TensorProto] = {}
        self._stored: dict[tuple[str, Layout], str] = {}
        self._cached: dict[tuple[str, object], str] = {}
        self._inputs: list[onnx.ValueInfoProto] = []
        self._outputs: list[onnx.ValueInfoProto] = []
        self._renamed: dict[str, str] = {}
        self._kept: dict[str, str] = {}

    # -- nodes and initializers ------------------------------------------------------------------

    def emit(self, stem: str, op: str, inputs: Sequence[str], **attrs: Any) -> str:
        """Add a node with one output; the output's name."""
        return self._add(stem, f"{stem}_{op}", op, inputs, attrs)

    def emit_as(self, name: str, op: str, inputs: Sequence[str], **attrs: Any) -> str:
        """Add a node whose output has the given name, numbered if taken; the output's name."""
        return self._add(name, name, op, inputs, attrs)

    def emit_one_of(
        self, place: int, stem: str, op: str, inputs: Sequence[str], **attrs: Any
    ) -> str:
        """Add a node of whose two outputs only one is used, the first (0) or second; its name."""
        return self._add(stem, f"{stem}_{op}", op, inputs, attrs, place)

    def emit_all(
        self, stem: str, op: str, inputs: Sequence[str], count: int, **attrs: Any
    ) -> list[str]:
        """Add a node with several outputs; their names."""
        outputs = [self.fresh(f"{stem}_{op}{number}") for number in range(count)]
        name = self._node_pool.fresh(stem)
        self._nodes.append(helper.make_node(op, list(inputs), outputs, name=name, **attrs))
        return outputs

    def fresh(self, stem: str) -> str:
        """A name for a new tensor."""
        return self._tensor_pool.fresh(stem)

    @contextmanager
    def inside(self) -> Iterator[list[onnx.NodeProto]]:
        """Collect the nodes of a body: what is made there is not known outside of it."""
        around, stored, cached = self._nodes, dict(self._stored), dict(self._cached)
        self._nodes = []
        try:
            yield self._nodes
        finally:
            self._nodes, self._stored, self._cached = around, stored, cached

    def _add(
        self,
        stem: str,
        output: str,
        op: str,
        inputs: Sequence[str],
        attrs: Mapping[str, Any],
        place: int | None = None,
    ) -> str:
        output = self._tensor_pool.fresh(output)
        name, outputs = self._node_pool.fresh(stem), [output]
        if place is not None:
            outputs.insert(1 - place, self._tensor_pool.fresh(f"{output}_unused"))
        self._nodes.append(helper.make_node(op, list(inputs), outputs, name=name, **attrs))
        return output

    def initializer(self, stem: str, array: Array) -> str:
        """Add an initializer; its name."""
        name = self._tensor_pool.fresh(stem)
        self._initializers[name] = numpy_helper.from_array(np.asarray(array, order="C"), name)
        return name

    def shared(self, stem: str, array: Array) -> str:
        """An initializer that all callers with equal elements share; its name."""
        key = (array.dtype.str, array.shape, array.tobytes())
        return self.once(("", key), lambda: self.initializer(stem, array))

    def once(self, key: tuple[str, object], make: Callable[[], str]) -> str:
        """The tensor that `make` makes, made at the first call with this key."""
        if key not in self._cached:
            self._cached[key] = make()
        return self._cached[key]

    def ints(self, stem: str, values: Iterable[int]) -> str:
        """An int64 initializer (shapes, axes)."""
        return self.initializer(stem, np.asarray(list(values), np.int64))

    def scalar(self, stem: str, value: float) -> str:
        """A float32 scalar initializer."""
        return self.initializer(stem, np.asarray(value, np.float32))

    # -- values ----------------------------------------------------------------------------------

    def layout_of(self, name: str) -> Layout:
        """The layout a value is stored in; the graph's when it exists in both."""
        return Layout.GRAPH if (name, Layout.GRAPH) in self._stored else Layout.NCHW

    def store(self, name: str, tensor: str, layout: Layout = Layout.GRAPH) -> None:
        """Say that `tensor` holds value `name` in `layout`."""
        self._stored[name, layout] = self.settle(name, tensor)

    def alias(self, name: str, tensor: str, layout: Layout = Layout.GRAPH) -> None:
        """Say that a tensor that holds another value, settled already, holds `name` too."""
        self._stored[name, layout] = tensor

    def fetch(self, name: str, layout: Layout = Layout.GRAPH) -> str:
        """The tensor that holds a value or constant in `layout`, transposed if it has to be."""
        if name in self.graph.constants:
            return self.operand(name, layout)
        if (name, layout) not in self._stored:
            first = layout is Layout.NCHW
            other = self._stored[name, Layout.GRAPH if first else Layout.NCHW]
            perm = NHWC_TO_NCHW if first else NCHW_TO_NHWC
            stem = f"{self.names[name]}_{'nchw' if first else 'nhwc'}"
            moved = self.emit(stem, "Transpose", [other], perm=perm)
            self._stored[name, layout] = self.settle(name, moved)
        return self._stored[name, layout]

    # -- what quantization changes ---------------------------------------------------------------

    def settle(self, name: str, tensor: str) -> str:
        """The tensor that readers of value `name` take, given the one just computed."""
        del name
        return tensor

    def operand(self, name: str, layout: Layout) -> str:
        """A constant as operand of an element-wise operator; in NCHW it becomes rank 4."""
        key = (name, layout)
        if key not in self._cached:
            constant = self.graph.constants[name]
            per_channel = constant.quant is not None and constant.quant.axis is not None
            array = constant.real() if per_channel else constant.array
            quant = None if per_channel else constant.quant
            self._cached[key] = self.constant(name, self.oriented(array, layout), quant)
        return self._cached[key]

    def weight(self, name: str, perm: tuple[int, ...]) -> str:
        """A weight or bias constant with its axes permuted."""
        key = (name, perm)
        if key not in self._cached:
            constant = self.graph.constants[name]
            quant = constant.quant
            if quant is not None and quant.axis is not None:
                quant = replace(quant, axis=perm.index(quant.axis))
            array = constant.array.transpose(perm)
            self._cached[key] = self.constant(name, array, quant)
        return self._cached[key]

    def constant(self, name: str, array: Array, quant: QuantParams | None) -> str:
        """Store an array; quantized ones stay integer, followed by a DequantizeLinear.

        Written as floats between quantized activations, onnxruntime would quantize them again, to
        scales of its own.
        """
        stored = self.initializer(name, array)
        if quant is None:
            return stored
        inputs, attrs = self.quant_parameters(name, quant)
        return self.emit(name, "DequantizeLinear", [stored, *inputs], **attrs)

    def parameter(self, name: str, layout: Layout = Layout.GRAPH) -> str:
        """A constant that stays float32 in a quantized model."""
        key = (name, ("parameter", layout))
        if key not in self._cached:
            array = self.oriented(self.graph.constants[name].real(), layout)
            self._cached[key] = self.initializer(name, array)
        return self._cached[key]

    def same_quant(self, first: str, second: str) -> bool:
        """True when two values may share one exported tensor."""
        del first, second
        return True

    def quant_parameters(
        self, stem: str, quant: QuantParams, layout: Layout = Layout.GRAPH
    ) -> tuple[list[str], dict[str, int]]:
        """Scale and zero-point initializers and the attributes of a Q/DQ node."""
        per_tensor = quant.axis is None
        scale = np.asarray(quant.scale, np.float32)
        zero_point = np.asarray(quant.zero_point, quant.dtype.numpy)
        if per_tensor:
            scale, zero_point = scale[0], zero_point[0]
        inputs = [
            self.initializer(f"{stem}_scale", scale),
            self.initializer(f"{stem}_zero_point", zero_point),
        ]
        if quant.axis is None:
            return inputs, {}
        axis = quant.axis if layout is Layout.GRAPH else NHWC_TO_NCHW.index(quant.axis)
        return inputs, {"axis": axis}

    # -- the model -------------------------------------------------------------------------------

    def add_input(self, name: str, perm: tuple[int, ...] | None) -> None:
        """Add a graph input; `perm` takes the exported axes to the graph's (None: the same)."""
        value = self.graph.values[name]
        shape = model_shape(value, perm)
        tensor = self.names[name]
        self._inputs.append(value_info(tensor, self.input_dtype(value), shape))
        features = self.graph.input_features.get(name)
        if features is not None:
            tensor = self._in_steps(tensor, features, perm)
        settled = self.settle_input(name, tensor)
        if perm is None:
            self.alias(name, settled)
        elif perm == NCHW_TO_NHWC:
            self.alias(name, settled, Layout.NCHW)
        else:
            moved = self.emit(f"{tensor}_layout", "Transpose", [settled], perm=perm)
            self.store(name, moved)

    def add_state(self, name: str, reset: str) -> None:
        """Add an input for a value that the caller keeps; stored with it: other than zeros."""
        tensor, value = self.names[name], self.graph.values[name]
        self._inputs.append(value_info(tensor, DType.FLOAT32, value.shape))
        start = self.graph.constants[reset].real()
        if start.any():
            self._initializers[tensor] = numpy_helper.from_array(start, tensor)
        self.alias(name, self.settle(name, tensor))

    def _in_steps(self, tensor: str, features: QuantParams, perm: tuple[int, ...] | None) -> str:
        """Features with a scale each as the graph has them (`QuantParams.in_steps`)."""
        assert features.axis is not None
        axis = features.axis if perm is None else perm[features.axis]
        own = [-1, *[1] * (len(self.graph.shape(tensor)) - 1 - axis)]
        factor = FEATURE_STEP / np.asarray(features.scale)
        shift = FEATURE_STEP * np.asarray(features.zero_point, np.float64)
        for part, op, array in (("factor", "Mul", factor), ("shift", "Add", shift)):
            operand = self.initializer(f"{tensor}_{part}", array.astype(np.float32).reshape(own))
            tensor = self.emit(tensor, op, [tensor, operand])
        return tensor

    def add_output(self, name: str, perm: tuple[int, ...] | None) -> None:
        """Add a model output that holds value `name`; `perm` as in `add_input`."""
        value = self.graph.values[name]
        tensor = self.output_tensor(name, perm)
        wanted = self.names[name]
        inputs = {info.name for info in self._inputs}
        if wanted in inputs:
            wanted = self._tensor_pool.fresh(f"{wanted}_output")
        made = self.graph.producers.get(name)
        if value.dtype is DType.INT32 and not (made and isinstance(made.attrs, ops.ArgMax)):
            tensor = self.emit(wanted, "Cast", [tensor], to=onnx.TensorProto.INT64)
        elif tensor in inputs or tensor in self._renamed or tensor in self._initializers:
            tensor = self.emit(wanted, "Identity", [tensor])
        self._renamed[tensor] = self._kept[name] = wanted
        dtype = self.output_dtype(value)
        self._outputs.append(value_info(wanted, dtype, model_shape(value, perm)))

    def output_tensor(self, name: str, perm: tuple[int, ...] | None) -> str:
        """The tensor of an output value with the exported axes."""
        if perm is None:
            return self.fetch(name)
        if perm == NCHW_TO_NHWC:
            return self.fetch(name, Layout.NCHW)
        back = tuple(int(axis) for axis in np.argsort(perm))
        stem = f"{self.names[name]}_layout"
        return self.settle(name, self.emit(stem, "Transpose", [self.fetch(name)], perm=back))

    def settle_input(self, name: str, tensor: str) -> str:
        """Name of the tensor that readers of a graph input take."""
        return self.settle(name, tensor)

    def input_dtype(self, value: Value) -> DType:
        """Element type of an exported input."""
        return value.dtype

    def output_dtype(self, value: Value) -> DType:
        """Element type of an exported output; integers are int64, as ArgMax gives them in ONNX."""
        return DType.INT64 if value.dtype is DType.INT32 else value.dtype

    def model(self) -> onnx.ModelProto:
        """The finished, checked model."""
        for node in _all_nodes(self._nodes):
            for names in (node.input, node.output):
                for index, name in enumerate(names):
                    names[index] = self._renamed.get(name, name)
        proto = helper.make_graph(
            self._nodes,
            NamePool().fresh(self.graph.name),
            self._inputs,
            self._outputs,
            initializer=list(self._initializers.values()),
        )
        model = helper.make_model(
            proto,
            opset_imports=self._opsets(),
            ir_version=IR_VERSION,
            producer_name="edgec",
            producer_version=__version__,
        )
        helper.set_model_props(model, dict(sorted(self._properties().items())))
        try:
            onnx.checker.check_model(model)
        except onnx.checker.ValidationError as error:
            raise InternalError(f"the exported model is not valid ONNX: {error}") from error
        return model

    def _properties(self) -> dict[str, str]:
        """The properties of the model; state by the names that it has here."""
        found = dict(self.graph.metadata)
        pairs = {
            self.names[name]: self._kept[self.graph.updates[name].output]
            for name in self.graph.state
        }
        if pairs:
            record_pairs(found, pairs)
        return found

    def _opsets(self) -> list[onnx.OperatorSetIdProto]:
        """The versions of the operators in use."""
        domains = sorted({node.domain for node in _all_nodes(self._nodes)} - {""})
        own = helper.make_opsetid("", OPSET)
        return [own, *(helper.make_opsetid(domain, ML_OPSET) for domain in domains)]

    def oriented(self, array: Array, layout: Layout) -> Array:
        """An operand constant's array in `layout`."""
        if layout is Layout.GRAPH:
            return array
        return array.reshape((1,) * (4 - array.ndim) + array.shape).transpose(NHWC_TO_NCHW)


def _all_nodes(nodes: Iterable[onnx.NodeProto]) -> Iterator[onnx.NodeProto]:
    """Nodes, and those of their bodies."""
    for node in nodes:
        yield node
        for attribute in node.attribute:
            yield from _all_nodes(attribute.g.node)


def model_shape(value: Value, perm: tuple[int, ...] | None) -> tuple[int, ...]:
    """Shape of a value on the model's side of a layout permutation (``graph = model.T(perm)``)."""
    if perm is None:
        return value.shape
    shape = [0] * len(perm)
    for graph_axis, model_axis in enumerate(perm):
        shape[model_axis] = value.shape[graph_axis]
    return tuple(shape)


def value_info(name: str, dtype: DType, shape: tuple[int, ...]) -> onnx.ValueInfoProto:
    """A tensor's name, type and shape, as ONNX writes them."""
    return helper.make_tensor_value_info(name, helper.np_dtype_to_tensor_dtype(dtype.numpy), shape)

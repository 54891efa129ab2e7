"""An operator from outside the package: what a newcomer writes, and that the rest follows."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper

from edgec.base.dtypes import Array
from edgec.base.errors import ImportModelError, InternalError, UnsupportedModelError
from edgec.base.options import CompileOptions
from edgec.importers.common.tensors import Tensor
from edgec.importers.onnx.importer import import_model
from edgec.importers.onnx.node import Context, OnnxNode
from edgec.interp import run_graph_batch
from edgec.ir import ops, qops
from edgec.ir.graph import Graph, Value
from edgec.ir.graph_builder import GraphBuilder
from edgec.ir.infer import infer_shape, total_macs
from edgec.ir.layout import Freedom, Perm
from edgec.ir.operator import Operands, OperatorTable, Shape, T
from edgec.ir.qparams import QuantParams
from edgec.ir.real import RealOperator
from edgec.ir.shapes import need
from edgec.ir.text import graph_text
from edgec.ir.verify import Stage, verify
from edgec.passes import REAL_PASSES, run_passes
from edgec.passes.layout import layout, transposes
from edgec.quant import quantize
from edgec.quant.convert.context import Conversion
from edgec.quant.convert.conversion import to_integer
from edgec.quant.convert.converters import CONVERTERS


@dataclass(frozen=True, slots=True)
class Roll(RealOperator):
    """Elements shifted along an axis, and a constant added to each."""

    @dataclass(frozen=True, slots=True)
    class Inputs(Operands[T]):
        """What is rolled, and what is added (const, one number per channel) if anything."""

        x: T
        added: T | None = None

    CONSTANTS = frozenset({"added"})
    MOVES_CODES = True

    axis: int
    steps: int = 1

    @property
    def freedom(self) -> Freedom:
        return Freedom.ANY

    def in_frame(self, frame: Perm) -> Roll:
        return replace(self, axis=frame.index(self.axis))

    def infer_shape(self, inputs: Inputs[Shape]) -> Shape:
        need(0 <= self.axis < len(inputs.x), "axis out of range")
        return inputs.x

    def macs(self, inputs: Inputs[Shape], output: Shape) -> int:
        return 0 if inputs.added is None else math.prod(output)


def rolled(added: bool = False) -> Graph:
    """Two rolls between transposes that a layout pass can do without."""
    builder = GraphBuilder("test")
    builder.inputs = [builder.value(Value("x", (1, 3, 4, 5)))]
    builder.value(Value("last", (1, 4, 5, 3)))
    builder.node("to", ops.Transpose((0, 2, 3, 1)), ["x"], ["last"])
    builder.value(Value("moved", (1, 4, 5, 3)))
    constant = builder.constant("c", np.ones(3, np.float32)) if added else None
    builder.node("roll", Roll(1), Roll.Inputs("last", constant), ["moved"])
    builder.outputs = [builder.value(Value("y", (1, 3, 4, 5)))]
    builder.node("back", ops.Transpose((0, 3, 1, 2)), ["moved"], ["y"])
    return builder.build()


def test_shapes_macs_and_contract_come_from_the_operator():
    graph = rolled(added=True)
    verify(graph, Stage.REAL)
    assert total_macs(graph) == 60
    with pytest.raises(ImportModelError, match="Roll cannot take inputs of shapes .* axis out of"):
        infer_shape(Roll(7), [(1, 2)])
    with pytest.raises(ImportModelError, match="'x' is absent"):
        infer_shape(Roll(0), [])
    node = graph.producers["moved"]
    wrong = replace(node, inputs=("last", "last"))
    with pytest.raises(InternalError, match="'added' must be a constant"):
        verify(
            graph.replace(nodes=tuple(wrong if n is node else n for n in graph.nodes)), Stage.REAL
        )


def test_operands_are_read_and_written_by_name():
    node = rolled().producers["moved"]
    inputs = Roll.Inputs.of(node.inputs)
    assert (inputs.x, inputs.added) == ("last", None)
    assert node.inputs == ("last",)
    assert replace(inputs, added="c").names() == ("last", "c")


def test_the_dump_shows_it():
    assert '"moved": float32[1,4,5,3] = Roll("last") {axis=1}'.replace('"', "'") in graph_text(
        rolled()
    )


def test_the_layout_pass_moves_its_axis():
    plain = layout(rolled())
    verify(plain, Stage.REAL)
    assert transposes(plain) == 0
    (node,) = (n for n in plain.nodes if isinstance(n.attrs, Roll))
    assert plain.shape(node.output)[node.attrs_as(Roll).axis] == 4


def softsign_model(folder: Path) -> Path:
    """A model with an operator that edgec does not have."""
    x, y = (helper.make_tensor_value_info(n, TensorProto.FLOAT, [1, 4]) for n in "xy")
    node = helper.make_node("Softsign", ["x"], ["y"])
    model = helper.make_model(
        helper.make_graph([node], "g", [x], [y]), opset_imports=[helper.make_opsetid("", 18)]
    )
    onnx.save(model, folder / "model.onnx")
    return folder / "model.onnx"


@dataclass(frozen=True, slots=True)
class Softsign(ops.Elementwise):
    """x / (1 + |x|)."""

    def evaluate(self, inputs: ops.OneInput.Inputs[Array]) -> Array:
        return np.asarray(inputs.x / (1 + np.abs(inputs.x)))


def softsign(ctx: Context, node: OnnxNode) -> Tensor:
    """Any float tensor."""
    return ctx.emit(Softsign(), node.real_value(0))


def softsign_table(c: Conversion) -> None:
    """Softsign to QLut."""
    x = c.operand(c.node.input)
    reals = (np.arange(-128, 128) - x.zero_point) * x.scale
    steps = reals / (1 + np.abs(reals)) / c.y.tensor_scale + c.y.tensor_zero_point
    entries = np.clip(np.floor(steps + 0.5), -128, 127).astype(np.int8)
    c.emit(qops.QLut(), qops.QLut.Inputs(x.name, c.constant("table", entries)))


ALL_CONVERTERS = CONVERTERS.joined({Softsign: softsign_table})


def test_the_importer_takes_further_handlers(tmp_path: Path):
    graph = import_model(softsign_model(tmp_path), handlers={"Softsign": softsign})
    verify(graph, Stage.REAL)
    assert any(isinstance(node.attrs, Softsign) for node in graph.nodes)


def test_the_quantizer_takes_further_converters(tmp_path: Path):
    graph = import_model(softsign_model(tmp_path), handlers={"Softsign": softsign})
    quant = QuantParams.per_tensor(1 / 64, 0)
    values = {name: replace(value, quant=quant) for name, value in graph.values.items()}
    annotated = graph.replace(values=values)
    verify(annotated, Stage.ANNOTATED)
    with pytest.raises(InternalError, match="Softsign has no integer form"):
        to_integer(annotated)
    integer = to_integer(annotated, ALL_CONVERTERS)
    verify(integer, Stage.INTEGER)
    (node,) = (n for n in integer.nodes if isinstance(n.attrs, qops.QLut))
    table = integer.constants[qops.QLut.Inputs.of(node.inputs).table].array
    assert table[128 + 64] == 32  # 1 / (1 + 1) in steps of 1 / 64


def test_the_way_from_file_to_integers_takes_it(tmp_path: Path):
    graph = import_model(softsign_model(tmp_path), handlers={"Softsign": softsign})
    graph = run_passes(graph, REAL_PASSES).graph
    x = np.linspace(-3, 3, 400, dtype=np.float32).reshape(100, 4)
    with pytest.raises(UnsupportedModelError, match="Softsign"):
        quantize(graph, {"x": x}, CompileOptions())
    found = quantize(graph, {"x": x}, CompileOptions(), converters=ALL_CONVERTERS)
    codes = run_graph_batch(found.integer, {"x": found.integer.quant("x").quantize(x)})["y"]
    error = found.integer.quant("y").dequantize(codes).reshape(x.shape) - x / (1 + np.abs(x))
    assert np.abs(error).max() < 0.03
    assert found.report.layers[0].sqnr_db > 30


def test_a_network_with_a_norm_takes_the_same_converter():
    builder = GraphBuilder("test")
    builder.inputs = [builder.value(Value("x", (1, 4, 8)))]
    inputs = ops.Norm.Inputs("x", builder.constant("gamma", np.ones(8, np.float32)))
    builder.node("norm", ops.RMSNormalization(1e-6), inputs, [builder.value(Value("n", (1, 4, 8)))])
    builder.node("softsign", Softsign(), ["n"], [builder.value(Value("y", (1, 4, 8)))])
    builder.outputs = ["y"]
    x = np.random.default_rng(0).normal(0, 1, (64, 4, 8)).astype(np.float32)
    found = quantize(builder.build(), {"x": x}, CompileOptions(), converters=ALL_CONVERTERS)
    assert {type(node.attrs) for node in found.integer.nodes} >= {qops.QNorm, qops.QLut}
    assert min(layer.sqnr_db for layer in found.report.layers) > 30


def test_a_table_has_one_entry_an_operator():
    table = OperatorTable[str]()
    assert table.entry(Roll, Softsign)("function") == "function"
    assert dict(table) == {Roll: "function", Softsign: "function"}
    with pytest.raises(InternalError, match="Roll is entered twice"):
        table.entry(Roll)("another")
    with pytest.raises(InternalError, match="Softsign is entered twice"):
        table.joined({Softsign: "another"})
    assert set(table.joined({ops.Add: "more"})) == {Roll, Softsign, ops.Add}
    assert len(table) == 2

"""int16 codes in networks of convolutions and attention, whose scales are searched."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest
from hybrid_nets import HYBRIDS, hybrid, mixed, searched
from parity import check_host
from small_transformers import Net, cct, inputs_of, vit

from edgec.base.dtypes import DType
from edgec.base.errors import ConfigError
from edgec.base.fixedpoint import INT16_MAX, INT32_MAX
from edgec.base.options import CompileOptions, Effort, Precision, QuantOptions, Residual
from edgec.ir import ops, qops
from edgec.ir.graph import Graph, Node
from edgec.ir.text import graph_text
from edgec.ir.weighted import plain_inputs
from edgec.quant import quantize
from edgec.quant.entry import Quantized
from edgec.quant.precision.codes import check_reach
from edgec.quant.precision.goal import NetworkPrice


def quantized(graph: Graph, precision: Precision, count: int = 24, **more: object) -> Quantized:
    options = CompileOptions(quant=QuantOptions(precision=precision, **more))
    return quantize(graph, inputs_of(graph, count), options)


def report_of(found: Quantized):
    assert found.report.precision is not None
    return found.report.precision


@pytest.mark.few_cases(1)
@pytest.mark.parametrize("name", sorted(HYBRIDS))
def test_int16_is_never_worse_than_int8(name: str) -> None:
    report = report_of(quantized(HYBRIDS[name](), Precision.INT16))
    assert report.output_db == report.int16_db > report.int8_db
    assert len(report.tensors) == report.candidates > 0


def test_int16_gains_decibels_between_convolutions_and_in_linear_attention() -> None:
    found = quantized(hybrid(), Precision.INT16)
    report = report_of(found)
    assert report.int16_db > 35 > 30 > report.int8_db
    assert found.report.weights is not None
    assert found.report.weights.kept
    assert found.report.in_force.effort is Effort.NORMAL


def test_auto_changes_nothing_where_int8_is_enough() -> None:
    graph = hybrid()
    found, plain = (
        quantized(graph, Precision.AUTO, target_db=20.0),
        quantized(graph, Precision.INT8),
    )
    assert graph_text(found.integer) == graph_text(plain.integer)
    assert found.integer.constants.keys() == plain.integer.constants.keys()
    assert all(
        np.array_equal(constant.array, plain.integer.constants[name].array)
        for name, constant in found.integer.constants.items()
    )
    assert report_of(found).tensors == ()


def test_auto_widens_a_part_and_says_what_int8_alone_gives() -> None:
    graph = hybrid()
    most = report_of(quantized(graph, Precision.INT16))
    found = quantized(graph, Precision.AUTO, target_db=35.0)
    report = report_of(found)
    assert 0 < len(report.tensors) < report.candidates
    assert most.int16_db >= report.output_db >= 35.0
    assert report.int8_db == most.int8_db
    again = quantized(graph, Precision.AUTO, target_db=35.0)
    assert graph_text(again.integer) == graph_text(found.integer)
    assert any(note.startswith("int16: ") for note in found.notes)


@dataclass(frozen=True)
class Int16Bytes:
    """A board whose memory only tensors of int16 take."""

    limit_bytes: int | None = None

    def price(self, graph: Graph) -> NetworkPrice:
        values = graph.values.values()
        return NetworkPrice(sum(v.elements for v in values if v.dtype is DType.INT16))

    def fits(self, graph: Graph) -> bool:
        return self.limit_bytes is None or self.price(graph).arena_bytes <= self.limit_bytes


@pytest.mark.slow
def test_auto_stays_within_the_memory_of_the_board() -> None:
    graph = hybrid()
    options = CompileOptions(quant=QuantOptions(precision=Precision.AUTO, target_db=60.0))
    data = inputs_of(graph, 16)
    free = report_of(quantize(graph, data, options, prices=Int16Bytes()))
    middle = ((free.arena_bytes or 0) + (free.int8_arena_bytes or 0)) // 2
    tight = report_of(quantize(graph, data, options, prices=Int16Bytes(middle)))
    assert 0 < (tight.arena_bytes or 0) <= middle < (free.arena_bytes or 0)
    assert tight.left_out > 0


def test_what_attention_alone_reads_has_no_int16_codes() -> None:
    search = searched(vit())
    members = {name for group in search.candidates().groups for name in group.members}
    assert members
    for node in search.graph.nodes:
        if isinstance(node.attrs, ops.Attention):
            assert members.isdisjoint((*node.inputs, node.output))


def test_a_long_layer_bounds_the_codes_that_it_reads() -> None:
    n = Net("long", 5)
    x = n.input("x", 1, 2, 16)
    x = n(ops.Add(), x, n.attention(n.norm(x, "n1"), 2, "a"), name="mid")
    hidden = n(ops.Clip(0.0), n.linear(n.norm(x, "n2"), 4000, "up"), name="hidden")
    integer = mixed(n.graph(n.linear(hidden, 4, "down")), lambda _: True)
    layers = [node for node in integer.nodes if reads16(integer, node)]
    assert min(node.attrs.reach for node in layers) < INT16_MAX
    check_reach(integer)
    for node in layers:
        inputs = plain_inputs(node)
        weight, bias = (
            integer.constants[name].array.astype(np.int64) for name in (inputs.w, inputs.b)
        )
        rows = np.abs(weight).reshape(len(weight), -1).sum(axis=1)
        assert (rows * node.attrs.reach + np.abs(bias)).max() <= INT32_MAX


def test_a_constant_factor_of_a_product_has_codes_within_its_reach(tmp_path: Path) -> None:
    n = Net("constant", 5)
    x = n.input("x", 1, 3, 4, 16)
    tokens = n(ops.Reshape((1, 12, 16)), x, name="rows")
    tokens = n(ops.Add(), tokens, n.attention(n.norm(tokens, "n1"), 2, "a"), name="mid")
    own = n(ops.Reshape((1, 3, 4, 16)), n(ops.Clip(0.0), tokens, name="own"), name="turned")
    y = n(ops.MatMul(), own, n.normal("factor", 1, 3, 16, 5), name="product")
    integer = mixed(n.graph(y), lambda _: True)
    product = next(node for node in integer.nodes if isinstance(node.attrs, qops.QMatMul))
    factor = integer.constants[qops.QMatMul.Inputs.of(product.inputs).b].array
    assert factor.dtype == np.int16
    attrs = product.attrs_as(qops.QMatMul)
    assert np.abs(factor.astype(int)).max() == attrs.b_reach > qops.INT8_SPAN
    assert 16 * attrs.a_reach * attrs.b_reach <= INT32_MAX
    check_reach(integer)
    check_host(integer, tmp_path)


def reads16(graph: Graph, node: Node) -> bool:
    layer = isinstance(node.attrs, qops.QConv | qops.QGemm)
    return layer and graph.tensor(node.first).dtype is DType.INT16


def test_codes_that_are_moved_into_the_stream_keep_their_scale() -> None:
    integer = mixed(cct(), lambda _: True)
    pool = next(node for node in integer.nodes if isinstance(node.attrs, qops.QMaxPool))
    x, y = integer.values[pool.first], integer.values[pool.output]
    assert x.quant == y.quant
    assert y.dtype is DType.INT16


def test_weights_that_come_as_integers_stay_as_they_are() -> None:
    search = searched(hybrid())
    once = search.with_fitted_weights()
    twice = once.with_fitted_weights()
    layers = [node for node in once.graph.nodes if isinstance(node.attrs, ops.Weighted)]
    assert all(once.graph.constants[ops.layer_inputs(n).w].quant is not None for n in layers)
    assert twice.effort is None
    assert graph_text(twice.integer()) == graph_text(once.integer())


@pytest.mark.parametrize(
    ("options", "named"),
    [
        ({"quant": QuantOptions(precision=Precision.INT16, residual=Residual.INT8)}, "--residual"),
        ({"quant": QuantOptions(precision=Precision.AUTO), "max_length": "9"}, "--max-length"),
    ],
)
def test_what_int16_codes_do_not_go_with_is_refused(options: dict, named: str) -> None:
    with pytest.raises(ConfigError, match="--precision") as error:
        quantize(hybrid(), inputs_of(hybrid(), 16), CompileOptions(**options))
    assert named in (error.value.hint or "")


def test_int16_codes_need_calibration_data() -> None:
    with pytest.raises(ConfigError, match="--precision"):
        quantize(hybrid(), None, CompileOptions(quant=QuantOptions(precision=Precision.AUTO)))

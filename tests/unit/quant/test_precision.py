"""int16 codes where they are needed: what they mean, and which tensors get them."""

from dataclasses import dataclass, replace

import numpy as np
import pytest
from mixed_nets import NETWORKS, annotated, choosing, codes_of, dividing, mixed, squeezed
from quant_samples import gemm, residual_network, samples
from sketch import Sketch

from edgec.base.dtypes import DType
from edgec.base.errors import ConfigError, InternalError
from edgec.base.fixedpoint import INT16_MAX, INT32_MAX
from edgec.base.options import CompileOptions, Precision, QuantOptions
from edgec.ir import ops, qops
from edgec.ir.graph import Graph
from edgec.ir.text import graph_text
from edgec.quant import quantize
from edgec.quant.common.report import PrecisionReport
from edgec.quant.common.sample_codes import runs
from edgec.quant.precision.codes import check_reach
from edgec.quant.precision.goal import NetworkPrice
from edgec.quant.scales.groups import code_groups


def quantized(graph: Graph, precision: Precision, target_db: float | None = None):
    options = CompileOptions(quant=QuantOptions(precision=precision, target_db=target_db))
    return quantize(graph, samples(graph, 8), options)


@pytest.mark.few_cases(2)
@pytest.mark.parametrize("name", sorted(NETWORKS))
def test_int16_leaves_nothing_but_the_noise_of_the_weights(name: str):
    found = quantized(NETWORKS[name](), Precision.INT16)
    report = found.report.precision
    assert report is not None
    assert report.output_db == report.int16_db > report.int8_db
    assert found.annotated is None
    assert all(found.integer.values[name].dtype is DType.INT16 for name in found.integer.inputs)


@pytest.mark.few_cases(2)
@pytest.mark.parametrize("name", sorted(NETWORKS))
def test_every_layer_between_int16_tensors_has_its_quality(name: str):
    found = quantized(NETWORKS[name](), Precision.INT16)
    layers = {n.output for n in found.integer.nodes if isinstance(n.attrs, qops.Weighted)}
    assert layers
    known = {layer.value: layer.sqnr_db for layer in found.report.layers}
    assert layers <= known.keys()
    assert all(known[value] > 20 for value in layers)


def test_int16_gains_decibels():
    report = quantized(squeezed(), Precision.INT16).report.precision
    assert report is not None
    assert report.int16_db > report.int8_db + 4


def test_constants_beside_int16_tensors_have_int16_codes():
    report = quantized(dividing(), Precision.INT16).report.precision
    assert report is not None
    assert report.int16_db > 45 > 30 > report.int8_db


def test_choices_extremes_and_softmaxes_read_and_write_int16_codes():
    found = quantized(choosing(), Precision.INT16)
    integer, report = found.integer, found.report.precision
    assert report is not None
    assert report.int16_db > 30 > 15 > report.int8_db
    assert not [name for name, value in integer.values.items() if value.dtype is DType.INT8]


@pytest.mark.parametrize("count", [8, 32, 96])
def test_int16_codes_of_few_samples_hold_fresh_ones(count: int):
    """Range of few samples times 1.25 cuts off what one fresh sample in ten or fifty has."""
    s = Sketch("plain")
    graph = s.graph(gemm(s, s.input("x", 1, 12), 8))
    integer = quantize(
        graph,
        samples(graph, count),
        CompileOptions(quant=QuantOptions(precision=Precision.INT16)),
    ).integer
    fresh = samples(graph, 3000, seed=9)
    (name,) = integer.outputs
    codes = np.concatenate([run[name] for run in runs(integer, fresh)]).astype(int)
    assert np.mean(np.abs(codes) == INT16_MAX) < 2e-4
    assert np.abs(codes).max() > INT16_MAX / 4


def test_auto_changes_nothing_where_int8_is_enough():
    graph = residual_network()
    found, plain = quantized(graph, Precision.AUTO, 15.0), quantized(graph, Precision.INT8)
    assert graph_text(found.integer) == graph_text(plain.integer)
    assert found.report.precision is not None
    assert found.report.precision.tensors == ()
    assert found.annotated is not None


def test_auto_widens_a_part_and_reaches_its_target():
    graph = squeezed()
    most = quantized(graph, Precision.INT16).report.precision
    assert most is not None
    target = (most.int8_db + most.int16_db) / 2
    found = quantized(graph, Precision.AUTO, target)
    report = found.report.precision
    assert report is not None
    assert 0 < len(report.tensors) < report.candidates
    assert report.output_db >= target
    again = quantized(graph, Precision.AUTO, target)
    assert graph_text(again.integer) == graph_text(found.integer)


def test_auto_comes_near_to_what_int8_weights_allow():
    report = quantized(squeezed(), Precision.AUTO, 80.0).report.precision
    assert report is not None
    assert report.output_db > report.int16_db - 1.1


def test_the_reach_of_a_long_layer_keeps_its_sums_within_32_bits():
    s = Sketch("long")
    x = s.input("x", 1, 8)
    wide = s(ops.Clip(0.0), gemm(s, x, 4000, name="first"))
    graph = s.graph(gemm(s, wide, 3, name="second"))
    integer = mixed(graph, lambda _: True)
    last = [node for node in integer.nodes if isinstance(node.attrs, qops.QGemm)][-1]
    attrs, inputs = last.attrs, qops.QGemm.Inputs.of(last.inputs)
    assert attrs.reach < INT16_MAX
    weight, bias = (integer.constants[name].array.astype(np.int64) for name in (inputs.w, inputs.b))
    rows = np.abs(weight).reshape(len(weight), -1).sum(axis=1)
    assert (rows * attrs.reach + np.abs(bias)).max() <= INT32_MAX
    assert (rows * INT16_MAX).max() > INT32_MAX
    check_reach(integer)
    broken = replace(attrs, reach=attrs.reach - 1)
    nodes = tuple(replace(n, attrs=broken) if n is last else n for n in integer.nodes)
    with pytest.raises(InternalError, match="larger codes"):
        check_reach(integer.replace(nodes=nodes))


def test_an_input_of_a_long_layer_keeps_int8_codes():
    s = Sketch("long")
    graph = s.graph(gemm(s, s.input("x", 1, 4000), 3))
    ready = annotated(graph)
    codes = codes_of(ready, list(code_groups(ready)))
    assert "x" not in codes
    assert set(codes) == set(graph.outputs)


@dataclass(frozen=True)
class Int16Bytes:
    """A board whose memory only tensors of int16 take."""

    limit_bytes: int | None = None

    def price(self, graph: Graph) -> NetworkPrice:
        values = graph.values.values()
        return NetworkPrice(sum(v.elements for v in values if v.dtype is DType.INT16))

    def fits(self, graph: Graph) -> bool:
        return self.limit_bytes is None or self.price(graph).arena_bytes <= self.limit_bytes


def test_auto_stays_within_the_memory_of_the_board():
    graph = squeezed()
    options = CompileOptions(quant=QuantOptions(precision=Precision.AUTO, target_db=80.0))
    free = quantize(graph, samples(graph, 8), options, prices=Int16Bytes()).report
    assert free.precision is not None
    assert free.precision.left_out == 0
    assert free.precision.int8_arena_bytes == 0
    limit = (free.precision.arena_bytes or 0) // 2
    tight = quantize(graph, samples(graph, 8), options, prices=Int16Bytes(limit))
    report = tight.report.precision
    assert report is not None
    assert 0 < (report.arena_bytes or 0) <= limit
    assert report.left_out > 0
    assert len(report.tensors) + report.left_out == len(free.precision.tensors)
    assert any("do not fit the RAM" in note for note in tight.notes)


def scores(*, chosen: bool = False) -> Graph:
    """Many classes that lie close together: int8 codes often name another one."""
    s = Sketch("scores")
    x = s.input("x", 1, 16)
    found = gemm(s, gemm(s, x, 24, name="first"), 240, name="last")
    return s.graph(s(ops.ArgMax(1), found) if chosen else found)


def dropping(
    max_drop: float, target_db: float | None = None, *, chosen: bool = False
) -> PrecisionReport:
    graph = scores(chosen=chosen)
    asked = QuantOptions(precision=Precision.AUTO, target_db=target_db, max_drop=max_drop)
    report = quantize(graph, samples(graph, 96), CompileOptions(quant=asked)).report.precision
    assert report is not None
    assert report.decisions and report.int8_decisions and report.int16_decisions
    assert report.decisions.samples == 96
    return report


def test_decisions_are_a_goal():
    all_wide = dropping(0.0)
    assert all_wide.int8_decisions.equal < all_wide.int16_decisions.equal
    assert all_wide.decisions.equal >= all_wide.int16_decisions.equal
    int8_drop = 100 * (1 - all_wide.int8_decisions.share)
    assert dropping(int8_drop + 0.1).tensors == ()
    some = dropping(int8_drop - 0.1)
    assert len(some.tensors) <= len(all_wide.tensors)
    assert 100 * (1 - some.decisions.share) < int8_drop
    assert len(dropping(100.0, 80.0).tensors) > 0  # both are goals


def test_a_network_that_names_the_class_itself_is_judged_by_its_scores():
    plain, chosen = dropping(100.0, 40.0), dropping(100.0, 40.0, chosen=True)
    # Outputs have no clipped codes, scores that are none may: of numbers of classes it were 3 dB.
    found, wanted = (chosen.int8_db, chosen.int16_db), (plain.int8_db, plain.int16_db)
    assert found == pytest.approx(wanted, abs=0.5)
    assert chosen.tensors == plain.tensors != ()


def test_decisions_of_a_network_that_names_no_class():
    s = Sketch("restores")
    graph = s.graph(gemm(s, s.input("x", 1, 8), 8))
    asked = QuantOptions(precision=Precision.AUTO, max_drop=1.0)
    with pytest.raises(ConfigError, match="no output names a class"):
        quantize(graph, samples(graph, 8), CompileOptions(quant=asked))


@pytest.mark.parametrize("target", [0.0, -3.0, 100.0, float("nan")])
def test_a_target_that_is_none_is_refused(target: float):
    with pytest.raises(ConfigError, match="no accuracy"):
        QuantOptions(precision=Precision.AUTO, target_db=target)


def test_options_without_effect_are_refused():
    graph = squeezed()
    with pytest.raises(ConfigError, match="--target-db"):
        quantized(graph, Precision.INT16, 30.0)
    dropping_int8 = CompileOptions(quant=QuantOptions(max_drop=1.0))
    with pytest.raises(ConfigError, match="--max-drop"):
        quantize(graph, samples(graph, 8), dropping_int8)
    options = CompileOptions(quant=QuantOptions(precision=Precision.AUTO))
    with pytest.raises(ConfigError, match="--precision"):
        quantize(graph, None, options)

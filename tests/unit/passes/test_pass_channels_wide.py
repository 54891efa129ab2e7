"""Constant channels of tensors of int16 codes."""

from __future__ import annotations

import numpy as np
import pytest
from data_folder import needed_data_folder
from integer_samples import PAIR, IntegerMaker, assert_same_codes

from edgec.base.dtypes import DType
from edgec.base.options import Precision, QuantOptions
from edgec.interp import run_graph
from edgec.ir import qops
from edgec.ir.graph import Graph
from edgec.ir.infer import total_macs
from edgec.passes.channel_ranges import channel_ranges
from edgec.passes.remove_constant_channels import remove_constant_channels

_WIDE = qops.Requant31(26, 0, 0, 32767, DType.INT16)
_NARROW = qops.Requant31(40, -3)
_MULTIPLIER = 2**27


def _layer(
    m: IntegerMaker, x: str, form: qops.Requant31, outputs: int, depthwise: bool, pad: int = 1
) -> str:
    """A 3x3 layer; half its channels are constant, by weights of zero or below the clamp."""
    channels = m.shape(x)[3]
    weight = m.rng.integers(-9, 10, (outputs, 3, 3, 1 if depthwise else channels))
    bias = m.rng.integers(-500, 500, outputs)
    weight[::4] = 0
    bias[1::4] = -(2**24)
    wide = m.builder.values[x].dtype is DType.INT16
    reach = 1 << 15 if wide else 256
    attrs = qops.QConv(PAIR, (pad,) * 4, PAIR, channels if depthwise else 1, form, reach=reach)
    multiplier = m.const(np.full(outputs, _MULTIPLIER), "int32")
    names = m.const(weight, "int8"), m.const(bias, "int32"), multiplier
    return m.op(attrs, x, *names, zero=form.zero_point, dtype=form.dtype)


def _network(seed: int) -> Graph:
    """int8 to int16 by a layer, every function of int16 that keeps channels, and back."""
    m = IntegerMaker(seed)
    wide = _layer(m, m.input(1, 5, 4, 3), _WIDE, 8, depthwise=False)
    wide = _layer(m, wide, _WIDE, 8, depthwise=True)
    own = qops.Requant31(31, 0, -32768, 32767, DType.INT16)
    slopes = m.const(m.rng.integers(-(2**29), 2**29, 8), "int32")
    bent = m.op(qops.QPRelu(own, 2**30), wide, slopes, dtype=DType.INT16)
    entries = m.const(np.sort(m.rng.integers(-32000, 32000, 513)) // 8, "int16")
    line = qops.Line(3, 0, -32768, 32767, DType.INT16)
    looked = m.op(qops.QLut(line), bent, entries, dtype=DType.INT16)
    scaled = m.op(qops.QRescale(own, 2**29), looked, dtype=DType.INT16)
    last = _layer(m, scaled, _NARROW, 5, depthwise=False, pad=0)
    return m.graph(last)


@pytest.mark.parametrize("seed", range(12))
def test_constant_channels_of_int16_go_and_every_bit_stays(seed: int):
    graph = _network(seed)
    after = remove_constant_channels(graph)
    assert_same_codes(graph, after)
    # Half the channels of the first layer, and with them those of all that keep channels.
    assert total_macs(after) < 0.7 * total_macs(graph)
    kept = {name: after.shape(name)[-1] for name, value in after.values.items() if value.shape}
    wide = [name for name, value in graph.values.items() if value.dtype is DType.INT16]
    assert len(wide) == 5
    assert all(kept[name] < 8 for name in wide)


@pytest.mark.parametrize("seed", range(12))
def test_ranges_of_int16_hold_every_code(seed: int):
    graph = _network(seed)
    ranges = channel_ranges(graph)
    assert set(ranges) == set(graph.values)
    rng = np.random.default_rng(seed)
    for _ in range(3):
        found = run_graph(graph, {"x": rng.integers(-128, 128, graph.shape("x")).astype(np.int8)})
        for name, bounds in ranges.items():
            codes = found[name].reshape(-1, found[name].shape[-1])
            assert np.all(codes.min(axis=0) >= bounds.low), name
            assert np.all(codes.max(axis=0) <= bounds.high), name


@pytest.mark.data
def test_visual_wake_words_of_int16_loses_half_its_macs():
    from edgec.importers.onnx.importer import import_model
    from edgec.passes import REAL_PASSES, run_passes
    from edgec.quant import annotate, to_integer

    models = needed_data_folder() / "models"
    real = run_passes(import_model(models / "mlperf_mobilenetv1_025_vww96.onnx"), REAL_PASSES)
    samples = np.random.default_rng(0).normal(size=(4, 96, 96, 3)).astype(np.float32)
    (x,) = real.graph.inputs
    options = QuantOptions(precision=Precision.INT16)
    graph = to_integer(annotate(real.graph, {x: samples}, options)[0])
    after = remove_constant_channels(graph)
    assert total_macs(graph) == 7_489_664
    assert total_macs(after) < 3_900_000
    assert_same_codes(graph, after, runs=1)


def test_sums_are_no_larger_than_their_layer_was_bounded_with():
    """Codes of any int16 would wrap the scaled sums of this one, and seem constant."""
    m, depth = IntegerMaker(0), 8192
    reach = (2**31 - 1) // (127 * depth)
    own = qops.Requant31(31, 0, -reach, reach, DType.INT16)
    x = m.input(1, depth)
    bias = -m.builder.values[x].quant.tensor_zero_point
    two = (m.op(qops.QRescale(own, 2**power, bias), x, dtype=DType.INT16) for power in (29, 30))
    most = m.op(qops.QExtremum(True), *two, dtype=DType.INT16)
    weights = m.const(m.rng.choice((-127, 127), (4, depth)), "int8")
    wrapping = round(2**64 / (32767.5 * 127 * depth))
    numbers = m.const(np.zeros(4), "int32"), m.const(np.full(4, wrapping), "int32")
    y = m.op(qops.QGemm(qops.Requant31(54, 0), reach=reach), most, weights, *numbers)
    found = channel_ranges(m.graph(y))[y]
    assert (found.low < 0).all() and (found.high > 0).all()

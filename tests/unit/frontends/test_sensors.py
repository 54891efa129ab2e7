"""Features of sensors in integers: near float64, and the same bits in C."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from emulated import emulated, need_emulator
from hypothesis import given
from hypothesis import strategies as st
from parity import check_host, compiled
from sensors import movement, real_features, real_filtered
from sounds import decibels

from edgec.base.dtypes import DType
from edgec.base.errors import ConfigError
from edgec.base.options.front_end import FrontEndOptions
from edgec.frontends.butterworth import coefficients, sections
from edgec.frontends.nodes import FrontEnd
from edgec.frontends.parameters import parameters_of
from edgec.frontends.sensor import SensorParameters, sensor_tables
from edgec.interp import run_graph, state_after
from edgec.ir import qops
from edgec.ir.graph import Value
from edgec.ir.graph_builder import GraphBuilder
from edgec.ir.qops.biquad import COEFFICIENT_BITS
from edgec.ir.qparams import QuantParams
from edgec.sim.compare import compare_crcs, compare_outputs, compare_trace
from edgec.sim.host import HostModel
from edgec.toolchain.cc import WARNING_FLAGS

ALL = "mean+std+rms+min+max+skewness+kurtosis+crossings+mean-crossings"
FRONT_ENDS = {
    "defaults": SensorParameters(),
    "bands": SensorParameters(statistics=ALL, bands="0.5-2+2-5+5-20+20-50", full_scale=2.0),
    "spectrum": SensorParameters(statistics="none", bands="1-4+4-45", window=200, fft=256),
    "filtered": SensorParameters(
        rate=62.5, window=125, hop=25, low_pass=12.5, high_pass=0.4, bands="0.5-5+5-12", order=3
    ),
    "decimated": SensorParameters(
        rate=400, axes=1, window=1600, hop=400, decimate=8, low_pass=20, order=6, statistics=ALL
    ),
    "current": SensorParameters(
        rate=4000, axes=2, window=2000, hop=2000, full_scale=40.0, bands="40-60+90-110+140-1000"
    ),
    "short": SensorParameters(axes=6, window=8, hop=1),
}


@pytest.mark.parametrize("name", FRONT_ENDS)
def test_each_feature_is_near_that_of_float64(name: str):
    p = FRONT_ENDS[name]
    samples = np.concatenate([movement(p, 6, seed) for seed in range(4)])
    wanted = real_features(p, samples)
    found = FrontEnd(name, p).features_of(samples)
    assert found.shape == wanted.shape == (4, 6, p.features)
    names = (*p.names, *(f"band {low:g}-{high:g}" for low, high in p.limits)) * p.axes
    for number, feature in enumerate(names):
        if "crossings" in feature:
            # A filtered sample that is rounded to a code may lie on the other side of zero.
            most = 2 if p.has_filter else 0
            assert np.abs(found[..., number] - wanted[..., number]).max() <= most
        else:
            assert decibels(wanted[..., number], found[..., number]) >= 45, feature


@pytest.mark.parametrize("name", FRONT_ENDS)
def test_c_gives_the_same_bits(name: str, tmp_path: Path):
    p = FRONT_ENDS[name]
    graph = FrontEnd(name, p).graph(2)
    if not p.has_filter:
        check_host(graph, tmp_path)
        return
    program = compiled(graph, tmp_path / "library")
    assert program.state_bytes
    model = HostModel(tmp_path / "library", tmp_path / "build", flags=("-O0", *WARNING_FLAGS))
    stream, state = model.stream(), {}
    loud = np.random.default_rng(3).integers(-32768, 32768, (1, *graph.shape("samples")))
    for piece in (*(movement(p, 2, seed) for seed in range(3)), *loud.astype(np.int16)):
        oracle = run_graph(graph, {"samples": piece}, state)
        state = state_after(graph, oracle)
        compare_trace(program, oracle, stream.trace([piece]))


@pytest.mark.parametrize("board", ["nucleo_l4r5zi", "pico"])
def test_firmware_gives_the_same_bits(board: str, tmp_path: Path):
    need_emulator(board)
    p = FRONT_ENDS["filtered"]
    graph = FrontEnd("sensor", p).graph(1)
    program = compiled(graph, tmp_path / "library", board=board)
    state: dict[str, np.ndarray] = {}
    with emulated(board, tmp_path / "library", program, tmp_path / "project") as firmware:
        for seed in range(2):
            piece = movement(p, 1, seed)
            oracle = run_graph(graph, {"samples": piece}, state)
            state = state_after(graph, oracle)
            run = firmware.run([piece], trace=True)
            compare_crcs(program, oracle, run.steps, board)
            compare_outputs(program, oracle, run.outputs, board)


def test_codes_of_a_network_with_a_scale_for_each_feature(tmp_path: Path):
    p = FRONT_ENDS["bands"]
    samples = np.concatenate([movement(p, 1, seed) for seed in range(20)])
    real = FrontEnd("sensor", p).features_of(samples)[:, 0]
    low, high = real.min(axis=0), real.max(axis=0)
    scale = np.maximum(high - low, 1e-3) / 255
    zero = np.rint(-128 - low / scale)
    params = QuantParams.per_feature(scale, zero, 1)
    front = FrontEnd("sensor", p)
    builder = GraphBuilder("sensor")
    x = builder.value(Value("samples", samples[:1].shape, DType.INT16, front.sample_codes))
    builder.inputs.append(x)
    builder.outputs.append(front.add(builder, x, codes=params))
    graph = builder.build()
    (node,) = graph.nodes
    attrs = node.attrs_as(qops.QSensorFeatures)
    tables = {name: graph.constants[each] for name, each in _operands(node) if each != x}
    for each, row in zip(samples, real, strict=True):
        inputs = qops.QSensorFeatures.Inputs(
            x=qops.Operand(each[None]),
            **{name: qops.Operand(constant.array) for name, constant in tables.items()},
        )
        wanted = np.clip(np.rint(row / scale) + zero, -128, 127)
        assert np.abs(attrs.compute(inputs)[0, 0] - wanted).max() <= 1
    check_host(graph, tmp_path)


def _operands(node):
    return [(k, v) for k, v in qops.QSensorFeatures.Inputs.of(node.inputs).items() if v]


@pytest.mark.parametrize("sample", [0, 7, -32768, 32767])
def test_windows_that_never_change(sample: int):
    p = FRONT_ENDS["bands"]
    samples = np.full((1, p.window * p.axes), sample, np.int16)
    found = FrontEnd("sensor", p).features_of(samples)[0, 0]
    named = dict(zip((*p.names, "a", "b", "c", "d"), found, strict=False))
    real = sample / 32768 * p.full_scale
    assert named["mean"] == named["min"] == named["max"] == pytest.approx(real)
    assert named["std"] == named["skewness"] == named["kurtosis"] == 0
    assert named["crossings"] == named["mean-crossings"] == 0
    assert named["a"] == pytest.approx(10 * np.log10(p.floor * p.full_scale**2), abs=0.01)


def test_loud_samples_do_not_overflow():
    p = replace(FRONT_ENDS["bands"], axes=1, window=16_000, hop=16_000, rate=16_000.0)
    p = replace(p, bands="100-8000", fft=16_000)
    square = np.where(np.arange(16_000) % 2, 32767, -32768).astype(np.int16)[None]
    spike = np.zeros((1, 16_000), np.int16)
    spike[0, 77] = -32768
    for each in (square, spike):
        wanted, found = real_features(p, each)[0, 0], FrontEnd("sensor", p).features_of(each)[0, 0]
        # Skewness beyond 8 and kurtosis beyond 256 are not told apart.
        for name, most in (("skewness", 8), ("kurtosis", 256)):
            at = p.names.index(name)
            wanted[at] = np.clip(wanted[at], -most, most)
        assert np.allclose(found, wanted, rtol=0.01, atol=0.02)


@pytest.mark.parametrize("order", range(1, 9))
@pytest.mark.parametrize("high", [False, True])
def test_filters_have_half_the_power_at_their_cutoff(order: int, high: bool):
    cutoff = 0.07
    z = np.exp(-2j * np.pi * np.array([1e-6, cutoff, 0.4999]))
    response = np.ones(3, complex)
    for b0, b1, b2, a1, a2 in sections(cutoff, order, high=high):
        response *= (b0 + b1 * z + b2 * z * z) / (1 + a1 * z + a2 * z * z)
    low, middle, top = np.abs(response) ** 2
    assert middle == pytest.approx(0.5, rel=1e-6)
    assert (top, low) == pytest.approx((1, 0) if high else (0, 1), abs=1e-3)


@pytest.mark.parametrize(
    "text",
    ["low-pass=1", "high-pass=0.2", "low-pass=45,order=8", "high-pass=0.5,low-pass=20,order=8"],
)
def test_filters_are_near_those_of_float64(text: str):
    p = parameters_of(FrontEndOptions.parse(f"sensor:statistics=mean,{text}"))
    samples = movement(p, 10)
    front = FrontEnd("sensor", p)
    builder = GraphBuilder("filter")
    x = builder.value(Value("samples", samples.shape, DType.INT16, front.sample_codes))
    builder.inputs.append(x)
    builder.outputs.append(front.filtered(builder, x))
    graph = builder.build()
    found = run_graph(graph, {"samples": samples})[graph.outputs[0]].reshape(-1, 3)
    wanted = real_filtered(p, samples.reshape(-1, 3).astype(float))
    assert decibels(wanted, np.clip(found, -32768, 32767)) >= 45


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("axes=0", "axes cannot be 0"),
        ("window=7", "window cannot be 7"),
        ("hop=201", "hop cannot be 201"),
        ("rate=0", "rate cannot be 0"),
        ("low-pass=50", "low-pass cannot be 50"),
        ("low-pass=5,high-pass=6", "high-pass cannot be 6"),
        ("low-pass=5,order=9", "order cannot be 9"),
        ("decimate=2", "decimate cannot be 2 without a low pass"),
        ("decimate=3,low-pass=5", "window cannot be 200"),
        ("decimate=0", "decimate cannot be 0"),
        (f"rate={'9' * 330}", "rate cannot be inf"),
        (f"window={'9' * 330}", "window cannot be 9+"),
        ("statistics=mean+median", "statistics cannot be mean.median"),
        ("statistics=mean+mean", "statistics cannot be mean.mean"),
        ("statistics=none", "statistics cannot be none"),
        ("bands=5-2", "bands cannot be 5-2"),
        ("bands=5-60", "bands cannot be 5-60"),
        ("bands=a-b", "bands cannot be a-b"),
        ("bands=1-5,fft=199", "fft cannot be 199"),
        ("full-scale=0", "full-scale cannot be 0"),
        ("filters=3", "has no parameter 'filters'"),
    ],
)
def test_parameters_that_cannot_be(text: str, words: str):
    with pytest.raises(ConfigError, match=words):
        parameters_of(FrontEndOptions.parse(f"sensor:{text}"))


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("bands=0.1-0.2", "band 0.1-0.2 Hz has no bin: these are 0.5 Hz apart"),
        ("low-pass=0.0001", "low-pass cannot be 0.0001: integers of 32 bits"),
        ("high-pass=0.0001,order=2", "high-pass cannot be 0.0001: integers of 32 bits"),
    ],
)
def test_what_integers_cannot_do(text: str, words: str):
    p = parameters_of(FrontEndOptions.parse(f"sensor:{text}"))
    with pytest.raises(ConfigError, match=words):
        FrontEnd("sensor", p).graph(1)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("fft=256", "sensor:fft: there are no bands"),
        ("floor=1e-6", "sensor:floor: there are no bands"),
        ("fft=256,floor=1e-6", "sensor:fft, .*sensor:floor: there are no bands"),
        ("bands=1-5,order=2", "sensor:order: there is no filter"),
    ],
)
def test_parameters_without_effect(text: str, words: str):
    with pytest.raises(ConfigError, match=words):
        parameters_of(FrontEndOptions.parse(f"sensor:{text}"))


@given(st.floats(3e-4, 0.49), st.integers(1, 8), st.booleans())
def test_zeros_of_filters_stay_where_they_are(cutoff: float, order: int, high: bool):
    """A high pass lets nothing of a constant through, a low pass all of it."""
    codes = coefficients(sections(cutoff, order, high=high), "low-pass", cutoff).astype(np.int64)
    through = codes[:, :3].sum(axis=1)
    if high:
        assert not through.any()
    else:
        gains = through / (codes[:, 3:].sum(axis=1) + (1 << COEFFICIENT_BITS))
        assert np.abs(gains - 1).max() <= 2**-9


def test_own_codes_span_what_features_reach():
    p = FRONT_ENDS["bands"]
    scales = dict(zip(p.names, sensor_tables(p).scales, strict=False))
    assert scales["mean"] == p.full_scale / 2**15 and scales["crossings"] == 1

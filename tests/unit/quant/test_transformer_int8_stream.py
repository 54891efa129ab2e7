"""A residual stream of int8: what it loses, that nothing is wider, and where it is refused."""

from __future__ import annotations

from dataclasses import replace
from functools import lru_cache
from pathlib import Path

import numpy as np
import onnx
import pytest
from emulated import check_emulated
from parity import check_host, compiled, samples_of
from sketch import Sketch
from small_transformers import NETS, inputs_of

from edgec.base.dtypes import DType
from edgec.base.errors import ConfigError, InternalError, QuantizationError
from edgec.base.options import CompileOptions, QuantOptions, Residual
from edgec.exporters.onnx.export import export_real
from edgec.ir import ops, qops
from edgec.ir.graph import Constant, Graph
from edgec.ir.verify import Stage, verify
from edgec.passes.base import run_passes
from edgec.passes.pipeline import TRANSFORMER_PASSES
from edgec.quant.common.numbers import check_intervals
from edgec.quant.transformer import quantize_transformer
from edgec.quant.transformer.int8_residual import int8_stream
from edgec.quant.transformer.samples import Seen
from edgec.toolchain import process
from edgec.workflow.integer import integer_model

NARROW = QuantOptions(residual=Residual.INT8)


@lru_cache
def quantized(name: str, options: QuantOptions = NARROW) -> tuple[Graph, float]:
    """The integer graph of a network and the signal to noise of its output in dB."""
    real = run_passes(NETS[name](), TRANSFORMER_PASSES).graph
    integer, report = quantize_transformer(real, inputs_of(real, 32), options)
    verify(integer, Stage.INTEGER)
    return integer, report.layers[-1].sqnr_db


@pytest.mark.parametrize("name", NETS)
def test_nothing_is_wider_than_eight_bits(name):
    integer, sqnr = quantized(name)
    assert not [v for v in integer.values.values() if v.dtype is DType.INT16]
    assert sqnr > 20
    assert sqnr < quantized(name, QuantOptions())[1] + 1.5  # few rows: scales end further out


@pytest.mark.parametrize("name", NETS)
def test_scales_of_channels_are_powers_of_two_apart(name):
    integer, _ = quantized(name)
    shifts = [c.array for c in integer.constants.values() if "/shifts" in c.name]
    assert shifts
    assert min(int(k.min()) for k in shifts) == 0
    for node in integer.nodes:
        if isinstance(node.attrs, qops.QNorm):
            quant = integer.quant(node.inputs[0])
            k = integer.constants[node.inputs[3]].array
            unit = min(quant.scale)
            scale = np.broadcast_to(quant.scale, k.shape)
            np.testing.assert_array_equal(scale, unit * 2.0**k)


SLOW = [pytest.param(n, marks=pytest.mark.slow) for n in ("gated", "convolutional", "cct")]


@pytest.mark.parametrize("name", ["vit", "post_norm", *SLOW])
def test_the_host_computes_what_the_reference_does(name, tmp_path):
    check_host(quantized(name)[0], tmp_path, board="nucleo_l4r5zi")


@pytest.mark.slow
@pytest.mark.parametrize("core", ["nucleo_l4r5zi", "nucleo_g0b1re"])
def test_emulated_cores_compute_what_the_reference_does(core, tmp_path):
    if process.which("arm-none-eabi-gcc") is None:
        pytest.skip("arm-none-eabi-gcc is not installed")
    pytest.importorskip("unicorn")
    graph = quantized("vit")[0]
    program = compiled(graph, tmp_path / "library", board=core)
    check_emulated(
        core, tmp_path / "library", program, samples_of(graph)[2:5], tmp_path / "project"
    )


def test_only_layers_read_the_stream_as_it_is():
    """Of BERT's, whose layers read what a norm has left in the stream: no copies."""
    integer, _ = quantized("post_norm")
    assert not [node for node in integer.nodes if isinstance(node.attrs, qops.QRescale)]


def uneven(*kinds: type) -> tuple[Graph, dict[str, Seen]]:
    """A norm of [1, 9, 16] behind a move, and samples whose channels grow."""
    s = Sketch("uneven", 3)
    x = s.input("x", 1, 9, 16)
    moved = s(ops.Reshape((1, 16, 9)), x) if ops.Reshape in kinds else x
    moved = s(ops.Clip(0.0, 2.0), moved) if ops.Clip in kinds else moved
    channels = s.builder.values[moved].shape[-1]
    gamma, beta = (s.const(n, np.ones(channels, np.float32)) for n in ("gamma", "beta"))
    y = s(ops.LayerNormalization(), moved, gamma, beta, name="y")
    s.builder.outputs.append(y)
    rows = s.rng.normal(0, 1, (200, channels)).astype(np.float32) * 1.5 ** np.arange(channels)
    low, high = (extreme.astype(np.float64) for extreme in (rows.min(axis=0), rows.max(axis=0)))
    seen = Seen(low, high, rows, len(rows))
    return s.builder.build(), {moved: seen}


def test_channels_follow_their_ranges():
    graph, seen = uneven()
    (name,) = seen
    found = int8_stream(graph, [name], seen)
    k = np.log2(np.array(found.scale) / min(found.scale))
    assert found.axis == 0
    assert k.max() - k.min() >= 5
    assert (np.diff(k) >= -1).all()


def test_steps_that_serve_all_channels():
    """Where channels do not stay what they are, or have bounds of their own."""
    for kind in (ops.Reshape, ops.Clip):
        graph, seen = uneven(kind)
        assert int8_stream(graph, list(seen), seen).axis is None


def test_wide_factors_are_found_by_the_proof():
    integer, _ = quantized("cct")
    node = next(n for n in integer.nodes if getattr(n.attrs, "after", False))
    output = replace(node.attrs.output, shift=29)
    moved = replace(node, attrs=replace(node.attrs, output=output))
    k = integer.constants[node.inputs[1]]
    most = Constant(k.name, np.full_like(k.array, qops.MOST_CHANNEL_SHIFT), k.quant)
    changed = integer.replace(
        nodes=tuple(moved if n is node else n for n in integer.nodes),
        constants={**integer.constants, k.name: most},
    )
    with pytest.raises(QuantizationError, match="rescaled accumulator"):
        check_intervals(changed)


def test_shifts_beyond_the_definition_are_a_bug():
    integer, _ = quantized("vit")
    k = next(c for c in integer.constants.values() if "/shifts" in c.name)
    wrong = Constant(k.name, np.full_like(k.array, qops.MOST_CHANNEL_SHIFT + 1), k.quant)
    with pytest.raises(InternalError, match="shifts"):
        verify(integer.replace(constants={**integer.constants, k.name: wrong}), Stage.INTEGER)


def test_convolutional_networks_have_no_such_stream(tmp_path: Path):
    s = Sketch("conv", 1)
    w = s.normal("w", 4, 3, 3, 3)
    s.builder.outputs.append(s(ops.Conv(), s.input("x", 1, 8, 8, 3), w, "", name="y"))
    onnx.save(export_real(s.builder.build()), tmp_path / "net.onnx")
    data = {"x": np.zeros((4, 8, 8, 3), np.float32)}
    with pytest.raises(ConfigError, match="transformers") as caught:
        integer_model(tmp_path / "net.onnx", data, CompileOptions(quant=NARROW))
    assert caught.value.where == "--residual"

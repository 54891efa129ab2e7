"""`edgec compile --fit` and `--int16`: what is found, and what is said of what cannot be."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from edgec.base.errors import BudgetError, ConfigError
from edgec.base.options import CompileOptions, FitLimits, PoolKernelOptions, Precision, QuantOptions
from edgec.base.samples import SampleFile
from edgec.commands.compile import compile_model
from edgec.fit.check import check_fit
from edgec.target.board import load_board

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"
MLP, DATA = EXAMPLES / "digits_mlp.onnx", EXAMPLES / "digits_calibration.npz"


def named(*names: str) -> CompileOptions:
    quant = QuantOptions(precision=Precision.AUTO, int16=names)
    return CompileOptions(build=False, verify=False, quant=quant)


def test_named_tensors_have_int16_codes(tmp_path: Path):
    everything = replace(named(), quant=QuantOptions(precision=Precision.INT16))
    board = "mps2_an386"
    made = compile_model(MLP, board, calibration=DATA, out=tmp_path / "a", options=everything)
    precision = made.model.quantization.precision
    assert precision is not None
    name = precision.tensors[-1]
    one = compile_model(MLP, board, calibration=DATA, out=tmp_path / "b", options=named(name))
    found = one.model.quantization.precision
    assert found is not None
    assert found.tensors == (name,)


def test_a_name_of_no_tensor(tmp_path: Path):
    with pytest.raises(ConfigError, match="no tensor of this name"):
        compile_model(MLP, "mps2_an386", calibration=DATA, out=tmp_path, options=named("nowhere"))


def test_what_cannot_be_fitted_is_said_at_once():
    pytest.importorskip("highspy")
    board, limits = load_board("mps2_an386"), FitLimits(flash_bytes=1 << 16)
    with pytest.raises(ConfigError, match="microcontrollers"):
        check_fit(load_board("host"), CompileOptions(), limits)
    with pytest.raises(ConfigError, match="does not go with --fit"):
        check_fit(board, named("x"), limits)
    decode = PoolKernelOptions.parse("8", None, False, ["decode"], None)
    with pytest.raises(ConfigError, match="--pool-kernel does not go with --fit"):
        check_fit(board, CompileOptions(pool=decode), limits)
    with pytest.raises(ConfigError, match="not even the stack"):
        check_fit(board, CompileOptions(), FitLimits(ram_bytes=10))


@pytest.mark.slow
def test_the_answer_is_within_the_limits_and_built_again_by_plain_options(tmp_path: Path):
    pytest.importorskip("highspy")
    from edgec.fit.search import Search

    board, samples = load_board("nucleo_f446re"), SampleFile.of(DATA)
    limits = FitLimits.parse("flash=64K,ram=32K,ms=2")
    found = Search(MLP, board, samples, CompileOptions(), limits).run()
    assert found.measured.excess(found.bounds) == 0.0
    again = compile_model(MLP, board, calibration=samples, out=tmp_path, options=found.options)
    assert again.report.memory.flash_bytes == found.measured.flash_bytes
    assert again.report.memory.ram_bytes == found.measured.ram_bytes


@pytest.mark.slow
def test_nothing_fits_says_what_would():
    pytest.importorskip("highspy")
    from edgec.fit.search import Search

    limits = FitLimits.parse("ms=0.001")
    board, samples = load_board("nucleo_f446re"), SampleFile.of(DATA)
    with pytest.raises(BudgetError, match="the nearest one has ms=") as caught:
        Search(MLP, board, samples, CompileOptions(), limits).run()
    assert "would do: ms=" in str(caught.value.hint)


@pytest.mark.slow
def test_weights_take_the_ram_that_a_limit_leaves(tmp_path: Path):
    """The board copies weights to tightly coupled RAM: into what layers by rows leave, no more."""
    pytest.importorskip("highspy")
    from edgec.fit.search import Search

    model, limits = EXAMPLES / "digits_resnet.onnx", FitLimits(ram_bytes=10_600)
    board, samples = load_board("nucleo_h743zi2"), SampleFile.of(DATA)
    found = Search(model, board, samples, CompileOptions(), limits).run()
    assert found.measured.ram_bytes <= 10_600
    made = compile_model(model, board, calibration=samples, out=tmp_path, options=found.options)
    assert made.report.memory.ram_bytes == found.measured.ram_bytes


@pytest.mark.slow
def test_weights_keep_their_bits_where_a_choice_fits(tmp_path: Path):
    """With int16 codes the firmware is smaller than with int8 codes: that is tried first."""
    pytest.importorskip("highspy")
    from edgec.fit.search import Search

    model, board = EXAMPLES / "digits_resnet.onnx", load_board("nucleo_f446re")
    limits = FitLimits(flash_bytes=30 << 10)
    found = Search(model, board, SampleFile.of(DATA), CompileOptions(), limits).run()
    assert found.measured.flash_bytes <= 30 << 10
    assert found.options.weight_bits == ()


@pytest.mark.slow
def test_codes_and_weights_of_few_bits_in_one_choice(tmp_path: Path):
    """No choice with all bits fits, by any way of code."""
    pytest.importorskip("highspy")
    from edgec.fit.search import Search

    model, board = EXAMPLES / "digits_resnet.onnx", load_board("nucleo_f446re")
    limits, samples = FitLimits(flash_bytes=24 << 10), SampleFile.of(DATA)
    found = Search(model, board, samples, CompileOptions(), limits).run()
    assert found.options.weight_bits
    assert found.point.int16
    assert found.measured.flash_bytes <= 24 << 10
    assert found.measured.decibels > 38.0  # int8 codes and all bits have 37.7 dB
    made = compile_model(model, board, calibration=samples, out=tmp_path, options=found.options)
    assert made.report.memory.flash_bytes == found.measured.flash_bytes

"""Whose rounding a model gets."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from tflite_networks import float_network, int8_network, qdq_network
from tflite_wide import bias, conv

from edgec.base.errors import ConfigError
from edgec.base.options import CompileOptions
from edgec.base.rounding import Rounding
from edgec.importers.formats import import_model
from edgec.workflow.integer import integer_model, real_model
from edgec.workflow.rounding import rounding_of


def test_an_integer_file_has_the_rounding_of_its_runtime(tmp_path: Path):
    path = int8_network(tmp_path / "m.tflite")
    assert import_model(path).rounding is Rounding.TFLM
    model = real_model(path, None, CompileOptions())
    assert (model.imported.rounding, model.graph.rounding) == (Rounding.TFLM, Rounding.TFLM)
    assert model.notes == ()


def test_the_user_may_choose_the_single_rounding_and_is_told_so(tmp_path: Path):
    path = int8_network(tmp_path / "m.tflite")
    model = real_model(path, None, CompileOptions(rounding=Rounding.EDGEC))
    assert (model.imported.rounding, model.graph.rounding) == (Rounding.EDGEC, Rounding.EDGEC)
    assert any("rounds twice" in note for note in model.notes)


@pytest.mark.parametrize("wanted", Rounding)
def test_files_without_a_choice_refuse_the_option(wanted: Rounding, tmp_path: Path):
    data = {"serving_default_x:0": np.zeros((1, 12, 12, 3), np.float32)}
    options = CompileOptions(rounding=wanted)
    files = ((float_network(tmp_path / "f.tflite"), data), (qdq_network(tmp_path), None))
    for path, samples in files:
        with pytest.raises(ConfigError, match="only an integer TensorFlow Lite file") as error:
            real_model(path, samples, options)
        assert error.value.where == "--rounding"


def test_what_is_not_exact_is_said(tmp_path: Path):
    path = int8_network(tmp_path / "m.tflite")
    assert rounding_of(integer_model(path, None, CompileOptions()).integer).endswith("every tensor")
    wide = conv(tmp_path / "w.tflite")
    assert rounding_of(integer_model(wide, None, CompileOptions()).integer).endswith("every tensor")
    narrow = integer_model(
        conv(tmp_path / "n.tflite", biases=bias(4, "int32")), None, CompileOptions()
    )
    assert "biases of 32 bits" in rounding_of(narrow.integer)
    assert any("biases of int32" in note for note in narrow.notes)

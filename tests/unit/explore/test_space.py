"""Knobs: values stand for the same options in words, in `edgec.toml` and in records."""

from __future__ import annotations

from pathlib import Path

import onnx
import pytest
from onnx import TensorProto, helper
from places import REPOSITORY

from edgec.base.errors import ConfigError
from edgec.base.options import (
    CompileOptions,
    Observer,
    Optimize,
    Placement,
    PoolKernel,
    Precision,
    Rows,
)
from edgec.cli.compile_request import compile_request
from edgec.cli.option_table import options_of as table_of
from edgec.explore.prepare import can_pool
from edgec.explore.space import (
    DEFAULT,
    KNOBS,
    ON_LINUX,
    check_on_linux,
    compiled_by,
    limits_of,
    options_of,
    pool_of,
    space_of,
    switches,
    words_of,
)

EXAMPLES = REPOSITORY / "examples"


def test_first_values_are_the_default_build():
    space = space_of(["net"], ["nucleo_f446re"], [])
    setting = {name: values[0] for name, values in space.items()}
    assert compiled_by(setting, CompileOptions()) == CompileOptions()
    assert words_of(setting) == []
    assert pool_of(setting) is None


def test_values_of_all_knobs_are_options_of_compile():
    keys = {each.key for each in table_of(compile_request)} | {"pool-size"}
    for name, knob in KNOBS.items():
        for value in knob.values:
            assert set(options_of({name: value})) <= keys
            changed = compiled_by({name: value}, CompileOptions())
            as_usual = value in (DEFAULT, "speed") or (name, value) == ("rows", "auto")
            as_usual |= name == "pool" and "+" not in value
            assert as_usual == (changed == CompileOptions())


def test_a_setting_in_words_and_as_options():
    setting = {
        "model": "net",
        "board": "nucleo_f446re",
        "precision": "25dB",
        "observer": "minmax",
        "optimize": "size",
        "rows": "always",
        "placement": "sram",
        "pool": "64+decode",
        "effort": DEFAULT,
    }
    words = "--precision auto --target-db 25 --observer minmax --pool-kernel decode --optimize size"
    assert words_of(setting) == [*words.split(), *["--rows", "always", "--placement", "sram"]]
    found = compiled_by(setting, CompileOptions())
    assert (found.quant.precision, found.quant.target_db) == (Precision.AUTO, 25.0)
    assert found.quant.observer is Observer.MINMAX
    assert (found.optimize, found.rows, found.placement) == (
        Optimize.SIZE,
        Rows.ALWAYS,
        Placement.SRAM,
    )
    assert [rule.kernel for rule in found.pool.rules] == [PoolKernel.DECODE]
    pool = pool_of(setting)
    assert pool is not None
    assert pool.size == 64


def test_values_that_the_user_names():
    space = space_of(
        ["net"], ["a", "b"], ["precision=default/28dB", "rows=never"], {"pool": (DEFAULT,)}
    )
    assert space["precision"] == (DEFAULT, "28dB")
    assert space["rows"] == ("never",)
    assert space["pool"] == (DEFAULT,)


def test_boards_with_linux_have_fewer_values():
    space = space_of(["net"], ["raspberry_pi_3"], [], ON_LINUX)
    assert (space["optimize"], space["placement"]) == ((DEFAULT,), (DEFAULT,))
    assert space["rows"] == (DEFAULT, "always")
    assert space["precision"] == KNOBS["precision"].values
    check_on_linux(space)
    named = space_of(["net"], ["raspberry_pi_3"], ["optimize=size", "rows=never"], ON_LINUX)
    assert (named["optimize"], named["rows"]) == (("size",), ("never",))
    check_on_linux(named)
    for text in ("placement=default/flash", "fit=drop=1"):
        with pytest.raises(ConfigError, match="is nothing for boards with Linux"):
            check_on_linux(space_of(["net"], ["raspberry_pi_3"], [text], ON_LINUX))


def test_limits_of_a_search_of_its_own():
    space = space_of(["net"], ["a"], ["fit=default/flash=40K,ms=2.5", "rows=never"])
    assert space["fit"] == (DEFAULT, "flash=40K,ms=2.5")
    assert (space["precision"], space["rows"]) == ((DEFAULT,), ("never",))
    setting = {"fit": "flash=40K,ms=2.5", "optimize": "balanced"}
    assert words_of(setting) == ["--optimize", "balanced", "--fit", "flash=40K,ms=2.5"]
    assert compiled_by(setting, CompileOptions()) == CompileOptions(optimize=Optimize.BALANCED)
    limits = limits_of(setting)
    assert limits is not None
    assert (limits.flash_bytes, limits.time_ms) == (40 << 10, 2.5)
    assert limits_of({"fit": DEFAULT}) is None
    # Without limits of its own all knobs are tried, and no search begins in a trial.
    usual = space_of(["net"], ["a"], [])
    assert usual["fit"] == (DEFAULT,)
    assert len(usual["precision"]) > 1


@pytest.mark.parametrize(
    ("text", "what"),
    [
        ("fit=size=3", "'size' is no limit"),
        ("fit=ms=0", "'ms=0' cannot be kept"),
        ("precision=int4", "'int4' is no value of precision"),
        ("pool=64+guess", "'64.guess' is no value of pool"),
        ("pool=", "'' is no value of pool"),
        ("size=1", "'size' is nothing that is chosen"),
    ],
)
def test_values_that_do_not_exist(text: str, what: str):
    with pytest.raises(ConfigError, match=what):
        space_of(["net"], ["a"], [text])


def test_single_changes_begin_at_both_ends_of_each_knob():
    space = {"model": ("net",), "rows": ("auto", "never"), "pool": ("no", "a", "b", "c", "d")}
    changed = [next((k, v) for k, v in s.items() if v != space[k][0]) for s in switches(space)]
    assert changed[:4] == [("rows", "never"), ("pool", "d"), ("pool", "a"), ("pool", "b")]
    assert changed[4:] == [("pool", "c")]


def test_only_models_with_such_layers_can_be_pooled(tmp_path: Path):
    assert can_pool(EXAMPLES / "digits_mlp.onnx", CompileOptions())
    x, y = (helper.make_tensor_value_info(n, TensorProto.FLOAT, [1, 4]) for n in ("x", "y"))
    relu = helper.make_node("Relu", ["x"], ["y"])
    onnx.save(
        helper.make_model(helper.make_graph([relu], "g", [x], [y])),
        tmp_path / "r.onnx",
    )
    assert not can_pool(tmp_path / "r.onnx", CompileOptions())
    assert not can_pool(tmp_path / "any.tflite", CompileOptions())

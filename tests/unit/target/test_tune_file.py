"""Tune files: what is written is read again, and what a stranger wrote is refused or ignored."""

from __future__ import annotations

from pathlib import Path

import pytest

from edgec.base.errors import ConfigError
from edgec.base.options import Optimize
from edgec.target.board import load_board
from edgec.target.tune_file import (
    TunedEntry,
    fresh_entries,
    kernels_digest,
    kernels_of,
    read_tune_file,
    target_words,
    with_entries,
    write_tune_file,
)

F446, L4R5 = load_board("nucleo_f446re"), load_board("nucleo_l4r5zi")
SPEED = Optimize.SPEED


def entry(layer: str = "QConv int8[1,2] to int8[1,3]", kernel: str = "conv2d") -> TunedEntry:
    return TunedEntry(layer, kernel, 90, "gemm", 100, 'net "of" \\ strangers')


def test_what_is_written_is_read_again(tmp_path: Path):
    path = tmp_path / "edgec.tune.toml"
    made = with_entries((), F446, SPEED, [entry("b"), entry("a")])
    made = with_entries(made, L4R5, SPEED, [entry("c")])
    write_tune_file(path, made)
    found = read_tune_file(path)
    assert found == made
    assert [each.layer for each in fresh_entries(found, F446, SPEED)] == ["a", "b"]
    assert [each.layer for each in fresh_entries(found, L4R5, SPEED)] == ["c"]
    tuned = kernels_of(path, F446, SPEED, asked=True)
    assert tuned is not None
    assert tuned.kernel_of("b") == "conv2d"
    assert tuned.kernel_of("c") is None


def test_new_measurements_take_the_place_of_old_ones():
    made = with_entries((), F446, SPEED, [entry("a", "one"), entry("b", "one")])
    made = with_entries(made, F446, SPEED, [entry("b", "two")])
    assert [(e.layer, e.kernel) for e in made[0].layers] == [("a", "one"), ("b", "two")]


def test_equal_targets_of_several_boards_share_what_was_measured():
    words = target_words(F446, SPEED)
    assert words != target_words(L4R5, SPEED)
    assert words != target_words(F446, Optimize.BALANCED)


def stale(path: Path) -> None:
    write_tune_file(path, with_entries((), F446, SPEED, [entry()]))
    text = path.read_text("utf-8")
    path.write_text(text.replace(kernels_digest(), "0" * 12), "utf-8")


def test_what_other_kernels_took_is_not_used(tmp_path: Path, caplog: pytest.LogCaptureFixture):
    path = tmp_path / "old.toml"
    stale(path)
    assert kernels_of(path, F446, SPEED, asked=False) is None
    assert "kernels of another edgec" in caplog.text
    with pytest.raises(ConfigError, match="kernels of another edgec"):
        kernels_of(path, F446, SPEED, asked=True)
    # They are measured again in their place.
    again = with_entries(read_tune_file(path), F446, SPEED, [entry("new")])
    assert [each.layer for each in again[0].layers] == ["new"]


def test_a_file_of_other_targets(tmp_path: Path, caplog: pytest.LogCaptureFixture):
    path = tmp_path / "other.toml"
    write_tune_file(path, with_entries((), F446, SPEED, [entry()]))
    assert kernels_of(path, L4R5, SPEED, asked=False) is None
    assert not caplog.text
    with pytest.raises(ConfigError, match="nothing measured for nucleo_l4r5zi"):
        kernels_of(path, L4R5, SPEED, asked=True)


@pytest.mark.parametrize(
    ("optimize", "hint"),
    [
        (Optimize.SPEED, "measure: edgec tune MODEL --board nucleo_l4r5zi --tune "),
        (
            Optimize.BALANCED,
            "measure: edgec tune MODEL --board nucleo_l4r5zi --optimize balanced --tune ",
        ),
        (Optimize.SIZE, "leave out --tune, or --optimize size"),
    ],
)
def test_the_hint_measures_with_the_same_options(tmp_path: Path, optimize: Optimize, hint: str):
    path = tmp_path / "other.toml"
    write_tune_file(path, with_entries((), F446, Optimize.SPEED, [entry()]))
    with pytest.raises(ConfigError) as caught:
        kernels_of(path, L4R5, optimize, asked=True)
    assert str(caught.value.hint).startswith(hint)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("version = 1\ntargets = 3", "targets"),
        ("version = 2", "version 1"),
        ("x = ", "not a TOML file"),
        ('version = 1\n[[targets]]\ntarget = "t"', "targets.0.board"),
        ("version = 1\nmore = 1", "more"),
        ('version = 1\n[[targets]]\ntarget="t"\nboard="b"\nkernels="../../etc"', "kernels"),
    ],
)
def test_damaged_files(tmp_path: Path, text: str, said: str):
    path = tmp_path / "bad.toml"
    path.write_text(text, "utf-8")
    with pytest.raises(ConfigError, match=said):
        read_tune_file(path)


def test_layers_and_targets_that_stand_twice(tmp_path: Path):
    path = tmp_path / "twice.toml"
    write_tune_file(path, with_entries((), F446, SPEED, [entry()]))
    text = path.read_text("utf-8")
    layers = text[text.index("[[targets.layers]]") :]
    path.write_text(text + layers, "utf-8")
    with pytest.raises(ConfigError, match="layer of nucleo_f446re twice"):
        read_tune_file(path)
    path.write_text(text + text[text.index("[[targets]]") :], "utf-8")
    with pytest.raises(ConfigError, match="target twice"):
        read_tune_file(path)


def test_a_line_of_a_megabyte_is_refused(tmp_path: Path):
    path = tmp_path / "long.toml"
    path.write_text("version = 1 #" + "x" * (1 << 20), "utf-8")
    with pytest.raises(ConfigError, match="longer than"):
        read_tune_file(path)

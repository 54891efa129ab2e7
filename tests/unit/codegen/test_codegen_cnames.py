"""Untrusted names to C identifiers, and untrusted text to literals and comments."""

import re

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from edgec.base.errors import InternalError
from edgec.codegen.cliterals import c_array, c_float, c_hex, c_int, comment_text
from edgec.codegen.cnames import c_identifier, library_names

_IDENTIFIER = re.compile(r"[a-z][a-z0-9]*(_[a-z0-9]+)*")


@given(st.text())
def test_any_text_gives_a_short_legal_identifier(text: str) -> None:
    name = c_identifier(text)
    assert _IDENTIFIER.fullmatch(name)
    assert len(name) <= 40
    assert name == c_identifier(text)


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("ResNet-8", "resnet_8"),
        ("int", "model_int"),
        ("8bit", "model_8bit"),
        ("main", "model_main"),
        ("CON", "model_con"),
        ("../../etc/passwd", "etc_passwd"),
        ('a"b\nc*/d', "a_b_c_d"),
        ("Straße é", "strae_e"),
        ("__x__y__", "x_y"),
        ("", "model"),
    ],
)
def test_examples(text: str, name: str) -> None:
    assert c_identifier(text) == name


def test_text_without_letters_gets_a_name_of_its_own() -> None:
    assert c_identifier("日本") != c_identifier("中国")


def test_long_names_differ_by_their_ends() -> None:
    first, second = c_identifier("a" * 10_000), c_identifier("a" * 9_999 + "b")
    assert first != second
    assert len(first) == len(second) == 40


def test_lone_surrogates_are_harmless() -> None:
    assert _IDENTIFIER.fullmatch(c_identifier("\udc80"))
    assert _IDENTIFIER.fullmatch(c_identifier("\udc80" * 10_000))


def test_names_of_a_library() -> None:
    names = library_names("Digits 1")
    assert names.header == "edgec_digits_1.h"
    assert names.symbol == "edgec_digits_1_model"
    assert names.macro == "EDGEC_DIGITS_1"


def test_integer_literals() -> None:
    assert c_int(-5) == "-5"
    assert c_int(-(2**31)) == "(-2147483647 - 1)"
    assert c_hex(2**32 - 1) == "0xFFFFFFFFU"


@pytest.mark.parametrize("value", [2**31, -(2**31) - 1])
def test_integer_out_of_range_is_a_broken_invariant(value: int) -> None:
    with pytest.raises(InternalError):
        c_int(value)


@given(st.floats(allow_nan=False, allow_infinity=False))
def test_float_literal_reads_back(value: float) -> None:
    text = c_float(value)
    assert float(text) == value
    assert "." in text or "e" in text


def test_array_has_all_elements_in_short_lines() -> None:
    array = np.arange(-300, 300, dtype=np.int32).reshape(20, 30)
    text = c_array(array)
    assert [int(word) for word in text.replace("\n", " ").split(",") if word.strip()] == list(
        range(-300, 300)
    )
    assert max(map(len, text.splitlines())) <= 100


def test_array_with_the_least_integer() -> None:
    assert c_array(np.array([-(2**31), 1], np.int32)) == "    (-2147483647 - 1), 1,"


@given(st.text())
def test_comment_text_stays_in_its_comment(text: str) -> None:
    safe = comment_text(text, 50)
    assert len(safe) <= 50
    assert safe == "" or (safe.isascii() and safe.isprintable())
    for bad in ("*/", "/*", "\\", "??", "\n"):
        assert bad not in safe

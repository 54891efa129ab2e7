"""Weights of few bits: what is stored, and which layers are packed."""

import dataclasses

import numpy as np
import pytest
from exact_chain import chain
from few_bits import few_bits, packed_specs
from hypothesis import given
from hypothesis import strategies as st
from lower_samples import BOARD, DSP_BOARD
from parity import compiled

from edgec.base.dtypes import Array
from edgec.ir.weighted import plain_inputs
from edgec.kernels.choice.estimate import Estimator
from edgec.kernels.common.dense import SIGNS
from edgec.kernels.common.layer_end import KernelForm
from edgec.kernels.common.parts import Run
from edgec.kernels.packed.codes import WIDTHS, code_bits, packed, packed_bytes, turns_of
from edgec.kernels.packed.filters.spec import PackedFilters
from edgec.kernels.select import select_kernels


def unpacked(stored: Array, bits: int, *, flips: bool) -> Array:
    """Digit by digit, by the text of `firmware/runtime/include/edgec/dense/unpacked_weights.h`."""
    found = []
    data = stored.view(np.uint8).astype(int)
    words = 3 if bits == 3 else 1
    for turn in data.reshape(-1, words, 4):
        for place in range(8 if bits == 3 else 8 // bits):
            for byte in range(4):
                if bits == 3:
                    low = turn[place // 4][byte] >> 2 * (place % 4) & 3
                    digit = low | (turn[2][byte] >> place & 1) << 2
                else:
                    digit = turn[0][byte] >> bits * place & ((1 << bits) - 1)
                found.append(digit - (1 << bits - 1))
    codes = np.array(found, np.int8)
    return (codes.reshape(-1, 4) ^ SIGNS).reshape(-1) if flips else codes


@given(st.sampled_from(WIDTHS), st.integers(1, 40), st.booleans(), st.integers(0, 70), st.data())
def test_what_is_packed_is_unpacked(bits: int, words: int, flips: bool, more: int, data) -> None:
    rng = np.random.default_rng(data.draw(st.integers(0, 2**32)))
    codes = rng.integers(-(1 << bits - 1), 1 << bits - 1, 4 * words).astype(np.int8)
    count = codes.size + more
    stored = (codes.reshape(-1, 4) ^ SIGNS).reshape(-1) if flips else codes
    found = packed(stored, bits, count, flips=flips)
    assert found.nbytes == packed_bytes(count, bits)
    whole = unpacked(found, bits, flips=flips)
    assert whole.size == turns_of(count, bits) * 32 // (1 if bits == 3 else bits)
    np.testing.assert_array_equal(whole[: codes.size], stored)
    rest = whole[codes.size :]
    rest = (rest.reshape(-1, 4) ^ SIGNS).reshape(-1) if flips else rest
    assert not rest.any()


@pytest.mark.parametrize(
    ("low", "high", "bits"),
    [(-8, 7, 4), (-8, 0, 4), (-7, 7, 4), (-4, 3, 3), (-2, 1, 2), (-1, 1, 2), (-1, 2, 3), (0, 0, 2)],
)
def test_the_width_is_the_least_that_holds_the_codes(low: int, high: int, bits: int) -> None:
    assert code_bits(np.array([low, high], np.int8)) == bits


@pytest.mark.parametrize(("low", "high"), [(-9, 0), (0, 8), (-128, 127)])
def test_wider_codes_are_not_packed(low: int, high: int) -> None:
    assert code_bits(np.array([low, high], np.int8)) is None


def test_what_is_stored_is_what_is_counted(tmp_path) -> None:
    graph = few_bits(chain(1, "offset31", 24), 4)
    program = compiled(graph, tmp_path)
    specs = packed_specs(program)
    assert [spec.bits for spec in specs] == [4, 4]
    wide = compiled(chain(1, "offset31", 24), tmp_path / "wide")
    conv, product = (spec.macs // spec.rows for spec in specs)
    # Seven filters of the product are two batches of four.
    filled = spec_bytes(specs) - conv // 2 - product // 2
    assert 0 <= filled <= specs[1].batch_bytes // 4 + 4
    numbers = 8  # bias and multiplier of the filter that is none
    saved = wide.constant_bytes - program.constant_bytes
    assert conv // 2 + product // 2 - filled - 2 * numbers <= saved <= conv // 2 + product // 2


def spec_bytes(specs: list[PackedFilters]) -> int:
    """Bytes of all packed weights."""
    return sum(spec.batches * spec.batch_bytes for spec in specs)


def test_layers_that_would_save_little_are_not_packed() -> None:
    graph = few_bits(chain(1, "offset31", 8), 4)
    for target in (BOARD, DSP_BOARD):
        choices = select_kernels(graph, target)
        sizes = {
            choice.node.name: graph.constants[plain_inputs(choice.node).w].array.size
            for choice in choices
            if isinstance(choice.spec, PackedFilters)
        }
        assert all(size >= 1024 for size in sizes.values())


def test_one_wide_weight_keeps_a_layer_in_bytes() -> None:
    graph = few_bits(chain(1, "offset31", 24), 4)
    name = plain_inputs(graph.nodes[0]).w
    array = graph.constants[name].array.copy()
    array.flat[7] = 8
    wide = dataclasses.replace(graph.constants[name], array=array)
    changed = graph.replace(constants={**graph.constants, name: wide})
    first = [select_kernels(g, DSP_BOARD)[0].spec.family for g in (graph, changed)]
    assert first[0] == "packed_filters"
    assert first[1] in ("conv_4x2_s8_dsp", "dense_4x2_s8_dsp")


def test_the_parts_count_what_is_unpacked() -> None:
    choice = select_kernels(few_bits(chain(1, "offset31", 24), 4), DSP_BOARD)[0]
    spec, parts = choice.spec, choice.family.parts(choice.spec, Run(KernelForm.ARMV7EM))
    assert isinstance(spec, PackedFilters)
    assert parts is not None and parts.called is not None
    assert parts.counts["word unpacked"] == spec.batches * spec.called.stored_bytes / 4
    assert parts.called[0] == spec.called.family
    assert Estimator.of(DSP_BOARD).cycles(choice.family, spec)

"""Builders of pool responses as C programs, on this computer and on emulated Arm cores."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from edgec.base.dtypes import Array
from edgec.codegen.env import environment
from edgec.ir.qops.pooled import responses_of, round_codes
from edgec.ir.weight_pool import WeightPool
from edgec.kernels.weightpool.tables import ResponseBuilder, response_sums, response_table

_CALL = np.dtype("<i4")

_TEMPLATE = """
%% from "kernels/weightpool/gather/_pool_responses.c.j2" import builder
#include "edgec/weight_pool/responses.h"

%% for case in cases
static const uint32_t table_{{ case.name }}[] = { {{ case.table | c_array }} };
%% if not case.builder.zero_is_min
static const uint32_t sums_{{ case.name }}[] = { {{ case.sums | c_array }} };
%% endif
{{ builder(case.builder, case.name) }}
void probe_{{ case.name }}(int32_t zero_point, const int8_t *a, const int8_t *b,
                                   int32_t channels, int32_t bits, uint32_t *out);
void probe_{{ case.name }}(int32_t zero_point, const int8_t *a, const int8_t *b,
                                   int32_t channels, int32_t bits, uint32_t *out) {
%% set r = case.builder
%% if r.packs
    static uint32_t packed[{{ r.packed_words }}];
    const uint32_t *const pool =
        edgec_pool_packed(table_{{ case.name }}, {{ r.size }}, {{ r.packed_start }}U, packed);
%% else
    const uint32_t *const pool = table_{{ case.name }};
%% endif
    const uint32_t *const sums =
        {% if r.zero_is_min %}NULL{% else %}sums_{{ case.name }}{% endif %};
%% if r.lone_columns
    if (a == NULL || b == NULL) {
        {{ case.name }}_lone(pool, sums, zero_point, (a != NULL) ? a : b, (a != NULL) ? 0 : 16,
            channels, channels, bits, out);
        return;
    }
%% endif
    {{ case.name }}(pool, sums, zero_point, a, b, channels, channels, bits, out);
}
%% endfor
"""

_MAIN = """
#include <stdio.h>
#include <stdlib.h>

typedef void probe_t(int32_t, const int8_t *, const int8_t *, int32_t, int32_t, uint32_t *);
static probe_t *const probes[] = { {{ names }} };

/* Calls of six numbers (builder, zero point, has a, has b, channels, bits), each followed by the
 * codes of a and b, from the file argv[1]; the words that they write, after their number, to
 * argv[2].  Buffers are of the exact size, so that sanitizers see any access beyond them. */
int main(int argc, char **argv) {
    FILE *const in = (argc == 3) ? fopen(argv[1], "rb") : NULL;
    FILE *const to = (in != NULL) ? fopen(argv[2], "wb") : NULL;
    if (to == NULL) {
        return 1;
    }
    int32_t call[7];
    while (fread(call, sizeof call, 1, in) == 1) {
        const size_t channels = (size_t)call[4];
        const size_t words = (size_t)call[6];
        int8_t *const a = malloc(2 * channels);
        int8_t *const b = malloc(2 * channels);
        uint32_t *const out = calloc(words, 4);
        if (a == NULL || b == NULL || out == NULL || fread(a, 2, channels, in) != channels ||
            fread(b, 2, channels, in) != channels) {
            return 1;
        }
        probes[call[0]](call[1], call[2] ? a : NULL, call[3] ? b : NULL, call[4], call[5], out);
        if (fwrite(out, 4, words, to) != words) {
            return 1;
        }
        free(a);
        free(b);
        free(out);
    }
    return (fclose(in) != 0) + (fclose(to) != 0);
}
"""


@dataclass(frozen=True)
class Case:
    """A builder, the C name of its function, and its pool."""

    name: str
    builder: ResponseBuilder
    pool: WeightPool

    @property
    def table(self) -> Array:
        return response_table(self.pool, self.builder.kind)

    @property
    def sums(self) -> Array:
        return response_sums(self.pool)


@dataclass(frozen=True)
class Call:
    """A call of a builder: codes int8 [2, channels] of a and b in two columns, None: padding."""

    index: int
    case: Case
    zero_point: int
    a: Array | None
    b: Array | None
    channels: int
    bits: int

    @property
    def columns(self) -> int:
        """Columns that are written."""
        r = self.case.builder
        is_lone = self.a is None or self.b is None
        return (r.lone_columns if is_lone else 0) or r.columns

    @property
    def words(self) -> int:
        """Words up to the last one written."""
        r = self.case.builder
        return (-(-self.channels // r.group) * r.size - 1) * r.row_words + self.columns

    def expected(self) -> Array:
        """What the call leaves in a buffer of zeros: uint32 [words]; by the definition."""
        r = self.case.builder
        out = np.zeros(self.words, np.uint32)
        for column in range(self.columns):
            total = self._responses(self.a, column) + r.word_bias
            if r.lanes == 2:
                total = total + (self._responses(self.b, column) << 16)
            out[column :: r.row_words] = total & 0xFFFFFFFF
        return out

    def _responses(self, codes: Array | None, column: int) -> Array:
        zero = round_codes(np.asarray(self.zero_point), self.bits)
        held = np.full(self.channels, self.zero_point, np.int8) if codes is None else codes[column]
        rounded = round_codes(held, self.bits) - zero
        return responses_of(rounded, self.case.pool.vectors, self.case.builder.shift)

    def record(self) -> bytes:
        """The call as `main` reads it."""
        head = (self.index, self.zero_point, self.a is not None, self.b is not None)
        numbers = np.array([*head, self.channels, self.bits, self.words], _CALL)
        empty = np.zeros((2, self.channels), np.int8)
        pixels = [empty if codes is None else codes for codes in (self.a, self.b)]
        return b"".join(part.tobytes() for part in (numbers, *pixels))


def source(cases: Sequence[Case], with_main: bool) -> str:
    """C of the builders of `cases`, each as `probe_NAME`, with or without a main function."""
    text = environment().from_string(_TEMPLATE).render(cases=cases)
    names = ", ".join(f"probe_{case.name}" for case in cases)
    return text + (_MAIN.replace("{{ names }}", names) if with_main else "")


def random_calls(rng: np.random.Generator, cases: Sequence[Case], each: int) -> list[Call]:
    """Calls of every case: extreme, random and missing pixels, partial groups."""
    calls = []
    for index, case in enumerate(cases):
        for number in range(each):
            calls.append(_random_call(rng, index, case, number))
    return calls


def _random_call(rng: np.random.Generator, index: int, case: Case, number: int) -> Call:
    r = case.builder
    channels = int(rng.integers(1, 2 * r.group + 2)) if number % 2 else 2 * r.group
    zero_point = -128 if r.zero_is_min else int(rng.choice([-128, 127, rng.integers(-128, 128)]))
    bits = int(rng.integers(1, 9)) if r.bits is None else r.bits
    shape = (2, channels)
    pixels: list[Any] = [rng.integers(-128, 128, shape).astype(np.int8) for _ in "ab"]
    if number % 5 == 2:
        pixels = [rng.choice(np.array([-128, 127], np.int8), shape) for _ in "ab"]
    if number % 5 == 3:
        pixels[int(rng.integers(0, 2))] = None
    if number % 5 == 4:
        pixels = [None, None]
    return Call(index, case, zero_point, pixels[0], pixels[1], channels, bits)

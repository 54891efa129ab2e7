"""The native flash simulator against the Python one, on random flashes and accesses."""

from __future__ import annotations

import ctypes
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from edgec.base.resources import data_dir
from edgec.timing.memory import NO_LINE, MemorySimulator
from edgec.timing.types import CacheShape, FlashTiming
from edgec.toolchain.cc import WARNING_FLAGS, compile_shared, find_host_compilers

pytest.importorskip("unicorn")
from edgec.sim.trace_native import native_timing

FLASH_BYTES = 4096
ORIGIN = 0x1000
RAM = 0x8000
_STATE_BYTES = 1024  # more than sizeof(trace_flash_t)


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> Any:
    if not find_host_compilers():
        pytest.skip("no C compiler for this computer")
    path: Path = tmp_path_factory.mktemp("flash") / "flash.so"
    folder = data_dir("firmware") / "host"
    sources = [folder / "trace_flash.c", folder / "trace_hook.c"]
    compile_shared(sources, [folder], path, ("-O1", *WARNING_FLAGS))
    loaded: Any = ctypes.CDLL(str(path))
    loaded.trace_flash_fetch.restype = ctypes.c_uint64
    loaded.trace_flash_read.restype = ctypes.c_uint64
    return loaded


@st.composite
def shapes(draw: st.DrawFn, line_bytes: int) -> CacheShape | None:
    if draw(st.booleans()):
        return None
    fill = line_bytes * draw(st.sampled_from((1, 2)))
    line = fill * draw(st.sampled_from((1, 4)))
    ways = draw(st.sampled_from((1, 2, 3, 8)))
    return CacheShape(line * ways * draw(st.sampled_from((1, 2, 4))), line, ways, fill)


@st.composite
def timings(draw: st.DrawFn) -> FlashTiming:
    line = draw(st.sampled_from((4, 8, 16)))
    first, second = draw(shapes(line)), draw(shapes(line))
    unified = first is not None and draw(st.booleans())
    return FlashTiming(
        origin=ORIGIN,
        size_bytes=FLASH_BYTES,
        wait_states=draw(st.integers(1, 9)),
        line_bytes=line,
        prefetch=draw(st.booleans()),
        instruction_cache=first,
        data_cache=first if unified else second,
        unified=unified,
        cached_ram=draw(st.sampled_from((None, (RAM, 1024)))),
    )


# Few lines, so that they meet again; some at the flash's end, where a prefetch looks behind it.
_PLACES = st.one_of(st.integers(0, 400), st.integers(FLASH_BYTES - 40, FLASH_BYTES - 9))
_FETCH = st.tuples(st.just("fetch"), st.one_of(st.none(), _PLACES), st.integers(0, 12))
_TOUCH = st.tuples(st.just("touch"), st.integers(0, 400), st.sampled_from((1, 2, 4, 8)))
_READ = st.tuples(st.just("read"), _PLACES, st.sampled_from((1, 2, 4, 8)))


@settings(
    max_examples=150,
    deadline=None,
    derandomize=True,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
@given(timings(), st.lists(st.one_of(_FETCH, _READ, _TOUCH), max_size=120))
def test_both_simulators_agree(
    library: Any, timing: FlashTiming, accesses: list[tuple[str, int | None, int]]
) -> None:
    state = ctypes.create_string_buffer(_STATE_BYTES)
    assert library.trace_flash_init(state, ctypes.byref(native_timing(timing)))
    python = MemorySimulator(timing)
    try:
        for kind, place, amount in accesses:
            if kind == "touch":
                if timing.cached_ram is not None and place is not None:
                    python.touch(place, amount)
                    library.trace_flash_touch(state, RAM + place, amount)
                continue
            if kind == "read":
                assert place is not None
                expected = python.read(place, amount)
                found = library.trace_flash_read(state, ORIGIN + place, amount)
            else:
                line = NO_LINE if place is None else place // timing.line_bytes
                expected = python.fetch(((line, amount),))
                share = (ctypes.c_uint32 * 2)(line & 0xFFFF_FFFF, amount)
                found = library.trace_flash_fetch(state, share, 1)
            assert found == expected
    finally:
        library.trace_flash_free(state)

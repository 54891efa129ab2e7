"""The tracer in C: `firmware/host/trace_*.c`, called through ctypes (`sim.trace_library`)."""

from __future__ import annotations

import ctypes
from importlib import import_module
from typing import Any, ClassVar

import numpy as np
import unicorn as _untyped_unicorn

from edgec.base.errors import BuildError, SimulationError
from edgec.sim.trace_library import trace_library
from edgec.sim.trace_plan import TracePlan
from edgec.sim.trace_python import STATUS, PythonTracer, registers_of
from edgec.sim.trace_records import Tracer, TraceRecords, Watchdog
from edgec.timing.memory import ram_base
from edgec.timing.types import CacheShape, FlashTiming

_const: Any = _untyped_unicorn.unicorn_const
_library: Any = import_module("unicorn.unicorn_py3.unicorn").uclib

_MAX_SHARES = 1026  # EDGEC_TRACE_MAX_SHARES
_NO_MEMORY = "no memory for the trace"

_Describe = ctypes.CFUNCTYPE(
    ctypes.c_int32, ctypes.c_uint32, ctypes.c_uint32, ctypes.POINTER(ctypes.c_uint32)
)
_GoOn = ctypes.CFUNCTYPE(ctypes.c_bool)


class _CacheShape(ctypes.Structure):
    """The C structure `trace_cache_shape_t`."""

    _fields_: ClassVar = [
        (name, ctypes.c_uint32) for name in ("size_bytes", "line_bytes", "ways", "fill_bytes")
    ]


class _FlashTiming(ctypes.Structure):
    """The C structure `trace_flash_timing_t`."""

    _fields_: ClassVar = [
        *(
            (name, ctypes.c_uint32)
            for name in ("origin", "size_bytes", "wait_states", "line_bytes")
        ),
        *((name, ctypes.c_uint32) for name in ("ram_origin", "ram_bytes", "ram_base")),
        ("prefetch", ctypes.c_bool),
        ("unified", ctypes.c_bool),
        ("instruction_cache", _CacheShape),
        ("data_cache", _CacheShape),
    ]


class _Config(ctypes.Structure):
    """The C structure `edgec_trace_config_t`."""

    _fields_: ClassVar = [
        ("uc", ctypes.c_void_p),
        ("reg_read", ctypes.c_void_p),
        ("reg_write", ctypes.c_void_p),
        ("mem_read", ctypes.c_void_p),
        ("emu_stop", ctypes.c_void_p),
        ("describe", _Describe),
        ("go_on", _GoOn),
        ("registers", ctypes.c_int32 * 16),
        ("status", ctypes.c_int32),
        ("run_entry", ctypes.c_uint32),
        ("hook_entry", ctypes.c_uint32),
        ("runs", ctypes.c_uint32),
        ("flash", _FlashTiming),
    ]


class _Summary(ctypes.Structure):
    """The C structure `edgec_trace_summary_t`."""

    num_blocks: int
    num_edges: int
    num_divides: int
    segments: int
    low: int
    high: int
    finished: bool
    failed: bool
    _fields_: ClassVar = [
        *(
            (name, ctypes.c_uint32)
            for name in ("num_blocks", "num_edges", "num_divides", "segments", "low", "high")
        ),
        ("finished", ctypes.c_bool),
        ("failed", ctypes.c_bool),
    ]


_BLOCK = np.dtype([("fetch", "u8"), ("data", "u8"), ("segment", "u4"), ("start", "u4")])
_EDGE = np.dtype(
    [("count", "u8"), ("segment", "u4"), ("start", "u4"), ("size", "u4"), ("next", "u4")]
)
_DIVIDE = np.dtype(
    [("count", "u8"), ("segment", "u4"), ("address", "u4"), ("bits", "u4"), ("unused", "u4")]
)


def make_tracer(plan: TracePlan, limit_s: float, *, native: bool | None) -> Tracer:
    """The fastest tracer that this computer can have, or the one asked for.

    Args:
        plan: what to watch.
        limit_s: longest run.
        native: None: in C if a compiler is installed and its work can be kept.

    Raises:
        BuildError: `native` is True and that is not possible.
    """
    if native is not False:
        try:
            return NativeTracer(plan, limit_s)
        except BuildError:
            if native:
                raise
    return PythonTracer(plan, limit_s)


class NativeTracer:
    """Counts in C; implements `Tracer`.

    Args:
        plan: what to watch.
        limit_s: longest run.

    Raises:
        BuildError: the C code cannot be compiled or loaded here.
    """

    def __init__(self, plan: TracePlan, limit_s: float) -> None:
        self._plan = plan
        self._watchdog = Watchdog(limit_s)
        self._c = _load()
        # C holds pointers to these; they must live as long as the hooks.
        self._callbacks = (_Describe(self._describe), _GoOn(self._watchdog.in_time))
        self._state: int | None = None
        self._uc: Any = None

    def attach(self, uc: Any) -> None:
        """Set the hooks."""
        plan = self._plan
        self._uc = uc
        config = _Config(
            uc=uc._uch,
            reg_read=_address(_library.uc_reg_read),
            reg_write=_address(_library.uc_reg_write),
            mem_read=_address(_library.uc_mem_read),
            emu_stop=_address(_library.uc_emu_stop),
            describe=self._callbacks[0],
            go_on=self._callbacks[1],
            registers=(ctypes.c_int32 * 16)(*registers_of(plan)),
            status=STATUS,
            run_entry=plan.run_entry,
            hook_entry=plan.hook_entry,
            runs=plan.runs,
            flash=native_timing(plan.timing),
        )
        self._state = self._c.edgec_trace_new(ctypes.byref(config))
        if not self._state:
            raise SimulationError(_NO_MEMORY)
        self._hook(_const.UC_HOOK_BLOCK, "edgec_trace_on_block", 1, 0)
        if plan.timing.wait_states:
            end = plan.timing.origin + plan.timing.size_bytes - 1
            self._hook(_const.UC_HOOK_MEM_READ, "edgec_trace_on_read", plan.timing.origin, end)
        origin, size = plan.arena
        end = origin + size - 1
        if size:
            self._hook(_const.UC_HOOK_MEM_WRITE, "edgec_trace_on_write", origin, end)
        if plan.timing.cached_ram:
            origin, size = plan.timing.cached_ram
            end = origin + size - 1
            self._hook(_const.UC_HOOK_MEM_READ, "edgec_trace_on_ram_read", origin, end)
        for divide in plan.divides:
            self._hook(_const.UC_HOOK_CODE, "edgec_trace_on_divide", divide.address, divide.address)

    def _hook(self, kind: int, function: str, begin: int, end: int) -> None:
        """Register a C function, which Unicorn's Python interface cannot; begin > end: anywhere."""
        handle = ctypes.c_size_t()
        status = _library.uc_hook_add(
            self._uc._uch,
            ctypes.byref(handle),
            kind,
            ctypes.cast(getattr(self._c, function), ctypes.c_void_p),
            ctypes.c_void_p(self._state),
            ctypes.c_uint64(begin),
            ctypes.c_uint64(end),
        )
        if status != _const.UC_ERR_OK:
            raise SimulationError(f"the emulator refuses a hook (error {status})")

    def _describe(self, start: int, size: int, pairs: Any) -> int:
        count = -1

        def fill() -> None:
            nonlocal count
            shares = self._plan.shares(start, size)
            if len(shares) > _MAX_SHARES:
                raise SimulationError(f"a block of {size} bytes at {start:#010x}")
            for index, (line, cycles) in enumerate(shares):
                pairs[2 * index] = line & 0xFFFF_FFFF  # NO_LINE is TRACE_NO_LINE
                pairs[2 * index + 1] = cycles
            count = len(shares)

        return count if self._watchdog.guard(fill) else -1

    def check(self) -> None:
        """Raise what happened in a hook."""
        self._watchdog.check()
        if self._state and self._summary().failed:
            raise SimulationError(_NO_MEMORY)

    def _summary(self) -> _Summary:
        summary = _Summary()
        self._c.edgec_trace_summary(self._state, ctypes.byref(summary))
        return summary

    def records(self) -> TraceRecords:
        """The counts."""
        summary = self._summary()
        blocks = np.zeros(summary.num_blocks, _BLOCK)
        edges = np.zeros(summary.num_edges, _EDGE)
        divides = np.zeros(summary.num_divides, _DIVIDE)
        self._c.edgec_trace_results(
            self._state, *(ctypes.c_void_p(a.ctypes.data) for a in (blocks, edges, divides))
        )
        records = TraceRecords(
            edges={(s, start, size, after): n for n, s, start, size, after in edges.tolist()},
            divides={(s, address, bits): n for n, s, address, bits, _ in divides.tolist()},
            written=(summary.low, summary.high) if summary.high else (0, 0),
            segments=summary.segments,
            finished=summary.finished,
        )
        # Blocks that start together and end apart share their stalls.
        for fetch, data, segment, start in blocks.tolist():
            key = (segment, start)
            records.fetch_stalls[key] = records.fetch_stalls.get(key, 0) + fetch
            records.data_stalls[key] = records.data_stalls.get(key, 0) + data
        return records

    def __del__(self) -> None:
        """Free the C side; the emulator, which calls it, is kept alive until here."""
        if getattr(self, "_state", None):
            self._c.edgec_trace_free(self._state)


def native_timing(timing: FlashTiming) -> _FlashTiming:
    """Flash timing as the C tracer takes it: `trace_flash_timing_t`."""

    def shape(cache: CacheShape | None) -> _CacheShape:
        if cache is None:
            return _CacheShape()
        return _CacheShape(cache.size_bytes, cache.line_bytes, cache.ways, cache.fill_bytes)

    return _FlashTiming(
        timing.origin,
        timing.size_bytes,
        timing.wait_states,
        timing.line_bytes,
        *(timing.cached_ram or (0, 0)),
        ram_base(timing),
        timing.prefetch,
        timing.unified,
        shape(timing.instruction_cache),
        shape(timing.data_cache),
    )


def _address(function: Any) -> int:
    address = ctypes.cast(function, ctypes.c_void_p).value
    assert address is not None
    return address


def _load() -> Any:
    """The library, with the types of its functions."""
    library = trace_library()
    library.edgec_trace_new.restype = ctypes.c_void_p
    library.edgec_trace_free.argtypes = [ctypes.c_void_p]
    library.edgec_trace_free.restype = None
    library.edgec_trace_summary.argtypes = [ctypes.c_void_p, ctypes.c_void_p]
    library.edgec_trace_summary.restype = None
    library.edgec_trace_results.argtypes = [ctypes.c_void_p] * 4
    library.edgec_trace_results.restype = None
    return library

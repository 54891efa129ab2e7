"""The tracer in plain Python: slow, and the meaning of the native one."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import unicorn as _untyped_unicorn

from edgec.sim.trace_plan import Divide, TracePlan
from edgec.sim.trace_records import CHECK_BLOCKS, TraceRecords, Watchdog
from edgec.timing.memory import LineShares, MemorySimulator

_arm: Any = _untyped_unicorn.arm_const
_arm64: Any = _untyped_unicorn.arm64_const
_const: Any = _untyped_unicorn.unicorn_const

_LR = 14
REGISTERS: tuple[int, ...] = tuple(
    getattr(_arm, f"UC_ARM_REG_{name}")
    for name in (*(f"R{index}" for index in range(13)), "SP", "LR", "PC")
)
"""Unicorn's numbers of r0 to r15."""
STATUS: int = _arm.UC_ARM_REG_XPSR
"""Unicorn's number of XPSR."""
_IT_BITS = 0x0600_FC00


def leave_it_block(uc: Any) -> None:
    """See `leave_it_block` of firmware/host/trace_hook.c."""
    status = uc.reg_read(STATUS)
    if status & _IT_BITS:
        uc.reg_write(STATUS, status & ~_IT_BITS)


def registers_of(plan: TracePlan) -> tuple[int, ...]:
    """Unicorn's numbers of r0 to r15; of A64, which has no r14, X30 in its place."""
    if not plan.is_aarch64:
        return REGISTERS
    return (*REGISTERS[:_LR], _arm64.UC_ARM64_REG_X30, *REGISTERS[_LR + 1 :])


def quotient_bits(dividend: int, divisor: int, *, signed: bool) -> int:
    """Bit length of the magnitude of a 32-bit quotient; 0 when the divisor is 0."""
    if signed:
        dividend = min(dividend, (1 << 32) - dividend)
        divisor = min(divisor, (1 << 32) - divisor)
    return (dividend // divisor).bit_length() if divisor else 0


class PythonTracer:
    """Counts in dictionaries; implements `Tracer`.

    Args:
        plan: what to watch.
        limit_s: longest run.
    """

    def __init__(self, plan: TracePlan, limit_s: float) -> None:
        self._plan = plan
        self._link = registers_of(plan)[_LR]
        self._watchdog = Watchdog(limit_s)
        self._memory = MemorySimulator(plan.timing) if plan.timing.wait_states else None
        self._records = TraceRecords()
        self._shares: dict[tuple[int, int], LineShares] = {}
        self._uc: Any = None
        self._segment = 0
        self._blocks = 0
        self._block: tuple[int, int] | None = None  # that runs now, its start and size
        self._return = -1  # of the run function to its caller; -1: it does not run
        self._resume = -1  # of the step hook to the run function; -1: it does not run
        self._low, self._high = 1 << 32, 0
        self._runs = 0

    def attach(self, uc: Any) -> None:
        """Set the hooks."""
        plan = self._plan
        self._uc = uc
        uc.hook_add(_const.UC_HOOK_BLOCK, self._on_block)
        if self._memory is not None:
            end = plan.timing.origin + plan.timing.size_bytes - 1
            uc.hook_add(_const.UC_HOOK_MEM_READ, self._on_read, None, plan.timing.origin, end)
        origin, size = plan.arena
        end = origin + size - 1
        if size:
            uc.hook_add(_const.UC_HOOK_MEM_WRITE, self._on_write, None, origin, end)
        if plan.timing.cached_ram:
            origin, size = plan.timing.cached_ram
            end = origin + size - 1
            uc.hook_add(_const.UC_HOOK_MEM_READ, self._on_ram_read, None, origin, end)
        for divide in plan.divides:
            uc.hook_add(
                _const.UC_HOOK_CODE, self._divide_hook(divide), None, divide.address, divide.address
            )

    def check(self) -> None:
        """Raise what happened in a hook."""
        self._watchdog.check()

    def records(self) -> TraceRecords:
        """The counts."""
        found = self._records
        written = (self._low, self._high) if self._high else (0, 0)
        return TraceRecords(
            found.edges, found.fetch_stalls, found.data_stalls, found.divides,
            written, self._segment, self._runs == self._plan.runs,
        )  # fmt: skip

    def _on_block(self, uc: Any, address: int, size: int, _data: object) -> None:
        if self._return < 0:
            if address != self._plan.run_entry or self._runs == self._plan.runs:
                return
            self._return = uc.reg_read(self._link) & ~1
        elif self._resume >= 0:
            if address != self._resume:
                return
            self._resume = -1
            self._segment += 1
        elif not self._leave(uc, address):
            return
        self._block = (address, size)
        self._fetch(address, size)

    def _leave(self, uc: Any, address: int) -> bool:
        """Count the way out of the block before; whether the next one counts too."""
        if self._block is not None:
            key = (self._segment, *self._block, address)
            self._records.edges[key] = self._records.edges.get(key, 0) + 1
        if address == self._plan.hook_entry:
            self._resume = uc.reg_read(self._link) & ~1
        elif address == self._return:
            self._return = -1
            self._runs += 1
        else:
            return True
        self._block = None
        return False

    def _fetch(self, address: int, size: int) -> None:
        self._blocks += 1
        if self._blocks % CHECK_BLOCKS == 0 and not self._watchdog.in_time():
            self._uc.emu_stop()
        if self._memory is None:
            return
        shares = self._shares.get((address, size))
        if shares is None:
            if not self._watchdog.guard(lambda: self._describe(address, size)):
                self._uc.emu_stop()
                return
            shares = self._shares[address, size]
        _add(self._records.fetch_stalls, (self._segment, address), self._memory.fetch(shares))

    def _describe(self, address: int, size: int) -> None:
        self._shares[address, size] = self._plan.shares(address, size)

    def _on_read(
        self, uc: object, _access: int, address: int, size: int, _value: int, _data: object
    ) -> None:
        leave_it_block(uc)
        if self._block is not None and self._memory is not None:
            stall = self._memory.read(address - self._plan.timing.origin, size)
            _add(self._records.data_stalls, (self._segment, self._block[0]), stall)

    def _on_write(
        self, uc: object, _access: int, address: int, size: int, _value: int, _data: object
    ) -> None:
        leave_it_block(uc)
        # Inputs, which the protocol writes before the run, lie in the arena too and count.
        self._low = min(self._low, address)
        self._high = max(self._high, address + size)
        self._touch(address, size)

    def _on_ram_read(
        self, uc: object, _access: int, address: int, size: int, _value: int, _data: object
    ) -> None:
        leave_it_block(uc)
        self._touch(address, size)

    def _touch(self, address: int, size: int) -> None:
        ram = self._plan.timing.cached_ram
        if ram is None or self._memory is None or self._block is None:
            return
        if 0 <= address - ram[0] < ram[1]:  # the arena may lie in tightly coupled memory
            self._memory.touch(address - ram[0], size)

    def _divide_hook(self, divide: Divide) -> Callable[..., None]:
        registers = (REGISTERS[divide.dividend], REGISTERS[divide.divisor])

        def on_divide(uc: Any, address: int, _size: int, _data: object) -> None:
            if self._block is not None:
                dividend, divisor = (uc.reg_read(register) for register in registers)
                bits = quotient_bits(dividend, divisor, signed=divide.signed)
                _add(self._records.divides, (self._segment, address, bits), 1)

        return on_divide


def _add(counts: dict[Any, int], key: tuple[int, ...], amount: int) -> None:
    if amount:
        counts[key] = counts.get(key, 0) + amount

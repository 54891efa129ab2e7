"""Address space for Unicorn, which ends the process without a word where it gets none."""

from __future__ import annotations

import mmap

from edgec.base.errors import SimulationError

_UNICORN_BYTES = 1280 << 20
"""Unicorn 2.1 reserves 1 GiB for code that it translates, and takes about 130 MiB to run it."""


def check_address_space(own_bytes: int = 0) -> None:
    """Refuse to start the emulator where a limit leaves it too little address space.

    Args:
        own_bytes: memory of the emulated board.

    Raises:
        SimulationError: as much cannot be reserved; nothing of it is used here.
    """
    wanted = _UNICORN_BYTES + own_bytes
    flags = mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS  # not writable, so no memory is promised
    try:
        mmap.mmap(-1, wanted, flags=flags, prot=mmap.PROT_READ).close()
    except (OSError, OverflowError) as error:
        raise SimulationError(
            f"the emulator cannot reserve {wanted >> 20:,} MiB of address space",
            hint="raise the limit, ulimit -v unlimited, or leave the emulator out, --no-verify",
        ) from error

"""USB identities of the debug probes on boards, whose virtual COM port is the board's console."""

from __future__ import annotations

from edgec.target.board import Board

UsbId = tuple[int, int]
"""Vendor and product number."""

_PROBES: dict[str, frozenset[UsbId]] = {
    "stlink": frozenset(
        (0x0483, product)
        for product in (
            *(0x374B, 0x3752),  # ST-LINK/V2-1
            *(0x374E, 0x374F, 0x3753, 0x3754, 0x3755, 0x3757),  # STLINK-V3
        )
    ),
    "cmsis-dap": frozenset(
        {
            (0x0D28, 0x0204),  # DAPLink, on the micro:bit
            (0x2E8A, 0x000C),  # Raspberry Pi Debug Probe
            (0x2E8A, 0x0004),  # Picoprobe, its earlier firmware
        }
    ),
}
"""By the names of OpenOCD's interface files.

Sources: `60-openocd.rules` and `interface/stlink.cfg` of OpenOCD 0.12, those without a COM port
left out; Raspberry Pi's list of USB product numbers."""


def usb_ids(board: Board) -> frozenset[UsbId]:
    """USB identities that a board's serial line may have; empty where they are not known."""
    return _PROBES.get(board.upload.openocd_interface, frozenset())

"""Peripherals of the i.MX RT1060: DC-DC converter, PLLs, LPUART.

Source: i.MX RT1060 Processor Reference Manual rev. 3: 14.8 (PLLs), 18.7 (DCDC), 49.4 (LPUART).
"""

from __future__ import annotations

from edgec.sim.peripherals import Family, UartKind, Window, always

_LPUART = UartKind(
    status=0x14, receive=0x1C, transmit=0x1C, idle=0x00C0_0000, input_flag=0x0020_0000
)
"""STAT and DATA: TDRE and TC set; RDRF."""

IMXRT1060 = Family(
    uart=_LPUART,
    uarts={"LPUART6": 0x4019_8000},
    derived=(
        always(0x4008_0000, 1 << 31),  # DCDC_REG0 STS_DC_OK
        always(0x400D_8000, 1 << 31),  # PLL_ARM LOCK
    ),
    reset_values={0x400D_8000: 0x0001_3063, 0x4008_000C: 0x0000_010E},
    windows=(Window(0x4000_0000, 0x0220_0000),),
)

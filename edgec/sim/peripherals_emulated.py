"""Peripherals of the boards that QEMU emulates too: Arm's MPS2 images and the nRF51 (micro:bit).

Their firmware runs in Unicorn as well, to be traced.

Sources: Arm DDI 0479 (Cortex-M System Design Kit TRM) 4.3, APB UART; nRF51 Series Reference Manual
v3.0, chapters 12 (CLOCK), 18 (TIMER), 29 (UART).
"""

from __future__ import annotations

from edgec.sim.peripherals import Family, UartKind, always

_CMSDK_UART = UartKind(status=0x04, receive=0x00, transmit=0x00, idle=0, input_flag=0x02)
"""STATE and DATA: the transmit buffer is never full; bit 1 tells of a received byte."""

MPS2 = Family(uart=_CMSDK_UART, uarts={})  # the board file tells the base: PORT_UART_BASE

_NRF51_UART = UartKind(status=0x108, receive=0x518, transmit=0x51C, idle=0, input_flag=1)
"""RXDRDY, RXD and TXD; the event is a level here: set while there are bytes."""

_UART0 = 0x4000_2000
NRF51 = Family(
    uart=_NRF51_UART,
    uarts={"UART0": _UART0},
    derived=(
        always(0x4000_0100, 1),  # CLOCK HFCLKSTARTED
        always(_UART0 + 0x11C, 1),  # TXDRDY
    ),
)

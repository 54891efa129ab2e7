"""Peripherals of the STM32 families: clock and power status that start-up code waits for, UARTs.

Sources: reference manuals RM0008 (F1), RM0033 (F2), RM0090 (F405, F407), RM0390 (F446), RM0410
(F767), RM0432 (L4+), RM0433 (H743), RM0434 (WB), RM0455 (H7A3), RM0456 (U5), RM0444 (G0);
chapters RCC and PWR (register maps) and "Memory map".
"""

from __future__ import annotations

import dataclasses

from edgec.sim.peripherals import STM32_UART_V1, STM32_UART_V2, Family, always, follows

_F_UARTS = {"USART1": 0x4001_1000, "USART2": 0x4000_4400, "USART3": 0x4000_4800}

_RCC_F1 = 0x4002_1000
STM32F1 = Family(
    uart=STM32_UART_V1,
    uarts={**_F_UARTS, "USART1": 0x4001_3800},
    derived=(
        follows(_RCC_F1, _RCC_F1, 0x0101_0001, 1),  # HSI, HSE, PLL: RDY = ON << 1
        follows(_RCC_F1 + 4, _RCC_F1 + 4, 0x3, 2),  # SWS = SW
    ),
    reset_values={_RCC_F1: 0x83},
)

_RCC_F4 = 0x4002_3800
_PWR_F4 = 0x4000_7000
STM32F4 = Family(  # F2 too: the same RCC, and no over-drive bits that it could miss
    uart=STM32_UART_V1,
    uarts=_F_UARTS,
    derived=(
        follows(_RCC_F4, _RCC_F4, 0x1501_0001, 1),  # HSI, HSE, PLL, PLLI2S, PLLSAI
        follows(_RCC_F4 + 8, _RCC_F4 + 8, 0x3, 2),  # SWS = SW
        follows(_PWR_F4 + 4, _PWR_F4, 0x0003_0000, 0),  # ODRDY, ODSWRDY = ODEN, ODSWEN
        always(_PWR_F4 + 4, 1 << 14),  # VOSRDY
    ),
    reset_values={_RCC_F4: 0x83, _RCC_F4 + 4: 0x2400_3010, _PWR_F4: 0xC000},
)

STM32F7 = dataclasses.replace(STM32F4, uart=STM32_UART_V2)  # the same RCC and PWR, a newer USART

_RCC_L4 = 0x4002_1000
STM32L4 = Family(
    uart=STM32_UART_V2,
    uarts={
        "USART1": 0x4001_3800,
        "USART2": 0x4000_4400,
        "USART3": 0x4000_4800,
        "LPUART1": 0x4000_8000,
    },
    derived=(
        follows(_RCC_L4, _RCC_L4, 0x1501_0001, 1),  # MSI, HSE, PLL, PLLSAI1, PLLSAI2
        follows(_RCC_L4, _RCC_L4, 0x100, 2),  # HSI
        follows(_RCC_L4 + 8, _RCC_L4 + 8, 0x3, 2),  # SWS = SW
    ),
    reset_values={_RCC_L4: 0x61, 0x4000_7000: 0x200},
)

_RCC_G0 = 0x4002_1000
STM32G0 = Family(
    uart=STM32_UART_V2,
    uarts=STM32L4.uarts,
    derived=(
        follows(_RCC_G0, _RCC_G0, 0x100, 2),  # HSI
        follows(_RCC_G0, _RCC_G0, 0x0101_0000, 1),  # HSE, PLL
        follows(_RCC_G0 + 8, _RCC_G0 + 8, 0x7, 3),  # SWS = SW
    ),
    reset_values={_RCC_G0: 0x500, 0x4000_7000: 0x208},
)

_RCC_H7 = 0x5802_4400
_PWR_H7 = 0x5802_4800
STM32H7 = Family(
    uart=STM32_UART_V2,
    uarts={**_F_UARTS, "LPUART1": 0x5800_0C00},
    derived=(
        follows(_RCC_H7, _RCC_H7, 0x1, 2),  # HSI
        follows(_RCC_H7, _RCC_H7, 0x1501_1080, 1),  # CSI, HSI48, HSE, PLL1, PLL2, PLL3
        always(_RCC_H7, 0xC004),  # D1CKRDY, D2CKRDY
        follows(_RCC_H7 + 0x10, _RCC_H7 + 0x10, 0x7, 3),  # SWS = SW
        always(_PWR_H7 + 0x04, 1 << 13),  # ACTVOSRDY
        follows(_PWR_H7 + 0x04, _PWR_H7 + 0x18, 0xC000, 0),  # ACTVOS = VOS
        always(_PWR_H7 + 0x18, 1 << 13),  # VOSRDY
    ),
    reset_values={_RCC_H7: 0x1},
)

_RCC_U5 = 0x4602_0C00
_PWR_U5 = 0x4602_0800
STM32U5 = Family(
    uart=STM32_UART_V2,
    uarts={**STM32L4.uarts, "LPUART1": 0x4600_2400},
    derived=(
        follows(_RCC_U5, _RCC_U5, 0x101, 2),  # MSIS, HSI
        follows(_RCC_U5, _RCC_U5, 0x1501_1010, 1),  # MSIK, HSI48, HSE, PLL1, PLL2, PLL3
        follows(_RCC_U5 + 0x1C, _RCC_U5 + 0x1C, 0x3, 2),  # SWS = SW
        always(_PWR_U5 + 0x0C, 1 << 15),  # VOSRDY
        follows(_PWR_U5 + 0x0C, _PWR_U5 + 0x0C, 1 << 18, -4),  # BOOSTRDY = BOOSTEN
        follows(_PWR_U5 + 0x3C, _PWR_U5 + 0x0C, 0x0003_0000, 0),  # ACTVOS = VOS
        follows(_PWR_U5 + 0x3C, _PWR_U5 + 0x08, 0x2, 0),  # REGS = REGSEL
        always(_PWR_U5 + 0x3C, 1 << 15),  # ACTVOSRDY
    ),
    reset_values={_RCC_U5: 0x35},
)

_RCC_WB = 0x5800_0000
STM32WB = Family(
    uart=STM32_UART_V2,
    uarts={"USART1": 0x4001_3800, "LPUART1": 0x4000_8000},
    derived=(
        follows(_RCC_WB, _RCC_WB, 0x0501_0001, 1),  # MSI, HSE, PLL, PLLSAI1
        follows(_RCC_WB, _RCC_WB, 0x100, 2),  # HSI
        follows(_RCC_WB + 8, _RCC_WB + 8, 0x3, 2),  # SWS = SW
    ),
    reset_values={_RCC_WB: 0x61, 0x5800_0400: 0x200},
)

"""Prices of the units of `pool_cost` on each core, in cycles.

Fitted with benchmarks/pool_prices.py to what `edgec profile` counts for code and constants in
memory without wait states.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from edgec.board import Board
from edgec.cores import Core
from edgec.lower.pool_cost import Unit


def prices_of(board: Board) -> Mapping[Unit, float]:
    """Cycles of each unit on a board's core; the host plans as a Cortex-M4 does."""
    return _PRICES[board.core]


_M0PLUS: Mapping[Unit, float] = MappingProxyType(
    {
        Unit.PIXEL: 543.82,
        Unit.MULTIPLY: 70.8,
        Unit.PLANES: 0.0,
        Unit.BITSERIAL_WORD: 14.0,
        Unit.NIBBLE_WORD: 20.27,
        Unit.LUT_WORD: 28.54,
        Unit.ENTRY: 43.65,
        Unit.GATHER_8: 29.37,
        Unit.GATHER_4: 0.0,
        Unit.RUN_8: 41.66,
        Unit.RUN_4: 24.02,
        Unit.SUM: 2.0,
        Unit.LANE: 41.41,
        Unit.WORD: 62.62,
        Unit.EXPAND: 0.0,
        Unit.PATCH: 0.0,
        Unit.MAC: 8.68,
        Unit.DSP_MAC: 6.0,
        Unit.WIDEN: 8.0,
        Unit.OUTPUT: 208.09,
        Unit.RESIDUAL: 0.0,
        Unit.DIRECT_PLANES: 221.65,
        Unit.DIRECT_VECTOR: 0.0,
        Unit.DIRECT: 5.09,
        Unit.DIRECT_PART: 5.49,
    }
)
_M3: Mapping[Unit, float] = MappingProxyType(
    {
        Unit.PIXEL: 155.77,
        Unit.MULTIPLY: 36.72,
        Unit.PLANES: 25.14,
        Unit.BITSERIAL_WORD: 6.99,
        Unit.NIBBLE_WORD: 17.26,
        Unit.LUT_WORD: 23.23,
        Unit.ENTRY: 14.77,
        Unit.GATHER_8: 22.64,
        Unit.GATHER_4: 13.27,
        Unit.RUN_8: 53.7,
        Unit.RUN_4: 25.39,
        Unit.SUM: 2.46,
        Unit.LANE: 14.5,
        Unit.WORD: 86.42,
        Unit.EXPAND: 8.59,
        Unit.PATCH: 1.49,
        Unit.MAC: 6.19,
        Unit.DSP_MAC: 3.5,
        Unit.WIDEN: 5.0,
        Unit.OUTPUT: 0.79,
        Unit.RESIDUAL: 7.61,
        Unit.DIRECT_PLANES: 0.55,
        Unit.DIRECT_VECTOR: 11.48,
        Unit.DIRECT: 3.46,
        Unit.DIRECT_PART: 4.67,
    }
)
_M4: Mapping[Unit, float] = MappingProxyType(
    {
        Unit.PIXEL: 130.9,
        Unit.MULTIPLY: 21.98,
        Unit.PLANES: 15.83,
        Unit.BITSERIAL_WORD: 7.11,
        Unit.NIBBLE_WORD: 15.69,
        Unit.LUT_WORD: 22.76,
        Unit.ENTRY: 11.28,
        Unit.GATHER_8: 21.73,
        Unit.GATHER_4: 11.63,
        Unit.RUN_8: 31.12,
        Unit.RUN_4: 24.59,
        Unit.SUM: 2.16,
        Unit.LANE: 12.47,
        Unit.WORD: 27.58,
        Unit.EXPAND: 0.37,
        Unit.PATCH: 3.46,
        Unit.MAC: 4.26,
        Unit.DSP_MAC: 1.29,
        Unit.WIDEN: 4.86,
        Unit.OUTPUT: 20.91,
        Unit.RESIDUAL: 0.64,
        Unit.DIRECT_PLANES: 0.0,
        Unit.DIRECT_VECTOR: 11.89,
        Unit.DIRECT: 0.0,
        Unit.DIRECT_PART: 5.01,
    }
)
_M7: Mapping[Unit, float] = MappingProxyType(
    {
        Unit.PIXEL: 59.66,
        Unit.MULTIPLY: 15.32,
        Unit.PLANES: 24.47,
        Unit.BITSERIAL_WORD: 4.75,
        Unit.NIBBLE_WORD: 9.11,
        Unit.LUT_WORD: 12.17,
        Unit.ENTRY: 13.47,
        Unit.GATHER_8: 12.15,
        Unit.GATHER_4: 7.22,
        Unit.RUN_8: 18.76,
        Unit.RUN_4: 13.88,
        Unit.SUM: 2.98,
        Unit.LANE: 12.33,
        Unit.WORD: 2.61,
        Unit.EXPAND: 0.3,
        Unit.PATCH: 1.95,
        Unit.MAC: 2.48,
        Unit.DSP_MAC: 0.88,
        Unit.WIDEN: 1.84,
        Unit.OUTPUT: 16.46,
        Unit.RESIDUAL: 6.67,
        Unit.DIRECT_PLANES: 0.0,
        Unit.DIRECT_VECTOR: 7.54,
        Unit.DIRECT: 0.0,
        Unit.DIRECT_PART: 3.45,
    }
)
_M33: Mapping[Unit, float] = MappingProxyType(
    {
        Unit.PIXEL: 95.06,
        Unit.MULTIPLY: 19.76,
        Unit.PLANES: 19.09,
        Unit.BITSERIAL_WORD: 6.24,
        Unit.NIBBLE_WORD: 13.58,
        Unit.LUT_WORD: 23.81,
        Unit.ENTRY: 17.95,
        Unit.GATHER_8: 19.66,
        Unit.GATHER_4: 10.12,
        Unit.RUN_8: 23.78,
        Unit.RUN_4: 24.36,
        Unit.SUM: 2.05,
        Unit.LANE: 16.51,
        Unit.WORD: 16.03,
        Unit.EXPAND: 0.0,
        Unit.PATCH: 3.9,
        Unit.MAC: 3.69,
        Unit.DSP_MAC: 1.3,
        Unit.WIDEN: 3.3,
        Unit.OUTPUT: 20.56,
        Unit.RESIDUAL: 7.69,
        Unit.DIRECT_PLANES: 0.0,
        Unit.DIRECT_VECTOR: 8.94,
        Unit.DIRECT: 0.0,
        Unit.DIRECT_PART: 4.72,
    }
)
_PRICES: Mapping[Core, Mapping[Unit, float]] = MappingProxyType(
    {
        Core.CORTEX_M0: _M0PLUS,
        Core.CORTEX_M0PLUS: _M0PLUS,
        Core.CORTEX_M3: _M3,
        Core.CORTEX_M4: _M4,
        Core.CORTEX_M7: _M7,
        Core.CORTEX_M33: _M33,
        Core.HOST: _M4,
    }
)

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
        Unit.PIXEL: 625.03,
        Unit.MULTIPLY: 74.72,
        Unit.PLANES: 103.71,
        Unit.BITSERIAL_WORD: 20.51,
        Unit.NIBBLE_WORD: 29.17,
        Unit.LUT_WORD: 48.85,
        Unit.ENTRY: 33.37,
        Unit.GATHER_8: 22.5,
        Unit.GATHER_4: 0.0,
        Unit.RUN_8: 37.94,
        Unit.RUN_4: 34.38,
        Unit.SUM: 2.07,
        Unit.LANE: 37.63,
        Unit.WORD: 60.87,
        Unit.EXPAND: 0.0,
        Unit.PATCH: 3.75,
        Unit.MAC: 7.26,
        Unit.DSP_MAC: 6.0,
        Unit.WIDEN: 8.0,
        Unit.OUTPUT: 201.26,
        Unit.RESIDUAL: 26.0,
        Unit.DIRECT_PLANES: 197.78,
        Unit.DIRECT_VECTOR: 0.0,
        Unit.DIRECT: 8.14,
        Unit.DIRECT_PART: 4.82,
    }
)
_M3: Mapping[Unit, float] = MappingProxyType(
    {
        Unit.PIXEL: 74.63,
        Unit.MULTIPLY: 55.25,
        Unit.PLANES: 35.76,
        Unit.BITSERIAL_WORD: 6.61,
        Unit.NIBBLE_WORD: 24.46,
        Unit.LUT_WORD: 32.53,
        Unit.ENTRY: 17.36,
        Unit.GATHER_8: 22.51,
        Unit.GATHER_4: 9.88,
        Unit.RUN_8: 41.18,
        Unit.RUN_4: 24.25,
        Unit.SUM: 4.61,
        Unit.LANE: 11.49,
        Unit.WORD: 20.52,
        Unit.EXPAND: 9.69,
        Unit.PATCH: 2.6,
        Unit.MAC: 6.01,
        Unit.DSP_MAC: 3.5,
        Unit.WIDEN: 5.0,
        Unit.OUTPUT: 9.05,
        Unit.RESIDUAL: 23.0,
        Unit.DIRECT_PLANES: 0.55,
        Unit.DIRECT_VECTOR: 11.91,
        Unit.DIRECT: 2.02,
        Unit.DIRECT_PART: 5.45,
    }
)
_M4: Mapping[Unit, float] = MappingProxyType(
    {
        Unit.PIXEL: 103.37,
        Unit.MULTIPLY: 21.34,
        Unit.PLANES: 14.4,
        Unit.BITSERIAL_WORD: 6.5,
        Unit.NIBBLE_WORD: 23.36,
        Unit.LUT_WORD: 27.61,
        Unit.ENTRY: 18.69,
        Unit.GATHER_8: 22.98,
        Unit.GATHER_4: 12.05,
        Unit.RUN_8: 26.99,
        Unit.RUN_4: 24.69,
        Unit.SUM: 1.99,
        Unit.LANE: 14.34,
        Unit.WORD: 24.0,
        Unit.EXPAND: 0.45,
        Unit.PATCH: 4.58,
        Unit.MAC: 4.11,
        Unit.DSP_MAC: 1.27,
        Unit.WIDEN: 5.15,
        Unit.OUTPUT: 22.44,
        Unit.RESIDUAL: 24.0,
        Unit.DIRECT_PLANES: 0.0,
        Unit.DIRECT_VECTOR: 10.24,
        Unit.DIRECT: 0.0,
        Unit.DIRECT_PART: 5.34,
    }
)
_M7: Mapping[Unit, float] = MappingProxyType(
    {
        Unit.PIXEL: 47.2,
        Unit.MULTIPLY: 15.72,
        Unit.PLANES: 22.59,
        Unit.BITSERIAL_WORD: 4.95,
        Unit.NIBBLE_WORD: 15.64,
        Unit.LUT_WORD: 12.57,
        Unit.ENTRY: 13.19,
        Unit.GATHER_8: 12.29,
        Unit.GATHER_4: 7.22,
        Unit.RUN_8: 18.32,
        Unit.RUN_4: 13.88,
        Unit.SUM: 2.92,
        Unit.LANE: 12.07,
        Unit.WORD: 2.6,
        Unit.EXPAND: 0.44,
        Unit.PATCH: 1.71,
        Unit.MAC: 2.53,
        Unit.DSP_MAC: 0.87,
        Unit.WIDEN: 1.96,
        Unit.OUTPUT: 17.48,
        Unit.RESIDUAL: 12.0,
        Unit.DIRECT_PLANES: 0.0,
        Unit.DIRECT_VECTOR: 7.45,
        Unit.DIRECT: 0.0,
        Unit.DIRECT_PART: 3.49,
    }
)
_M33: Mapping[Unit, float] = MappingProxyType(
    {
        Unit.PIXEL: 84.22,
        Unit.MULTIPLY: 19.69,
        Unit.PLANES: 21.38,
        Unit.BITSERIAL_WORD: 6.08,
        Unit.NIBBLE_WORD: 21.06,
        Unit.LUT_WORD: 24.33,
        Unit.ENTRY: 18.1,
        Unit.GATHER_8: 19.86,
        Unit.GATHER_4: 10.07,
        Unit.RUN_8: 23.1,
        Unit.RUN_4: 24.34,
        Unit.SUM: 1.98,
        Unit.LANE: 18.81,
        Unit.WORD: 17.07,
        Unit.EXPAND: 0.0,
        Unit.PATCH: 3.71,
        Unit.MAC: 3.72,
        Unit.DSP_MAC: 1.28,
        Unit.WIDEN: 3.49,
        Unit.OUTPUT: 22.18,
        Unit.RESIDUAL: 22.0,
        Unit.DIRECT_PLANES: 0.0,
        Unit.DIRECT_VECTOR: 7.97,
        Unit.DIRECT: 1.18,
        Unit.DIRECT_PART: 3.88,
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

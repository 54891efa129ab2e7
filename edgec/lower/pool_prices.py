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
        Unit.PIXEL: 252.67,
        Unit.MULTIPLY: 71.96,
        Unit.PACKED: 75.17,
        Unit.LONE: 46.7,
        Unit.PRODUCT: 52.62,
        Unit.PLANES: 0.0,
        Unit.BITSERIAL_WORD: 15.18,
        Unit.NIBBLE_WORD: 21.59,
        Unit.FREE_WORD: 49.06,
        Unit.LUT_WORD: 3.41,
        Unit.ENTRY: 29.4,
        Unit.GATHER_8: 27.24,
        Unit.GATHER_4: 0.0,
        Unit.RUN_8: 1.96,
        Unit.RUN_4: 302.08,
        Unit.SUM: 0.31,
        Unit.LANE: 96.57,
        Unit.WORD: 151.38,
        Unit.TURN: 0.0,
        Unit.EXPAND: 0.0,
        Unit.PATCH: 7.88,
        Unit.ROUND: 4.45,
        Unit.MAC: 8.66,
        Unit.ROW_MAC: 10.07,
        Unit.GEMM_MAC: 14.14,
        Unit.DSP_MAC: 6.0,
        Unit.WIDEN: 8.0,
        Unit.OUTPUT: 0.0,
        Unit.RESIDUAL: 550.62,
        Unit.LANE_RESIDUAL: 0.33,
        Unit.DIRECT_PLANES: 171.93,
        Unit.DIRECT_VECTOR: 3.52,
        Unit.DIRECT: 0.44,
        Unit.DIRECT_PART: 6.8,
        Unit.DIRECT_TAP: 39.22,
    }
)
_M3: Mapping[Unit, float] = MappingProxyType(
    {
        Unit.PIXEL: 156.23,
        Unit.MULTIPLY: 32.84,
        Unit.PACKED: 35.33,
        Unit.LONE: 26.75,
        Unit.PRODUCT: 42.68,
        Unit.PLANES: 9.55,
        Unit.BITSERIAL_WORD: 6.82,
        Unit.NIBBLE_WORD: 16.16,
        Unit.FREE_WORD: 25.21,
        Unit.LUT_WORD: 23.35,
        Unit.ENTRY: 14.16,
        Unit.GATHER_8: 19.11,
        Unit.GATHER_4: 6.07,
        Unit.RUN_8: 67.91,
        Unit.RUN_4: 72.75,
        Unit.SUM: 2.04,
        Unit.LANE: 8.21,
        Unit.WORD: 8.03,
        Unit.TURN: 26.62,
        Unit.EXPAND: 5.42,
        Unit.PATCH: 3.85,
        Unit.ROUND: 2.98,
        Unit.MAC: 5.15,
        Unit.ROW_MAC: 3.99,
        Unit.GEMM_MAC: 3.96,
        Unit.DSP_MAC: 3.5,
        Unit.WIDEN: 5.0,
        Unit.OUTPUT: 76.54,
        Unit.RESIDUAL: 18.27,
        Unit.LANE_RESIDUAL: 7.11,
        Unit.DIRECT_PLANES: 0.15,
        Unit.DIRECT_VECTOR: 7.4,
        Unit.DIRECT: 3.11,
        Unit.DIRECT_PART: 3.66,
        Unit.DIRECT_TAP: 12.97,
    }
)
_M4: Mapping[Unit, float] = MappingProxyType(
    {
        Unit.PIXEL: 101.07,
        Unit.MULTIPLY: 19.68,
        Unit.PACKED: 12.58,
        Unit.LONE: 18.53,
        Unit.PRODUCT: 44.05,
        Unit.PLANES: 7.89,
        Unit.BITSERIAL_WORD: 7.08,
        Unit.NIBBLE_WORD: 14.92,
        Unit.FREE_WORD: 24.13,
        Unit.LUT_WORD: 21.46,
        Unit.ENTRY: 15.88,
        Unit.GATHER_8: 19.72,
        Unit.GATHER_4: 4.38,
        Unit.RUN_8: 46.86,
        Unit.RUN_4: 91.75,
        Unit.SUM: 2.68,
        Unit.LANE: 2.8,
        Unit.WORD: 10.81,
        Unit.TURN: 25.6,
        Unit.EXPAND: 0.16,
        Unit.PATCH: 1.3,
        Unit.ROUND: 3.83,
        Unit.MAC: 4.35,
        Unit.ROW_MAC: 3.95,
        Unit.GEMM_MAC: 3.94,
        Unit.DSP_MAC: 1.31,
        Unit.WIDEN: 3.73,
        Unit.OUTPUT: 21.02,
        Unit.RESIDUAL: 38.79,
        Unit.LANE_RESIDUAL: 6.03,
        Unit.DIRECT_PLANES: 0.0,
        Unit.DIRECT_VECTOR: 5.43,
        Unit.DIRECT: 0.0,
        Unit.DIRECT_PART: 5.17,
        Unit.DIRECT_TAP: 22.4,
    }
)
_M7: Mapping[Unit, float] = MappingProxyType(
    {
        Unit.PIXEL: 56.08,
        Unit.MULTIPLY: 14.16,
        Unit.PACKED: 9.53,
        Unit.LONE: 9.73,
        Unit.PRODUCT: 21.55,
        Unit.PLANES: 18.88,
        Unit.BITSERIAL_WORD: 4.81,
        Unit.NIBBLE_WORD: 9.22,
        Unit.FREE_WORD: 9.6,
        Unit.LUT_WORD: 11.57,
        Unit.ENTRY: 6.57,
        Unit.GATHER_8: 11.31,
        Unit.GATHER_4: 5.56,
        Unit.RUN_8: 24.53,
        Unit.RUN_4: 37.95,
        Unit.SUM: 4.72,
        Unit.LANE: 3.74,
        Unit.WORD: 4.23,
        Unit.TURN: 18.0,
        Unit.EXPAND: 0.31,
        Unit.PATCH: 0.94,
        Unit.ROUND: 2.39,
        Unit.MAC: 2.55,
        Unit.ROW_MAC: 2.6,
        Unit.GEMM_MAC: 2.48,
        Unit.DSP_MAC: 0.88,
        Unit.WIDEN: 1.86,
        Unit.OUTPUT: 17.22,
        Unit.RESIDUAL: 9.08,
        Unit.LANE_RESIDUAL: 7.15,
        Unit.DIRECT_PLANES: 0.0,
        Unit.DIRECT_VECTOR: 4.08,
        Unit.DIRECT: 0.0,
        Unit.DIRECT_PART: 3.14,
        Unit.DIRECT_TAP: 12.9,
    }
)
_M33: Mapping[Unit, float] = MappingProxyType(
    {
        Unit.PIXEL: 76.67,
        Unit.MULTIPLY: 18.82,
        Unit.PACKED: 12.53,
        Unit.LONE: 15.48,
        Unit.PRODUCT: 39.05,
        Unit.PLANES: 26.42,
        Unit.BITSERIAL_WORD: 6.58,
        Unit.NIBBLE_WORD: 12.83,
        Unit.FREE_WORD: 19.97,
        Unit.LUT_WORD: 19.64,
        Unit.ENTRY: 14.38,
        Unit.GATHER_8: 17.51,
        Unit.GATHER_4: 7.32,
        Unit.RUN_8: 40.95,
        Unit.RUN_4: 55.34,
        Unit.SUM: 3.28,
        Unit.LANE: 4.74,
        Unit.WORD: 10.5,
        Unit.TURN: 13.82,
        Unit.EXPAND: 0.0,
        Unit.PATCH: 1.93,
        Unit.ROUND: 2.52,
        Unit.MAC: 3.87,
        Unit.ROW_MAC: 3.67,
        Unit.GEMM_MAC: 3.69,
        Unit.DSP_MAC: 1.31,
        Unit.WIDEN: 3.07,
        Unit.OUTPUT: 20.43,
        Unit.RESIDUAL: 9.24,
        Unit.LANE_RESIDUAL: 10.61,
        Unit.DIRECT_PLANES: 0.0,
        Unit.DIRECT_VECTOR: 0.0,
        Unit.DIRECT: 0.0,
        Unit.DIRECT_PART: 4.35,
        Unit.DIRECT_TAP: 31.87,
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

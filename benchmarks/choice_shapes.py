"""Layers that the prices of `choice_prices.py` are fitted to, and others they are judged on.

The two sets have no shape in common, and no layer of a network is in the first one on purpose.
"""

from __future__ import annotations

from collections.abc import Sequence

from choice_layers import Layer

from edgec.base.dtypes import DType
from edgec.ir.qops.signs import SIGNS

_TRAINING_ROWS = (
    (8, 1),
    (16, 4),
    (16, 10),
    (32, 3),
    (256, 2),
    (10, 30),
    (40, 40),
    (12, 1),
    (24, 2),
    (30, 5),
    (48, 7),
    (60, 16),
    (90, 3),
    (100, 20),
    (200, 10),
    (300, 4),
    (200, 34),
    (7, 9),
    (33, 6),
    (512, 2),
    (96, 66),
)
_TRAINING_PACKED = (
    (128, 20),
    (200, 24),
    (256, 9),
    (300, 130),
    (512, 6),
    (640, 33),
    (120, 64),
    (1400, 4),
)
"""Depth and filters."""
_TRAINING_TABLES = (
    (128, 128, 1),
    (200, 64, 1),
    (512, 96, 1),
    (640, 31, 1),
    (90, 250, 1),
    (128, 256, 2),
    (200, 190, 2),
    (512, 128, 2),
    (640, 128, 2),
    (48, 500, 2),
)
"""Depth, filters, and bits, with filters enough for tables."""
_TRAINING_BYTES = ((64, 64), (128, 30), (256, 128), (300, 65), (640, 33), (512, 16), (96, 200))
"""Depth and filters."""
_TRAINING_IMAGES = (
    (1, 2, 32, 16, (1, 1), 1, False),
    (1, 3, 32, 16, (1, 1), 1, False),
    (1, 4, 32, 16, (1, 1), 1, False),
    (1, 5, 32, 16, (1, 1), 1, False),
    (1, 6, 32, 16, (1, 1), 1, False),
    (1, 7, 64, 32, (1, 1), 1, False),
    (1, 9, 27, 31, (1, 1), 1, False),
    (1, 2, 128, 64, (1, 1), 1, False),
    (1, 3, 128, 4, (1, 1), 1, False),
    (1, 10, 24, 8, (1, 1), 1, False),
    (3, 3, 8, 16, (3, 3), 1, False),
    (3, 3, 16, 16, (3, 3), 1, False),
    (4, 4, 5, 8, (3, 3), 1, False),
    (6, 6, 3, 4, (3, 3), 2, False),
    (9, 9, 3, 2, (3, 3), 1, False),
    (12, 12, 3, 6, (3, 3), 1, False),
    (5, 5, 16, 1, (1, 1), 1, False),
    (5, 5, 64, 2, (3, 3), 1, False),
    (2, 2, 64, 32, (3, 3), 1, False),
    (8, 8, 16, 16, (3, 3), 1, False),
    (6, 6, 16, 16, (3, 3), 1, False),
    (9, 9, 16, 16, (3, 3), 1, False),
    (16, 16, 3, 8, (3, 3), 2, False),
    (10, 10, 8, 8, (3, 3), 1, False),
    (8, 8, 8, 16, (1, 1), 2, False),
    (16, 16, 16, 32, (1, 1), 2, False),
    (8, 8, 32, 64, (1, 1), 2, False),
    (6, 6, 18, 24, (1, 1), 1, False),
    (10, 10, 15, 15, (1, 1), 1, False),
    (10, 10, 16, 24, (1, 1), 1, False),
    (7, 9, 6, 10, (1, 1), 1, False),
    (5, 7, 12, 7, (1, 1), 1, False),
    (11, 6, 40, 9, (1, 1), 1, False),
    (4, 3, 64, 33, (1, 1), 1, False),
    (9, 5, 20, 3, (1, 1), 1, False),
    (8, 8, 8, 2, (1, 1), 1, False),
    (6, 6, 24, 12, (1, 1), 1, True),
    (10, 5, 13, 6, (1, 1), 1, True),
    (1, 11, 50, 20, (1, 1), 1, False),
    (1, 5, 100, 6, (1, 1), 1, False),
    (1, 2, 20, 40, (1, 1), 1, False),
    (7, 7, 8, 10, (3, 3), 1, False),
    (11, 10, 12, 6, (3, 3), 1, False),
    (8, 8, 12, 8, (3, 3), 2, False),
    (8, 8, 8, 8, (3, 3), 1, True),
    (9, 9, 5, 6, (3, 3), 1, False),
    (14, 14, 1, 8, (3, 3), 2, False),
    (20, 10, 1, 12, (10, 4), 2, False),
    (7, 7, 6, 5, (5, 5), 1, False),
    (10, 10, 8, 16, (1, 1), 2, False),
    (9, 9, 7, 6, (3, 3), 2, True),
    (6, 6, 3, 3, (3, 3), 1, False),
    (11, 11, 2, 5, (5, 5), 2, False),
    (8, 8, 9, 10, (1, 1), 1, False),
    (7, 7, 11, 8, (1, 1), 1, False),
    (6, 6, 13, 20, (1, 1), 1, False),
    (8, 8, 14, 9, (1, 1), 1, False),
    (5, 6, 17, 12, (1, 1), 1, False),
    (6, 6, 21, 16, (1, 1), 1, False),
    (9, 9, 22, 10, (1, 1), 1, False),
    (5, 5, 35, 24, (1, 1), 1, False),
    (6, 6, 42, 30, (1, 1), 1, False),
    (4, 4, 90, 40, (1, 1), 1, False),
    (3, 3, 50, 26, (1, 1), 1, False),
    (12, 12, 10, 6, (1, 1), 1, False),
)
_TRAINING_DEPTHWISE = (
    (4, 4, 8, (3, 3), 2),
    (2, 2, 16, (3, 3), 1),
    (6, 6, 8, (3, 3), 1),
    (12, 12, 5, (3, 3), 1),
    (12, 12, 8, (3, 3), 2),
    (5, 5, 64, (3, 3), 2),
    (8, 8, 4, (3, 3), 2),
    (5, 5, 128, (3, 3), 1),
    (3, 3, 64, (3, 3), 1),
    (7, 7, 12, (3, 3), 1),
    (9, 9, 6, (3, 3), 2),
    (10, 6, 16, (3, 3), 2),
    (16, 16, 8, (3, 3), 1),
    (14, 14, 9, (3, 3), 1),
    (5, 5, 20, (3, 3), 1),
    (3, 3, 48, (3, 3), 2),
    (8, 8, 10, (5, 5), 1),
    (9, 9, 6, (5, 5), 2),
    (4, 4, 33, (3, 3), 1),
    (20, 5, 8, (3, 3), 1),
    (7, 7, 40, (3, 3), 2),
    (4, 4, 12, (3, 3), 2),
    (8, 8, 25, (3, 3), 2),
    (6, 6, 31, (3, 3), 2),
    (5, 5, 7, (3, 3), 1),
    (10, 10, 15, (3, 3), 2),
    (2, 2, 64, (3, 3), 1),
    (12, 12, 13, (3, 3), 2),
    (6, 6, 50, (3, 3), 1),
    (13, 9, 11, (3, 3), 1),
    (3, 6, 21, (3, 3), 1),
    (12, 12, 33, (3, 3), 1),
    (8, 5, 36, (3, 3), 1),
    (12, 12, 48, (3, 3), 1),
    (12, 4, 23, (3, 3), 1),
    (20, 12, 26, (3, 3), 1),
    (2, 6, 40, (3, 3), 1),
    (20, 12, 40, (3, 3), 1),
    (6, 12, 60, (3, 3), 1),
    (16, 18, 31, (3, 3), 1),
    (24, 12, 33, (3, 3), 1),
    (14, 18, 27, (3, 3), 1),
    (9, 12, 70, (3, 3), 1),
)
_TRAINING_AFTER = (
    (6, 6, 22),
    (24, 24, 13),
    (8, 8, 17),
    (36, 24, 6),
    (10, 10, 9),
    (12, 36, 5),
    (12, 12, 20),
    (8, 24, 20),
    (4, 12, 30),
    (16, 48, 4),
    (2, 8, 24),
    (48, 24, 8),
    (6, 6, 8),
    (40, 36, 5),
    (6, 24, 30),
)
_TRAINING_LINES = (
    (5, 1, 128, (5, 1)),
    (12, 1, 40, (3, 1)),
    (15, 1, 32, (15, 1)),
    (20, 1, 10, (4, 1)),
    (9, 3, 24, (9, 1)),
    (1, 18, 17, (1, 7)),
    (30, 1, 21, (29, 1)),
    (2, 1, 64, (2, 1)),
    (24, 1, 12, (10, 1)),
    (40, 1, 9, (17, 1)),
    (8, 1, 6, (8, 1)),
    (33, 1, 36, (21, 1)),
)
_TRAINING_WINDOWS = (
    (8, 8, 24, (5, 5), 1),
    (12, 12, 16, (5, 5), 1),
    (13, 17, 8, (5, 5), 1),
    (4, 4, 40, (5, 5), 1),
    (20, 7, 12, (5, 5), 1),
    (24, 24, 10, (5, 5), 1),
    (6, 6, 36, (7, 7), 1),
    (14, 14, 8, (7, 7), 1),
    (4, 3, 48, (7, 7), 1),
    (9, 10, 20, (7, 7), 1),
    (11, 11, 16, (4, 4), 1),
    (7, 15, 12, (2, 5), 1),
    (10, 20, 8, (6, 6), 1),
    (8, 30, 8, (1, 9), 1),
    (12, 12, 12, (7, 3), 1),
    (16, 16, 12, (5, 5), 2),
    (10, 10, 32, (5, 5), 2),
    (8, 8, 40, (5, 5), 2),
    (20, 20, 8, (7, 7), 2),
    (8, 8, 24, (7, 7), 2),
    (24, 14, 9, (5, 5), 2),
    (30, 20, 6, (4, 4), 2),
    (7, 28, 12, (3, 9), 2),
    (28, 28, 5, (7, 7), 2),
    (6, 30, 14, (1, 5), 2),
    (49, 1, 32, (9, 1), 1),
    (24, 1, 60, (5, 1), 1),
    (12, 1, 90, (3, 1), 1),
    (36, 1, 24, (15, 1), 1),
    (20, 1, 40, (8, 1), 1),
    (64, 1, 16, (21, 1), 1),
    (8, 1, 64, (4, 1), 1),
    (40, 1, 30, (9, 1), 2),
    (60, 1, 20, (15, 1), 2),
    (25, 1, 44, (3, 1), 2),
    (16, 1, 48, (15, 1), 2),
    (8, 16, 16, (3, 9), 2),
    (8, 1, 72, (3, 1), 2),
)
_TRAINING_WIDE = (
    *((8, 8), (16, 4), (32, 10), (256, 2), (40, 40), (30, 5), (48, 64), (90, 3), (128, 32)),
    *((200, 10), (7, 9), (33, 6), (64, 100), (12, 90), (512, 4), (20, 16)),
)
_TRAINING_WIDE_DEPTHWISE = (
    (6, 6, 8, (3, 3), 1),
    (12, 12, 8, (3, 3), 2),
    (5, 5, 64, (3, 3), 2),
    (3, 3, 64, (3, 3), 1),
    (16, 16, 8, (3, 3), 1),
    (14, 14, 9, (3, 3), 1),
    (20, 5, 8, (3, 3), 1),
    (24, 12, 33, (3, 3), 1),
    (8, 8, 25, (3, 3), 2),
    (13, 9, 11, (3, 3), 1),
    (9, 9, 16, (4, 4), 1),
    (12, 5, 20, (2, 2), 1),
)
_TRAINING_SIGNS = (
    (8, 8, 64, 64, (3, 3), 1),
    (6, 6, 32, 48, (3, 3), 1),
    (10, 10, 96, 32, (1, 1), 1),
    (5, 5, 128, 64, (3, 3), 1),
    (12, 12, 32, 16, (3, 3), 2),
    (7, 7, 40, 33, (3, 3), 1),
    (1, 1, 256, 64, (1, 1), 1),
    (1, 1, 640, 20, (1, 1), 1),
    (1, 6, 192, 40, (1, 1), 1),
    (4, 4, 256, 32, (3, 3), 1),
    (9, 9, 16, 24, (5, 5), 2),
    (11, 5, 72, 9, (3, 3), 1),
    (3, 3, 512, 64, (1, 1), 1),
    (16, 1, 64, 32, (5, 1), 1),
    (6, 8, 160, 12, (2, 2), 2),
    (14, 14, 32, 32, (3, 3), 1),
    (2, 2, 320, 128, (1, 1), 1),
    (13, 13, 20, 10, (3, 3), 2),
)
_HELD_OUT_SIGNS = (
    (8, 8, 48, 40, (3, 3), 1),
    (6, 5, 128, 32, (3, 3), 2),
    (1, 1, 400, 36, (1, 1), 1),
    (9, 9, 64, 24, (1, 1), 1),
    (4, 4, 192, 64, (3, 3), 1),
    (10, 10, 32, 20, (5, 5), 1),
)
_TRAINING_PLANES = (
    (8, 8, 64, 64, (3, 3), 1, (2, 2)),
    (6, 6, 32, 48, (3, 3), 1, (2, 1)),
    (10, 10, 96, 32, (1, 1), 1, (2, 2)),
    (5, 5, 128, 64, (3, 3), 1, (2, 1)),
    (12, 12, 32, 16, (3, 3), 2, (1, 2)),
    (7, 7, 40, 33, (3, 3), 1, (2, 2)),
    (1, 1, 256, 64, (1, 1), 1, (2, 1)),
    (1, 1, 640, 20, (1, 1), 1, (2, 2)),
    (1, 6, 192, 40, (1, 1), 1, (3, 2)),
    (4, 4, 256, 32, (3, 3), 1, (2, 1)),
    (9, 9, 16, 24, (5, 5), 2, (2, 2)),
    (11, 5, 72, 9, (3, 3), 1, (2, 2)),
    (8, 8, 32, 32, (1, 1), 1, (1, 1)),
    (6, 6, 24, 40, (3, 3), 1, (3, 3)),
)
_TRAINING_MADE_PLANES = (
    (8, 8, 64, 2),
    (6, 6, 40, 2),
    (10, 10, 32, 1),
    (5, 5, 128, 2),
    (1, 1, 640, 2),
    (7, 7, 33, 3),
    (12, 4, 96, 1),
    (4, 4, 256, 3),
)
_HELD_OUT_PLANES = (
    (8, 8, 48, 40, (3, 3), 1, (2, 2)),
    (6, 5, 128, 32, (3, 3), 2, (2, 1)),
    (1, 1, 400, 36, (1, 1), 1, (2, 2)),
    (9, 9, 64, 24, (1, 1), 1, (2, 1)),
    (4, 4, 192, 64, (3, 3), 1, (2, 2)),
    (10, 10, 32, 20, (5, 5), 1, (1, 2)),
)
_HELD_OUT_MADE_PLANES = ((9, 9, 48, 2), (3, 3, 160, 2), (6, 6, 64, 1))
_TRAINING_WIDE_IMAGES = (
    *((8, 8, 16, 16, (3, 3), 1), (16, 16, 3, 16, (3, 3), 1), (12, 12, 3, 8, (3, 3), 2)),
    *((10, 10, 8, 24, (3, 3), 1), (6, 6, 32, 48, (3, 3), 1), (9, 9, 16, 20, (3, 3), 2)),
    *((5, 7, 12, 7, (1, 1), 1), (10, 10, 16, 24, (1, 1), 1), (4, 3, 64, 33, (1, 1), 1)),
    *((1, 11, 50, 20, (1, 1), 1), (1, 5, 100, 6, (1, 1), 1), (8, 8, 32, 64, (1, 1), 2)),
    *((20, 10, 1, 12, (10, 4), 2), (7, 7, 6, 5, (5, 5), 1), (25, 1, 40, 16, (3, 1), 1)),
    *((9, 5, 20, 3, (1, 1), 1), (12, 12, 5, 10, (3, 3), 1), (1, 9, 27, 31, (1, 1), 1)),
)
_TRAINING_WIDENED_IMAGES = (
    *((8, 8, 16, 16, (3, 3), 1), (12, 12, 3, 8, (3, 3), 2), (10, 10, 8, 24, (3, 3), 1)),
    *((5, 7, 12, 7, (1, 1), 1), (10, 10, 16, 24, (1, 1), 1), (4, 3, 64, 33, (1, 1), 1)),
    *((8, 8, 32, 64, (1, 1), 2), (7, 7, 6, 5, (5, 5), 1), (1, 9, 27, 31, (1, 1), 1)),
)
_HELD_OUT_WIDENED_IMAGES = (
    *((14, 14, 12, 20, (1, 1), 1), (12, 12, 16, 8, (3, 3), 2), (6, 6, 32, 40, (3, 3), 1)),
    *((3, 3, 96, 24, (1, 1), 1), (10, 10, 10, 14, (3, 3), 1)),
)
_TRAINING_MIXED_DEPTHWISE = (
    (6, 6, 8, (3, 3), 1),
    (12, 12, 8, (3, 3), 2),
    (14, 14, 9, (3, 3), 1),
    (9, 9, 16, (4, 4), 1),
    (20, 5, 8, (3, 3), 1),
)
_HELD_OUT_MIXED_DEPTHWISE = ((8, 8, 14, (3, 3), 1), (5, 5, 24, (3, 3), 2), (24, 6, 6, (3, 3), 1))
"""Images, kernels and strides of layers that read or give int16, and not both."""
_HELD_OUT_WIDE_IMAGES = (
    *((14, 14, 12, 20, (1, 1), 1), (12, 12, 16, 8, (3, 3), 2), (8, 8, 20, 12, (3, 3), 1)),
    *((3, 3, 96, 24, (1, 1), 1), (7, 7, 3, 12, (5, 5), 1), (6, 6, 32, 40, (3, 3), 1)),
    *((30, 1, 24, 32, (5, 1), 1), (10, 10, 10, 14, (3, 3), 1)),
)
_HELD_OUT_WIDE = ((18, 3), (72, 60), (150, 5), (64, 64), (10, 120), (28, 28), (128, 128))
_HELD_OUT_WIDE_DEPTHWISE = (
    (8, 8, 14, (3, 3), 1),
    (5, 5, 24, (3, 3), 2),
    (12, 18, 40, (3, 3), 1),
    (24, 6, 6, (3, 3), 1),
)
_HELD_OUT_LINES = (
    (6, 1, 96, (6, 1)),
    (14, 1, 30, (11, 1)),
    (1, 9, 19, (1, 3)),
    (26, 1, 16, (25, 1)),
)
_HELD_OUT_WINDOWS = (
    (10, 10, 30, (5, 5), 1),
    (5, 5, 60, (7, 7), 1),
    (18, 18, 10, (7, 7), 2),
    (12, 12, 20, (5, 5), 2),
    (30, 1, 48, (7, 1), 1),
    (50, 1, 32, (13, 1), 2),
    (7, 9, 28, (3, 5), 1),
)
_TRAINING_SPARSE = (
    (1, 256, 128, 0.9),
    (1, 128, 64, 0.8),
    (1, 640, 40, 0.95),
    (1, 64, 100, 0.7),
    (1, 512, 30, 0.98),
    (4, 96, 24, 0.85),
    (1, 300, 60, 0.6),
    (9, 40, 40, 0.9),
    (1, 1000, 10, 0.9),
    (1, 32, 200, 0.75),
)
_HELD_OUT_SPARSE = ((1, 400, 100, 0.92), (1, 192, 48, 0.85), (3, 128, 50, 0.8), (1, 720, 16, 0.7))
_HELD_OUT_ROWS = (
    (18, 3),
    (50, 1),
    (72, 6),
    (150, 5),
    (64, 2),
    (10, 12),
    (400, 10),
    (28, 28),
    (576, 3),
    (36, 14),
)
_HELD_OUT_IMAGES = (
    (14, 14, 12, 20, (1, 1), 1, False),
    (5, 5, 36, 11, (1, 1), 1, False),
    (3, 3, 96, 24, (1, 1), 1, False),
    (1, 6, 48, 10, (1, 1), 1, False),
    (1, 13, 32, 3, (1, 1), 1, False),
    (10, 10, 10, 14, (3, 3), 1, False),
    (12, 12, 16, 8, (3, 3), 2, False),
    (8, 8, 20, 12, (3, 3), 1, False),
    (7, 7, 3, 12, (5, 5), 1, False),
    (6, 6, 32, 10, (3, 3), 1, False),
    (18, 18, 3, 5, (3, 3), 2, False),
    (9, 7, 24, 2, (1, 1), 1, False),
)
_HELD_OUT_DEPTHWISE = (
    (8, 8, 14, (3, 3), 1),
    (5, 5, 24, (3, 3), 2),
    (11, 11, 10, (3, 3), 2),
    (6, 6, 18, (5, 5), 1),
    (3, 3, 20, (3, 3), 1),
    (4, 4, 80, (3, 3), 2),
    (24, 6, 6, (3, 3), 1),
    (12, 18, 40, (3, 3), 1),
    (20, 24, 24, (3, 3), 1),
)
_HELD_OUT_AFTER = (
    (24, 24, 10),
    (8, 8, 19),
    (28, 24, 9),
    (10, 10, 28),
    (20, 36, 7),
)


_TRAINING_GROUPS = (
    *((9, 9, 16, 24, (3, 3), 1, 4), (7, 8, 12, 12, (3, 3), 1, 6), (12, 12, 32, 32, (3, 3), 2, 4)),
    *((8, 8, 32, 16, (1, 1), 1, 2), (10, 6, 24, 60, (1, 1), 1, 3), (30, 1, 24, 24, (5, 1), 1, 2)),
    *((6, 6, 40, 20, (3, 3), 1, 5), (20, 20, 8, 8, (5, 5), 2, 2), (5, 5, 48, 96, (3, 3), 1, 3)),
    *((14, 3, 18, 27, (1, 3), 1, 3), (4, 4, 64, 64, (1, 1), 1, 8), (11, 11, 10, 30, (2, 2), 1, 5)),
)
"""Images, filters, kernels, strides and groups of several channels."""
_HELD_OUT_GROUPS = (
    *((10, 10, 24, 36, (3, 3), 1, 6), (6, 7, 32, 32, (3, 3), 2, 2), (40, 1, 16, 32, (7, 1), 1, 4)),
    *((8, 8, 48, 24, (1, 1), 1, 4), (13, 13, 6, 12, (5, 3), 1, 3)),
)


def training() -> list[Layer]:
    """Layers to fit prices to."""
    depthwise = (*_TRAINING_DEPTHWISE, *_TRAINING_WINDOWS)
    found = _layers(_TRAINING_ROWS, _TRAINING_IMAGES, depthwise, _TRAINING_AFTER)
    return (
        found
        + _lines(_TRAINING_LINES)
        + _wide(_TRAINING_WIDE)
        + _wide_images(_TRAINING_WIDE_IMAGES)
        + _widened(_TRAINING_WIDENED_IMAGES, _TRAINING_MIXED_DEPTHWISE)
        + _wide_depthwise((*_TRAINING_WIDE_DEPTHWISE, *_TRAINING_WINDOWS))
        + _signs(_TRAINING_SIGNS)
        + _planes(_TRAINING_PLANES, _TRAINING_MADE_PLANES)
        + _grouped(_TRAINING_GROUPS)
        + _sparse(_TRAINING_SPARSE)
    )


def packed_rows() -> list[Layer]:
    """Products of one row with weights of 1 to 4 bits, and, every second one, with an addition; and
    with weights of all bytes: to fit the prices of Cortex-A to.

    Weights of few bits are packed whatever that takes, so that no choice can be judged on them.  In
    bytes the other layers' weights are so small that two blocks of products fit 16 bits.
    """
    shapes = [(depth, filters, bits) for bits in (2, 3, 4) for depth, filters in _TRAINING_PACKED]
    return [
        Layer(1, 1, depth, filters, residual=number % 2 > 0, weight_bits=bits)
        for number, (depth, filters, bits) in enumerate([*shapes, *_TRAINING_TABLES])
    ] + [Layer(1, 1, depth, filters, weight_bits=8) for depth, filters in _TRAINING_BYTES]


def held_out() -> list[Layer]:
    """Layers to judge the choice on."""
    depthwise = (*_HELD_OUT_DEPTHWISE, *_HELD_OUT_WINDOWS)
    found = _layers(_HELD_OUT_ROWS, _HELD_OUT_IMAGES, depthwise, _HELD_OUT_AFTER)
    return (
        found
        + _lines(_HELD_OUT_LINES)
        + _wide(_HELD_OUT_WIDE)
        + _wide_images(_HELD_OUT_WIDE_IMAGES)
        + _widened(_HELD_OUT_WIDENED_IMAGES, _HELD_OUT_MIXED_DEPTHWISE)
        + _wide_depthwise((*_HELD_OUT_WIDE_DEPTHWISE, *_HELD_OUT_WINDOWS))
        + _signs(_HELD_OUT_SIGNS)
        + _planes(_HELD_OUT_PLANES, _HELD_OUT_MADE_PLANES)
        + _grouped(_HELD_OUT_GROUPS)
        + _sparse(_HELD_OUT_SPARSE)
    )


def _grouped(
    shapes: Sequence[tuple[int, int, int, int, tuple[int, int], int, int]],
) -> list[Layer]:
    """Convolutions of several groups."""
    return [
        Layer(height, width, channels, filters, kernel, stride, groups=groups)
        for height, width, channels, filters, kernel, stride, groups in shapes
    ]


def _layers(
    rows: Sequence[tuple[int, int]],
    images: Sequence[tuple[int, int, int, int, tuple[int, int], int, bool]],
    depthwise: Sequence[tuple[int, int, int, tuple[int, int], int]],
    after: Sequence[tuple[int, int, int]],
) -> list[Layer]:
    """Products of one row (depth, filters), convolutions, and depthwise ones.

    Those of `after` are by 2, of 3x3 windows that begin at the first pixel (`Layer.after`).
    """
    found = [Layer(1, 1, depth, filters) for depth, filters in rows]
    found += [Layer(*each) for each in images]
    found += [
        Layer(height, width, channels, 0, kernel, stride)
        for height, width, channels, kernel, stride in depthwise
    ]
    found += [Layer(*sizes, 0, (3, 3), 2, after=True) for sizes in after]
    return found


def _lines(shapes: Sequence[tuple[int, int, int, tuple[int, int]]]) -> list[Layer]:
    """Depthwise convolutions of one row or column of taps without padding."""
    return [
        Layer(height, width, channels, 0, kernel, inside=True)
        for height, width, channels, kernel in shapes
    ]


def _wide(rows: Sequence[tuple[int, int]]) -> list[Layer]:
    """Products of one row of int16 to int16 and to int8, and of int8 to int16."""
    wide, narrow = DType.INT16, DType.INT8
    types = ((wide, wide), (wide, narrow), (narrow, wide))
    return [
        Layer(1, 1, *sizes, x=x, y=y)
        for number, sizes in enumerate(rows)
        for x, y in (types if number % 2 else types[:1])
    ]


def _wide_images(
    shapes: Sequence[tuple[int, int, int, int, tuple[int, int], int]],
) -> list[Layer]:
    """Convolutions of int16 to int16, and every third one to int8."""
    wide, narrow = DType.INT16, DType.INT8
    return [
        Layer(*shape, x=wide, y=narrow if number % 3 == 2 else wide)
        for number, shape in enumerate(shapes)
    ]


def _widened(
    images: Sequence[tuple[int, int, int, int, tuple[int, int], int]],
    depthwise: Sequence[tuple[int, int, int, tuple[int, int], int]],
) -> list[Layer]:
    """Convolutions of int8 to int16, and depthwise ones both ways."""
    wide, narrow = DType.INT16, DType.INT8
    return [Layer(*shape, x=narrow, y=wide) for shape in images] + [
        Layer(height, width, channels, 0, kernel, stride, x=x, y=y)
        for height, width, channels, kernel, stride in depthwise
        for x, y in ((narrow, wide), (wide, narrow))
    ]


def _wide_depthwise(
    shapes: Sequence[tuple[int, int, int, tuple[int, int], int]],
) -> list[Layer]:
    """Depthwise convolutions of int16 to int16."""
    wide = DType.INT16
    return [
        Layer(height, width, channels, 0, kernel, stride, x=wide, y=wide)
        for height, width, channels, kernel, stride in shapes
    ]


def _signs(shapes: Sequence[tuple[int, int, int, int, tuple[int, int], int]]) -> list[Layer]:
    """Layers of signs to signs, to codes, and, every third one, to codes that are added up."""
    return [
        Layer(*shape, residual=added, x=SIGNS, y=y)
        for number, shape in enumerate(shapes)
        for y, added in ((SIGNS, False), (DType.INT8, number % 3 == 0))
    ]


def _sparse(shapes: Sequence[tuple[int, int, int, float]]) -> list[Layer]:
    """Products of some rows with weights of which a share is zero, and every third one of int16."""
    wide = DType.INT16
    return [
        Layer(1, rows, depth, filters, zeros=zeros, x=x, y=x)
        for number, (rows, depth, filters, zeros) in enumerate(shapes)
        for x in ((DType.INT8, wide) if number % 3 == 0 else (DType.INT8,))
    ] + [
        Layer(1, rows, depth, filters, zeros=zeros, residual=True)
        for rows, depth, filters, zeros in shapes
        if rows > 1  # nobody has measured additions at the end of dense products of one row
    ]


def _planes(
    shapes: Sequence[tuple[int, int, int, int, tuple[int, int], int, tuple[int, int]]],
    made: Sequence[tuple[int, int, int, int]],
) -> list[Layer]:
    """Layers of bit planes to planes, to codes, and, every third one, to codes that are added up;
    planes of codes.
    """
    found = [
        Layer(*shape, residual=added, y=y, bits=bits)
        for number, (*shape, bits) in enumerate(shapes)
        for y, added in ((SIGNS, False), (DType.INT8, number % 3 == 0))
    ]
    return found + [Layer(*image, 0, y=SIGNS, bits=(planes, 0)) for *image, planes in made]

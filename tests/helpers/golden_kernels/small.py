"""Small cases of the kernels for cores without the DSP extension."""

import specs as s

from edgec.kernels.common.rescale16 import Rescale16
from edgec.kernels.common.short_product import ShortProduct
from edgec.kernels.common.window import Window
from edgec.kernels.family import KernelSpec
from edgec.target.target import Sharing
from golden_kernels.common import ANY, INDEX, OFFSET, POINTWISE, TWICE, WIDE, WINDOW, planes

_TALL = Window(9, 7, 3, 9, 3, 5, 2, 1, 2, 4, 0, 2, 1)

CASES: dict[str, KernelSpec] = {
    "tile_5x2_offset31": s.Tile5x2(WINDOW, 5, 0, step=1, segment=40, exact31=OFFSET),
    "tile_5x2_twice31": s.Tile5x2(WINDOW, 5, 0, step=1, segment=40, exact31=ANY),
    "lanes_1x4": s.Lanes1x4(30, 10, 32, product=ShortProduct(2, 20, 12)),
    "lanes_1x4_table": s.Lanes1x4(30, 36, 9, rescale16=Rescale16(INDEX, table=True)),
    "lanes_1x4_twice31": s.Lanes1x4(8, 7, 0, exact31=TWICE),
    "depthwise_triples": s.DepthwiseTriples(
        planes(9, 1), 32, saturates=True, product=ShortProduct(3)
    ),
    "depthwise_triples_dilated": s.DepthwiseTriples(
        _TALL, 9, rescale16=Rescale16(INDEX, table=True)
    ),
    "depthwise_triples_offset31": s.DepthwiseTriples(planes(9, 2), 0, exact31=OFFSET),
    "tile_5x2_short": s.Tile5x2(
        WINDOW, 5, 32, step=4, segment=40, product=ShortProduct(4), saturates=True
    ),
    "tile_5x2_padded": s.Tile5x2(WINDOW, 5, 32, 7, step=1, segment=40),
    "tile_5x2_rows": s.Tile5x2(
        POINTWISE,
        7,
        9,
        rescale16=Rescale16(WIDE, residual=True),
        variable=True,
        step=4,
        segment=8,
    ),
    "tile_5x2_layer": s.Tile5x2(
        POINTWISE, 5, 32, step=4, segment=12, product=ShortProduct(4), sharing=Sharing.LOOPS
    ),
    "tile_5x2_window": s.Tile5x2(
        WINDOW, 5, 32, step=1, segment=8, saturates=True, sharing=Sharing.PRODUCTS
    ),
}

"""What specifications of the dense kernels for one kind of core have in common."""

from __future__ import annotations

from dataclasses import dataclass, field

from edgec.base.canonical import LATER
from edgec.kernels.common.exact31 import Exact31
from edgec.kernels.common.interface import LayerFunction
from edgec.kernels.common.rescale16 import Rescale16
from edgec.kernels.common.spec import describe_image, describe_window
from edgec.kernels.common.window import Window


@dataclass(frozen=True, slots=True)
class Dense(LayerFunction):
    """Convolution of one group, or matrix product, some rows at a time.

    x int8 [height, width, channels], y [out_height, out_width, out_channels].

    Attributes:
        window: geometry; of a matrix product, a 1x1 window over [1, rows, depth].
        out_channels: filters.
        shift: right shift of the requantization.
        residual_shift: right shift of the addition at the end; None: there is no addition.
        rescale16: as in `Conv2D`.
        variable: the rows of a run are an argument; only of matrix products.
    """

    window: Window
    out_channels: int
    shift: int
    residual_shift: int | None = None
    rescale16: Rescale16 | None = None
    exact31: Exact31 | None = field(default=None, metadata=LATER)
    variable: bool = False

    @property
    def rows(self) -> int:
        """Pixels of y; of a matrix product its rows."""
        return self.window.out_pixels

    @property
    def depth(self) -> int:
        """Weights of one filter."""
        return self.window.taps * self.window.channels

    def run_parameters(self) -> tuple[str, ...]:
        """The rows of a run."""
        return ("int32_t rows",) if self.variable else ()

    @property
    def out_elements(self) -> int:
        """Elements of y."""
        return self.rows * self.out_channels

    @property
    def macs(self) -> int:
        """Multiply-accumulates of one call."""
        return self.out_elements * self.depth

    def _described(self, rows: str) -> str:
        """What the function computes, in words, `rows` at a time."""
        w = self.window
        x = describe_image(w.height, w.width, w.channels)
        y = describe_image(w.out_height, w.out_width, self.out_channels)
        return f"Convolution {x} to {y}, {describe_window(w)}, {rows} rows at a time"

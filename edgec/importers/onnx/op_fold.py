"""Col2Im: blocks that stand as columns, added up into an image (PyTorch's `fold`)."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from edgec.base.dtypes import Array
from edgec.base.limits import MAX_WEIGHT_ELEMENTS, MAX_WINDOW_TAPS
from edgec.importers.common.tensors import Tensor, UnsupportedError
from edgec.importers.onnx.node import Context, OnnxNode
from edgec.importers.onnx.windows import WindowAxis, check_cells, explicit_pads, per_axis
from edgec.ir import ops
from edgec.ir.graph import Constant

_RANK = 2


@dataclass(frozen=True, slots=True)
class _Fold:
    """Places of blocks in an image of two axes."""

    down: WindowAxis
    across: WindowAxis

    @property
    def axes(self) -> tuple[WindowAxis, WindowAxis]:
        """Its rows, then its columns."""
        return self.down, self.across

    @property
    def image(self) -> tuple[int, int]:
        """Height and width of the image."""
        return self.down.size, self.across.size

    @property
    def block(self) -> tuple[int, int]:
        """Height and width of a block."""
        return self.down.kernel, self.across.kernel

    @property
    def counts(self) -> tuple[int, int]:
        """Blocks down and across."""
        return self.down.out, self.across.out

    @property
    def is_tiling(self) -> bool:
        """Whether each cell of the image comes from one cell of one block."""
        return all(
            axis.out * axis.kernel == axis.size and axis.stride == axis.kernel and not axis.begin
            for axis in self.axes
        )


def col2im(ctx: Context, node: OnnxNode) -> Tensor:
    """Images of two axes; blocks that overlap are added by a transposed convolution."""
    x = node.real_value(0)
    fold = _fold_of(node)
    cells = math.prod(fold.block)
    if len(x.shape) != _RANK + 1 or x.shape[1] % cells or x.shape[2] != math.prod(fold.counts):
        raise UnsupportedError(
            f"its input {list(x.shape)} holds no blocks of {list(fold.block)} for an image of"
            f" {list(fold.image)}",
            "correct the model",
        )
    batch, channels = x.shape[0], x.shape[1] // cells
    if fold.is_tiling:
        blocks = ctx.reshape(x, (batch, channels, *fold.block, *fold.counts))
        moved = ctx.transpose(blocks, (0, 1, 4, 2, 5, 3))
        return ctx.reshape(moved, (batch, channels, *fold.image))
    if x.shape[1] * cells > MAX_WEIGHT_ELEMENTS:
        raise UnsupportedError(
            f"blocks of {cells:,} cells overlap in {channels:,} channels", "use smaller blocks"
        )
    columns = ctx.transpose(ctx.reshape(x, (batch, x.shape[1], *fold.counts)), (0, 2, 3, 1))
    ones = Constant(f"{node.outputs[0]}/ones", _ones(channels, fold.block))
    down, across = fold.axes
    attrs = ops.ConvTranspose(
        (down.stride, across.stride),
        (down.begin, across.begin, down.end, across.end),
        (down.dilation, across.dilation),
        channels,
        (_rest(down), _rest(across)),
    )
    return ctx.transpose(ctx.emit(attrs, columns, ones, None), (0, 3, 1, 2))


def _fold_of(node: OnnxNode) -> _Fold:
    image, block = node.ints_input(1, "image_shape"), node.ints_input(2, "block_shape")
    if len(image) != _RANK or len(block) != _RANK or min(*image, *block) < 1:
        raise UnsupportedError(
            f"its image is {list(image)}, its block {list(block)}", "use images of two axes"
        )
    check_cells("image_shape", image)
    check_cells("block_shape", block)
    if math.prod(block) > MAX_WINDOW_TAPS:
        raise UnsupportedError(f"its block has {math.prod(block)} cells", "use smaller blocks")
    begins, ends = explicit_pads(node, _RANK)
    strides, dilations = per_axis(node, "strides", _RANK, 1), per_axis(node, "dilations", _RANK, 1)
    return _Fold(
        *(
            WindowAxis(image[i], block[i], strides[i], dilations[i], begins[i], ends[i])
            for i in range(_RANK)
        )
    )


def _rest(axis: WindowAxis) -> int:
    """Cells at the end of the padded axis that no block reaches."""
    reached = axis.span + (axis.out - 1) * axis.stride
    return axis.size + axis.begin + axis.end - reached


def _ones(channels: int, block: tuple[int, ...]) -> Array:
    """Weights [channels, KH, KW, KH*KW] that put each cell of a block in its place."""
    cells = math.prod(block)
    places = np.eye(cells, dtype=np.float32).reshape(*block, cells)
    return np.broadcast_to(places, (channels, *places.shape)).copy()

"""Images sampled at the positions of a grid, and grids of affine maps."""

from __future__ import annotations

import math

import numpy as np

from edgec.base.limits import MAX_ACTIVATION_ELEMENTS
from edgec.importers.common.grids import Interpolation, Outside, Sampler, affine_grid, sampled
from edgec.importers.common.tensors import Tensor, UnsupportedError
from edgec.importers.onnx.context import Context
from edgec.importers.onnx.node import OnnxNode
from edgec.ir.graph import Constant

_MODES = {
    "nearest": Interpolation.NEAREST,
    # Of images until opset 19, of any dimensions from opset 20 on.
    "bilinear": Interpolation.LINEAR,
    "linear": Interpolation.LINEAR,
    "bicubic": Interpolation.CUBIC,
    "cubic": Interpolation.CUBIC,
}
_OUTSIDE = {each.value: each for each in Outside}


def grid_sample(ctx: Context, node: OnnxNode) -> Tensor:
    """Constant positions; all modes, any number of dimensions."""
    x = node.real_value(0)
    if isinstance(node.tensor(1), Constant):
        grid = node.real_array(1, "grid")
    else:
        raise UnsupportedError(
            "it reads at positions that are computed at run time",
            "use Resize, Slice or Gather with constant positions, or end the network before it",
        )
    mode = _MODES.get(node.text("mode", "bilinear"))
    outside = _OUTSIDE.get(node.text("padding_mode", "zeros"))
    if mode is None or outside is None:
        raise UnsupportedError("its mode or padding_mode is unknown", "correct the model")
    rank = len(x.shape)
    fits = grid.ndim == rank and grid.shape[0] == x.shape[0] and grid.size
    if rank < 3 or not fits or grid.shape[-1] != rank - 2:
        raise UnsupportedError(
            f"its grid {list(grid.shape)} does not fit {list(x.shape)}", "correct the model"
        )
    if not np.isfinite(grid).all() or not (grid == grid[:1]).all():
        raise UnsupportedError("its grid differs from sample to sample", "give one for all samples")
    sampler = Sampler(mode, outside, node.flag("align_corners", False))
    return sampled(ctx, x, grid[0], sampler, node.outputs[0])


def grid_of_maps(ctx: Context, node: OnnxNode) -> Tensor:
    """Constant size."""
    theta, size = node.real_value(0), node.ints_input(1, "size")
    axes = len(size) - 2
    if axes not in (2, 3) or theta.shape != (size[0], axes, axes + 1) or min(size) < 1:
        raise UnsupportedError(
            f"its size {list(size)} does not fit {list(theta.shape)}", "correct the model"
        )
    if math.prod(size) > MAX_ACTIVATION_ELEMENTS:
        raise UnsupportedError("its grid is too large", "correct the model")
    return affine_grid(ctx, theta, size[2:], node.flag("align_corners", False), node.outputs[0])

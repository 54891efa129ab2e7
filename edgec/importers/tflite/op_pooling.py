"""Pooling over windows, and reductions over axes."""

from __future__ import annotations

from collections.abc import Callable

from edgec.base.dtypes import DType
from edgec.importers.common import functions
from edgec.importers.common.axes import normal_axis
from edgec.importers.common.tensors import Tensor, UnsupportedError
from edgec.importers.tflite.activation import fused
from edgec.importers.tflite.context import Context
from edgec.importers.tflite.node import TfliteNode
from edgec.importers.tflite.windows import image_sizes, read_window
from edgec.ir import ops
from edgec.ir.ops import ReduceKind


def max_pool_2d(ctx: Context, node: TfliteNode) -> Tensor:
    """Any window, stride and padding."""
    x, kernel = node.real(0), _kernel(node)
    window = read_window(node, image_sizes(x.shape), kernel)
    return fused(ctx, node, ctx.emit(ops.MaxPool(kernel, window.strides, window.pads), x))


def average_pool_2d(ctx: Context, node: TfliteNode) -> Tensor:
    """Any window, stride and padding, which does not count."""
    x, kernel = node.real(0), _kernel(node)
    window = read_window(node, image_sizes(x.shape), kernel)
    return fused(ctx, node, ctx.emit(ops.AveragePool(kernel, window.strides, window.pads), x))


def _kernel(node: TfliteNode) -> tuple[int, int]:
    return node.integer("FilterHeight"), node.integer("FilterWidth")


def reduce(kind: ReduceKind) -> Callable[[Context, TfliteNode], Tensor]:
    """The handler of a reduction."""

    def handler(ctx: Context, node: TfliteNode) -> Tensor:
        """Constant axes; keep_dims."""
        x = node.real(0)
        axes = sorted({normal_axis(axis, len(x.shape)) for axis in node.whole(1, "axes")})
        if not axes:
            raise UnsupportedError("it reduces no axis", "leave it out")
        return ctx.emit(ops.Reduce(kind, tuple(axes), bool(node.integer("KeepDims"))), x)

    return handler


def arg_max(ctx: Context, node: TfliteNode) -> Tensor:
    """Any constant axis; indices are int32 on the target."""
    return _arg(ctx, node, smallest=False)


def top_k(ctx: Context, node: TfliteNode) -> tuple[Tensor, ...]:
    """Constant k; values and indices along the last axis, in order."""
    x, numbers = node.real(0), node.whole(1, "k")
    if len(numbers) != 1:
        raise UnsupportedError(f"it has {len(numbers)} numbers k", "use one")
    return functions.top_k(ctx, x, len(x.shape) - 1, numbers[0], largest=True)


def arg_min(ctx: Context, node: TfliteNode) -> Tensor:
    """Any constant axis; indices are int32 on the target."""
    return _arg(ctx, node, smallest=True)


def _arg(ctx: Context, node: TfliteNode, smallest: bool) -> Tensor:
    x, axes = node.real(0), node.whole(1, "axis")
    if len(axes) != 1:
        raise UnsupportedError(f"it has {len(axes)} axes", "use one axis")
    attrs = ops.ArgMax(normal_axis(axes[0], len(x.shape)), keepdims=False, smallest=smallest)
    return ctx.emit(attrs, x, dtype=DType.INT32)

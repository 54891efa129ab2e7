"""REAL operators without trained weights, in PyTorch.

Tensors have the graph's shapes with samples on the first axis, where the graph has 1.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NoReturn, TypeAlias

import torch
from torch.nn import functional

from edgec.base.errors import TrainingError
from edgec.ir import ops
from edgec.ir.graph import Node
from edgec.ir.operator import Operator as Operation
from edgec.ir.operator import OperatorTable
from edgec.ir.shapes import Pads2D

Tensor: TypeAlias = torch.Tensor
Operator: TypeAlias = Callable[[Any, Any], Tensor]
"""A function from the attributes and the operands, a record of `Inputs`, to the output."""
OPERATORS = OperatorTable[Operator]()
"""Every operator that has no weights of its own and can be trained through."""


def unsupported(node: Node, reason: str) -> NoReturn:
    """Say that a node cannot be trained.

    Raises:
        TrainingError: always.
    """
    raise TrainingError(
        f"{node.attrs.title} cannot be fine-tuned: {reason}",
        where=node.name,
        hint="leave the training data out: calibration data alone need no gradients",
    )


def operator(node: Node) -> Operator:
    """PyTorch function that computes a node from its inputs.

    Raises:
        TrainingError: nothing does.
    """
    found = OPERATORS.get(type(node.attrs))
    if found is None or not _is_known(node.attrs):
        unsupported(node, "the operator is not supported in training")
    if _mixes_samples(node.attrs):
        unsupported(node, "it works along the first axis, which holds the samples")
    if isinstance(node.attrs, ops.Attention) and _is_masked(node):
        unsupported(node, "attention with a mask or a bias is not supported in training")
    return found


def _is_known(attrs: Operation) -> bool:
    """Whether all functions of an operator are in the tables."""
    if not isinstance(attrs, ops.Unary):
        return type(attrs) in OPERATORS
    if attrs.kind is ops.UnaryKind.COMPOSED:
        return all(_is_known(step.attrs) for step in attrs.steps)
    return attrs.kind in _UNARY


def _is_masked(node: Node) -> bool:
    inputs = ops.Attention.Inputs.of(node.inputs)
    return inputs.bias is not None or inputs.keys is not None


def nchw(x: Tensor) -> Tensor:
    """A view of [N, H, W, C] as [N, C, H, W]."""
    return x.permute(0, 3, 1, 2)


def nhwc(x: Tensor) -> Tensor:
    """A view of [N, C, H, W] as [N, H, W, C]."""
    return x.permute(0, 2, 3, 1)


def padded(x: Tensor, pads: Pads2D, value: float) -> Tensor:
    """[N, H, W, C] with rows and columns added."""
    if not any(pads):
        return x
    top, left, bottom, right = pads
    return functional.pad(x, (0, 0, left, right, top, bottom), value=value)


def convolved(attrs: ops.Conv, x: Tensor, weight: Tensor, bias: Tensor | None = None) -> Tensor:
    """A convolution: [N, H, W, I], [O, KH, KW, I/group] and maybe [O] to [N, O, OH, OW]."""
    top, left, bottom, right = attrs.pads
    even = (top, left) == (bottom, right)
    if not even:
        x = padded(x, attrs.pads, 0.0)
    padding = (top, left) if even else (0, 0)
    return functional.conv2d(
        nchw(x), nchw(weight), bias, attrs.strides, padding, attrs.dilations, attrs.group
    )


def _mixes_samples(attrs: Any) -> bool:
    match attrs:
        case ops.Reshape():
            return attrs.shape[0] != 1
        case ops.Transpose():
            return attrs.perm[0] != 0
        case ops.Reduce():
            return 0 in attrs.axes
        case ops.Concat():
            return attrs.axis == 0
        case ops.Slice():
            return (attrs.starts[0], attrs.sizes[0]) != (0, 1)
        case ops.Pad():
            return attrs.pads[0] != (0, 0)
        case _:
            return False


@OPERATORS.entry(ops.Add)
def _add(_attrs: ops.Add, inputs: ops.Add.Inputs[Tensor]) -> Tensor:
    return inputs.a + inputs.b


@OPERATORS.entry(ops.Sub)
def _sub(_attrs: ops.Sub, inputs: ops.Sub.Inputs[Tensor]) -> Tensor:
    return inputs.a - inputs.b


@OPERATORS.entry(ops.Mul)
def _mul(_attrs: ops.Mul, inputs: ops.Mul.Inputs[Tensor]) -> Tensor:
    return inputs.a * inputs.b


@OPERATORS.entry(ops.SquaredDifference)
def _squared_difference(
    _attrs: ops.SquaredDifference, inputs: ops.SquaredDifference.Inputs[Tensor]
) -> Tensor:
    return (inputs.a - inputs.b).square()


@OPERATORS.entry(ops.Div)
def _div(_attrs: ops.Div, inputs: ops.Div.Inputs[Tensor]) -> Tensor:
    return inputs.a / inputs.b


@OPERATORS.entry(ops.Clip)
def _clip(attrs: ops.Clip, inputs: ops.OneInput.Inputs[Tensor]) -> Tensor:
    return inputs.x.clamp(attrs.low, attrs.high)


@OPERATORS.entry(ops.PRelu)
def _prelu(_attrs: ops.PRelu, inputs: ops.PRelu.Inputs[Tensor]) -> Tensor:
    return torch.where(inputs.x >= 0, inputs.x, inputs.x * inputs.slope)


@OPERATORS.entry(ops.Softmax)
def _softmax(attrs: ops.Softmax, inputs: ops.OneInput.Inputs[Tensor]) -> Tensor:
    return functional.softmax(attrs.beta * inputs.x, -1)


@OPERATORS.entry(ops.LogSoftmax)
def _log_softmax(_attrs: ops.LogSoftmax, inputs: ops.OneInput.Inputs[Tensor]) -> Tensor:
    return functional.log_softmax(inputs.x, -1)


@OPERATORS.entry(ops.MaxPool)
def _max_pool(attrs: ops.MaxPool, inputs: ops.OneInput.Inputs[Tensor]) -> Tensor:
    x = nchw(padded(inputs.x, attrs.pads, float("-inf")))
    return nhwc(functional.max_pool2d(x, attrs.kernel, attrs.strides, 0, attrs.dilations))


@OPERATORS.entry(ops.AveragePool)
def _average_pool(attrs: ops.AveragePool, inputs: ops.OneInput.Inputs[Tensor]) -> Tensor:
    x = nchw(padded(inputs.x, attrs.pads, 0.0))
    mean = functional.avg_pool2d(x, attrs.kernel, attrs.strides)
    if attrs.count_include_pad or not any(attrs.pads):
        return nhwc(mean)
    inside = nchw(padded(torch.ones_like(inputs.x[:1, ..., :1]), attrs.pads, 0.0))
    share = functional.avg_pool2d(inside, attrs.kernel, attrs.strides)
    return nhwc(mean / share.clamp(min=1e-9))


@OPERATORS.entry(ops.Reduce)
def _reduce(attrs: ops.Reduce, inputs: ops.OneInput.Inputs[Tensor]) -> Tensor:
    match attrs.kind:
        case ops.ReduceKind.MEAN:
            return inputs.x.mean(attrs.axes, keepdim=attrs.keepdims)
        case ops.ReduceKind.SUM:
            return inputs.x.sum(attrs.axes, keepdim=attrs.keepdims)
        case ops.ReduceKind.MAX:
            return inputs.x.amax(attrs.axes, keepdim=attrs.keepdims)
        case ops.ReduceKind.MIN:
            return inputs.x.amin(attrs.axes, keepdim=attrs.keepdims)
        case ops.ReduceKind.L1:
            return inputs.x.abs().sum(attrs.axes, keepdim=attrs.keepdims)
        case ops.ReduceKind.L2:
            return inputs.x.square().sum(attrs.axes, keepdim=attrs.keepdims).sqrt()
        case ops.ReduceKind.SUM_SQUARE:
            return inputs.x.square().sum(attrs.axes, keepdim=attrs.keepdims)


@OPERATORS.entry(ops.Reshape)
def _reshape(attrs: ops.Reshape, inputs: ops.OneInput.Inputs[Tensor]) -> Tensor:
    return inputs.x.reshape(len(inputs.x), *attrs.shape[1:])


@OPERATORS.entry(ops.Transpose)
def _transpose(attrs: ops.Transpose, inputs: ops.OneInput.Inputs[Tensor]) -> Tensor:
    return inputs.x.permute(attrs.perm)


@OPERATORS.entry(ops.Slice)
def _slice(attrs: ops.Slice, inputs: ops.OneInput.Inputs[Tensor]) -> Tensor:
    x = inputs.x
    for axis in range(1, x.ndim):
        start, step, size = attrs.starts[axis], attrs.steps[axis], attrs.sizes[axis]
        low, high = sorted((start, start + step * (size - 1)))
        # A view: index_select copies, and its gradient is a scatter.
        x = x[(slice(None),) * axis + (slice(low, high + 1, abs(step)),)]
        if step < 0:
            x = x.flip(axis)
    return x


@OPERATORS.entry(ops.Concat)
def _concat(attrs: ops.Concat, inputs: ops.Concat.Inputs[Tensor]) -> Tensor:
    count = max(len(x) for x in inputs.parts)
    return torch.cat([x.expand(count, *x.shape[1:]) for x in inputs.parts], attrs.axis)


_PAD_MODES = {
    ops.PadMode.CONSTANT: "constant",
    ops.PadMode.REFLECT: "reflect",
    ops.PadMode.EDGE: "replicate",
}


@OPERATORS.entry(ops.Pad)
def _pad(attrs: ops.Pad, inputs: ops.OneInput.Inputs[Tensor]) -> Tensor:
    x = inputs.x
    if attrs.mode is ops.PadMode.CONSTANT:
        flat = [size for pair in reversed(attrs.pads) for size in pair]
        return functional.pad(x, flat, value=attrs.value)
    for axis, (before, after) in enumerate(attrs.pads):
        if (before, after) != (0, 0):
            # PyTorch repeats and reflects along last axes only.
            last = x.movedim(axis, -1)
            rows = last.reshape(1, -1, last.shape[-1])
            rows = functional.pad(rows, (before, after), mode=_PAD_MODES[attrs.mode])
            x = rows.reshape(*last.shape[:-1], rows.shape[-1]).movedim(-1, axis)
    return x


@OPERATORS.entry(ops.MatMul)
def _matmul(attrs: ops.MatMul, inputs: ops.MatMul.Inputs[Tensor]) -> Tensor:
    a = inputs.a.transpose(-1, -2) if attrs.transpose_a else inputs.a
    b = inputs.b.transpose(-1, -2) if attrs.transpose_b else inputs.b
    return attrs.scale * (a @ b)


@OPERATORS.entry(ops.LayerNormalization)
def _layer_norm(attrs: ops.LayerNormalization, inputs: ops.Norm.Inputs[Tensor]) -> Tensor:
    gamma = inputs.gamma
    return functional.layer_norm(inputs.x, gamma.shape, gamma, inputs.beta, attrs.epsilon)


@OPERATORS.entry(ops.RMSNormalization)
def _rms_norm(attrs: ops.RMSNormalization, inputs: ops.Norm.Inputs[Tensor]) -> Tensor:
    return functional.rms_norm(inputs.x, inputs.gamma.shape, inputs.gamma, attrs.epsilon)


@OPERATORS.entry(ops.Attention)
def _attention(attrs: ops.Attention, inputs: ops.Attention.Inputs[Tensor]) -> Tensor:
    operands = (inputs.q, inputs.k, inputs.v)
    # Constant queries have one sample.
    count = max(len(x) for x in operands)
    q, k, v = (
        x.expand(count, *x.shape[1:]).unflatten(-1, (attrs.heads, -1)).transpose(-3, -2)
        for x in operands
    )
    # Not scaled_dot_product_attention: its bfloat16 backward pass is slow on processors.
    weights = functional.softmax(attrs.scale * q @ k.transpose(-1, -2), -1)
    return (weights.to(v.dtype) @ v).transpose(-3, -2).flatten(-2)


@OPERATORS.entry(ops.Unary)
def _unary(attrs: ops.Unary, inputs: ops.OneInput.Inputs[Tensor]) -> Tensor:
    if attrs.kind is ops.UnaryKind.COMPOSED:
        return _composed(attrs, inputs.x)
    return _UNARY[attrs.kind](inputs.x, attrs)


def _composed(attrs: ops.Unary, x: Tensor) -> Tensor:
    known = [x]
    for step in attrs.steps:
        number = torch.tensor(step.number, dtype=x.dtype, device=x.device)
        operands = [number if at is None else known[at] for at in step.operands]
        known.append(OPERATORS[type(step.attrs)](step.attrs, step.attrs.Inputs.of(operands)))
    return known[-1]


def _shrink(x: Tensor, attrs: ops.Unary) -> Tensor:
    outside = x - attrs.beta * torch.sign(x)
    return torch.where(x.abs() > attrs.alpha, outside, torch.zeros_like(x))


_UNARY: Mapping[ops.UnaryKind, Callable[[Tensor, ops.Unary], Tensor]] = {
    ops.UnaryKind.SIGMOID: lambda x, _: torch.sigmoid(x),
    ops.UnaryKind.TANH: lambda x, _: torch.tanh(x),
    ops.UnaryKind.HARD_SIGMOID: lambda x, f: (f.alpha * x + f.beta).clamp(0, 1),
    ops.UnaryKind.HARD_SWISH: lambda x, _: functional.hardswish(x),
    ops.UnaryKind.LEAKY_RELU: lambda x, f: functional.leaky_relu(x, f.alpha),
    ops.UnaryKind.ELU: lambda x, f: functional.elu(x, f.alpha),
    ops.UnaryKind.SOFTPLUS: lambda x, _: functional.softplus(x),
    ops.UnaryKind.EXP: lambda x, _: torch.exp(x),
    ops.UnaryKind.ABS: lambda x, _: torch.abs(x),
    ops.UnaryKind.NEG: lambda x, _: -x,
    ops.UnaryKind.SQRT: lambda x, _: torch.sqrt(x),
    ops.UnaryKind.RECIPROCAL: lambda x, _: 1 / x,
    ops.UnaryKind.POW: lambda x, f: x**f.alpha,
    ops.UnaryKind.ERF: lambda x, _: torch.erf(x),
    ops.UnaryKind.GELU: lambda x, _: functional.gelu(x),
    ops.UnaryKind.GELU_TANH: lambda x, _: functional.gelu(x, approximate="tanh"),
    ops.UnaryKind.SWISH: lambda x, f: x * torch.sigmoid(f.alpha * x),
    ops.UnaryKind.LOG: lambda x, _: torch.log(x),
    ops.UnaryKind.RSQRT: lambda x, _: torch.rsqrt(x),
    ops.UnaryKind.SIN: lambda x, _: torch.sin(x),
    ops.UnaryKind.COS: lambda x, _: torch.cos(x),
    ops.UnaryKind.TAN: lambda x, _: torch.tan(x),
    ops.UnaryKind.SINH: lambda x, _: torch.sinh(x),
    ops.UnaryKind.COSH: lambda x, _: torch.cosh(x),
    ops.UnaryKind.ASIN: lambda x, _: torch.asin(x),
    ops.UnaryKind.ACOS: lambda x, _: torch.acos(x),
    ops.UnaryKind.ATAN: lambda x, _: torch.atan(x),
    ops.UnaryKind.ASINH: lambda x, _: torch.asinh(x),
    ops.UnaryKind.ACOSH: lambda x, _: torch.acosh(x),
    ops.UnaryKind.ATANH: lambda x, _: torch.atanh(x),
    ops.UnaryKind.SIGN: lambda x, _: torch.sign(x),
    ops.UnaryKind.BINARIZE: lambda x, _: torch.where(x >= 0, 1.0, -1.0),
    ops.UnaryKind.FLOOR: lambda x, _: torch.floor(x),
    ops.UnaryKind.CEIL: lambda x, _: torch.ceil(x),
    ops.UnaryKind.ROUND: lambda x, _: torch.round(x),
    ops.UnaryKind.MOD: lambda x, f: torch.fmod(x, f.alpha),
    ops.UnaryKind.MISH: lambda x, _: functional.mish(x),
    ops.UnaryKind.SELU: lambda x, f: f.beta * functional.elu(x, f.alpha),
    ops.UnaryKind.CELU: lambda x, f: functional.celu(x, f.alpha),
    ops.UnaryKind.THRESHOLDED_RELU: lambda x, f: functional.threshold(x, f.alpha, 0.0),
    ops.UnaryKind.SHRINK: _shrink,
    ops.UnaryKind.SOFTSIGN: lambda x, _: functional.softsign(x),
    ops.UnaryKind.IDENTITY: lambda x, _: x,
}

"""A layer with weights in integers: a convolution or a matrix product.

Integers with gradients: codes in the forward pass, what they were rounded from in the backward.

Codes of activations are centred, ``q - zero_point``, in float32, which holds them exactly.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from torch import nn
from torch.nn import functional

from edgec.base.dtypes import Array
from edgec.base.fixedpoint import INT8_MAX, round_half_up
from edgec.finetune.operators import convolved, nhwc
from edgec.ir import ops, qops
from edgec.ir.graph import Constant, Graph, Node
from edgec.ir.qparams import QuantParams
from edgec.quant.common.weights import accumulator_bound, bias_params


class _Codes(torch.autograd.Function):
    """Takes given codes for real numbers in steps; within the bounds, gradients pass unchanged."""

    @staticmethod
    def forward(
        ctx: Any, steps: torch.Tensor, codes: torch.Tensor, low: float, high: float
    ) -> torch.Tensor:
        """The codes."""
        ctx.save_for_backward((steps > low - 0.5) & (steps < high + 0.5))
        return codes

    @staticmethod
    def backward(ctx: Any, gradient: torch.Tensor) -> tuple[torch.Tensor, None, None, None]:
        """The gradient of the steps alone."""
        (inside,) = ctx.saved_tensors
        return gradient * inside, None, None, None


def as_codes(steps: torch.Tensor, codes: torch.Tensor, low: float, high: float) -> torch.Tensor:
    """Codes whose gradient is that of the real numbers they stand for.

    With ``steps = y / scale`` and a reader that multiplies by the scale, the gradient that reaches
    the scale is that of Esser et al., "Learned Step Size Quantization", ICLR 2020.

    Args:
        steps: real numbers, in steps of the codes.
        codes: the same in integers, centred, as float32; computed without gradients.
        low, high: the bounds that saturate, centred.
    """
    found: torch.Tensor = _Codes.apply(steps, codes, low, high)
    return found


def rounded(latent: torch.Tensor, most: int) -> torch.Tensor:
    """The nearest codes within [-most, most] (`fixedpoint.round_half_up`), gradients as above."""
    codes = torch.floor(latent.detach() + 0.5).clamp_(-most, most)
    return as_codes(latent, codes, -most, most)


def requantized(
    acc: torch.Tensor, bias: torch.Tensor, multiplier: torch.Tensor, form: qops.Requant31
) -> torch.Tensor:
    """Requantize centred accumulators as `qops.Requant31` does.

    Args:
        acc: whole numbers [N, O, ...], float32 or float64, without the bias.
        bias, multiplier: int64 [O].
        form: the requantization.

    Returns:
        float32, shape of `acc`.
    """
    each = [-1, *[1] * (acc.ndim - 2)]
    codes = torch.round(acc).to(torch.int64)
    codes.add_(bias.reshape(each)).mul_(multiplier.reshape(each))
    codes.add_(1 << (form.shift - 1)).bitwise_right_shift_(form.shift)
    codes.clamp_(form.low - form.zero_point, form.high - form.zero_point)
    return codes.to(torch.float32)


_LEAN = 0.49
"""Largest distance of a weight from its code at the start, in steps."""
_EXACT32 = 2**24
"""Whole numbers below this are exact in float32, and so are their sums in any order."""


class IntegerLayer(nn.Module):
    """A Conv or Gemm.

    Attributes:
        latent: [O, ...], weights in units of their codes.
        bias: [O], in the steps that the output had at the start.
        spread: [O], logarithms of the factors by which the scales of weights changed.
    """

    def __init__(self, annotated: Graph, real: Constant | None, node: Node) -> None:
        """A layer as it is in an annotated graph.

        Args:
            annotated: ANNOTATED stage.
            real: the weights that its codes stand for; None: these are not known.
            node: the layer.
        """
        super().__init__()
        self.node = node
        inputs = ops.layer_inputs(node)
        weight = annotated.constants[inputs.w]
        scale = np.asarray(annotated.quant(inputs.w).scale)
        self.latent = nn.Parameter(torch.tensor(_start(weight.array, scale, real)))
        self._unit = annotated.quant(node.output).tensor_scale
        outputs = len(weight.array)
        bias = annotated.constants[inputs.b].real64() if inputs.b else np.zeros(outputs)
        # float64 keeps each code of a bias, which may have 30 bits.
        self.bias = nn.Parameter(torch.tensor(bias / self._unit))
        self.spread = nn.Parameter(torch.zeros(outputs))
        self.register_buffer("start", torch.tensor(scale.astype(np.float32)))
        self._bound = 0.0
        self._integers: tuple[torch.Tensor, torch.Tensor] | None = None

    def scale(self) -> torch.Tensor:
        """Scale of the weights of each output channel, float32 [O]."""
        assert isinstance(self.start, torch.Tensor)
        return self.start * torch.exp(self.spread)

    def constants(self, input_scale: float) -> tuple[Constant, Constant]:
        """Weights and biases in integers, under the names that the layer gives them."""
        scale = self.scale().detach().cpu().numpy().astype(np.float64)
        codes = rounded(self.latent.detach(), INT8_MAX).to(torch.int8).cpu().numpy()
        params = bias_params(input_scale, scale)
        real = self.bias.detach().cpu().numpy() * self._unit
        bias = round_half_up(real / np.asarray(params.scale)).astype(np.int32)
        self._bound = float(accumulator_bound(codes, None).max())
        names = ops.layer_inputs(self.node)
        assert names.b is not None
        return (
            Constant(names.w, codes, QuantParams.per_output(scale)),
            Constant(names.b, bias, params),
        )

    def take(self, graph: Graph, node: Node) -> None:
        """Take the numbers of the integer node that the layer is in this step."""
        inputs = qops.PlainLayer.Inputs.of(node.inputs)
        self._form = node.attrs_as(qops.QConv, qops.QGemm).output
        self._integers = tuple(
            torch.tensor(graph.constants[name].array.astype(np.int64)).to(self.latent.device)
            for name in (inputs.b, inputs.multiplier)
        )

    def forward(
        self, x: torch.Tensor, x_scale: torch.Tensor, y_scale: torch.Tensor
    ) -> torch.Tensor:
        """Centred codes of the output.

        Args:
            x: centred codes [N, H, W, I] or [..., K], float32.
            x_scale, y_scale: scales of the input and the output, with gradients or without.
        """
        assert self._integers is not None
        assert isinstance(self._form, qops.Requant31)
        form, is_conv = self._form, isinstance(self.node.attrs, ops.Conv)
        x, weight = self._exact(x, rounded(self.latent, INT8_MAX))
        if is_conv:
            acc = convolved(self.node.attrs_as(ops.Conv), x, weight)
        else:
            acc = functional.linear(x, weight)
        flat = acc if is_conv else acc.flatten(0, -2)
        with torch.no_grad():
            codes = requantized(flat, *self._integers, form).reshape(acc.shape)
        each = (-1, 1, 1) if is_conv else (-1,)
        factor = (self.scale() * x_scale / y_scale).reshape(each)
        bias = (self.bias.to(torch.float32) * (self._unit / y_scale)).reshape(each)
        low, high = form.low - form.zero_point, form.high - form.zero_point
        y = as_codes(acc.to(torch.float32) * factor + bias, codes, low, high)
        return nhwc(y) if is_conv else y

    def keep_within(self) -> None:
        """Undo the part of a step that took weights beyond the largest code."""
        with torch.no_grad():
            self.latent.clamp_(-INT8_MAX - _LEAN, INT8_MAX + _LEAN)

    def _exact(self, x: torch.Tensor, weight: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        """Codes and weights in a type that holds all sums of their products."""
        wide = self._bound >= _EXACT32
        return (x.double(), weight.double()) if wide else (x, weight)


def _start(codes: Array, scale: Array, real: Constant | None) -> Array:
    """Codes [O, ...], leaning towards the real weights as far as they stay the nearest codes."""
    start = codes.astype(np.float32)
    if real is None or real.shape != codes.shape:
        return start
    steps = real.real64() / scale.reshape(-1, *[1] * (codes.ndim - 1))
    lean = np.clip(steps - codes, -_LEAN, _LEAN)
    return (codes + lean).astype(np.float32)

"""Integers with gradients: codes in the forward pass, what they were rounded from in the backward.

Codes of activations are centred, ``q - zero_point``, in float32, which holds them exactly.
"""

from __future__ import annotations

from typing import Any

import torch

from edgec.ir import qops


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
    """What `qops.Requant31` makes of accumulators, centred.

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

"""Activations of few bits in training: whole numbers with a learned step.

A value divided by its step is rounded to whole numbers within given bounds, as the Clip and the
QuantizeLinear of the graph do it.  The gradient passes the rounding unchanged and stops at the
bounds; that of the step is the one of Esser et al., "Learned Step Size Quantization", ICLR 2020.
"""

from __future__ import annotations

import math
from typing import Any

import torch
from torch import nn

from edgec.ir.graph import Node
from edgec.weightpool.few_codes import FewCodes


class _Rounded(torch.autograd.Function):
    """Rounds to whole numbers times a step that is trained."""

    @staticmethod
    def forward(
        ctx: Any, x: torch.Tensor, step: torch.Tensor, low: int, high: int, share: float
    ) -> torch.Tensor:
        """``clamp(round(x / step), low, high) * step``, halves to even, as `QuantizeLinear`."""
        ctx.save_for_backward(x, step)
        ctx.low, ctx.high, ctx.share = low, high, share
        return (x.float() / step).round_().clamp_(low, high).mul_(step).to(x.dtype)

    @staticmethod
    def backward(
        ctx: Any, gradient: torch.Tensor
    ) -> tuple[torch.Tensor, torch.Tensor, None, None, None]:
        """The gradients of x and of the step (equations 3 and 5, times the scale of 2.2)."""
        x, step = ctx.saved_tensors
        v = x.float() / step
        within = (v >= ctx.low) & (v <= ctx.high)
        slope = torch.where(within, v.round() - v, v.clamp(ctx.low, ctx.high))
        of_step = (gradient.float() * slope).sum() * ctx.share
        return gradient * within, of_step.reshape(step.shape), None, None, None


class LearnedStep(nn.Module):
    """The numbers of few bits that layers read in place of a value.

    Attributes:
        found: the nodes that round in the graph.
        spread: float [1], logarithm of the factor by which the step changed: the optimizer moves
            steps of any size alike, and they stay positive.
    """

    start: torch.Tensor

    def __init__(self, found: FewCodes, elements: int) -> None:
        """Start with the step that the graph has.

        Args:
            found: the nodes that round.
            elements: numbers that the value has, of one sample.
        """
        super().__init__()
        self.found = found
        self.spread = nn.Parameter(torch.zeros(1))
        self.register_buffer("start", torch.tensor([found.codes.step]))
        # So that steps, which many elements share, move as far as weights do.
        self._share = 1 / math.sqrt(elements * found.codes.high)

    @property
    def node(self) -> Node:
        """The node that gives the numbers."""
        return self.found.nodes[-1]

    @property
    def step(self) -> torch.Tensor:
        """Float32 [1], the difference of two numbers that follow each other."""
        return self.start * torch.exp(self.spread)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """The nearest of the numbers, in the shape of x."""
        codes = self.found.codes
        rounded: torch.Tensor = _Rounded.apply(x, self.step, codes.low, codes.high, self._share)
        return rounded

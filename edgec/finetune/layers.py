"""Layers with weights: a convolution or a matrix product, with normalization while it is trained.

An exported network has its batch normalization folded away; training pooled weights needs it back.
"""

from __future__ import annotations

import torch
from torch import nn
from torch.nn import functional

from edgec.finetune.operators import convolved, nhwc
from edgec.ir import ops
from edgec.ir.graph import Graph, Node

_LEAST_FACTOR = 1e-6
"""Scales of pooled weights stay positive: quantization has no negative ones."""


class Layer(nn.Module):
    """A Conv or Gemm.

    Attributes:
        weight: [O, KH, KW, I/group] or [N, K]; of a pooled layer the latent weights.
        bias: [O]; unused once there is a normalization.
        pooled: what a pooled layer computes with, set for each step by `pools.Pools`.
        norm: the normalization after a convolution; None: there is none.
        scale: factors [N] after a pooled matrix product; None: there are none.
        watched: sums of y, y^2 and their number, while the outputs are measured.
    """

    def __init__(self, graph: Graph, node: Node) -> None:
        super().__init__()
        self.node = node
        inputs = ops.layer_inputs(node)
        weight, bias_name = torch.tensor(graph.constants[inputs.w].real()), inputs.b
        bias = graph.constants[bias_name].real() if bias_name else None
        self.weight = nn.Parameter(weight)
        self.bias = nn.Parameter(
            torch.zeros(len(weight)) if bias is None else torch.tensor(bias.reshape(-1))
        )
        self.pooled: torch.Tensor | None = None
        self.norm: nn.BatchNorm2d | None = None
        self.scale: nn.Parameter | None = None
        self.watched: list[torch.Tensor] | None = None

    @property
    def is_conv(self) -> bool:
        """Whether it is a convolution."""
        return isinstance(self.node.attrs, ops.Conv)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """[N, H, W, I] to [N, OH, OW, O], or [..., K] to [..., N]."""
        weight = self.weight if self.pooled is None else self.pooled
        if self.is_conv:
            attrs = self.node.attrs_as(ops.Conv)
            if self.norm is None and self.watched is None:
                # A bias that is added apart is float32, and makes float32 of bfloat16.
                return nhwc(convolved(attrs, x, weight, self.bias))
            y = convolved(attrs, x, weight)
            if self.watched is not None:
                self._see(y)
            return nhwc(y + self.bias[:, None, None] if self.norm is None else self.norm(y))
        y = functional.linear(x, weight)
        return (y if self.scale is None else y * self.scale) + self.bias

    def normalize(self) -> None:
        """Insert an identity batch normalization after a convolution, from observed statistics."""
        assert self.watched is not None
        total, squares, count = self.watched
        mean = (total / count).float()
        variance = (squares / count - (total / count) ** 2).clamp(min=0).float()
        self.norm = nn.BatchNorm2d(len(mean)).to(self.weight.device)
        with torch.no_grad():
            self.norm.running_mean = mean.clone()
            self.norm.running_var = variance.clone()
            self.norm.weight.copy_((variance + self.norm.eps).sqrt())
            self.norm.bias.copy_(mean + self.bias)
        self.watched = None
        self.bias.requires_grad_(False)

    def add_scale(self, scale: torch.Tensor) -> None:
        """Put a factor [N] after a matrix product."""
        self.scale = nn.Parameter(scale.clone())

    def keep_positive(self) -> None:
        """Undo a step that made the scale of a pooled filter negative."""
        factor = self.scale if self.norm is None else self.norm.weight
        if factor is not None:
            factor.data.clamp_(min=_LEAST_FACTOR)

    def folded(self) -> tuple[torch.Tensor, torch.Tensor]:
        """(factor, bias), [O] both: the layer is ``(x * weight) * factor + bias``."""
        if self.norm is not None:
            assert self.norm.running_mean is not None
            assert self.norm.running_var is not None
            deviation = (self.norm.running_var.double() + self.norm.eps).sqrt()
            factor = self.norm.weight.detach().double() / deviation
            shift = self.norm.bias.detach().double() - self.norm.running_mean.double() * factor
            return factor, shift
        bias = self.bias.detach().double()
        scale = torch.ones_like(bias) if self.scale is None else self.scale.detach().double()
        return scale, bias

    def _see(self, y: torch.Tensor) -> None:
        assert self.watched is not None
        real = y.detach().double()
        count = torch.tensor(real.numel() / real.shape[1], device=y.device)
        found = [real.sum((0, 2, 3)), (real**2).sum((0, 2, 3)), count]
        old = self.watched
        self.watched = [a + b for a, b in zip(old, found, strict=True)] if old else found

"""Ranges of activations, and their rounding to fewer bits (`qops.PoolRounding`)."""

from __future__ import annotations

from typing import Any

import torch
from torch import nn
from torch.nn import functional

_CODES = 255
_CANDIDATES = 40
_SAMPLES = 1 << 18
"""Values kept of a batch when a range is measured."""
_SEED = 1


class _RoundThrough(torch.autograd.Function):
    """Rounds to multiples of a step; the gradient passes as if nothing was rounded."""

    @staticmethod
    def forward(
        _ctx: Any, x: torch.Tensor, low: float, step: float, zero: float, levels: int
    ) -> torch.Tensor:
        """``(t(x) - t(0)) * scale`` with t of `qops.PoolRounding`."""
        codes = torch.floor_((x - low).mul_(1 / step).add_(0.5)).clamp_(0, levels)
        return codes.sub_(zero).mul_(step)

    @staticmethod
    def backward(_ctx: Any, gradient: torch.Tensor) -> tuple[torch.Tensor, None, None, None, None]:
        """The gradient of x alone."""
        return gradient, None, None, None, None


class Range(nn.Module):
    """The interval [low, high] that an activation's 256 codes cover.

    Attributes:
        low, high: low <= 0 <= high.
        limit: high never gets larger.
        samples: values seen since `watch(True)`; None when nobody watches.
    """

    def __init__(self, limit: float, *, signed: bool) -> None:
        super().__init__()
        self.low = 0.0
        self.high = limit
        self.limit = limit
        self.signed = signed
        self.samples: list[torch.Tensor] | None = None

    def clipped(self, x: torch.Tensor) -> torch.Tensor:
        """Clip x to (0, high), as `ops.Clip` does."""
        if self.samples is not None:
            self.see(functional.hardtanh(x, 0.0, self.limit))
            return functional.hardtanh(x, 0.0, self.limit)
        return functional.hardtanh(x, 0.0, self.high)

    def rounded(self, x: torch.Tensor, bits: int) -> torch.Tensor:
        """An activation as a pooled layer sees it at a width."""
        if self.signed and self.samples is not None:
            self.see(x)
        if bits == 8 or self.samples is not None:
            return x
        step = (self.high - self.low) / _CODES * 2 ** (8 - bits)
        zero = float(int(-self.low / step + 0.5))
        rounded: torch.Tensor = _RoundThrough.apply(x, self.low, step, zero, 2**bits - 1)
        return rounded

    def see(self, x: torch.Tensor) -> None:
        """Keep some of the values, of all channels alike."""
        flat = x.detach().float().flatten()
        assert self.samples is not None
        if len(flat) > _SAMPLES:
            # At random: equal distances would share factors with the number of channels.
            generator = torch.Generator().manual_seed(_SEED)
            chosen = torch.randint(len(flat), (_SAMPLES,), generator=generator)
            flat = flat[chosen.to(flat.device)]
        self.samples.append(flat)

    def watch(self, on: bool, bits: int = 8) -> None:
        """Start to look at values, or stop and choose the range of least error at a width."""
        if on:
            self.samples = []
            return
        seen, self.samples = self.samples, None
        if not seen:
            return
        values = torch.cat(seen)
        if self.signed:
            self.low = min(0.0, float(values.min()))
            self.high = max(0.0, float(values.max())) or 1.0
        else:
            self.high = _least_error(values, bits, self.limit)

    def get_extra_state(self) -> dict[str, float]:
        """The state that a checkpoint holds."""
        return {"low": self.low, "high": self.high}

    def set_extra_state(self, state: dict[str, float]) -> None:
        """Take up the state of a checkpoint."""
        self.low, self.high = state["low"], state["high"]


def _least_error(values: torch.Tensor, bits: int, limit: float) -> float:
    """The upper end of a range from 0 at which rounding to 2^bits levels errs least."""
    largest = float(values.max())
    if largest <= 0:
        return min(limit, 1.0)
    best, least = largest, float("inf")
    for number in range(6, _CANDIDATES + 1):
        high = largest * number / _CANDIDATES
        step = high / _CODES * 2 ** (8 - bits)
        rounded = torch.floor(values / step + 0.5).clamp_(max=2**bits - 1) * step
        error = float(((rounded - values) ** 2).mean())
        if error < least:
            best, least = high, error
    return best

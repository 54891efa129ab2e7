"""Weights of few bits in training: whole numbers with learned steps.

Latent weights of a filter, divided by the filter's step, are rounded to whole numbers within given
bounds.  The gradient passes the rounding unchanged and stops at the bounds, so that of the step is
the one of Esser et al., "Learned Step Size Quantization", ICLR 2020, but for the factor after the
products: that is the normalization's, which is trained as well.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import torch
from torch import nn

from edgec.base.dtypes import Array
from edgec.finetune.layers import Layer
from edgec.finetune.pooled.weights import FoundWeights, TrainedWeights, make_latent

_LEAN = 0.475
"""Largest distance of a latent weight from its whole number at the start, in steps."""


class TrainedLevels(TrainedWeights):
    """One layer with weights of few bits.

    Latent weights are in units in which the whole numbers have a mean square of 1 at the start.

    Attributes:
        spread: float [O, 1, ...], logarithms of the factors by which steps changed.
        codes: float, shape of the weights: the whole numbers.
    """

    codes: torch.Tensor

    def __init__(
        self, layer: Layer, codes: Array, original: torch.Tensor, levels: tuple[int, int]
    ) -> None:
        """Start with the weights that the layer has.

        Args:
            layer: the layer.
            codes: int8, shape of its weights: their whole numbers.
            original: the real weights that were rounded.
            levels: the least and the largest whole number.
        """
        super().__init__()
        self.layers = (layer,)
        self._low, self._high = levels
        whole = torch.tensor(codes.astype(np.float32)).to(layer.weight.device)
        self._unit = float(1 / whole.pow(2).mean().sqrt().clamp(min=1e-6))
        scale = make_latent(layer, whole * self._unit)
        steps = original / scale / self._unit
        lean = (steps - whole).clamp(-_LEAN, _LEAN)
        with torch.no_grad():
            layer.weight.copy_((whole + lean) * self._unit)
        outputs = (len(whole), *[1] * (whole.ndim - 1))
        self.spread = nn.Parameter(torch.zeros(outputs))
        self.register_buffer("codes", whole)

    def assign(self) -> None:
        """See `TrainedWeights`."""
        with torch.no_grad():
            nearest = torch.floor(self._steps() + 0.5)
            self.codes.copy_(nearest.clamp_(self._low, self._high))

    def apply_to_layers(self) -> None:
        """See `TrainedWeights`."""
        within = self._steps().clamp(self._low - 0.5, self._high + 0.5)
        self.layers[0].pooled = (self.codes + (within - within.detach())) * self._unit

    def pull(self, share: float) -> None:
        """See `TrainedWeights`."""
        with torch.no_grad():
            chosen = self.codes * self._unit * torch.exp(self.spread)
            self.layers[0].weight.lerp_(chosen, share)

    def found(self) -> Iterator[FoundWeights]:
        """See `TrainedWeights`."""
        codes = self.codes.to(torch.int8).cpu().numpy()
        yield FoundWeights(self.layers[0], codes, self._unit)

    def _steps(self) -> torch.Tensor:
        """Latent weights in steps."""
        return self.layers[0].weight * (torch.exp(-self.spread) / self._unit)

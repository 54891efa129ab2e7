"""Networks with a window of time, as keyword spotting has them, with random but sane weights.

Each takes frames of 40 mel bands: [1, 40, frames], or [1, 1, frames, 40] for a picture.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import torch
from torch import nn

BANDS = 40


def _layer(inputs: int, outputs: int, kernel: int = 1, **options: int) -> nn.Sequential:
    """A convolution over time with its normalization."""
    conv = nn.Conv1d(inputs, outputs, kernel, bias=False, **options)
    return nn.Sequential(conv, nn.BatchNorm1d(outputs))


class CausalBlock(nn.Module):
    """Two dilated causal layers and a residual addition (temporal convolutional network)."""

    def __init__(self, channels: int, kernel: int, dilation: int) -> None:
        super().__init__()
        self.pad = nn.ConstantPad1d(((kernel - 1) * dilation, 0), 0.0)
        self.first = _layer(channels, channels, kernel, dilation=dilation)
        self.second = _layer(channels, channels, kernel, dilation=dilation)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """The block."""
        y = torch.relu(self.first(self.pad(x)))
        return torch.relu(x + self.second(self.pad(y)))


class Tcn(nn.Module):
    """A temporal convolutional network, whose last frame decides."""

    def __init__(self) -> None:
        super().__init__()
        self.first = _layer(BANDS, 32, 3)
        self.blocks = nn.Sequential(*(CausalBlock(32, 3, dilation) for dilation in (1, 2, 4, 8)))
        self.last = nn.Linear(32, 12)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """Scores [1, 12]."""
        return self.last(self.blocks(torch.relu(self.first(x)))[:, :, -1])


class Bottleneck(nn.Module):
    """An inverted bottleneck over time without padding, as TENet has it."""

    def __init__(self, inputs: int, outputs: int, kernel: int, stride: int) -> None:
        super().__init__()
        wide = 3 * inputs
        self.wide = _layer(inputs, wide)
        self.depthwise = _layer(wide, wide, kernel, stride=stride, groups=wide)
        self.narrow = _layer(wide, outputs)
        self.cut = kernel // 2 if stride == 1 and inputs == outputs else 0

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """The block."""
        y = self.narrow(torch.relu(self.depthwise(torch.relu(self.wide(x)))))
        return torch.relu(y + x[:, :, self.cut : -self.cut] if self.cut else y)


class TeNet(nn.Module):
    """A network of inverted bottlenecks, of strides 1 and 2, and a mean over the window."""

    def __init__(self) -> None:
        super().__init__()
        blocks = [Bottleneck(32, 32, 9, stride) for stride in (2, 1, 1, 2, 1)]
        self.layers = nn.Sequential(_layer(BANDS, 32, 3), nn.ReLU(), *blocks)
        self.last = nn.Linear(32, 12)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """Scores [1, 12]."""
        return self.last(self.layers(x).mean(dim=2))


class Separable(nn.Module):
    """Separable layers with `same` padding and a pointwise residual, as MatchboxNet has it."""

    def __init__(self, inputs: int, outputs: int, kernel: int) -> None:
        super().__init__()
        half = kernel // 2
        self.depthwise = nn.Conv1d(inputs, inputs, kernel, padding=half, groups=inputs, bias=False)
        self.pointwise, self.side = _layer(inputs, outputs), _layer(inputs, outputs)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """The block."""
        return torch.relu(self.pointwise(self.depthwise(x)) + self.side(x))


class Matchbox(nn.Module):
    """MatchboxNet 3x1x32: it looks ahead in time."""

    def __init__(self) -> None:
        super().__init__()
        self.layers = nn.Sequential(
            Separable(BANDS, 32, 11),
            *(Separable(32, 32, kernel) for kernel in (13, 15, 17)),
            nn.Conv1d(32, 32, 29, padding=28, dilation=2, groups=32, bias=False),
            _layer(32, 64),
            nn.ReLU(),
        )
        self.last = nn.Linear(64, 12)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """Scores [1, 12]."""
        return self.last(self.layers(x).mean(dim=2))


class Picture(nn.Module):
    """Two-dimensional convolutions over time and mel bands, and a mean over the window."""

    def __init__(self) -> None:
        super().__init__()

        def separable(channels: int) -> nn.Sequential:
            depthwise = nn.Conv2d(channels, channels, 3, padding=(0, 1), groups=channels)
            pointwise = nn.Conv2d(channels, channels, 1)
            return nn.Sequential(depthwise, nn.ReLU(), pointwise, nn.ReLU())

        first = nn.Conv2d(1, 24, (8, 4), stride=(2, 2), padding=(0, 1))
        self.layers = nn.Sequential(first, nn.ReLU(), *(separable(24) for _ in range(3)))
        self.last = nn.Linear(24, 12)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """Scores [1, 12]."""
        return self.last(self.layers(x).mean(dim=(2, 3)))


@dataclass(frozen=True)
class Windowed:
    """A network with a window of time.

    Attributes:
        make: makes it.
        shape: shape of its input; axis 2 is the time.
        ahead: it looks ahead in time.
    """

    make: Callable[[], nn.Module]
    shape: tuple[int, ...]
    ahead: bool = False


NETWORKS: Mapping[str, Windowed] = {
    "tcn": Windowed(Tcn, (1, BANDS, 98)),
    "tenet": Windowed(TeNet, (1, BANDS, 99)),
    "matchbox": Windowed(Matchbox, (1, BANDS, 98), ahead=True),
    "picture": Windowed(Picture, (1, 1, 98, BANDS)),
}

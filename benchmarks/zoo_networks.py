"""Known architectures, written out small, for `zoo.py`."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Mapping
from types import MappingProxyType

import torch
from torch import Tensor, nn
from torch.nn import functional

Shape = tuple[int, ...]


def _conv(a: int, b: int, kernel: int = 3, stride: int = 1, groups: int = 1) -> nn.Sequential:
    """Convolution, batch norm, ReLU."""
    conv = nn.Conv2d(a, b, kernel, stride, kernel // 2, groups=groups, bias=False)
    return nn.Sequential(conv, nn.BatchNorm2d(b), nn.ReLU())


def _head(channels: int, classes: int = 10) -> nn.Sequential:
    return nn.Sequential(nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(channels, classes))


class _Residual(nn.Module):
    """What a block adds to its input, which a 1x1 convolution may adapt."""

    def __init__(self, block: nn.Module, skip: nn.Module | None = None) -> None:
        super().__init__()
        self.block, self.skip = block, skip or nn.Identity()

    def forward(self, x: Tensor) -> Tensor:
        return functional.relu(self.block(x) + self.skip(x))


class _Concat(nn.Module):
    """Branches side by side, joined along the channels."""

    def __init__(self, *branches: nn.Module) -> None:
        super().__init__()
        self.branches = nn.ModuleList(branches)

    def forward(self, x: Tensor) -> Tensor:
        return torch.cat([branch(x) for branch in self.branches], 1)


class _Gate(nn.Module):
    """Squeeze and excite."""

    def __init__(self, channels: int) -> None:
        super().__init__()
        inner = max(channels // 4, 4)
        self.squeeze, self.excite = nn.Conv2d(channels, inner, 1), nn.Conv2d(inner, channels, 1)

    def forward(self, x: Tensor) -> Tensor:
        gate = functional.relu(self.squeeze(x.mean((2, 3), keepdim=True)))
        return x * torch.sigmoid(self.excite(gate))


class _UNet(nn.Module):
    """Two levels down and up, with skips; transposed convolutions."""

    def __init__(self) -> None:
        super().__init__()
        self.first, self.second, self.deep = _conv(3, 8), _conv(8, 16), _conv(16, 32)
        self.up2, self.up1 = nn.ConvTranspose2d(32, 16, 2, 2), nn.ConvTranspose2d(16, 8, 2, 2)
        self.join2, self.join1, self.out = _conv(32, 16), _conv(16, 8), nn.Conv2d(8, 2, 1)

    def forward(self, x: Tensor) -> Tensor:
        a = self.first(x)
        b = self.second(functional.max_pool2d(a, 2))
        c = self.deep(functional.max_pool2d(b, 2))
        b = self.join2(torch.cat([self.up2(c), b], 1))
        return self.out(self.join1(torch.cat([self.up1(b), a], 1)))


class _Fpn(nn.Module):
    """A pyramid of features, resized and added; three outputs."""

    def __init__(self) -> None:
        super().__init__()
        self.steps = nn.ModuleList([_conv(3, 16, stride=2), _conv(16, 32, stride=2)])
        self.last = _conv(32, 48, stride=2)
        self.lateral = nn.ModuleList([nn.Conv2d(c, 16, 1) for c in (16, 32, 48)])

    def forward(self, x: Tensor) -> tuple[Tensor, ...]:
        a = self.steps[0](x)
        b = self.steps[1](a)
        top = self.lateral[2](self.last(b))
        middle = self.lateral[1](b) + functional.interpolate(top, scale_factor=2.0)
        return top, middle, self.lateral[0](a) + functional.interpolate(middle, scale_factor=2.0)


class _Mixer(nn.Module):
    """MLP-Mixer: products along tokens and along channels."""

    def __init__(self, tokens: int = 16, width: int = 32) -> None:
        super().__init__()
        self.patches = nn.Conv2d(3, width, 8, 8)
        self.norms = nn.ModuleList([nn.LayerNorm(width) for _ in range(3)])
        self.along = nn.Sequential(nn.Linear(tokens, 32), nn.GELU(), nn.Linear(32, tokens))
        self.across = nn.Sequential(nn.Linear(width, 64), nn.GELU(), nn.Linear(64, width))
        self.head = nn.Linear(width, 10)

    def forward(self, x: Tensor) -> Tensor:
        y = self.patches(x).flatten(2).transpose(1, 2)
        y = y + self.along(self.norms[0](y).transpose(1, 2)).transpose(1, 2)
        y = y + self.across(self.norms[1](y))
        return self.head(self.norms[2](y).mean(1))


class _WaveNet(nn.Module):
    """Dilated convolutions over time with gates and skips."""

    def __init__(self) -> None:
        super().__init__()
        self.first = nn.Conv1d(8, 16, 1)
        pairs = [nn.Conv1d(16, 32, 3, padding=d, dilation=d) for d in (1, 2, 4)]
        self.pairs, self.out = nn.ModuleList(pairs), nn.Conv1d(16, 4, 1)

    def forward(self, x: Tensor) -> Tensor:
        x, total = self.first(x), 0.0
        for pair in self.pairs:
            a, b = pair(x).chunk(2, 1)
            gated = torch.tanh(a) * torch.sigmoid(b)
            x, total = x + gated, total + gated
        return self.out(functional.relu(total))


class _ShuffleUnit(nn.Module):
    """Half of the channels pass, the others are convolved, then all are shuffled."""

    def __init__(self) -> None:
        super().__init__()
        self.stem, self.head = _conv(3, 16, stride=2), _head(16)
        self.unit = nn.Sequential(_conv(8, 8, 1), _conv(8, 8, groups=8), _conv(8, 8, 1))

    def forward(self, x: Tensor) -> Tensor:
        x = self.stem(x)
        for _ in range(2):
            a, b = x.chunk(2, 1)
            n, c, h, w = x.shape
            y = torch.cat([a, self.unit(b)], 1).reshape(n, 2, c // 2, h, w)
            x = y.transpose(1, 2).reshape(n, c, h, w)
        return self.head(x)


class _YoloHead(nn.Module):
    """Boxes and scores of two scales, SPPF, split gradients (C2f), SiLU; decoded by a grid."""

    def __init__(self) -> None:
        super().__init__()
        silu = [nn.Conv2d(3, 16, 3, 2, 1), nn.BatchNorm2d(16), nn.SiLU()]
        self.stem = nn.Sequential(*silu, nn.Conv2d(16, 32, 3, 2, 1), nn.SiLU())
        self.inner, self.join = nn.Conv2d(16, 16, 3, 1, 1), nn.Conv2d(48, 32, 1)
        self.down, self.pool = nn.Conv2d(32, 32, 3, 2, 1), nn.MaxPool2d(5, 1, 2)
        self.wide, self.heads = nn.Conv2d(96, 32, 1), nn.ModuleList()
        for _ in range(2):
            self.heads.append(nn.Conv2d(32, 4 + 3, 1))
        self.register_buffer("strides", torch.cat([torch.full((64,), 4.0), torch.full((16,), 8.0)]))

    def forward(self, x: Tensor) -> Tensor:
        a, b = self.stem(x).chunk(2, 1)
        near = functional.silu(self.join(torch.cat([a, b, functional.silu(self.inner(b))], 1)))
        y = self.down(near)
        p = self.pool(y)
        far = self.wide(torch.cat([y, p, self.pool(p)], 1))
        found = [head(z).flatten(2) for head, z in zip(self.heads, (near, far), strict=True)]
        boxes, scores = torch.cat(found, 2).split((4, 3), 1)
        return torch.cat([boxes * self.strides, torch.sigmoid(scores)], 1)


def _norms(norm: Callable[[int], nn.Module]) -> nn.Module:
    def block(a: int, b: int, stride: int) -> nn.Sequential:
        return nn.Sequential(nn.Conv2d(a, b, 3, stride, 1), norm(b), nn.ReLU())

    return nn.Sequential(block(3, 16, 2), block(16, 16, 1), block(16, 32, 2), _head(32))


def _vgg(*widths: int) -> nn.Module:
    steps: list[nn.Module] = []
    for a, b in zip((3, *widths), widths, strict=False):
        steps += [_conv(a, b), nn.MaxPool2d(2)]
    return nn.Sequential(*steps, _head(widths[-1]))


def _resnet8() -> nn.Module:
    def block(a: int, b: int, stride: int) -> nn.Module:
        body = nn.Sequential(
            _conv(a, b, stride=stride), nn.Conv2d(b, b, 3, 1, 1, bias=False), nn.BatchNorm2d(b)
        )
        return _Residual(body, nn.Conv2d(a, b, 1, stride) if a != b else None)

    return nn.Sequential(
        _conv(3, 16), block(16, 16, 1), block(16, 32, 2), block(32, 64, 2), _head(64)
    )


def _inception() -> nn.Module:
    mixed = _Concat(
        _conv(16, 8, 1),
        nn.Sequential(_conv(16, 8, 1), _conv(8, 16)),
        nn.Sequential(_conv(16, 4, 1), _conv(4, 8, 5)),
        nn.Sequential(nn.MaxPool2d(3, 1, 1), _conv(16, 8, 1)),
    )
    return nn.Sequential(_conv(3, 16, stride=2), mixed, nn.AvgPool2d(2), _head(40))


def _fire() -> nn.Module:
    fire = nn.Sequential(_conv(16, 8, 1), _Concat(_conv(8, 16, 1), _conv(8, 16)))
    return nn.Sequential(
        _conv(3, 16, stride=2), fire, nn.MaxPool2d(3, 2, ceil_mode=True), _head(32)
    )


def _ds_cnn() -> nn.Module:
    steps = [m for _ in range(3) for m in (_conv(32, 32, groups=32), _conv(32, 32, 1))]
    return nn.Sequential(_conv(1, 32, stride=2), *steps, _head(32, 12))


def _dense(*widths: int) -> nn.Module:
    steps: list[nn.Module] = []
    for a, b in itertools.pairwise(widths):
        steps += [nn.Linear(a, b), nn.ReLU()]
    return nn.Sequential(*steps[:-1])


def _tcn() -> nn.Module:
    def block(dilation: int) -> nn.Module:
        conv = nn.Conv1d(16, 16, 3, padding=dilation, dilation=dilation)
        return _Residual(nn.Sequential(conv, nn.BatchNorm1d(16), nn.ReLU()))

    ends = nn.AdaptiveAvgPool1d(1), nn.Flatten(), nn.Linear(16, 5)
    return nn.Sequential(nn.Conv1d(8, 16, 1), block(1), block(2), block(4), *ends)


def _senet() -> nn.Module:
    body = nn.Sequential(_conv(16, 16), nn.Conv2d(16, 16, 3, 1, 1), _Gate(16))
    return nn.Sequential(_conv(3, 16, stride=2), _Residual(body), _head(16))


def _crnn() -> nn.Module:
    columns = nn.Sequential(_conv(1, 16), nn.MaxPool2d(2), _conv(16, 32), nn.MaxPool2d((16, 1)))
    return nn.Sequential(columns, nn.Conv2d(32, 11, 1), nn.Flatten(2), nn.LogSoftmax(1))


def _shuffled() -> nn.Module:
    up = nn.Conv2d(16, 12, 3, 1, 1), nn.PixelShuffle(2)
    return nn.Sequential(nn.Conv2d(3, 16, 5, 1, 2), nn.PReLU(16), *up)


def _segmenter() -> nn.Module:
    up = nn.Upsample(scale_factor=4, mode="bilinear", align_corners=False)
    return nn.Sequential(_conv(3, 16, stride=2), _conv(16, 32, stride=2), nn.Conv2d(32, 4, 1), up)


def _alexnet() -> nn.Module:
    features = nn.Conv2d(3, 16, 5, 2, 2), nn.ReLU(), nn.MaxPool2d(3, 2), nn.Conv2d(16, 32, 3, 1, 1)
    ends = nn.ReLU(), nn.AdaptiveAvgPool2d(3), nn.Flatten(), nn.Dropout(), nn.Linear(288, 10)
    return nn.Sequential(*features, *ends)


_IMAGE: Shape = (3, 32, 32)
NETWORKS: Mapping[str, tuple[Callable[[], nn.Module], Shape]] = MappingProxyType(
    {
        "alexnet_small": (_alexnet, _IMAGE),
        "autoencoder": (lambda: _dense(128, 32, 8, 32, 128), (128,)),
        "crnn_conv": (_crnn, (1, 32, 64)),
        "ds_cnn": (_ds_cnn, (1, 49, 10)),
        "fpn": (_Fpn, _IMAGE),
        "grouped_norm": (lambda: _norms(lambda c: nn.GroupNorm(4, c)), _IMAGE),
        "inception": (_inception, _IMAGE),
        "instance_norm": (lambda: _norms(lambda c: nn.InstanceNorm2d(c, affine=True)), _IMAGE),
        "mixer": (_Mixer, _IMAGE),
        "mlp": (lambda: _dense(64, 64, 32, 10), (64,)),
        "pixel_shuffle": (_shuffled, _IMAGE),
        "resnet8": (_resnet8, _IMAGE),
        "segmenter": (_segmenter, _IMAGE),
        "senet": (_senet, _IMAGE),
        "shuffle_unit": (_ShuffleUnit, _IMAGE),
        "squeeze_fire": (_fire, _IMAGE),
        "tcn": (_tcn, (8, 64)),
        "unet": (_UNet, _IMAGE),
        "vgg_small": (lambda: _vgg(16, 32, 64), _IMAGE),
        "wavenet": (_WaveNet, (8, 64)),
        "yolo_head": (_YoloHead, _IMAGE),
    }
)
"""By name: what makes the network, and the shape of its input without the batch."""

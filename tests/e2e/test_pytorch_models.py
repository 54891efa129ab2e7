"""Networks as PyTorch's two exporters write them, compiled, built and run, bit for bit."""

from pathlib import Path

import numpy as np
import pytest
import torch
from torch import nn
from torch.nn import functional

from edgec.commands.compile import compile_model
from edgec.quant import sqnr_db

pytestmark = [pytest.mark.slow, pytest.mark.torch, pytest.mark.filterwarnings("ignore")]


class SqueezeExcite(nn.Module):
    """MobileNetV3's parts: depthwise, squeeze-and-excite, hard swish."""

    shape = (3, 32, 32)

    def __init__(self):
        super().__init__()
        self.stem = nn.Sequential(
            nn.Conv2d(3, 16, 3, 2, 1, bias=False),
            nn.BatchNorm2d(16),
            nn.Hardswish(),
            nn.Conv2d(16, 16, 3, 1, 1, groups=16),
            nn.BatchNorm2d(16),
            nn.ReLU6(),
        )
        self.squeeze, self.excite = nn.Conv2d(16, 4, 1), nn.Conv2d(4, 16, 1)
        self.head = nn.Sequential(
            nn.Conv2d(16, 24, 1),
            nn.BatchNorm2d(24),
            nn.Hardswish(),
            nn.AdaptiveAvgPool2d(1),
            nn.Flatten(),
            nn.Linear(24, 10),
        )

    def forward(self, x):
        x = self.stem(x)
        gate = functional.relu(self.squeeze(functional.adaptive_avg_pool2d(x, 1)))
        return self.head(x * functional.hardsigmoid(self.excite(gate)))


class Segmenter(nn.Module):
    """An encoder and decoder: strided and transposed convolution, bilinear resize, concat."""

    shape = (1, 16, 16)

    def __init__(self):
        super().__init__()
        self.down, self.deep = nn.Conv2d(1, 8, 3, 1, 1), nn.Conv2d(8, 16, 3, 2, 1)
        self.up = nn.ConvTranspose2d(16, 8, 2, 2)
        self.merge, self.slope = nn.Conv2d(16, 8, 3, 1, 1), nn.PReLU(8)
        self.out = nn.Conv2d(8, 2, 1)

    def forward(self, x):
        skip = torch.relu(self.down(x))
        deep = functional.leaky_relu(self.deep(skip), 0.1)
        wide = functional.interpolate(deep[:, :8], scale_factor=2, mode="bilinear")
        merged = self.merge(torch.cat([skip + wide, self.up(deep)], 1))
        return torch.sigmoid(self.out(self.slope(merged)))


class Shuffler(nn.Module):
    """Grouped and dilated convolution, channel shuffle, split, ceil-mode pooling, softmax."""

    shape = (4, 9, 9)

    def __init__(self):
        super().__init__()
        self.grouped = nn.Conv2d(4, 8, 1, groups=2)
        self.dilated = nn.Conv2d(8, 8, 3, padding=2, dilation=2)
        self.classify = nn.Linear(8, 5)

    def forward(self, x):
        x = self.grouped(x)
        batch, channels, height, width = x.shape
        x = x.view(batch, 2, channels // 2, height, width).transpose(1, 2)
        left, right = torch.split(self.dilated(x.reshape(batch, channels, height, width)), 4, 1)
        x = torch.cat([left * torch.sigmoid(right), torch.tanh(right)], 1)
        x = functional.max_pool2d(x, 3, 2, 1, ceil_mode=True)
        return torch.softmax(self.classify(x.mean((2, 3))), -1)


class Waveform(nn.Module):
    """One-dimensional convolutions, batch norm after a nonlinearity, ELU."""

    shape = (2, 32)

    def __init__(self):
        super().__init__()
        self.wide = nn.Conv1d(2, 8, 5, 2, 2)
        self.depthwise, self.norm = nn.Conv1d(8, 8, 3, padding=1, groups=8), nn.BatchNorm1d(8)
        self.classify = nn.Linear(64, 4)

    def forward(self, x):
        x = functional.elu(self.norm(self.depthwise(torch.relu(self.wide(x)))))
        return self.classify(functional.max_pool1d(x, 2).flatten(1))


class SuperResolution(nn.Module):
    """Reflection padding, pixel shuffle, nearest upsampling, subtraction."""

    shape = (3, 8, 8)

    def __init__(self):
        super().__init__()
        self.conv = nn.Conv2d(3, 12, 3, padding=1, padding_mode="reflect")
        self.shuffle, self.nearest = nn.PixelShuffle(2), nn.Upsample(scale_factor=2)

    def forward(self, x):
        return self.nearest(x) - self.shuffle(self.conv(x))


@pytest.mark.parametrize("dynamo", [False, True], ids=["torchscript", "dynamo"])
@pytest.mark.parametrize("network", [SqueezeExcite, Segmenter, Shuffler, Waveform, SuperResolution])
def test_network(network: type, dynamo: bool, tmp_path: Path):
    torch.manual_seed(0)
    net = network().eval()
    for module in net.modules():
        if hasattr(module, "running_mean"):
            module.running_mean.normal_(0, 0.3)
            module.running_var.uniform_(0.5, 1.5)
    x = torch.randn(64, *network.shape)
    path = tmp_path / "net.onnx"
    version = {} if dynamo else {"opset_version": 17}
    torch.onnx.export(net, (x[:1],), path, dynamo=dynamo, input_names=["x"], **version)
    result = compile_model(path, "nucleo", calibration={"x": x.numpy()}, out=tmp_path / "out")
    assert [check.skipped for check in result.report.checks] == ["", ""]
    found = np.asarray(result.run(x.numpy()))
    assert sqnr_db(net(x).detach().numpy(), found) > 30

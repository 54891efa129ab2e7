"""What `edgec quantize --train` brings back where int8 codes lose accuracy.

    python examples/train_digits.py --samples digits_train.npz
    python benchmarks/integer_training.py digits_train.npz --seeds 1 2 3

Trains small networks for the digits of `examples/`: inverted residuals with depthwise layers,
HardSwish and squeeze-and-excitation, 8 blocks of 6 channels.  Their normalizations start with
factors that differ by channel, exp(spread * normal), and so do the ranges of channels in the end;
HardSwish lets no factor through, so nothing can be scaled.  Each network is quantized without and
with training; accuracy is that of the test part, of which nothing is chosen.
"""

from __future__ import annotations

import argparse
import math
import tempfile
from pathlib import Path

import numpy as np
import torch
from torch import nn
from torch.nn import functional

from edgec.commands.quantize import Quantization, quantize_model
from edgec.commands.quantize_training import IntegerTraining
from edgec.commands.training import Training

EXAMPLES = Path(__file__).resolve().parents[1] / "examples"
BLOCKS, WIDTH, EXPANSION = 8, 6, 3
EPOCHS, BATCH, RATE = 12, 64, 0.1


class Gate(nn.Module):
    """Squeeze-and-excitation: a factor for each channel, computed from the means of all."""

    def __init__(self, channels: int) -> None:
        super().__init__()
        inner = max(channels // 4, 2)
        self.body = nn.Sequential(
            nn.Conv2d(channels, inner, 1), nn.ReLU(), nn.Conv2d(inner, channels, 1), nn.Sigmoid()
        )

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """Maps [N, C, H, W] to the same shape."""
        gates: torch.Tensor = self.body(x.mean((2, 3), keepdim=True))
        return x * gates


class Block(nn.Module):
    """Expansion, depthwise convolution, gate, projection; beside a shortcut without a stride."""

    def __init__(self, stride: int) -> None:
        super().__init__()
        inner = WIDTH * EXPANSION
        self.adds = stride == 1
        self.body = nn.Sequential(
            *layer(WIDTH, inner, 1, 1, 1),
            *layer(inner, inner, 3, stride, inner),
            Gate(inner),
            nn.Conv2d(inner, WIDTH, 1, bias=False),
            nn.BatchNorm2d(WIDTH),
        )

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """Maps [N, C, H, W] to [N, C, H / stride, W / stride]."""
        y: torch.Tensor = self.body(x)
        return x + y if self.adds else y


def layer(inputs: int, outputs: int, kernel: int, stride: int, groups: int) -> list[nn.Module]:
    """A convolution, its normalization and HardSwish."""
    conv = nn.Conv2d(inputs, outputs, kernel, stride, kernel // 2, groups=groups, bias=False)
    return [conv, nn.BatchNorm2d(outputs), nn.Hardswish()]


def build(spread: float) -> nn.Module:
    """The network with fresh weights: [N, 1, 8, 8] to logits [N, 10]."""
    blocks = [Block(2 if number == BLOCKS // 2 else 1) for number in range(BLOCKS)]
    pooled = [nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(WIDTH, 10)]
    network = nn.Sequential(*layer(1, WIDTH, 3, 1, 1), *blocks, *pooled)
    for module in network.modules():
        if isinstance(module, nn.BatchNorm2d):
            module.weight.data.copy_(torch.exp(spread * torch.randn(module.num_features)))
    return network


def train(network: nn.Module, x: torch.Tensor, y: torch.Tensor, seed: int) -> None:
    """Train with gradient descent and a rate that falls to 0."""
    optimizer = torch.optim.SGD(network.parameters(), lr=RATE, momentum=0.9, nesterov=True)
    generator = torch.Generator().manual_seed(seed)
    each = len(y) // BATCH
    for step in range(EPOCHS * each):
        if step % each == 0:
            batches = torch.randperm(len(y), generator=generator).split(BATCH)
        index = batches[step % each]
        optimizer.param_groups[0]["lr"] = RATE / 2 * (1 + math.cos(math.pi * step / EPOCHS / each))
        loss = functional.cross_entropy(network(x[index]), y[index])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()


def measured(seed: int, samples: Path, args: argparse.Namespace, folder: Path) -> Quantization:
    """Train one network in float, then in integers."""
    torch.manual_seed(seed)
    with np.load(samples) as data:
        x, y = torch.from_numpy(data["x"]), torch.from_numpy(data["y"])
    network = build(args.spread)
    train(network, x, y, seed)
    path = folder / "network.onnx"
    torch.onnx.export(
        network.eval(), (x[:1],), path, input_names=["x"], output_names=["logits"],
        opset_version=18, dynamo=True, external_data=False, verbose=False,
    )  # fmt: skip
    return quantize_model(
        path,
        folder / "int8.onnx",
        calibration=EXAMPLES / "digits_calibration.npz",
        train=IntegerTraining(samples, how=Training(epochs=args.epochs, device="cpu")),
        evaluation=EXAMPLES / "digits_test.npz",
    )


def main() -> None:
    """Command line."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("samples", type=Path, help="training part (examples/train_digits.py)")
    parser.add_argument("--seeds", type=int, nargs="+", default=[1, 2, 3])
    parser.add_argument("--spread", type=float, default=1.5, help="how uneven channels start")
    parser.add_argument("--epochs", type=int, default=10, help="epochs in integers")
    args = parser.parse_args()
    torch.set_num_threads(1)
    for seed in args.seeds:
        with tempfile.TemporaryDirectory() as folder:
            found = measured(seed, args.samples, args, Path(folder))
        shares, report = found.accuracy, found.training
        print(
            f"seed {seed}: float {shares.real:.2%}, int8 {shares.int8:.2%}, "
            f"trained {shares.trained:.2%}; epoch {report.epoch}, {report.unequal} codes differ",
            flush=True,
        )


if __name__ == "__main__":
    main()

"""Train edgec's example networks on scikit-learn's handwritten digits and export them to ONNX.

Needs ``pip install '.[train]'``, takes about a minute on one core, and gives the same files
with the same versions of the packages::

    python examples/train_digits.py --out examples

Writes `digits_resnet.onnx` (a small residual network), `digits_mlp.onnx` (for the smallest boards),
`digits_vit.onnx` (a vision transformer), `digits_calibration.npz` (part of the training samples)
and `digits_test.npz` (the held-out part).
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt
import onnx
import torch
from digits_vit import DigitsViT
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split
from torch import Tensor, nn

SEED = 0
TEST_SHARE = 0.3
CALIBRATION_SAMPLES = 200
BATCH = 32

FloatArray = npt.NDArray[np.float32]
IntArray = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Split:
    """The data set in two parts; x: float32 [N, 1, 8, 8] in 0..1, y: int64 [N]."""

    train_x: FloatArray
    train_y: IntArray
    test_x: FloatArray
    test_y: IntArray


@dataclass(frozen=True, slots=True)
class Recipe:
    """A network and how it is trained.

    Attributes:
        make: gives it with fresh weights.
        augment: changes the training images at random, float32 [N, 1, 8, 8]; None leaves them.
        epochs: passes over the training part.
        rate: the highest learning rate.
        decay: AdamW's weight decay.
    """

    make: Callable[[], nn.Module]
    augment: Callable[[Tensor, torch.Generator], Tensor] | None = None
    epochs: int = 60
    rate: float = 0.01
    decay: float = 1e-3


def load_split() -> Split:
    """Scikit-learn's 1,797 digits: 70 % to train with, 30 % held out, classes in proportion.

    Source: E. Alpaydin and C. Kaynak, Optical Recognition of Handwritten Digits, UCI, 1998.
    """
    digits = load_digits()
    x = (digits.images / 16).astype(np.float32)[:, None]
    y = digits.target.astype(np.int64)
    train_x, test_x, train_y, test_y = train_test_split(
        x, y, test_size=TEST_SHARE, stratify=y, random_state=SEED
    )
    return Split(train_x, train_y, test_x, test_y)


def conv_bn(inputs: int, outputs: int, size: int, stride: int = 1) -> nn.Sequential:
    """Convolution without bias, then batch normalization."""
    return nn.Sequential(
        nn.Conv2d(inputs, outputs, size, stride, padding=size // 2, bias=False),
        nn.BatchNorm2d(outputs),
    )


class Residual(nn.Module):
    """Two 3x3 convolutions and a shortcut: a 1x1 convolution where the shape changes."""

    def __init__(self, inputs: int, outputs: int, stride: int = 1) -> None:
        super().__init__()
        self.body = nn.Sequential(
            conv_bn(inputs, outputs, 3, stride), nn.ReLU(), conv_bn(outputs, outputs, 3)
        )
        same = inputs == outputs and stride == 1
        self.shortcut = nn.Identity() if same else conv_bn(inputs, outputs, 1, stride)

    def forward(self, x: Tensor) -> Tensor:
        """x: float32 [N, inputs, H, W] -> [N, outputs, H / stride, W / stride]."""
        return torch.relu(self.body(x) + self.shortcut(x))


def make_resnet() -> nn.Module:
    """About 14,000 parameters in seven 3x3 and two 1x1 convolutions."""
    return nn.Sequential(
        conv_bn(1, 8, 3),
        nn.ReLU(),
        Residual(8, 8),
        Residual(8, 16, stride=2),
        Residual(16, 24, stride=2),
        nn.AdaptiveAvgPool2d(1),
        nn.Flatten(),
        nn.Linear(24, 10),
    )


def make_mlp() -> nn.Module:
    """64-32-10: 2,410 parameters."""
    return nn.Sequential(nn.Flatten(), nn.Linear(64, 32), nn.ReLU(), nn.Linear(32, 10))


def shifted(x: Tensor, generator: torch.Generator) -> Tensor:
    """Each image of [N, 1, 8, 8] moved by -1, 0 or 1 pixels either way, filled with 0."""
    padded = nn.functional.pad(x, (1, 1, 1, 1))
    moves = torch.randint(0, 3, (len(x), 2), generator=generator).tolist()
    return torch.stack(
        [p[:, r : r + 8, c : c + 8] for p, (r, c) in zip(padded, moves, strict=True)]
    )


def warped(x: Tensor, generator: torch.Generator) -> Tensor:
    """Each image of [N, 1, 8, 8] a little turned, sheared, resized and moved, filled with 0."""

    def uniform(limit: float) -> Tensor:
        return (torch.rand(len(x), generator=generator) * 2 - 1) * limit

    angle, size, shear = uniform(0.2), 1 + uniform(0.12), uniform(0.15)
    cosine, sine = torch.cos(angle) * size, torch.sin(angle) * size
    first = torch.stack((cosine, shear - sine, uniform(0.15)), 1)
    second = torch.stack((sine, cosine, uniform(0.15)), 1)
    grid = nn.functional.affine_grid(
        torch.stack((first, second), 1), list(x.shape), align_corners=False
    )
    return nn.functional.grid_sample(x, grid, align_corners=False)


RECIPES = {
    "resnet": Recipe(make_resnet, shifted),
    "mlp": Recipe(make_mlp),
    "vit": Recipe(DigitsViT, warped, epochs=120, rate=0.003, decay=0.05),
}


def train(model: nn.Module, split: Split, epochs: int, recipe: Recipe) -> None:
    """AdamW with one cycle of the learning rate; the held-out part is never looked at."""
    generator = torch.Generator().manual_seed(SEED)
    x, y = torch.from_numpy(split.train_x), torch.from_numpy(split.train_y)
    optimizer = torch.optim.AdamW(model.parameters(), recipe.rate, weight_decay=recipe.decay)
    steps = epochs * (len(x) // BATCH)
    schedule = torch.optim.lr_scheduler.OneCycleLR(optimizer, recipe.rate, total_steps=steps)
    model.train()
    for _ in range(epochs):
        order = torch.randperm(len(x), generator=generator)[: len(x) // BATCH * BATCH]
        for batch in order.split(BATCH):
            samples = recipe.augment(x[batch], generator) if recipe.augment else x[batch]
            loss = nn.functional.cross_entropy(model(samples), y[batch])
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            schedule.step()
    model.eval()


def accuracy(model: nn.Module, split: Split) -> float:
    """Share of the held-out samples that the model gets right."""
    with torch.no_grad():
        found = model(torch.from_numpy(split.test_x)).argmax(1).numpy()
    return float((found == split.test_y).mean())


def export(model: nn.Module, path: Path) -> None:
    """Write `x` float32 [batch, 1, 8, 8] -> `logits` [batch, 10] as ONNX, weights inside."""
    program = torch.onnx.export(
        model,
        (torch.zeros(2, 1, 8, 8),),
        input_names=["x"],
        output_names=["logits"],
        dynamic_shapes=({0: torch.export.Dim("batch")},),
        dynamo=True,
        verbose=False,
    )
    if program is None:
        raise RuntimeError("PyTorch's exporter returned nothing")
    proto = program.model_proto
    # The exporter notes where in the source each node came from, paths of this machine included.
    del proto.graph.metadata_props[:]
    for item in (*proto.graph.node, *proto.graph.initializer, *proto.graph.value_info):
        del item.metadata_props[:]
        item.ClearField("doc_string")
    for value in (*proto.graph.input, *proto.graph.output):
        del value.metadata_props[:]
    proto.graph.name = path.stem
    onnx.checker.check_model(proto, full_check=True)
    onnx.save(proto, path)


def write_samples(split: Split, out: Path) -> None:
    """Write the calibration samples, taken from the training part, and the held-out part."""
    rng = np.random.default_rng(SEED)
    chosen = np.sort(rng.choice(len(split.train_x), CALIBRATION_SAMPLES, replace=False))
    np.savez_compressed(out / "digits_calibration.npz", x=split.train_x[chosen])
    np.savez_compressed(out / "digits_test.npz", x=split.test_x, y=split.test_y)


def main(arguments: Sequence[str] | None = None) -> None:
    """Train and export the networks."""
    parser = argparse.ArgumentParser(description="Train and export edgec's example networks.")
    parser.add_argument("--out", type=Path, default=Path(__file__).parent, help="output folder")
    parser.add_argument("--epochs", type=int, help="passes over the training part; for a quick try")
    samples_help = "write the training part with its labels here, and train nothing"
    parser.add_argument("--samples", type=Path, metavar="FILE.npz", help=samples_help)
    options = parser.parse_args(arguments)
    if options.samples is not None:
        split = load_split()
        np.savez_compressed(options.samples, x=split.train_x, y=split.train_y)
        return
    options.out.mkdir(parents=True, exist_ok=True)

    torch.use_deterministic_algorithms(True)
    torch.set_num_threads(1)
    split = load_split()
    write_samples(split, options.out)
    for name, recipe in RECIPES.items():
        torch.manual_seed(SEED)
        model = recipe.make()
        train(model, split, options.epochs or recipe.epochs, recipe)
        export(model, options.out / f"digits_{name}.onnx")
        size = sum(parameter.numel() for parameter in model.parameters())
        share = accuracy(model, split)
        print(f"digits_{name}.onnx: {size} parameters, held-out accuracy {share:.2%}")


if __name__ == "__main__":
    main()

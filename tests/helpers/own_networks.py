"""The networks that the repository holds, and inputs for them that need no other files."""

from __future__ import annotations

import numpy as np
from places import REPOSITORY

from edgec.base.dtypes import Array

ROOT = REPOSITORY
EXAMPLES, NETWORKS = ROOT / "examples", ROOT / "networks"
OWN_NETWORKS = {
    "digits_mlp": EXAMPLES / "digits_mlp.onnx",
    "digits_resnet": EXAMPLES / "digits_resnet.onnx",
    "digits_vit": EXAMPLES / "digits_vit.onnx",
    "resnet8": NETWORKS / "resnet8_cifar10.onnx",
    "resnet10": NETWORKS / "resnet10_cifar10.onnx",
    "cct": NETWORKS / "cct_cifar10.onnx",
}
CONVOLUTIONAL = ("digits_mlp", "digits_resnet", "resnet8")
IMAGE_SIDE = 32
MEAN, STD = (0.485, 0.456, 0.406), (0.229, 0.224, 0.225)  # networks/cifar10.py


def digits(part: str) -> tuple[Array, Array]:
    """Pixels float32 [N, 1, 8, 8] of 0 to 1 and labels int64 [N] of the part "test".

    The part "calibration" has no labels: they are empty.
    """
    file = np.load(EXAMPLES / f"digits_{part}.npz")
    return file["x"], file["y"] if part == "test" else np.zeros(0, np.int64)


def digit_images(part: str, count: int) -> Array:
    """Digits as the networks of CIFAR-10 take images: float32 [count, 3, 32, 32].

    Each is four times as large and has its colours changed, another mixture for each image.  What
    the networks say of them means nothing; that integers say the same as floats does.
    """
    x, _ = digits(part)
    repeats = IMAGE_SIDE // x.shape[-1]
    large = x[:count].repeat(repeats, axis=2).repeat(repeats, axis=3)
    rng = np.random.default_rng(3)
    paper, ink = rng.uniform(0, 1, (2, len(large), 3, 1, 1))
    colours = paper + (ink - paper) * large
    moved = (colours - np.reshape(MEAN, (3, 1, 1))) / np.reshape(STD, (3, 1, 1))
    return moved.astype(np.float32)

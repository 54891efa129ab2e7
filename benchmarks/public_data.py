"""Public networks and data as tasks: what to calibrate on, choose on and test on (docs/data.md).

Rules: calibration and choice of options on training images, with a validation part kept apart; test
images once.  The keyword set has no training part: its first 100 samples calibrate, the other 400
evaluate.  Networks without data get inputs made from other data.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from types import MappingProxyType
from typing import Any

import numpy as np
import numpy.typing as npt
from PIL import Image

Array = npt.NDArray[Any]

CALIBRATION = 200
VALIDATION = 1000
_IMAGENET = (np.array([0.485, 0.456, 0.406]), np.array([0.229, 0.224, 0.225]))


@dataclass(frozen=True, slots=True, eq=False)
class Split:
    """Samples as the model takes them, and their labels where there are any.

    Attributes:
        x: float32 or int8 [N, ...].
        y: int [N], or None.
    """

    x: Array
    y: Array | None = None


@dataclass(frozen=True, slots=True)
class Task:
    """One network with its data.

    Attributes:
        model: file name in the folder `models`.
        data: reads a split, "calibration", "validation" or "test", from the data folder.
        labelled: False where only agreement with the float network can be measured.
    """

    model: str
    data: Callable[[Path, str], Split]
    labelled: bool = True


@cache
def _mosaic(path: Path) -> Array:
    """Images of a WebP mosaic: uint8 [N, 32, 32, 3]."""
    tiles = np.asarray(Image.open(path).convert("RGB"))
    rows, columns = tiles.shape[0] // 32, tiles.shape[1] // 32
    return tiles.reshape(rows, 32, columns, 32, 3).swapaxes(1, 2).reshape(-1, 32, 32, 3)


def cifar(folder: Path, split: str) -> Split:
    """CIFAR-10 images, uint8 [N, 32, 32, 3]: calibration and validation from the training set."""
    name = {"calibration": "cifar10_train_0", "validation": "cifar10_train_1"}.get(split)
    count = {"calibration": CALIBRATION, "validation": VALIDATION}.get(split)
    return cifar_part(folder / "data", name or "cifar10_test_5000", count)


def cifar_part(data: Path, name: str, count: int | None) -> Split:
    """The first `count` images, or all, of one file of the folder `data`; uint8 [N, 32, 32, 3]."""
    images = _mosaic(data / f"{name}.webp")
    labels = np.load(data / f"{name}_labels.npz")["y"][:count]
    return Split(images[: len(labels)], labels.astype(np.int64))


def pixels(folder: Path, split: str) -> Split:
    """Float pixels 0..255 (ResNet-8)."""
    images = cifar(folder, split)
    return Split(images.x.astype(np.float32), images.y)


def signed_pixels(folder: Path, split: str) -> Split:
    """int8 pixels - 128 (ResNet-8, quantized)."""
    images = cifar(folder, split)
    return Split((images.x.astype(np.int16) - 128).astype(np.int8), images.y)


def normalised(folder: Path, split: str) -> Split:
    """(pixel / 255 - mean) / std, channels first (ResNet-20)."""
    images = cifar(folder, split)
    return Split(normalised_pixels(images.x), images.y)


def normalised_pixels(images: Array) -> Array:
    """uint8 [N, 32, 32, 3] to float32 [N, 3, 32, 32]: (pixel / 255 - mean) / std."""
    x = (images / 255.0 - _IMAGENET[0]) / _IMAGENET[1]
    return np.ascontiguousarray(x.transpose(0, 3, 1, 2), np.float32)


def _scaled(folder: Path, split: str, size: int) -> Array:
    """CIFAR images scaled up, uint8 [N, size, size, 3]; the first 500 of the test images."""
    images = cifar(folder, split).x[:500]
    resized = [Image.fromarray(x).resize((size, size), Image.Resampling.BILINEAR) for x in images]
    return np.stack([np.asarray(image) for image in resized])


def wake_words(folder: Path, split: str) -> Split:
    """Stand-ins for visual wake words: pixel / 255, 96 x 96."""
    return Split(_scaled(folder, split, 96).astype(np.float32) / np.float32(255))


def signed_wake_words(folder: Path, split: str) -> Split:
    """The same as int8 pixels - 128."""
    return Split((_scaled(folder, split, 96).astype(np.int16) - 128).astype(np.int8))


def mcunet(folder: Path, split: str) -> Split:
    """Stand-ins for visual wake words: x / 127.5 - 1, 80 x 80."""
    x = _scaled(folder, split, 80).astype(np.float32)
    return Split(x / np.float32(127.5) - np.float32(1))


def _keyword_part(array: Array, split: str) -> Array:
    """The set has no training part: 100 samples calibrate, 400 evaluate."""
    return array[:100] if split == "calibration" else array[100:]


def signed_keywords(folder: Path, split: str) -> Split:
    """Keyword spotting features, int8 as stored."""
    file = np.load(folder / "data" / "kws01_eval_500.npz")
    labels = _keyword_part(file["y"], split).astype(np.int64)
    return Split(_keyword_part(file["x"], split), labels)


def keywords(folder: Path, split: str) -> Split:
    """Keyword spotting features as float MFCC."""
    file = np.load(folder / "data" / "kws01_eval_500.npz")
    codes = signed_keywords(folder, split)
    real = (codes.x.astype(np.float32) - float(file["input_zero_point"])) * float(
        file["input_scale"]
    )
    return Split(real.astype(np.float32), codes.y)


_RATE_HZ, _FFT, _HOP, _MELS, _FRAMES = 16000, 1024, 512, 128, 5


def _mel_filters() -> Array:
    """Triangular filters on Slaney's mel scale, unit area; [_MELS, _FFT // 2 + 1].

    Source: M. Slaney, Auditory Toolbox (1998), as in librosa's defaults, which MLPerf Tiny uses.
    """
    step, knee = 200.0 / 3.0, 1000.0
    log_step = np.log(6.4) / 27.0

    def to_hz(mel: Array) -> Array:
        above = knee * np.exp(log_step * (mel - knee / step))
        return np.where(mel < knee / step, mel * step, above)

    top = knee / step + np.log(_RATE_HZ / 2 / knee) / log_step
    edges = to_hz(np.linspace(0.0, top, _MELS + 2))
    bins = np.linspace(0.0, _RATE_HZ / 2, _FFT // 2 + 1)
    rising = (bins - edges[:-2, None]) / np.diff(edges)[:-1, None]
    falling = (edges[2:, None] - bins) / np.diff(edges)[1:, None]
    area = 2.0 / (edges[2:] - edges[:-2])
    return np.maximum(0.0, np.minimum(rising, falling)) * area[:, None]


@cache
def _log_mels(path: Path) -> Array:
    """Five frames of log-mel dB a row: float32 [240 clips, windows, 640]."""
    clips = np.load(path)["pcm"].astype(np.float64) / 32768.0
    filters, window = _mel_filters(), np.hanning(_FFT + 1)[:-1]
    rows = []
    for clip in clips:
        padded = np.pad(clip, _FFT // 2)
        frames = np.lib.stride_tricks.sliding_window_view(padded, _FFT)[::_HOP] * window
        power = np.abs(np.fft.rfft(frames)) ** 2
        decibel = 10.0 * np.log10(power @ filters.T + np.finfo(float).eps)
        windows = range(len(decibel) - _FRAMES + 1)
        rows.append([decibel[i : i + _FRAMES].reshape(-1) for i in windows[::_FRAMES]])
    return np.asarray(rows, np.float32)


def log_mels(folder: Path, split: str) -> Split:
    """Stand-ins for machine sounds: speech; clips of one split in no other."""
    rows = _log_mels(folder / "data" / "kws01_audio_240.npz")
    part = {"calibration": 0, "validation": 1, "test": 2}[split]
    return Split(rows[part::3].reshape(-1, rows.shape[-1])[:400])


TASKS: Mapping[str, Task] = MappingProxyType(
    {
        "resnet8": Task("mlperf_resnet8_cifar10.onnx", pixels),
        "resnet20": Task("resnet20_cifar10.onnx", normalised),
        "dscnn": Task("mlperf_dscnn_kws.onnx", keywords),
        "vww": Task("mlperf_mobilenetv1_025_vww96.onnx", wake_words, labelled=False),
        "mcunet": Task("mcunet_vww80_float.onnx", mcunet, labelled=False),
        "autoencoder": Task("mlperf_autoencoder_toycar.onnx", log_mels, labelled=False),
    }
)
"""Float networks, to be quantized by edgec."""

QDQ_TASKS: Mapping[str, Task] = MappingProxyType(
    {
        "resnet8-qdq": Task("mlperf_resnet8_cifar10_int8_qdq.onnx", signed_pixels),
        "dscnn-qdq": Task("mlperf_dscnn_kws_int8_qdq.onnx", signed_keywords),
        "vww-qdq": Task("mlperf_mobilenetv1_025_vww96_int8_qdq.onnx", signed_wake_words, False),
    }
)
"""Networks that came quantized."""

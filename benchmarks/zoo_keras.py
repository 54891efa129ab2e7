"""Architectures of Keras for `zoo.py`, converted to TensorFlow Lite, in float or quantized.

Needs `tensorflow-cpu`, installed apart (its numpy must not become edgec's):
`pip install --target FOLDER tensorflow-cpu`, and FOLDER in the variable EDGEC_ZOO_TENSORFLOW.
Beside the model lie what TensorFlow Lite computes in float and in int8 for the test data.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Any

import keras
import numpy as np
import tensorflow as tf
from keras import layers
from zoo_make import CALIBRATION, NORMS, TEST, images

_SIDE = 64
_CLASSES = 10


def _application(maker: Callable[..., Any], side: int = _SIDE, **more: Any) -> Any:
    return maker(input_shape=(side, side, 3), weights=None, classes=_CLASSES, **more)


def _network(shape: tuple[int, ...], *steps: Any) -> Any:
    return keras.Sequential([layers.Input(shape), *steps, layers.Dense(_CLASSES)])


def _cnn() -> Any:
    convolutions = [
        layer
        for width in (16, 32)
        for layer in (layers.Conv2D(width, 3, activation="relu"), layers.MaxPooling2D())
    ]
    return _network((32, 32, 3), *convolutions, layers.Flatten(), layers.Dropout(0.5))


def _separable() -> Any:
    def block(width: int) -> Iterator[Any]:
        yield layers.SeparableConv2D(width, 3, padding="same", use_bias=False)
        yield layers.BatchNormalization()
        yield layers.LeakyReLU()

    blocks = itertools.chain.from_iterable(block(width) for width in (16, 24))
    return _network((32, 32, 3), *blocks, layers.GlobalAveragePooling2D())


def _temporal() -> Any:
    dilated = (
        layers.Conv1D(16, 3, padding="causal", dilation_rate=d, activation="relu")
        for d in (1, 2, 4)
    )
    return _network((64, 8), *dilated, layers.GlobalMaxPooling1D())


def _unet() -> Any:
    x = keras.Input((32, 32, 3))
    a = layers.Conv2D(8, 3, padding="same", activation="relu")(x)
    b = layers.Conv2D(16, 3, strides=2, padding="same", activation="relu")(a)
    up = layers.Conv2DTranspose(8, 3, strides=2, padding="same")(b)
    y = layers.Conv2D(8, 3, padding="same", activation="relu")(layers.Concatenate()([a, up]))
    z = layers.UpSampling2D(2, interpolation="bilinear")(layers.Conv2D(4, 1, strides=2)(y))
    return keras.Model(x, z)


def _attention() -> Any:
    start = x = keras.Input((16, 32))
    for _ in range(2):
        y = layers.LayerNormalization()(x)
        x = layers.Add()([x, layers.MultiHeadAttention(4, 8)(y, y)])
        y = layers.Dense(64, activation="gelu")(layers.LayerNormalization()(x))
        x = layers.Add()([x, layers.Dense(32)(y)])
    return keras.Model(start, layers.Dense(_CLASSES)(layers.GlobalAveragePooling1D()(x)))


_KERAS = keras.applications
NETWORKS: Mapping[str, Callable[[], Any]] = MappingProxyType(
    {
        "attention": _attention,
        "autoencoder": lambda: _network((64,), layers.Dense(32, activation="relu")),
        "cnn": _cnn,
        "convnext_tiny": lambda: _application(_KERAS.ConvNeXtTiny, 32),
        "densenet121": lambda: _application(_KERAS.DenseNet121, 32),
        "efficientnet_b0": lambda: _application(_KERAS.EfficientNetB0),
        "mobilenet": lambda: _application(_KERAS.MobileNet, alpha=0.25),
        "mobilenet_v2": lambda: _application(_KERAS.MobileNetV2, alpha=0.35),
        "mobilenet_v3_small": lambda: _application(_KERAS.MobileNetV3Small),
        "nasnet_mobile": lambda: _application(_KERAS.NASNetMobile),
        "separable": _separable,
        "temporal": _temporal,
        "unet": _unet,
    }
)
"""By name: what makes the network."""


def _make_sane(model: Any, inputs: np.ndarray) -> None:
    """Batch norms with the statistics of the data; their factors and biases vary."""
    rng = np.random.default_rng(0)
    for weight in model.weights:
        if len(weight.shape) == 1 and "moving" not in weight.path:
            is_factor = weight.path.endswith("gamma")
            weight.assign(is_factor + 0.1 * rng.normal(size=weight.shape))
    for layer in model._flatten_layers():
        if isinstance(layer, layers.BatchNormalization):
            layer.momentum = 0.5
    for _ in range(8):
        model(inputs, training=True)


def _converted(model: Any, inputs: np.ndarray, *, is_quantized: bool) -> bytes:
    converter = tf.lite.TFLiteConverter.from_keras_model(model)
    if is_quantized:
        converter.optimizations = [tf.lite.Optimize.DEFAULT]
        converter.representative_dataset = lambda: ([row[None]] for row in inputs)
        converter.target_spec.supported_ops = [tf.lite.OpsSet.TFLITE_BUILTINS_INT8]
    return bytes(converter.convert())


def _outputs(content: bytes, inputs: np.ndarray) -> dict[str, np.ndarray]:
    kernels = tf.lite.experimental.OpResolverType.BUILTIN_REF
    runner = tf.lite.Interpreter(model_content=content, experimental_op_resolver_type=kernels)
    run = runner.get_signature_runner()
    (name,) = run.get_input_details()
    found = [run(**{name: row[None]}) for row in inputs]
    return {key: np.concatenate([each[key] for each in found]) for key in found[0]}


def make(name: str, kind: str, folder: Path) -> None:
    """Write `model.tflite` (kind "float" or "int8"), its data, and what TensorFlow computes."""
    keras.utils.set_random_seed(0)
    model = NETWORKS[name]()
    shape = model.inputs[0].shape[1:]
    arrays = _data(shape)
    _make_sane(model, arrays)
    data, test = arrays[:CALIBRATION], arrays[CALIBRATION : CALIBRATION + TEST]
    plain = _converted(model, data, is_quantized=False)
    int8 = _converted(model, data, is_quantized=True)
    (input_name,) = (
        tf.lite.Interpreter(model_content=plain).get_signature_runner().get_input_details()
    )
    np.savez(folder / "data.npz", **{input_name: data})
    np.savez(folder / "test.npz", **{input_name: test})
    np.savez(folder / "wanted.npz", **_outputs(plain, test))
    np.savez(folder / "static.npz", **_outputs(int8, test))
    (folder / "model.tflite").write_bytes(plain if kind == "float" else int8)


def _data(shape: tuple[int, ...]) -> np.ndarray:
    """Noise for inputs of `shape`, channels last; float32."""
    count = CALIBRATION + TEST + NORMS
    if len(shape) == 1:
        return np.random.default_rng(0).normal(size=(count, *shape)).astype(np.float32)
    return np.moveaxis(images(count, (shape[-1], *shape[:-1])), 1, -1).copy()

"""Ways to damage a TensorFlow Lite file: its bytes, or what its records say."""

from __future__ import annotations

import random
from collections.abc import Mapping
from dataclasses import replace

import numpy as np
from tflite_models import Op, T, tflite_bytes

NUMBERS = (-(2**31), -7, -3, -2, -1, 0, 1, 2, 3, 5, 7, 100, 2**16 + 1, 2**31 - 1)
CUT_SHARE = 0.1
DTYPES = ("float32", "int8", "uint8", "int16", "int32", "int64", "bool", "float16")


def lying_tensor(rng: random.Random, tensor: T) -> T:
    """A tensor with a wrong size, type, content, scale or number of dimensions."""
    shape, kind = list(tensor.shape), rng.randrange(6)
    if kind == 0 and shape:
        shape[rng.randrange(len(shape))] = rng.choice(NUMBERS)
    elif kind == 1:
        shape = shape[1:] if rng.random() < 0.5 else [*shape, 2]
    elif kind == 5:
        shape = rng.choice(([], [2**31 - 1] * 2, [1] * 9, [2**16] * 4, [0], [-1] * 3, [46341] * 2))
    elif kind == 2:
        return replace(tensor, dtype=rng.choice(DTYPES))
    elif kind == 3:
        count = rng.choice((1, 2, max(min(shape[-1], 64), 1) if shape else 1))
        scale = [rng.choice((0.5, 0.0, -1.0, 1e30, float("inf")))] * count
        zero = [rng.choice((0, 3, 300))] * count
        return replace(tensor, scale=scale, zero=zero, axis=rng.choice((-1, 0, 9)))
    elif tensor.data is not None:
        numbers = rng.choices(NUMBERS, k=max(tensor.data.size, 1))
        data = np.resize(np.array(numbers), tensor.data.shape).astype(tensor.data.dtype)
        return replace(tensor, data=data)
    return replace(tensor, shape=shape)


def lying_operator(rng: random.Random, operator: Op, names: list[str]) -> Op:
    """An operator with another input, number of inputs, or attribute."""
    inputs, options = list(operator.inputs), dict(operator.options)
    kind = rng.randrange(3)
    if kind == 0 and inputs:
        inputs[rng.randrange(len(inputs))] = rng.choice(["", *names])
    elif kind == 1:
        inputs = inputs[:-1] if rng.random() < 0.6 else [*inputs, rng.choice(names)]
    elif options:
        key = rng.choice(list(options))
        if isinstance(options[key], bool):
            options[key] = not options[key]
        elif isinstance(options[key], int):
            options[key] = rng.choice((0, 1, 2, 3, 5, 7, 100, 127))
        elif isinstance(options[key], float):
            options[key] = rng.choice((0.0, -1.0, float("nan"), float("inf")))
    return replace(operator, inputs=inputs, options=options)


def as_codes(tensors: Mapping[str, T], dtype: str) -> dict[str, T]:
    """The tensors with codes of an integer type wherever they hold float32 numbers."""
    zero = 0 if dtype == "int16" else 3
    found = dict(tensors)
    for name, tensor in tensors.items():
        if tensor.dtype != "float32":
            continue
        data, kind = tensor.data, dtype if tensor.data is None else "int8"
        if data is not None:
            data = np.clip(np.round(data / 0.02), -127, 127).astype(np.int8)
        own = 0 if tensor.data is not None else zero
        found[name] = replace(tensor, data=data, dtype=kind, scale=[0.02], zero=[own])
    return found


def lying_model(rng: random.Random, tensors: Mapping[str, T], operator: Op) -> bytes:
    """A file of one operator of which one or two records lie."""
    own = dict(tensors)
    for _ in range(rng.randint(1, 2)):
        if rng.random() < 0.6:
            key = rng.choice(list(own))
            own[key] = lying_tensor(rng, own[key])
        else:
            operator = lying_operator(rng, operator, list(own))
    return tflite_bytes(own, [operator])


def mutated(rng: random.Random, data: bytes) -> bytes:
    """A file with one to four damaged places, or cut short."""
    found = bytearray(data)
    for _ in range(rng.randint(1, 4)):
        kind, place = rng.randrange(6), rng.randrange(8, len(found) - 8)
        if kind == 0:
            found[place] ^= 1 << rng.randrange(8)
        elif kind == 1:
            found[place] = rng.choice((0, 1, 0x7F, 0x80, 0xFF))
        elif kind == 2:
            # Lengths, offsets and numbers of tensors are four bytes at a multiple of four.
            place -= place % 4
            number = rng.choice((0, 1, 2, 3, 4, 0x7FFFFFFF, 0x80000000, 0xFFFFFFFF, 1 << 20))
            found[place : place + 4] = number.to_bytes(4, "little")
        elif kind == 3:
            source = rng.randrange(8, len(found) - 8)
            found[place : place + 4] = found[source : source + 4]
        elif kind == 4:
            # An offset to anywhere: to the table that holds it, backwards, beyond the end.
            place -= place % 4
            target = rng.choice((place, place - 4, 0, len(found), rng.randrange(len(found))))
            found[place : place + 4] = ((target - place) % 2**32).to_bytes(4, "little")
        else:
            # What has no room for fixed places is at the end: an attached archive.
            place = len(found) - rng.randrange(8, min(len(found) - 8, 400))
            found[place] = rng.choice((0, 1, 0x7F, 0x80, 0xFF))
    return bytes(found[: rng.randrange(8, len(found))] if rng.random() < CUT_SHARE else found)

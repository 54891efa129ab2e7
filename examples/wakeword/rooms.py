"""Noise and rooms around speech, and how loud it is: all made of random numbers."""

from __future__ import annotations

import numpy as np
from scipy.signal import fftconvolve
from speech import RATE, Sound

_SLOPES = {"white": 0.0, "pink": 0.5, "brown": 1.0}
"""Kind of noise to the power of 1/f by which its amplitude falls."""


def noise(random: np.random.Generator, length: int) -> Sound:
    """Noise of some colour with a hum or clicks at times; its root mean square is 1."""
    slope = _SLOPES[str(random.choice(list(_SLOPES)))]
    spectrum = np.fft.rfft(random.normal(size=length))
    spectrum /= np.maximum(np.arange(len(spectrum)) * RATE / length, 20.0) ** slope
    x = np.fft.irfft(spectrum, length)
    x /= x.std() + 1e-12
    t = np.arange(length) / RATE
    if random.random() < 0.3:
        hum = sum(np.sin(2 * np.pi * 50 * k * t + random.uniform(0, 6)) / k for k in range(1, 8))
        x += hum * random.uniform(0.2, 2)
    if random.random() < 0.3:
        x += (random.random(length) < 4 / RATE) * random.normal(0, 30, length)
    # It comes and goes.
    x *= 1 + random.uniform(0, 0.9) * np.sin(2 * np.pi * random.uniform(0.1, 2) * t)
    return np.asarray(x / (x.std() + 1e-12), np.float32)


def in_a_room(random: np.random.Generator, x: Sound) -> Sound:
    """Speech with echoes that fade, of rooms of 0.1 to 0.4 s; half of the time without."""
    if random.random() < 0.5:
        return x
    length = int(random.uniform(0.1, 0.4) * RATE)
    fading = np.exp(-6.9 * np.arange(length) / length) * random.normal(size=length)
    fading *= random.uniform(0.1, 0.6) / np.linalg.norm(fading)
    fading[0] = 1.0
    return np.asarray(fftconvolve(x, fading)[: len(x)], np.float32)


def recorded(random: np.random.Generator, speech: Sound, least_db: float) -> np.ndarray:
    """Speech as a microphone hears it: int16 [L].

    Args:
        random: chooses noise, room and loudness.
        speech: with silence where nobody speaks.
        least_db: least signal-to-noise ratio; the largest is 35 dB.
    """
    x = in_a_room(random, speech)
    spoken = x[np.abs(x) > 0.01]
    level = float(np.sqrt(np.mean(spoken**2))) if len(spoken) else 0.1
    ratio = 10 ** (-random.uniform(least_db, 35) / 20)
    x = x + noise(random, len(x)) * level * ratio
    peak = 10 ** (random.uniform(-30, 0) / 20)
    pcm = np.rint(x * (32767 * peak / (np.abs(x).max() + 1e-9)))
    return np.asarray(pcm, np.int16)

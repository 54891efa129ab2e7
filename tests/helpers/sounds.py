"""Synthetic sound, and front ends in float64."""

import numpy as np

from edgec.frontends.mel import bank_of, cepstrum_of, window_of
from edgec.frontends.parameters import MelParameters

_LOGARITHMS = {"ln": np.log, "log2": np.log2, "log10": np.log10}


def speech_like(samples: int = 16_000, seed: int = 0) -> np.ndarray:
    """A voice that glides, in bursts, over quiet noise: int16 [1, samples]."""
    random = np.random.default_rng(seed)
    t = np.arange(samples) / 16_000
    pitch = 2 * np.pi * (110 * t + 40 * t**2)
    voice = sum(np.sin(k * pitch) / k for k in range(1, 25))
    loud = np.maximum(0, np.sin(2 * np.pi * 3 * t)) ** 2
    found = 6000 * voice * loud + random.normal(0, 20, samples)
    return np.clip(np.rint(found), -32768, 32767).astype(np.int16)[None]


def sounds() -> dict[str, np.ndarray]:
    """Recordings of all kinds, int16 [1, 16000]."""
    random = np.random.default_rng(1)
    t = np.arange(16_000) / 16_000
    square = np.where(np.sin(2 * np.pi * 440 * t) > 0, 32767, -32768)
    return {
        "speech": speech_like(),
        "noise": random.integers(-32768, 32768, (1, 16_000)).astype(np.int16),
        "clipped": square.astype(np.int16)[None],
        "whisper": random.integers(-3, 4, (1, 16_000)).astype(np.int16),
        "silence": np.zeros((1, 16_000), np.int16),
    }


def real_features(p: MelParameters, sound: np.ndarray) -> np.ndarray:
    """The features of recordings int16 [N, L] in float64, by numpy's FFT: [N, T, F]."""
    x = np.pad(sound / 32768.0, ((0, 0), (1, 0)))
    starts = np.arange(0, x.shape[1] - p.window, p.hop)
    frames = x[:, starts[:, None] + np.arange(p.window + 1)]
    if p.emphasis_within:
        frames[..., 0] = frames[..., 1]
    if p.remove_dc:
        frames = frames - frames[..., 1:].mean(axis=-1, keepdims=True)
    e = frames[..., 1:] - p.emphasis * frames[..., :-1]
    amplitude = np.abs(np.fft.rfft(e * window_of(p), p.points))
    energy = (amplitude if p.magnitude else amplitude**2) @ bank_of(p).T * p.scale
    floored = energy + p.added if p.added else np.maximum(energy, 1e-10)
    log = 10 * np.log10(floored) if p.log == "db" else _LOGARITHMS[p.log](floored)
    found = np.clip(p.gain * log + p.bias, p.low, p.high)
    return found @ cepstrum_of(p).T if p.coefficients else found


def decibels(wanted: np.ndarray, found: np.ndarray) -> float:
    """Energy of what is wanted above that of the error, in dB."""
    error = float(((found - wanted) ** 2).sum())
    return np.inf if error == 0 else 10 * float(np.log10((wanted**2).sum() / error))

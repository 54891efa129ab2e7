"""Synthetic recordings of sensors, and their features in float64."""

import numpy as np

from edgec.frontends.sensor import SensorParameters, bins_of, window_of


def movement(p: SensorParameters, windows: int, seed: int = 0) -> np.ndarray:
    """Steps, shakes and gravity of an accelerometer, as int16 [1, samples of all axes]."""
    rng = np.random.default_rng(seed)
    count = p.window + (windows - 1) * p.hop
    t = np.arange(count) / p.rate
    rows = []
    for axis in range(p.axes):
        pace = rng.uniform(0.02, 0.1) * p.rate
        swing = 0.2 * np.sin(2 * np.pi * pace * t + axis) + 0.06 * np.sin(4.1 * np.pi * pace * t)
        bumps = 0.3 * (rng.random(count) < 0.03) * rng.normal(size=count)
        gravity = (0.4, -0.2, 0.05)[axis % 3]
        rows.append(gravity + swing * (1 + 0.5 * np.sin(t)) + bumps + rng.normal(0, 0.02, count))
    found = np.clip(np.rint(np.array(rows).T * 32768), -32768, 32767).astype(np.int16)
    return found.reshape(1, -1)


def real_filtered(p: SensorParameters, x: np.ndarray) -> np.ndarray:
    """Samples [L, axes] through the real sections, and every n-th of them."""
    if p.has_filter:
        sections, _ = p.filters()
        for b0, b1, b2, a1, a2 in sections:
            y = np.zeros_like(x)
            z1, z2 = np.zeros(x.shape[1]), np.zeros(x.shape[1])
            for n, row in enumerate(x):
                y[n] = b0 * row + z1
                z1 = b1 * row - a1 * y[n] + z2
                z2 = b2 * row - a2 * y[n]
            x = y
    return x[:: p.decimate]


def real_features(p: SensorParameters, samples: np.ndarray) -> np.ndarray:
    """The features of recordings int16 [N, L * axes] in float64: [N, T, F]."""
    found = []
    for recording in samples:
        x = recording.reshape(-1, p.axes) / 32768.0 * p.full_scale
        x = real_filtered(p, x)
        starts = range(0, len(x) - p.width + 1, p.hop // p.decimate)
        found.append([_of_window(p, x[at : at + p.width]) for at in starts])
    return np.array(found)


def _of_window(p: SensorParameters, x: np.ndarray) -> np.ndarray:
    row = []
    for u in x.T:
        e = u - u.mean()
        variance = np.mean(e**2)
        flat = variance == 0
        # A mean in binary fractions may miss the exact one by a bit: signs are those of codes.
        codes = np.rint(u / p.full_scale * 32768).astype(np.int64)
        deviation = codes * len(u) - codes.sum()
        every = {
            "mean": u.mean(),
            "std": np.sqrt(variance),
            "rms": np.sqrt(np.mean(u**2)),
            "min": u.min(),
            "max": u.max(),
            "skewness": 0.0 if flat else np.mean(e**3) / variance**1.5,
            "kurtosis": 0.0 if flat else np.mean(e**4) / variance**2 - 3,
            "crossings": np.sum((u[1:] < 0) != (u[:-1] < 0)),
            "mean-crossings": np.sum((deviation[1:] < 0) != (deviation[:-1] < 0)),
        }
        row += [every[name] for name in p.names]
        if p.limits:
            window = window_of(p.width)
            power = np.abs(np.fft.rfft(e * window, p.points)) ** 2
            power *= 2 / (p.points * np.sum(window**2))
            for first, count in bins_of(p):
                band = power[first : first + count].sum()
                row.append(10 * np.log10(max(band, p.floor * p.full_scale**2)))
    return np.array(row)

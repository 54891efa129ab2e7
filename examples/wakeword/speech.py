"""Words spoken by espeak-ng, in many voices, as samples of 16 bits at 16 kHz.

A voice is a language, whose sounds and accent it speaks with, and a variant of espeak-ng: a throat,
so to say.  Voices to test with have variants that no other voice has.
"""

from __future__ import annotations

import io
import re
import subprocess
import wave
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import TypeVar

import numpy as np
import numpy.typing as npt
from scipy.signal import resample_poly

RATE = 16_000
Sound = npt.NDArray[np.float32]
"""Samples of -1 to 1 at 16 kHz, float32 [L]."""
T = TypeVar("T")

LANGUAGES = (
    "en-us",
    "en-gb",
    "en-gb-scotland",
    "en-us",
    "en-gb",
    "de",
    "it",
    "nb",
    "es",
    "en-us-nyc",
)
"""Accents to train with; English ones more often."""
OTHER_LANGUAGES = ("en-us", "en-gb", "en-gb-x-rp", "en-029", "nl")
"""Accents to test with, three of which are not trained with."""
_WITHOUT = ("whisper", "whisperf", "fast", "announcer", "Demonic", "croak")
"""Variants that whisper, or that are no voices of people."""
_TEST_EVERY = 4
_SPOKEN_RATE = 22_050


@dataclass(frozen=True, slots=True)
class Voice:
    """How a text is spoken.

    Attributes:
        language, variant: espeak-ng's names.
        speed: words a minute.
        pitch: 0 to 99.
    """

    language: str
    variant: str
    speed: int
    pitch: int


def variants() -> tuple[list[str], list[str]]:
    """The variants to train with and those to test with."""
    listed = subprocess.run(
        ["espeak-ng", "--voices=variant"], capture_output=True, text=True, check=True
    ).stdout
    names = sorted(
        {name.strip() for name in re.findall(r"!v/(.*?)(?:\s{2,}|\s*\(|\s*$)", listed, re.M)}
    )
    kept = [name for name in names if name not in _WITHOUT]
    return (
        [name for at, name in enumerate(kept) if at % _TEST_EVERY],
        kept[::_TEST_EVERY],
    )


def voice(random: np.random.Generator, languages: Sequence[str], names: Sequence[str]) -> Voice:
    """Some voice."""
    return Voice(
        str(random.choice(languages)),
        str(random.choice(names)),
        int(random.integers(120, 221)),
        int(random.integers(20, 81)),
    )


def speak(text: str, by: Voice) -> Sound:
    """A text as it is spoken, without the silence around it, its peak 1."""
    words = ["espeak-ng", "-v", f"{by.language}+{by.variant}", "-s", str(by.speed)]
    done = subprocess.run(
        [*words, "-p", str(by.pitch), "--stdout", text], capture_output=True, check=True
    )
    with wave.open(io.BytesIO(done.stdout)) as file:
        if file.getframerate() != _SPOKEN_RATE:
            raise SystemExit(f"espeak-ng speaks at {file.getframerate()} samples a second")
        # A stream says that it is as long as it may be.
        pcm = np.frombuffer(file.readframes(1 << 26), np.int16)
    x = resample_poly(pcm.astype(np.float64), 320, 441)
    loud = np.flatnonzero(np.abs(x) > 0.02 * np.abs(x).max(initial=1.0))
    x = x[loud[0] : loud[-1] + 1] if len(loud) else x[:0]
    return np.asarray(x / np.abs(x).max(initial=1.0), np.float32)


def at_once(make: Callable[[int], T], count: int) -> list[T]:
    """What a function makes of 0, 1, ..., two or more at a time."""
    with ThreadPoolExecutor() as pool:
        return list(pool.map(make, range(count)))


def read_wav(path: str) -> npt.NDArray[np.int16]:
    """Samples of a recording of one channel, 16 bits and 16 kHz, int16 [L]."""
    with wave.open(path) as file:
        if (file.getnchannels(), file.getsampwidth(), file.getframerate()) != (1, 2, RATE):
            raise SystemExit(f"{path}: give one channel, 16 bits, 16 kHz")
        return np.frombuffer(file.readframes(file.getnframes()), np.int16)


def write_wav(path: str, pcm: npt.NDArray[np.int16]) -> None:
    """Writes samples, int16 [L], as a recording at 16 kHz."""
    with wave.open(path, "wb") as file:
        file.setnchannels(1)
        file.setsampwidth(2)
        file.setframerate(RATE)
        file.writeframes(pcm.astype("<i2").tobytes())

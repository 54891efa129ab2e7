"""What the network is trained, calibrated and tested with: recordings that are made up."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from rooms import recorded
from speech import RATE, Sound, Voice, at_once, speak, voice

CLIP_SECONDS = 2.5
_MOST_SECONDS = 1.4
"""Most that the wake word takes; what is spoken more slowly is spoken again, faster."""


@dataclass(frozen=True, slots=True)
class Speakers:
    """Accents and variants of voices, and the words that they say."""

    languages: Sequence[str]
    variants: Sequence[str]
    words: Sequence[str]

    def voice(self, random: np.random.Generator) -> Voice:
        """Some voice."""
        return voice(random, self.languages, self.variants)

    def talk(self, random: np.random.Generator, count: int) -> Sound:
        """Some words in a row."""
        return speak(" ".join(random.choice(self.words, count)), self.voice(random))


@dataclass(frozen=True, slots=True)
class Clips:
    """Recordings of one length.

    Attributes:
        pcm: int16 [N, L].
        ends: sample at which the wake word ends, int64 [N]; -1 where nobody says it.
    """

    pcm: npt.NDArray[np.int16]
    ends: npt.NDArray[np.int64]


def said(word: str, by: Voice) -> Sound:
    """The wake word, at most as long as a window of the network."""
    x = speak(word, by)
    while len(x) > _MOST_SECONDS * RATE and by.speed < 400:
        by = Voice(by.language, by.variant, by.speed + 30, by.pitch)
        x = speak(word, by)
    return x


def with_word(word: str, speakers: Speakers, count: int, seed: int, least_db: float) -> Clips:
    """Recordings in which the wake word is said once, half of them with talk around it."""
    length = int(CLIP_SECONDS * RATE)

    def make(at: int) -> tuple[npt.NDArray[np.int16], int]:
        random = np.random.default_rng((seed, at))
        x = said(word, speakers.voice(random)) * random.uniform(0.5, 1)
        end = int(random.integers(min(len(x) + RATE // 10, length - RATE // 2), length - RATE // 2))
        line = np.zeros(length, np.float32)
        if random.random() < 0.5:
            gap = int(random.uniform(0.03, 0.4) * RATE)
            _put(line, speakers.talk(random, 3), end - len(x) - gap, ends_there=True)
            _put(line, speakers.talk(random, 2), end + gap, ends_there=False)
        start = max(end - len(x), 0)
        line[start:end] = x[len(x) - (end - start) :]
        return recorded(random, line, least_db), end

    made = at_once(make, count)
    return Clips(np.stack([pcm for pcm, _ in made]), np.array([end for _, end in made]))


def _put(line: Sound, x: Sound, at: int, *, ends_there: bool) -> None:
    """Add speech to a line where it fits, from a sample on or up to it."""
    if ends_there:
        x = x[max(len(x) - at, 0) :] if at > 0 else x[:0]
        at -= len(x)
    x = x[: max(len(line) - at, 0)]
    line[at : at + len(x)] += x


def without_word(
    near: Sequence[str], speakers: Speakers, count: int, seed: int, least_db: float
) -> Clips:
    """Recordings of other words, of words that sound alike (a third), and of noise (some)."""
    length = int(CLIP_SECONDS * RATE)

    def make(at: int) -> npt.NDArray[np.int16]:
        random = np.random.default_rng((seed, at))
        line = np.zeros(length, np.float32)
        kind = random.random()
        if kind < 0.35 and near:
            x = speak(str(random.choice(near)), speakers.voice(random))
            _put(line, x, int(random.integers(0, max(length - len(x), 1))), ends_there=False)
        elif kind < 0.95:
            _put(line, speakers.talk(random, 8), 0, ends_there=False)
        return recorded(random, line, least_db)

    return Clips(np.stack(at_once(make, count)), np.full(count, -1))


def talk(speakers: Speakers, hours: float, seed: int, least_db: float) -> npt.NDArray[np.int16]:
    """Hours of other words without a break, with noise: int16 [L]."""
    seconds = 60

    def make(at: int) -> npt.NDArray[np.int16]:
        random = np.random.default_rng((seed, at))
        parts: list[Sound] = []
        while sum(map(len, parts)) < seconds * RATE:
            pause = np.zeros(int(random.uniform(0.1, 1) * RATE), np.float32)
            parts += [speakers.talk(random, 10), pause]
        return recorded(random, np.concatenate(parts)[: seconds * RATE], least_db)

    return np.concatenate(at_once(make, round(hours * 3600 / seconds)))

"""Sound at another rate, in integers."""

import hashlib

import numpy as np
import pytest

from edgec.base.samples.resample import resampled, resampled_length
from edgec.base.samples.sound_faults import is_silent, sound_faults

RATES = [(44_100, 16_000), (48_000, 16_000), (8000, 16_000), (11_025, 16_000), (22_050, 8000)]


def tone(hertz: float, rate: int, seconds: float = 1.0) -> np.ndarray:
    time = np.arange(int(rate * seconds)) / rate
    return np.rint(20_000 * np.sin(2 * np.pi * hertz * time)).astype(np.int16)


@pytest.mark.parametrize(("given", "wanted"), RATES)
def test_a_tone_stays_itself(given, wanted):
    for share in (0.01, 0.2, 0.43):
        hertz = share * min(given, wanted)
        found = resampled(tone(hertz, given), given, wanted)
        assert len(found) == resampled_length(given, given, wanted) == wanted
        exact = 20_000 * np.sin(2 * np.pi * hertz * np.arange(wanted) / wanted)
        inside = slice(500, -500)
        gap = found[inside] - exact[inside]
        # The edge of the pass band is a little lower; below it only the rounding is left.
        least = 80 if share < 0.4 else 25
        assert 10 * np.log10((exact[inside] ** 2).mean() / (gap**2).mean()) > least


@pytest.mark.parametrize(("given", "wanted"), [(44_100, 16_000), (48_000, 16_000), (22_050, 8000)])
def test_a_tone_above_half_the_rate_is_gone(given, wanted):
    found = resampled(tone(0.55 * wanted, given), given, wanted)
    assert np.abs(found[500:-500].astype(np.int32)).max() <= 2


def test_the_same_rate_silence_and_the_ends():
    sound = np.array([32767, -32768, 5], np.int16)
    assert resampled(sound, 16_000, 16_000) is sound
    assert not resampled(np.zeros(100, np.int16), 44_100, 16_000).any()
    assert len(resampled(sound, 48_000, 16_000)) == 1
    assert len(resampled(sound, 16_000, 48_000)) == 9
    square = np.repeat(np.array([32767, -32768] * 20, np.int16), 50)
    # Where the filter swings over, 16 bits end.
    assert resampled(square, 44_100, 16_000).max() == 32767


def test_every_computer_has_these_bits():
    noise = np.random.default_rng(3).integers(-32768, 32768, 5000).astype(np.int16)
    bits = hashlib.sha256(resampled(noise, 44_100, 16_000).tobytes()).hexdigest()
    assert bits == "949d7be7ecbbe36f6745158b80f7f21cd86f77bf8a182c153c244a7c82b5566d"


def test_faults_of_recordings():
    good = tone(440, 16_000)
    hum = (good // 1000).astype(np.int16)
    loud = np.clip(good.astype(np.int32) * 3, -32768, 32767).astype(np.int16)
    short = good.copy()
    short[8000:] = 0
    assert sound_faults(np.stack([good, good]), 16_000) == ()
    found = sound_faults(np.stack([good, hum, loud, short, 0 * good, loud]), 16_000)
    assert [text.split(":")[0].split(",")[0].split(";")[0] for text in found] == [
        "of 6 recordings 2 are silent",
        "of 6 recordings 2 are clipped",
        "of 6 recordings 1 are shorter than the 1.00 s that a result takes",
    ]
    assert [text.rsplit(" ", 1)[1] for text in found] == ["2", "3", "4"]
    assert is_silent(np.stack([good, hum, 0 * good])).tolist() == [False, True, True]
    # One sample at full scale is what dividing by the peak leaves.
    good[5] = 32767
    assert sound_faults(good[None], 16_000) == ()

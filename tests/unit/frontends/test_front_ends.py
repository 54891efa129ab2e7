"""Features of sound in integers: near float64, and the same bits in C."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from parity import check_host
from sounds import decibels, real_features, sounds, speech_like

from edgec.base.errors import ConfigError
from edgec.base.options.front_end import FrontEndOptions
from edgec.frontends.mel import bank_of
from edgec.frontends.nodes import FrontEnd
from edgec.frontends.parameters import PRESETS, MelParameters, parameters_of

VARIANTS = {
    "slaney": MelParameters(mel="slaney", even_area=True, log="db", filters=64, fft=1024),
    "kaldi": MelParameters(shape="povey", periodic=False, emphasis=0.97, from_hz=20.0, filters=23),
    "steady": MelParameters(emphasis=0.9, remove_dc=True, window=320, filters=20),
    "box": MelParameters(window=64, hop=32, shape="box", filters=8, log="log2", to_hz=4000.0),
    "400": MelParameters(fft=400),
    "480": MelParameters(window=480, hop=240, fft=480, magnitude=True, coefficients=13),
    "odd": MelParameters(window=375, hop=125, fft=375, shape="hamming", emphasis=0.9, filters=30),
    "twice odd": MelParameters(rate=22_050, window=441, hop=220, fft=882, mel="slaney", log="db"),
    "threes": MelParameters(window=400, hop=200, fft=729, filters=40, magnitude=True),
    "13": MelParameters(window=300, hop=150, fft=13 * 11 * 4, filters=20),
    "log10": MelParameters(rate=8000, window=256, hop=128, magnitude=True, log="log10", filters=20),
}
OF_MEL = {name: p for name, p in PRESETS.items() if isinstance(p, MelParameters)}
FRONT_ENDS = {**OF_MEL, **VARIANTS}


@pytest.mark.parametrize("name", FRONT_ENDS)
def test_features_are_near_those_of_float64(name: str):
    p = FRONT_ENDS[name]
    for kind, sound in sounds().items():
        wanted = real_features(p, sound)
        assert decibels(wanted, FrontEnd(name, p).features_of(sound)) >= 45, kind


@pytest.mark.parametrize(
    "name",
    [
        "mlperf-sww",
        "mlperf-kws",
        "box",
        "400",
        "480",
        "odd",
        "twice odd",
        "13",
        "kaldi-mfcc",
        "steady",
    ],
)
def test_c_gives_the_same_bits(name: str, tmp_path: Path):
    check_host(FrontEnd(name, FRONT_ENDS[name]).graph(2), tmp_path)


def test_frames_do_not_depend_on_how_many_are_computed_at_once():
    front = FrontEnd("sww", PRESETS["mlperf-sww"])
    whole = speech_like(4096)
    frames = front.features_of(whole)
    assert frames.shape == (1, 7, 40)
    # The sample before the first is another one.
    part = front.features_of(whole[:, 1024:])
    assert np.array_equal(frames[:, 3:], part[:, 1:])


def test_filters_of_librosa_have_area_one():
    bank = bank_of(replace(VARIANTS["slaney"], filters=20))
    assert np.allclose(bank.sum(axis=1) * 16_000 / 1024, 1, atol=0.02)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("log-mel:", "cannot read"),
        ("log-mel:hop", "cannot read"),
        ("log-mel:hop=1,hop=2", "cannot read"),
        ("mell", "there is no front end"),
        ("log-mel:hops=2", "has no parameter"),
        ("log-mel:hop=2.5", "hop cannot be 2.5"),
        ("log-mel:hop=401", "hop cannot be 401"),
        ("log-mel:fft=510", "fft cannot be 510"),
        ("log-mel:fft=399", "fft cannot be 399"),
        ("log-mel:shape=hanning", "shape cannot be hanning"),
        ("log-mel:to-hz=9000", "to-hz cannot be 9000"),
        ("log-mel:emphasis=nan", "emphasis cannot be nan"),
        ("mfcc:coefficients=41", "coefficients cannot be 41"),
        (f"log-mel:rate={'9' * 330}", "rate cannot be 9+"),
        ("mfcc:lifter=12", "lifter cannot be 12"),
        ("log-mel:lifter=22", "log-mel:lifter: there is no cepstrum"),
        ("log-mel:emphasis-within=true", "emphasis-within: there is no emphasis"),
        ("log-mel:dct=tf", "log-mel:dct: there is no cepstrum"),
    ],
)
def test_parameters_that_cannot_be(text: str, words: str):
    with pytest.raises(ConfigError, match=words):
        parameters_of(FrontEndOptions.parse(text))


def test_a_filter_without_a_bin():
    p = parameters_of(FrontEndOptions.parse("log-mel:filters=128"))
    with pytest.raises(ConfigError, match=r"filter .* of 128, .* Hz, has no bin"):
        FrontEnd("log-mel", p).graph(1)


def test_an_option_reads_what_it_writes():
    options = FrontEndOptions.parse("log-mel:hop=80,even-area=true")
    assert FrontEndOptions.parse(str(options)) == options
    assert parameters_of(options) == MelParameters(hop=80, even_area=True)

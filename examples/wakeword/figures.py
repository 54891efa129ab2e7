"""Figures of the compiled network on voices that it was not trained with."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from sets import CLIP_SECONDS, Speakers, talk, with_word
from speech import RATE, at_once, speak

import edgec
from edgec.base.options import CompileOptions, FrontEndOptions, StreamOptions

_LEAST_DB = 5.0
_SAID = 600
_THRESHOLDS = (0.5, 0.7, 0.9, 0.95)


def measured(
    word: str,
    near: Sequence[str],
    speakers: Speakers,
    model: Path,
    front_end: str,
    hours: float,
    out: Path,
) -> None:
    """Compile the network, let its integers hear all test recordings, write `wakeword.json`.

    A detection is a row of scores that are at least a threshold.
    """
    said = with_word(word, speakers, _SAID, 11, _LEAST_DB)
    noisy = talk(speakers, hours, 12, _LEAST_DB)
    alike = near_clips(near, speakers)
    options = CompileOptions(
        front_end=FrontEndOptions.parse(front_end), stream=StreamOptions({"": 1}), build=False
    )
    with tempfile.TemporaryDirectory() as name:
        build = edgec.compile_model(
            model, "host", calibration=out / "wakeword_calibration.npz", out=Path(name) / "b",
            options=options,
        )  # fmt: skip
        front = build.report.front_end
        run, before = front.frames, front.warm_up

        def heard_in(pcm: np.ndarray) -> np.ndarray:
            """Scores of all runs of recordings [N, L], one after the other as one stream."""
            return build.run(pad(pcm, run).reshape(-1, run)).ravel()

        scores = [heard_in(pcm) for pcm in (said.pcm, noisy[None], alike)]
    # A word is heard where a detection begins from a quarter second before its end to a half after.
    each = pad(said.pcm, run).shape[1]
    ends = (np.arange(len(said.pcm)) * each + said.ends)[:, None]

    def found(threshold: float) -> dict[str, float]:
        late = (begins(scores[0], threshold)[None] + 1 + before) * run - ends
        missed = ~((late > -RATE // 4) & (late < RATE // 2)).any(1)
        false = len(begins(scores[1], threshold))
        return {
            "threshold": threshold,
            "false_rejects": int(missed.sum()),
            "false_reject_share": round(float(missed.mean()), 4),
            "false_accepts": false,
            "false_accepts_an_hour": round(false / (len(noisy) / RATE / 3600), 2),
            "near_words_accepted": len(begins(scores[2], threshold)),
        }

    figures = {
        "word": word,
        "words_said": len(said.pcm),
        "hours_of_other_words": round(len(noisy) / RATE / 3600, 3),
        "near_words_said": len(alike),
        "signal_to_noise_db": [_LEAST_DB, 35.0],
        "variants_of_test_voices": len(speakers.variants),
        "accents_of_test_voices": list(speakers.languages),
        "thresholds": [found(threshold) for threshold in _THRESHOLDS],
    }
    text = json.dumps(figures, indent=1)
    print(text)
    (out / "wakeword.json").write_text(text + "\n", "utf-8")


def begins(scores: np.ndarray, threshold: float) -> np.ndarray:
    """The results at which detections begin."""
    above = np.concatenate([[False], scores >= threshold])
    return np.flatnonzero(above[1:] & ~above[:-1])


def near_clips(near: Sequence[str], speakers: Speakers) -> np.ndarray:
    """Words that sound like the wake word, in voices to test with: int16 [N, L]."""
    length = int(CLIP_SECONDS * RATE)

    def make(at: int) -> np.ndarray:
        random = np.random.default_rng((13, at))
        x = speak(near[at % len(near)], speakers.voice(random))[: length // 2]
        line = np.zeros(length, np.float32)
        line[: len(x)] = x
        return np.rint(line * 20_000).astype(np.int16)

    return np.stack(at_once(make, 15 * len(near)))


def pad(pcm: np.ndarray, run: int) -> np.ndarray:
    """Recordings [N, L] with as much silence as makes each a number of runs."""
    return np.pad(pcm, ((0, 0), (0, -pcm.shape[1] % run)))

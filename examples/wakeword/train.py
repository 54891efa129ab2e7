"""Make a wake word: speech by espeak-ng, a small network that listens frame by frame, its figures.

Needs espeak-ng (Debian: ``apt-get install espeak-ng``) and ``pip install 'edgec[train]' scipy``;
takes a quarter of an hour on two cores; the same version of espeak-ng gives the same speech::

    python examples/wakeword/train.py --out wakeword
    python examples/wakeword/train.py --word "hey lamp" --near "hey lamb" --out lamp

Writes `wakeword.onnx`, `wakeword_calibration.npz` (features of training recordings),
`wakeword_clip.wav` (voices that neither of them used: other words, and the wake word twice), and
`wakeword.json`: how often the compiled network misses the word in such voices, and how often an
hour it hears it in speech of other words.
"""

from __future__ import annotations

import argparse
import time
from pathlib import Path

import numpy as np
import torch
from figures import measured
from network import CONTEXT, WakeWord, export, trained
from rooms import recorded
from sets import Clips, Speakers, said, with_word, without_word
from speech import LANGUAGES, OTHER_LANGUAGES, RATE, at_once, variants, write_wav
from texts import HELD_OUT, NEAR, TRAINED

from edgec.frontends.nodes import FrontEnd
from edgec.frontends.parameters import PRESETS

WORD = "hey computer"
FRONT_END = "mlperf-sww"
_CALIBRATION = 64
_LEAST_DB = 3.0
_AT_ONCE = 100


def main() -> None:
    """Make speech, train, write the files and the figures."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--out", type=Path, default=Path())
    parser.add_argument("--word", default=WORD)
    parser.add_argument("--near", action="append", help="a text that sounds like the word")
    parser.add_argument("--clips", type=int, default=2400, help="recordings of the word")
    parser.add_argument("--epochs", type=int, default=40)
    parser.add_argument("--hours", type=float, default=2.0, help="speech to test with")
    args = parser.parse_args()
    near = args.near or (NEAR if args.word == WORD else parts_of(args.word))
    ours, others = variants()
    train = Speakers(LANGUAGES, ours, TRAINED)
    test = Speakers(OTHER_LANGUAGES, others, HELD_OUT)
    front = FrontEnd(FRONT_END, PRESETS[FRONT_END])
    start = time.monotonic()

    def say(text: str) -> None:
        print(f"{time.monotonic() - start:6.0f} s  {text}", flush=True)

    said_clips = with_word(args.word, train, args.clips, 1, _LEAST_DB)
    other_clips = without_word(near, train, 3 * args.clips, 2, _LEAST_DB)
    say(f"{len(said_clips.pcm)} recordings of the word, {len(other_clips.pcm)} without it")
    clips = Clips(
        np.concatenate([said_clips.pcm, other_clips.pcm]),
        np.concatenate([said_clips.ends, other_clips.ends]),
    )
    features = features_of(front, clips.pcm)
    say(f"features {list(features.shape)}")
    torch.manual_seed(0)  # the weights that training begins with
    net = WakeWord(front.features)
    trained(net, torch.from_numpy(features), clips.ends, args.epochs, say)
    args.out.mkdir(parents=True, exist_ok=True)
    model = args.out / "wakeword.onnx"
    export(net, model)
    calibration = calibration_windows(features, clips)
    np.savez_compressed(args.out / "wakeword_calibration.npz", x=calibration)
    clip(args.word, test, args.out / "wakeword_clip.wav")
    say("written; testing")
    measured(args.word, near, test, model, FRONT_END, args.hours, args.out)
    say("done")


def features_of(front: FrontEnd, pcm: np.ndarray) -> np.ndarray:
    """Features as the firmware computes them: int16 [N, L] -> float32 [N, T, F]."""
    parts = range(0, len(pcm), _AT_ONCE)
    found = at_once(lambda at: front.features_of(pcm[parts[at] :][:_AT_ONCE]), len(parts))
    return np.concatenate(found)


def parts_of(word: str) -> tuple[str, ...]:
    """The texts that lack a word of the wake word."""
    words = word.split()
    cut = (" ".join(words[:at] + words[at + 1 :]) for at in range(len(words)))
    return tuple(text for text in cut if text)


def calibration_windows(features: np.ndarray, clips: Clips) -> np.ndarray:
    """Windows of training recordings as the network takes them, half of them with the word.

    Returns:
        float32 [N, `CONTEXT`, F], rounded to 1/256, which a small file holds.
    """
    half = _CALIBRATION // 2
    chosen = [*range(half), *range(len(clips.ends) - half, len(clips.ends))]
    starts = [max((int(clips.ends[at]) - 1024) // 512 - CONTEXT + 4, 0) for at in chosen]
    found = [
        features[at, start : start + CONTEXT] for at, start in zip(chosen, starts, strict=True)
    ]
    return (np.rint(np.stack(found) * 256) / 256).astype(np.float32)


def clip(word: str, speakers: Speakers, path: Path) -> None:
    """Write a short recording: other words, the word, other words, the word, in voices to test."""
    random = np.random.default_rng(7)
    pause = np.zeros(RATE // 3, np.float32)
    parts = [pause]
    for _ in range(2):
        parts += [speakers.talk(random, 2), pause, said(word, speakers.voice(random)), pause]
    write_wav(str(path), recorded(random, np.concatenate(parts), 20.0))


if __name__ == "__main__":
    main()

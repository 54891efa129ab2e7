"""Prices of the parts of front ends: fitted on some parameters, judged on others.

    python benchmarks/sound_prices.py fit       # all cores: writes choice/prices.toml
    python benchmarks/sound_prices.py judge     # estimates beside cycles, of other parameters

Firmware of a front end alone is built and run in the emulator on noise.  A price is what a run of
a part takes with memory that never waits, as in choice_prices.py; the judge has the flash of the
board, and none of the parameters of the fit: the presets of edgec, with as many frames as a run of
their networks brings, and some more.
"""

from __future__ import annotations

import argparse
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
from built import firmware_of
from choice_prices import BOARDS, Way, fit, write
from profile_networks import OPTIONS

from edgec.base.options.front_end import FrontEndOptions
from edgec.commands.compile_facts import placement_report, share_of
from edgec.frontends.nodes import FrontEnd
from edgec.frontends.parameters import parameters_of
from edgec.kernels.choice.estimate import Estimator
from edgec.kernels.common.parts import Run
from edgec.kernels.select import select_kernels
from edgec.lower.placed import lowered
from edgec.profile.pricing import Pricer
from edgec.sim.emulator_image import load_image
from edgec.sim.trace import trace_inference
from edgec.target.board import load_board
from edgec.target.target import Target
from edgec.timing.core import core_model

FAMILIES = ("log_mel", "micro_features")
_MOST_SAMPLE = 12_000
TRAINING = (
    ("log-mel:window=64,hop=64,filters=4,from-hz=500", 1),
    ("log-mel:window=200,hop=100,filters=12,from-hz=100", 2),
    ("log-mel:window=256,hop=200,filters=20", 1),
    ("log-mel:window=300,hop=150,filters=16,emphasis=0.9", 3),
    ("log-mel:window=512,hop=256,filters=24,from-hz=60", 1),
    ("log-mel:window=600,hop=300,filters=40,fft=2048", 1),
    ("log-mel:window=900,hop=450,filters=30,log=db", 2),
    ("log-mel:window=2048,hop=512,filters=48", 1),
    ("log-mel:window=128,hop=64,fft=1024,filters=64,from-hz=50", 1),
    ("log-mel:window=160,hop=80,filters=8,magnitude=true", 2),
    ("log-mel:window=320,hop=160,filters=24,magnitude=true", 1),
    ("log-mel:window=700,hop=350,filters=33,magnitude=true", 1),
    ("log-mel:window=1500,hop=512,filters=50,magnitude=true", 1),
    ("log-mel:window=96,hop=48,fft=256,filters=10,magnitude=true", 4),
    ("micro:filters=4", 1),
    ("micro:filters=12,hop=320", 2),
    ("micro:filters=24,from-hz=300", 1),
    ("micro:filters=32,to-hz=4000", 3),
    ("micro:filters=48", 1),
    ("micro:filters=16,from-hz=1000,to-hz=6000", 2),
)
"""Parameters of front ends, and frames of a run."""
JUDGED = (
    ("log-mel", 1),
    ("mfcc", 1),
    ("mlperf-sww", 1),
    ("mlperf-kws", 1),
    ("micro", 1),
    ("micro:hop=320", 3),
    ("log-mel:window=1024,hop=256,filters=64,mel=slaney", 2),
    ("log-mel:window=240,hop=80,filters=18,from-hz=80", 1),
    ("log-mel:window=440,hop=220,fft=1024,filters=28,magnitude=true", 1),
    ("micro:filters=20,from-hz=200", 1),
)
"""The same that no price is fitted to."""


def measured(text: str, frames: int, core: str) -> Way:
    """What the front end itself takes on a core, without what joins it to a network."""
    board = load_board(BOARDS[core])
    front = FrontEnd(text, parameters_of(FrontEndOptions.parse(text)))
    graph = front.graph(frames)
    target = Target.of(board)
    choices = select_kernels(graph, target)
    share = share_of(OPTIONS, board)
    made = lowered(graph, choices, board, share)
    rng = np.random.default_rng(1)
    sound = rng.integers(-_MOST_SAMPLE, _MOST_SAMPLE, graph.shape("samples")).astype(np.int16)
    with tempfile.TemporaryDirectory() as name:
        elf = firmware_of(made.program, board, Path(name), placement_report(made, share, board))
        pricer = Pricer(load_image(elf, board), core_model(board.core, board.fpu))
        calls = [call.step for call in made.program.calls()]
        run = trace_inference(elf, board, [sound], calls=calls, pace=pricer.pace)
    kernels = [made.program.kernels[step.kernel] for step in made.program.steps]
    (place,) = [n for n, kernel in enumerate(kernels) if kernel.spec.family in FAMILIES]
    counts, spec = pricer.price(run.trace.segments[place]).total, kernels[place].spec
    (choice,) = [each for each in choices if each.spec == spec]
    estimator = Estimator.of(target)
    parts = choice.family.parts(spec, Run(estimator.form))
    assert parts is not None
    return Way(
        spec.family,
        {name: n for name, n in parts.counts.items() if n},
        counts.cycles,
        counts.ideal_cycles,
        estimator.cycles(choice.family, spec) or 0.0,
    )


def _gap(prices: Mapping[str, Mapping[str, float]], ways: Sequence[Way]) -> float:
    """The median of how far fitted prices are off, with memory that never waits."""
    sums = [sum(prices[way.family][part] * n for part, n in way.counts.items()) for way in ways]
    return float(np.median([abs(n / way.ideal - 1) for n, way in zip(sums, ways, strict=True)]))


def _judge(cores: Sequence[str]) -> None:
    print(
        "| front end, frames a run | core | estimate | cycles | error |\n|---|---|---:|---:|---:|"
    )
    worst = 0.0
    for text, frames in JUDGED:
        for core in cores:
            way = measured(text, frames, core)
            error = way.estimate / way.cycles - 1
            worst = max(worst, abs(error))
            cells = f"{way.estimate:,.0f} | {way.cycles:,} | {error:+.1%}"
            print(f"| {text}, {frames} | {core} | {cells} |", flush=True)
    print(f"\nthe largest error is {worst:.1%}")


def main() -> None:
    """Fit or judge."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("what", choices=["fit", "judge"])
    parser.add_argument("cores", nargs="*", default=list(BOARDS), help=f"of {', '.join(BOARDS)}")
    args = parser.parse_args()
    if args.what == "judge":
        _judge(args.cores)
        return
    for core in args.cores:
        ways = [measured(text, frames, core) for text, frames in TRAINING]
        prices = fit(ways)
        write({load_board(BOARDS[core]).core.price_key: prices})
        print(f"{core}: {_gap(prices, ways):.1%} in the median", flush=True)


if __name__ == "__main__":
    main()

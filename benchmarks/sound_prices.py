"""Prices of the parts of front ends: fitted on some parameters, judged on others.

    python benchmarks/sound_prices.py fit       # all cores: writes choice/prices.toml
    python benchmarks/sound_prices.py judge     # estimates beside cycles, of other parameters
    python benchmarks/sound_prices.py fit m4 --of sensor    # one front end, one core

Firmware of a front end alone is built and run in the emulator on noise.  A price is what a run of
a part takes with memory that never waits, as in choice_prices.py; the judge has the flash of the
board, and none of the parameters of the fit: the presets of edgec, with as many frames as a run of
their networks brings, and some more.
"""

from __future__ import annotations

import argparse
import dataclasses
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
from edgec.kernels.choice.prices import price_tables
from edgec.kernels.common.parts import Run
from edgec.kernels.common.transform import transform_parts
from edgec.kernels.select import select_kernels
from edgec.lower.placed import lowered
from edgec.profile.pricing import Pricer
from edgec.sim.emulator_image import load_image
from edgec.sim.trace import trace_inference
from edgec.target.board import load_board
from edgec.target.target import Target
from edgec.timing.core import core_model

FAMILIES = ("log_mel", "micro_features", "biquad", "sensor_features")
_SHARES = "sensor_features"
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
    ("log-mel:window=100,hop=50,fft=100,filters=8,from-hz=300", 1),
    ("log-mel:window=240,hop=120,fft=240,filters=16,from-hz=100", 1),
    ("log-mel:window=441,hop=220,fft=441,filters=20,from-hz=60", 1),
    ("log-mel:window=300,hop=150,fft=308,filters=12,magnitude=true", 1),
    ("log-mel:window=600,hop=300,fft=648,filters=30", 1),
    ("log-mel:window=338,hop=100,fft=338,filters=16,from-hz=60", 1),
    ("log-mel:window=675,hop=225,fft=675,filters=24,magnitude=true", 1),
    ("log-mel:window=250,hop=125,fft=1000,filters=32,from-hz=60", 1),
    ("micro:filters=4", 1),
    ("micro:filters=12,hop=320", 2),
    ("micro:filters=24,from-hz=300", 1),
    ("micro:filters=32,to-hz=4000", 3),
    ("micro:filters=48", 1),
    ("micro:filters=16,from-hz=1000,to-hz=6000", 2),
    ("sensor:axes=1,window=64,hop=64,statistics=mean+min+max", 1),
    ("sensor:axes=2,window=128,hop=128,statistics=std+rms", 1),
    ("sensor:axes=3,window=100,hop=50,statistics=crossings+mean-crossings+mean", 2),
    ("sensor:axes=2,window=150,hop=75,statistics=skewness+kurtosis", 1),
    ("sensor:axes=4,window=32,hop=32,statistics=mean+std+rms+min+max+kurtosis", 2),
    ("sensor:axes=1,window=256,hop=128,statistics=none,bands=1-10+10-50", 1),
    ("sensor:axes=1,window=240,hop=240,statistics=none,bands=1-5+5-10+10-20+20-50", 2),
    ("sensor:axes=2,window=125,hop=125,statistics=mean,bands=1-50", 1),
    ("sensor:axes=1,window=180,hop=180,statistics=rms,bands=1-3+3-50,fft=1024", 1),
    ("sensor:axes=1,window=200,hop=200,statistics=mean,low-pass=10,order=2", 1),
    ("sensor:axes=3,window=60,hop=60,statistics=mean,low-pass=10,high-pass=1,order=8", 1),
    ("sensor:axes=2,window=120,hop=120,statistics=mean,low-pass=5,order=5,decimate=4", 1),
    ("sensor:axes=6,window=40,hop=40,statistics=mean,high-pass=2,order=1", 1),
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
    ("log-mel:fft=400", 1),
    ("log-mel:window=480,hop=240,fft=480,magnitude=true", 1),
    ("log-mel:window=375,hop=125,fft=375,filters=30", 2),
    ("log-mel:window=512,hop=256,fft=882,filters=30", 1),
    ("micro:filters=20,from-hz=200", 1),
    ("sensor", 1),
    ("sensor:window=125,hop=25,rate=62.5,low-pass=12.5,high-pass=0.4,order=3,bands=1-5+5-12", 1),
    ("sensor:axes=1,rate=400,window=1600,hop=400,decimate=8,low-pass=20,order=6,bands=1-20", 1),
    ("sensor:axes=2,rate=4000,window=500,hop=500,bands=40-60+90-110+140-1000", 1),
)
"""The same that no price is fitted to."""


def measured(text: str, frames: int, core: str) -> list[Way]:
    """What the kernels of a front end take on a core, without what joins it to a network."""
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
    estimator, ways = Estimator.of(target), []
    for place, kernel in enumerate(kernels):
        spec = kernel.spec
        if spec.family not in FAMILIES:
            continue
        counts = pricer.price(run.trace.segments[place]).total
        (choice,) = [each for each in choices if each.spec == spec]
        parts = choice.family.parts(spec, Run(estimator.form))
        assert parts is not None
        ways.append(
            Way(
                spec.family,
                {name: n for name, n in parts.counts.items() if n},
                counts.cycles,
                counts.ideal_cycles,
                estimator.cycles(choice.family, spec) or 0.0,
            )
        )
    return ways


def _fitted(ways: Sequence[Way], key: str) -> dict[str, dict[str, float]]:
    """Prices of all families; the transform of `sensor_features` is the code of `log_mel`."""
    known = next(each for each in price_tables() if key in each.cores).families
    found = fit([way for way in ways if way.family != _SHARES])
    shared = found.get("log_mel", known["log_mel"])
    both = transform_parts(256, magnitude=False) | transform_parts(225, magnitude=False)
    shared = {name: shared[name] for name in both}
    rest = []
    for way in ways:
        if way.family == _SHARES:
            own = {name: n for name, n in way.counts.items() if name not in shared}
            less = sum(shared[name] * n for name, n in way.counts.items() if name in shared)
            rest.append(dataclasses.replace(way, counts=own, ideal=way.ideal - round(less)))
    return {**found, **{name: {**shared, **prices} for name, prices in fit(rest).items()}}


def _gap(prices: Mapping[str, Mapping[str, float]], ways: Sequence[Way]) -> float:
    """The median of how far fitted prices are off, with memory that never waits."""
    sums = [sum(prices[way.family][part] * n for part, n in way.counts.items()) for way in ways]
    return float(np.median([abs(n / way.ideal - 1) for n, way in zip(sums, ways, strict=True)]))


def _judge(cores: Sequence[str], of: str) -> None:
    print(
        "| front end, frames a run | kernel | core | estimate | cycles | error |\n"
        "|---|---|---|---:|---:|---:|"
    )
    worst = 0.0
    for text, frames in JUDGED:
        for core in cores if text.startswith(of) else ():
            for way in measured(text, frames, core):
                error = way.estimate / way.cycles - 1
                worst = max(worst, abs(error))
                cells = f"{way.estimate:,.0f} | {way.cycles:,} | {error:+.1%}"
                print(f"| {text}, {frames} | {way.family} | {core} | {cells} |", flush=True)
    print(f"\nthe largest error is {worst:.1%}")


def main() -> None:
    """Fit or judge."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("what", choices=["fit", "judge"])
    parser.add_argument("cores", nargs="*", default=list(BOARDS), help=f"of {', '.join(BOARDS)}")
    parser.add_argument("--of", default="", help="front ends whose texts begin so; default: all")
    args = parser.parse_args()
    if args.what == "judge":
        _judge(args.cores, args.of)
        return
    for core in args.cores:
        ways = [
            way
            for text, frames in TRAINING
            if text.startswith(args.of)
            for way in measured(text, frames, core)
        ]
        key = load_board(BOARDS[core]).core.price_key
        prices = _fitted(ways, key)
        write({key: prices})
        print(f"{core}: {_gap(prices, ways):.1%} in the median", flush=True)


if __name__ == "__main__":
    main()

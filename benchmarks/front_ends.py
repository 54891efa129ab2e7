"""Features of sound in integers beside float64, and a keyword network that takes sound.

    python benchmarks/front_ends.py [--data-dir FOLDER] [--duty]

On the 240 keyword clips of the data folder (docs/data.md): how far the error of each front end lies
below its features, in dB; and MLPerf's int8 keyword network with `mlperf-kws`, on the clips as
they were recorded and each divided by its peak, as its training data were: how many it gets right,
in integers and as the file in float64 on the same features, and how many decisions are the same.

With `--duty` instead: MLPerf's streaming wake word as a whole, sound to score, on the boards of
published results: cycles of a frame of 32 ms by `edgec profile`, those of the front end and of the
network, and the share of the time that the core is busy, beside the published duty cycle.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from pathlib import Path

import numpy as np
from data_folder import add_data_option, chosen_data_folder

import edgec
from edgec.base.options import CompileOptions, FrontEndOptions, Placement, StreamOptions
from edgec.frontends.nodes import FrontEnd
from edgec.frontends.parameters import PRESETS
from edgec.profile.run import profile
from edgec.workflow.evaluation import evaluate

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests" / "helpers"))

from sounds import decibels, real_features

_FRONT_END = "mlperf-kws"
_NETWORK = "mlperf_dscnn_kws_int8.tflite"
_WAKE_WORD = ("mlperf-sww", "mlperf_sww_ds1d_int8.tflite")
_PUBLISHED = {"nucleo_l4r5zi": 0.559, "nucleo_u575zi_q": 0.363, "nucleo_h7a3zi_q": 0.133}
"""Board to the duty cycle of the streaming wake word in MLPerf Tiny's results."""
_LOG_MEL = "LogMel"


def main() -> None:
    """Print both tables."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    add_data_option(parser)
    parser.add_argument("--duty", action="store_true", help="the wake word on three boards")
    arguments = parser.parse_args()
    folder = chosen_data_folder(arguments)
    if arguments.duty:
        duty(folder)
        return
    clips = np.load(folder / "data" / "kws01_audio_240.npz")
    sound = clips["pcm"]
    print("| front end | dB below |\n|---|---:|")
    for name, parameters in PRESETS.items():
        found = FrontEnd(name, parameters).features_of(sound)
        print(f"| {name} | {decibels(real_features(parameters, sound), found):.1f} |", flush=True)
    peak = np.maximum(np.abs(sound.astype(np.int32)).max(1, keepdims=True), 1)
    loud = np.rint(sound * (32767 / peak)).astype(np.int16)
    print("\n| clips | right | in float64 | same decisions |\n|---|---:|---:|---:|")
    with tempfile.TemporaryDirectory() as name:
        out = Path(name)
        options = CompileOptions(front_end=FrontEndOptions.parse(_FRONT_END), build=False)
        edgec.compile_model(folder / "models" / _NETWORK, "host", out=out / "b", options=options)
        for label, pcm in (("divided by their peaks", loud), ("as recorded", sound)):
            np.savez(out / "clips.npz", x=pcm, y=clips["y"].astype(int))
            found = evaluate(out / "b", out / "clips.npz")
            shares = (found.accuracy, found.float_accuracy, found.agreement)
            print(f"| {label} | {' | '.join(f'{share:.2%}' for share in shares)} |", flush=True)


def duty(folder: Path) -> None:
    """Print the table of the wake word as a whole."""
    name, network = _WAKE_WORD
    columns = "front end | network | together | MHz | duty cycle | published | flash | RAM"
    print(f"| board | {columns} |\n|---|---:|---:|---:|---:|---:|---:|---:|---:|")
    with tempfile.TemporaryDirectory() as place:
        for board, published in _PUBLISHED.items():
            options = CompileOptions(
                front_end=FrontEndOptions.parse(name),
                stream=StreamOptions({"": 1}),
                placement=Placement.AUTO,
            )
            out = Path(place) / board
            build = edgec.compile_model(
                folder / "models" / network, board, out=out, options=options
            )
            front_end = build.report.front_end
            assert front_end is not None
            found = profile(out)
            first = sum(each.counts.cycles for each in found.layers if each.op == _LOG_MEL)
            clock = build.report.board.clock_hz
            share = found.total_cycles / (clock * front_end.frames / front_end.rate)
            cells = [
                *(
                    board,
                    f"{first:,}",
                    f"{found.total_cycles - first:,}",
                    f"{found.total_cycles:,}",
                ),
                *(f"{clock / 1e6:g}", f"{share:.3f}", f"{published}"),
                *(f"{build.report.memory.flash_bytes:,}", f"{build.report.memory.ram_bytes:,}"),
            ]
            print(f"| {' | '.join(cells)} |", flush=True)


if __name__ == "__main__":
    main()

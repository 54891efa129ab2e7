"""Features of sound in integers beside float64, and a keyword network that takes sound.

    python benchmarks/front_ends.py [--data-dir FOLDER] [--duty] [--micro] [--kaldi] [--okay-nabu]

On the 240 keyword clips of the data folder (docs/data.md): how far the error of each front end lies
below its features, in dB; and MLPerf's int8 keyword network with `mlperf-kws`, on the clips as
they were recorded and each divided by its peak, as its training data were: how many it gets right,
in integers and as the file in float64 on the same features, and how many decisions are the same.

With `--duty` instead: MLPerf's streaming wake word as a whole, sound to score, on the boards of
published results: cycles of a frame of 32 ms by `edgec profile`, those of the front end and of the
network, and the share of the time that the core is busy, beside the published duty cycle.

With `--micro`, in place of both: how many clips have the bits of `pymicro-features` with `micro`.

With `--kaldi`, in place of all: how far `kaldi-fbank` and `kaldi-mfcc` are from kaldi-native-fbank.

With `--okay-nabu`, in place of all: microWakeWord's wake word with `micro` before it: how many
clips get from samples the very outputs that the network alone gives for their features, run by run,
and what it takes on two boards.
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
from edgec.frontends.parameters import PRESETS, MelParameters
from edgec.profile.run import profile
from edgec.workflow.codes import to_model
from edgec.workflow.evaluation import evaluate
from edgec.workflow.listening import listening

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests" / "helpers"))

from sounds import decibels, real_features

_FRONT_END = "mlperf-kws"
_NETWORK = "mlperf_dscnn_kws_int8.tflite"
_WAKE_WORD = ("mlperf-sww", "mlperf_sww_ds1d_int8.tflite")
_PUBLISHED = {"nucleo_l4r5zi": 0.559, "nucleo_u575zi_q": 0.363, "nucleo_h7a3zi_q": 0.133}
"""Board to the duty cycle of the streaming wake word in MLPerf Tiny's results."""
_OKAY_NABU = "microwakeword_okay_nabu_int8.tflite"
_LOG_MEL, _MICRO = "LogMel", "MicroFeatures"


def main() -> None:
    """Print both tables."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    add_data_option(parser)
    parser.add_argument("--duty", action="store_true", help="the wake word on three boards")
    parser.add_argument("--micro", action="store_true", help="compare with pymicro-features")
    parser.add_argument("--kaldi", action="store_true", help="compare with kaldi-native-fbank")
    parser.add_argument("--okay-nabu", action="store_true", help="microWakeWord's network")
    arguments = parser.parse_args()
    folder = chosen_data_folder(arguments)
    if arguments.duty:
        duty(folder)
        return
    if arguments.okay_nabu:
        okay_nabu(folder)
        return
    clips = np.load(folder / "data" / "kws01_audio_240.npz")
    sound = clips["pcm"]
    if arguments.micro:
        found = FrontEnd("micro", PRESETS["micro"]).features_of(sound)
        same = [np.array_equal(a, _of_library(clip)) for a, clip in zip(found, sound, strict=True)]
        print(f"{sum(same)} of {len(same)} clips have equal bits")
        return
    if arguments.kaldi:
        kaldi(sound)
        return
    print("| front end | dB below |\n|---|---:|")
    for name, parameters in PRESETS.items():
        if not isinstance(parameters, MelParameters):
            continue
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


def kaldi(sound: np.ndarray) -> None:
    """Print how far features are from those of Kaldi, without dither and energy.

    Args:
        sound: int16 [N, L].
    """
    import kaldi_native_fbank as knf  # noqa: PLC0415 - an extra of this comparison alone

    ways = {
        "kaldi-fbank": (knf.FbankOptions, knf.OnlineFbank),
        "kaldi-mfcc": (knf.MfccOptions, knf.OnlineMfcc),
    }
    print("| front end | dB from the library |\n|---|---:|")
    for name, (options, online) in ways.items():
        chosen = options()
        chosen.frame_opts.dither = 0
        chosen.use_energy = False
        wanted = []
        for clip in sound:
            made = online(chosen)
            made.accept_waveform(16_000, clip.astype(np.float32).tolist())
            made.input_finished()
            frames = [made.get_frame(at) for at in range(made.num_frames_ready)]
            wanted.append(np.stack(frames))
        found = FrontEnd(name, PRESETS[name]).features_of(sound)
        print(f"| {name} | {decibels(np.stack(wanted), found):.1f} |", flush=True)


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


def okay_nabu(folder: Path) -> None:
    """Print how many clips are equal, and a table of boards."""
    path, front_end = folder / "models" / _OKAY_NABU, FrontEndOptions.parse("micro")
    sound = np.load(folder / "data" / "kws01_audio_240.npz")["pcm"]
    features = FrontEnd("micro", PRESETS["micro"]).features_of(sound)
    with tempfile.TemporaryDirectory() as place:
        out = Path(place)
        plain = CompileOptions(build=False)
        alone = edgec.compile_model(path, "host", out=out / "alone", options=plain)
        heard = CompileOptions(build=False, front_end=front_end)
        edgec.compile_model(path, "host", out=out / "heard", options=heard)
        (port,) = alone.report.inputs
        same, runs = 0, 0
        for clip, rows in zip(sound, features, strict=True):
            steps = rows[: len(rows) // 3 * 3].reshape(-1, *port.shape[1:])
            wanted = alone.run(to_model(steps, port))
            with listening(out / "heard", "host") as listener:
                (found,) = listener.hear(clip).outputs.values()
            same += np.array_equal(found.ravel(), wanted.ravel())
            runs += len(wanted)
        print(f"{same} of {len(sound)} clips have equal outputs, {runs:,} runs\n")
        print(
            "| board | front end | network | together | duty cycle | flash | RAM | of that state |"
        )
        print("|---|---:|---:|---:|---:|---:|---:|---:|")
        for board in ("pico", "nucleo_l4r5zi"):
            options = CompileOptions(front_end=front_end, placement=Placement.AUTO)
            build = edgec.compile_model(path, board, out=out / board, options=options)
            report, found = build.report, profile(out / board)
            first = sum(each.counts.cycles for each in found.layers if each.op == _MICRO)
            total = found.total_cycles
            share = total / (report.board.clock_hz * report.front_end.frames / 16_000)
            memory = report.memory
            numbers = f"{first:,} | {total - first:,} | {total:,} | {share:.3f}"
            sizes = f"{memory.flash_bytes:,} | {memory.ram_bytes:,} | {memory.state_bytes:,}"
            print(f"| {board} | {numbers} | {sizes} |", flush=True)


def _of_library(clip: np.ndarray) -> np.ndarray:
    """The features of samples int16 [L] by `pymicro-features`: float32 [T, 40]."""
    from pymicro_features import MicroFrontend  # noqa: PLC0415  (is not needed for the rest)

    library, data, rows, at = MicroFrontend(), clip.tobytes(), [], 0
    while at + 320 <= len(data):
        found = library.process_samples(data[at : at + 320])
        at += 2 * found.samples_read
        if found.features:
            rows.append(found.features)
    return np.array(rows, np.float32)


if __name__ == "__main__":
    main()

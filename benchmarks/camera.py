"""What a camera before a network takes: MLPerf's visual wake words with `--front-end image`.

    python benchmarks/camera.py [--data-dir FOLDER] [--boards pico nucleo_l4r5zi]

For frames of 320 x 240 pixels, of which the 240 x 240 in the middle become the 96 x 96 x 3 of
`mlperf_mobilenetv1_025_vww96_int8.tflite` (docs/data.md): cycles of the front end and of the
network by `edgec profile`, and bytes of the arena, with the frame in it and of the network alone.
"""

from __future__ import annotations

import argparse
import tempfile
from pathlib import Path

from data_folder import add_data_option, chosen_data_folder

import edgec
from edgec.base.options import CompileOptions, FrontEndOptions
from edgec.profile.run import profile

_NETWORK = "mlperf_mobilenetv1_025_vww96_int8.tflite"
_CASES = (
    "image:resize=nearest",
    "image",
    "image:crop=192x192",
    "image:crop=194x194",
    "image:pixels=rgb888",
    "image:pixels=yuyv",
)
_FRAME = "Frame"


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    add_data_option(parser)
    parser.add_argument("--boards", nargs="+", default=["nucleo_l4r5zi", "pico"])
    arguments = parser.parse_args()
    path = chosen_data_folder(arguments) / "models" / _NETWORK
    print("| board | front end | its cycles | network | arena | of the network alone |")
    print("|---|---|---:|---:|---:|---:|", flush=True)
    for board in arguments.boards:
        with tempfile.TemporaryDirectory() as place:
            alone = edgec.compile_model(path, board, out=Path(place) / "alone")
        for text in _CASES:
            separator = "," if ":" in text else ":"
            front_end = FrontEndOptions.parse(f"{text}{separator}scale=1/255")
            with tempfile.TemporaryDirectory() as place:
                out = Path(place) / "out"
                options = CompileOptions(front_end=front_end)
                build = edgec.compile_model(path, board, out=out, options=options)
                found = profile(out)
            own = sum(each.counts.cycles for each in found.layers if each.op == _FRAME)
            sizes = (each.report.memory.arena_bytes for each in (build, alone))
            numbers = (own, found.total_cycles - own, *sizes)
            print(f"| {board} | `{text}` | {' | '.join(f'{each:,}' for each in numbers)} |")


if __name__ == "__main__":
    main()

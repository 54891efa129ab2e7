"""Layers in turns of a few rows: bytes of the arena, and cycles, with and without.

    python benchmarks/rows.py                         # all networks that are there
    python benchmarks/rows.py --networks mobilenetv2_035_144 --board nucleo_f446re

MLPerf Tiny's networks and MCUNet are taken from the folder in EDGEC_DATA_DIR (docs/data.md), the
MobileNets have random weights (`large_networks.py`).  The arena is that of the network alone,
without copies of weights in what it leaves free; "bound" is the least that chains of layers could
take if no kernel needed working memory.  "by rows": the image comes by rows, and no whole one is in
memory (`--input-rows`).  Cycles are those of `edgec profile` on the firmware,
with weights in flash and with all of them in RAM (`--placement sram`), where the board has room.
"""

from __future__ import annotations

import argparse
import contextlib
import os
import tempfile
from dataclasses import replace
from pathlib import Path

from large_networks import NETWORKS, write_network

import edgec
from edgec.base.errors import EdgecError
from edgec.base.options import CompileOptions, Placement, Rows
from edgec.profile.run import profile

BOUNDS: dict[str, tuple[int, int | None]] = {
    "mcunet_vww80_float.onnx": (22_732, 19_248),
    "mlperf_mobilenetv1_025_vww96_int8.tflite": (28_512, 14_592),
    "mobilenetv1_025": (152_544, 49_648),
    "mobilenetv2_035_144": (66_816, 28_944),
    "mobilenetv2_035": (157_696, 53_984),
    "mlperf_resnet8_cifar10_int8.tflite": (15_360, None),
    "mlperf_resnet8_large_cifar10_int8.tflite": (38_400, None),
}
"""Network to the least bytes of any partition into chains, with the image in memory and where it
comes by rows: by a dynamic program over partitions, with windows of as many rows as layers read and
nothing computed twice."""
_WAYS = {
    "whole": CompileOptions(rows=Rows.NEVER),
    "rows": CompileOptions(rows=Rows.ALWAYS),
    "by rows": CompileOptions(rows=Rows.ALWAYS, input_rows=True),
}


def main() -> None:
    """Print a line for each network."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=_FORMATTER)
    parser.add_argument("--networks", nargs="+", choices=BOUNDS, default=list(BOUNDS))
    parser.add_argument("--board", default="nucleo_l4r5zi")
    parser.add_argument("--data", type=Path, default=os.environ.get("EDGEC_DATA_DIR"))
    options = parser.parse_args()
    columns = ("whole", "rows", "bound", "by rows", "bound")
    print(f"{'network':42}", *(f"{each:>8}" for each in columns), " cycles in flash / in RAM, more")
    for name in options.networks:
        with tempfile.TemporaryDirectory() as folder:
            model = _file(name, Path(folder), options.data)
            if model is None:
                print(f"{name:42} not there: give its folder with --data")
                continue
            _line(name, model, options.board, Path(folder))


_FORMATTER = argparse.RawDescriptionHelpFormatter


def _file(name: str, folder: Path, data: Path | None) -> Path | None:
    """The network's file, made where it has random weights."""
    if name in NETWORKS:
        path = folder / f"{name}.onnx"
        write_network(name, path)
        return path
    found = None if data is None else Path(data) / "models" / name
    return found if found is not None and found.exists() else None


def _line(name: str, model: Path, board: str, folder: Path) -> None:
    """Compile and profile a network each way."""
    arenas: dict[str, int] = {}
    texts = []
    for placement in (Placement.FLASH, Placement.SRAM):
        cycles: dict[str, int] = {}
        for way, options in _WAYS.items():
            out = folder / f"{way.replace(' ', '_')}-{placement.value}"
            with_placement = replace(options, placement=placement, verify=False)
            with contextlib.suppress(EdgecError):
                made = edgec.compile_model(model, board, out=out, options=with_placement)
                arenas[way] = made.program.arena_bytes
                cycles[way] = profile(made.folder).total_cycles
        whole = cycles.pop("whole", None)
        more = "".join(f" {each / whole - 1:+.1%}" for each in cycles.values() if whole)
        texts.append(f"{whole:,}{more}" if whole else "no room")
    sizes = [f"{arenas.get(way, 0):,}" for way in _WAYS]
    bounds = [f"{bound:,}" if bound else "" for bound in BOUNDS[name]]
    columns = (sizes[0], sizes[1], bounds[0], sizes[2], bounds[1])
    print(f"{name:42}", *(f"{each:>8}" for each in columns), "", " / ".join(texts), flush=True)


if __name__ == "__main__":
    main()

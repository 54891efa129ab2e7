"""Networks that run in turns, beside the same network in one piece.

    python benchmarks/turns.py                       # all networks, all tables
    python benchmarks/turns.py --table streams       # or rows, or patches
    python benchmarks/turns.py --only tcn --board nucleo_g0b1re
    python benchmarks/turns.py --check 10000         # also: outputs equal to the whole window's

Frame by frame (`edgec compile --stream`): MLPerf's streaming wake word and the networks of
`stream_networks.py`, with random but sane weights.  A row has the frames of the window and of a
run, multiply-accumulates, cycles by `edgec profile`, bytes of arena and state of a run, and the
same of the whole window; the runs before the first output, and how late outputs come.  A few rows
at a time (`edgec compile --rows`, `--input-rows`): the table of `rows.py`.  In patches, within a
limit of memory: that of `patches.py`.  --placement is as that of `edgec compile`.
"""

from __future__ import annotations

import argparse
import tempfile
from collections.abc import Iterable, Iterator
from pathlib import Path

import numpy as np
import patches
import rows
import torch
from data_folder import add_data_option, chosen_data_folder
from stream_networks import NETWORKS, Windowed
from zoo_make import make_sane

import edgec
from edgec.base.options import CompileOptions, Placement, StreamOptions
from edgec.commands.compile import CompileResult
from edgec.profile.run import profile

_WAKE_WORDS = ("mlperf_sww_ds1d_int8.tflite", "mlperf_sww_ds1d.onnx")
_BANDS = 40
_SEED = 11
_LINE = 400
_OPSET = 17


def line(frames: int, seed: int) -> np.ndarray:
    """Frames of a stream, each near the one before; float32 [frames, bands], 0 to 1."""
    random = np.random.default_rng(seed)
    steps = random.normal(0, 0.15, (frames, _BANDS))
    found = np.zeros((frames, _BANDS))
    for index in range(1, frames):
        found[index] = 0.9 * found[index - 1] + steps[index]
    return np.clip(found + 0.5, 0, 1).astype(np.float32)


def windows(frames: np.ndarray, shape: tuple[int, ...], axis: int) -> np.ndarray:
    """Every window of some frames as a network takes it."""
    size = shape[axis]
    cut = np.stack([frames[at : at + size] for at in range(len(frames) - size + 1)])
    return ordered(cut, shape, axis)


def ordered(samples: np.ndarray, shape: tuple[int, ...], axis: int) -> np.ndarray:
    """Samples [N, frames, bands] with the axes of an input, whose bands are its longest other."""
    bands = next(at for at in range(len(shape) - 1, 0, -1) if shape[at] == _BANDS and at != axis)
    moved = samples if axis < bands else samples.swapaxes(1, 2)
    sizes = [samples.shape[1] if at == axis else shape[at] for at in range(1, len(shape))]
    return np.ascontiguousarray(moved.reshape(len(samples), *sizes))


def exported(found: Windowed, name: str, folder: Path) -> Path:
    """A network as PyTorch's exporter writes it."""
    torch.manual_seed(_SEED)
    module = found.make()
    make_sane(module)
    module.train()
    data = torch.from_numpy(windows(line(_LINE, 1), found.shape, 2)[::16])
    for _ in range(10):
        module(data)
    module.eval()
    path = folder / f"{name}.onnx"
    example = torch.zeros(found.shape)
    torch.onnx.export(
        module, (example,), str(path), input_names=["x"], opset_version=_OPSET, dynamo=False
    )
    return path


def models(
    folder: Path, data: Path | None, only: list[str]
) -> Iterator[tuple[str, Path, int, bool]]:
    """Name, file, axis of time of each network, and whether it looks ahead."""
    for file in _WAKE_WORDS:
        path = None if data is None else data / "models" / file
        if path is not None and path.is_file() and (not only or path.stem in only):
            yield path.stem, path, 1, False
    for name, found in NETWORKS.items():
        if not only or name in only:
            yield name, exported(found, name, folder), 2, found.ahead


def compiled(
    path: Path, board: str, out: Path, placement: Placement | None, stream: StreamOptions | None
) -> CompileResult:
    """A build, calibrated on windows of a stream."""
    from edgec.importers.formats import import_model  # noqa: PLC0415  (takes a second to load)

    graph = import_model(path, {})
    (name,) = graph.inputs
    shape = graph.shape(name)
    axis = 1 if path.stem in {Path(file).stem for file in _WAKE_WORDS} else 2
    calibration = {name: windows(line(_LINE, 2), shape, axis)[::4]}
    options = CompileOptions(stream=stream, placement=placement)
    return edgec.compile_model(path, board, calibration=calibration, out=out, options=options)


def checked(whole: CompileResult, stream: CompileResult, axis: int, frames: int) -> str:
    """How many outputs of a stream equal those of the whole window, on the host."""
    found = stream.report.stream
    if found is None or not found.equals_window:
        return "another network at the border"
    shape, run = stream.report.inputs[0].shape, found.frames
    own = line(frames // run * run, 3)
    outputs = np.asarray(stream.run(ordered(own.reshape(-1, run, _BANDS), shape, axis)))
    ends = np.arange(found.warm_up, len(own) // run) * run + run
    inside = ends >= found.window
    starts = (ends - found.window)[inside]
    wanted = np.asarray(whole.run(windows(own, shape, axis)[starts]))
    equal = int((outputs[inside] == wanted).reshape(len(wanted), -1).all(axis=1).sum())
    return f"{equal:,} of {len(wanted):,} outputs equal"


def row(
    name: str, path: Path, axis: int, ahead: bool, folder: Path, arguments: argparse.Namespace
) -> str:
    """A row of the table."""
    options = StreamOptions({"": axis}, allow_delay=ahead)
    placement = None if arguments.placement is None else Placement(arguments.placement)
    whole, stream = (
        compiled(path, arguments.board, folder / f"{name} {number}", placement, each)
        for number, each in enumerate((None, options))
    )
    cycles = [profile(each.folder).total_cycles for each in (whole, stream)]
    report, found = stream.report, stream.report.stream
    assert found is not None
    late = f"{found.delay}" if found.delay else ""
    cells = [
        *(name, f"{found.window} / {found.frames}"),
        *(f"{whole.report.macs:,}", f"{report.macs:,}"),
        *(f"{cycles[0]:,}", f"{cycles[1]:,}", f"{cycles[0] / cycles[1]:.1f}"),
        *(f"{whole.report.memory.arena_bytes:,}", f"{report.memory.arena_bytes:,}"),
        *(f"{report.memory.state_bytes:,}", f"{found.warm_up}", late),
    ]
    if arguments.check:
        cells.append(checked(whole, stream, axis, arguments.check))
    return f"| {' | '.join(cells)} |"


def main() -> None:
    """Print all tables, or one."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0] if __doc__ else "")
    add_data_option(parser)
    parser.add_argument("--board", default="nucleo_l4r5zi")
    parser.add_argument("--only", nargs="*", default=[], help="names of networks")
    parser.add_argument("--placement", choices=[each.value for each in Placement])
    parser.add_argument("--check", type=int, default=0, help="frames to compare, on the host")
    parser.add_argument("--table", choices=("streams", "rows", "patches"), help="one of them")
    arguments = parser.parse_args()
    data = chosen_data_folder(arguments)
    if arguments.table in {None, "streams"}:
        print_streams(data, arguments)
    placement = None if arguments.placement is None else Placement(arguments.placement)
    if arguments.table in {None, "rows"}:
        names = chosen(rows.LIMITS, arguments)
        rows.print_table(names, arguments.board, placement, data)
    if arguments.table in {None, "patches"}:
        names = chosen(patches.PUBLISHED, arguments)
        patches.print_table(names, arguments.board, placement, data)


def chosen(networks: Iterable[str], arguments: argparse.Namespace) -> list[str]:
    """Networks of a table that are asked for."""
    return [name for name in networks if not arguments.only or name in arguments.only]


def print_streams(data: Path | None, arguments: argparse.Namespace) -> None:
    """Print the table of networks that run frame by frame."""
    columns = [
        *("network", "frames, of a run", "MACs", "of a run", "cycles", "of a run", "times less"),
        *("arena", "of a run", "state", "runs before the first output", "frames late"),
        *(["beside the window"] if arguments.check else []),
    ]
    print(f"| {' | '.join(columns)} |")
    print(f"|{'---|' * len(columns)}")
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        for name, path, axis, ahead in models(folder, data, arguments.only):
            print(row(name, path, axis, ahead, folder, arguments), flush=True)


if __name__ == "__main__":
    main()

"""Pooled networks against the same networks in int8: cycles, flash and SRAM.

    python benchmarks/pool_networks.py                                # ResNet-10, M3 and M4
    python benchmarks/pool_networks.py networks/resnet8_cifar10.onnx --boards mps2_an385
    python benchmarks/pool_networks.py --tables 16K 32K 64K --layers  # less SRAM, every layer

MODEL.pool.onnx beside a network is its pooled form; without one, pools are made without training,
from noise (speed depends on shapes only, and hardly on which vector a weight gets).  The boards are
Arm's FPGA boards: a Cortex-M3 and a Cortex-M4 whose memory never waits, with room for any network.
Cycles are those of `edgec profile`.
"""

from __future__ import annotations

import argparse
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from edgec.base.dtypes import Array
from edgec.base.options import CompileOptions, PoolKernelOptions, WeightPoolOptions, parse_bytes
from edgec.commands.compile import compile_model
from edgec.commands.compress import CompressOptions, compress_models
from edgec.commands.compress_jobs import SUFFIX, Job
from edgec.floatrun.float_model import FloatModel
from edgec.profile import LayerProfile, Profile, profile
from edgec.report.model import Report

NETWORK = Path(__file__).resolve().parents[1] / "networks" / "resnet10_cifar10.onnx"
BOARDS = ("mps2_an385", "mps2_an386")
WIDTHS = (8, 4)
POOL_SIZE = 64
SAMPLES = 32
IMAGE = (3, 32, 32)


@dataclass(frozen=True, slots=True)
class Build:
    """One build of a network: int8 (`bits` None) or pooled."""

    label: str
    board: str
    report: Report
    found: Profile

    @property
    def cycles(self) -> int:
        """Of one inference."""
        return self.found.total_cycles


def noise() -> Array:
    """Calibration images: float32 [N, 3, 32, 32]."""
    rng = np.random.default_rng(0)
    return rng.normal(size=(SAMPLES, *IMAGE)).astype(np.float32)


def pooled_network(network: Path, folder: Path) -> Path:
    """The network with pools: MODEL.pool.onnx beside it, or made without training."""
    beside = network.with_name(network.stem + SUFFIX)
    if beside.is_file():
        return beside
    data, output = folder / "noise.npz", folder / f"{network.stem}.pool.onnx"
    (name,) = FloatModel(network).input_names
    np.savez(data, **{name: noise()})
    options = CompressOptions(pool=WeightPoolOptions(size=POOL_SIZE))
    compress_models([Job(network, output, data)], options)
    return output


def builds(
    network: Path, pooled: Path, board: str, tables: Sequence[str], folder: Path
) -> Iterator[Build]:
    """The network in int8, then pooled at each width and table size."""
    yield _build("int8", network, board, PoolKernelOptions(), folder)
    for bits in WIDTHS:
        for table in tables or [""]:
            size = parse_bytes(table, "--tables") if table else None
            options = PoolKernelOptions(bits, table_bytes=size)
            label = f"pooled, {bits} bits" + (f", tables of {table}" if table else "")
            yield _build(label, pooled, board, options, folder)


def _build(label: str, model: Path, board: str, options: PoolKernelOptions, folder: Path) -> Build:
    (name,) = FloatModel(model).input_names
    out = folder / "build"
    compile_model(
        model,
        board,
        calibration={name: noise()},
        out=out,
        options=CompileOptions(verify=False, force=True, pool=options),
    )
    return Build(label, board, Report.read(out), profile(out))


def show(build: Build, int8: Build) -> None:
    """A row of the table."""
    memory = build.report.memory
    print(
        f"| {build.board} | {build.label} | {build.cycles:,} | {int8.cycles / build.cycles:.2f}x | "
        f"{memory.flash_bytes or 0:,} | {memory.weight_bytes:,} | {memory.arena_bytes:,} |",
        flush=True,
    )


def show_layers(build: Build) -> None:
    """Every layer: measured, and what the planner estimated."""
    pooled = {layer.layer: layer for layer in build.report.pooled}
    for number, layer in enumerate(build.found.layers):
        plan = pooled.get(build.report.layers[number].name)
        print(f"    {_measured(layer)}", end="")
        if plan is not None and plan.cycles is not None:
            error = plan.cycles / layer.counts.cycles - 1
            way = f"{plan.kernel} {plan.builder}".strip()
            print(
                f"  {way}, {plan.chunk_groups} groups, {plan.lanes} lanes, k={plan.response_shift},"
                f" {plan.scratch_bytes:,} B, estimate {error:+.1%}",
                end="",
            )
        print(flush=True)


def _measured(layer: LayerProfile) -> str:
    each = layer.cycles_per_mac
    rate = "" if each is None else f"{each:6.3f}"
    return f"{layer.title[:24]:24} {layer.counts.cycles:>12,} {rate:>6} {layer.kernel:12}"


def main() -> None:
    """Print a Markdown table."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("networks", nargs="*", type=Path, default=[NETWORK], help="of 32x32 images")
    parser.add_argument("--boards", nargs="+", default=BOARDS)
    table_help = "table space: compile --pool-table, like 32K"
    parser.add_argument("--tables", nargs="+", default=[], help=table_help)
    parser.add_argument("--layers", action="store_true", help="print every layer, too")
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for network in args.networks:
            pooled = pooled_network(network, folder)
            print(
                f"\n{network.stem}\n\n| board | build | cycles | faster | flash | weights | arena |"
            )
            print("|---|---|---:|---:|---:|---:|---:|")
            for board in args.boards:
                int8: Build | None = None
                for build in builds(network, pooled, board, args.tables, folder):
                    int8 = int8 or build
                    show(build, int8)
                    if args.layers:
                        show_layers(build)


if __name__ == "__main__":
    main()

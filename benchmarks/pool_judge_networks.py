"""How far estimates are off on the layers of real networks, flash and all."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np
from pool_layers import BOARDS
from pool_networks import noise

from edgec.base.options import CompileOptions, PoolKernelOptions
from edgec.commands.compile import compile_model
from edgec.floatrun.float_model import FloatModel
from edgec.profile import profile
from edgec.report.model import Report

_NETWORKS = Path(__file__).resolve().parents[1] / "networks"
_WIDTHS = (8, 4)


def networks_table(cores: Sequence[str]) -> str:
    """Median and worst error of the layers of each network with a weight pool: Markdown."""
    paths = sorted(_NETWORKS.glob("*.pool.onnx"))
    lines = ["| network, bits | " + " | ".join(cores) + " |", "|---" * (len(cores) + 1) + "|"]
    for path in paths:
        for bits in _WIDTHS:
            cells = (_cell(list(_errors(path, BOARDS[core], bits))) for core in cores)
            name = path.name.removesuffix(".pool.onnx")
            lines.append(f"| {name}, {bits} | " + " | ".join(cells) + " |")
    return "\n".join(lines)


def _cell(errors: Sequence[float]) -> str:
    return f"{np.median(np.abs(errors)):.1%}, {max(errors, key=abs):+.0%}"


def _errors(path: Path, board: str, bits: int) -> Iterator[float]:
    """Relative errors of the estimates of layers with a weight pool, as the planner chose them."""
    (name,) = FloatModel(path).input_names
    options = CompileOptions(verify=False, pool=PoolKernelOptions(bits))
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder) / "build"
        compile_model(path, board, calibration={name: noise()}, out=out, options=options)
        report, found = Report.read(out), profile(out)
    estimates = {layer.layer: layer.cycles for layer in report.pooled}
    for layer, measured in zip(report.layers, found.layers, strict=True):
        estimate = estimates.get(layer.name)
        if estimate is not None:
            yield estimate / measured.counts.cycles - 1

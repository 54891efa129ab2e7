"""DeiT-Tiny's architecture with random weights: exported, quantized, compared, and sized."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from edgec.base.dtypes import Array
from edgec.base.errors import MemoryPlanError
from edgec.base.options import CompileOptions
from edgec.codegen.library import emit_library
from edgec.floatrun.float_model import FloatModel
from edgec.interp import run_graph
from edgec.ir import Graph
from edgec.kernels.buffers import buffers_of
from edgec.kernels.select import select_kernels
from edgec.lower import Program, lower
from edgec.memory import plan_memory
from edgec.quant import sqnr_db
from edgec.sim.compare import compare_trace
from edgec.sim.host import HostModel
from edgec.target.board import Board, list_boards, load_board
from edgec.target.target import Target
from edgec.workflow.fits import Demand, check_fits
from edgec.workflow.integer import integer_model

NETWORKS = Path(__file__).parents[2] / "networks"
pytestmark = pytest.mark.torch
TINY_WEIGHTS = 5_717_416
"""Parameters of the published network (5.7 million)."""


@pytest.fixture
def export(monkeypatch, tmp_path):
    """Writes the network with this many blocks; gives the file."""
    monkeypatch.syspath_prepend(str(NETWORKS))
    import deit

    def write(blocks: int) -> Path:
        path = tmp_path / f"deit_{blocks}.onnx"
        with pytest.warns(DeprecationWarning):
            deit.export(path, blocks)
        return path

    return write


def images(count: int) -> Array:
    return np.random.default_rng(0).normal(0, 1, (count, 3, 224, 224)).astype(np.float32)


def lowered(graph: Graph, target: Board) -> Program:
    choices = select_kernels(graph, Target.of(target))
    buffers, overlaps, _ = buffers_of(graph, choices)
    return lower(graph, choices, plan_memory(buffers, overlaps))


def check_all_tensors(graph: Graph, x: Array, folder: Path) -> None:
    """Every tensor of the C code for the host is that of the numpy reference."""
    program = lowered(graph, load_board("host"))
    emit_library(program, folder / "library")
    model = HostModel(folder / "library", folder / "build")
    (name,) = graph.inputs
    codes = graph.quant(name).quantize(x.transpose(0, 2, 3, 1))
    for image in codes:
        oracle = run_graph(graph, {name: image[None]})
        compare_trace(program, oracle, model.trace([image[None]]))


def logits(graph: Graph, image: Array) -> Array:
    (name,) = graph.inputs
    codes = graph.quant(name).quantize(image.transpose(0, 2, 3, 1))
    return graph.quant("logits").dequantize(run_graph(graph, {name: codes})["logits"])


def test_one_block(export, tmp_path):
    x = images(2)
    graph = integer_model(export(1), {"image": x}, CompileOptions()).integer
    check_all_tensors(graph, images(1), tmp_path)


@pytest.mark.slow
def test_all_blocks(export, tmp_path):
    x = images(6)
    path = export(12)
    model = integer_model(path, {"image": x[:4]}, CompileOptions())
    check_all_tensors(model.integer, x[4:5], tmp_path)
    wanted = FloatModel(path).run({"image": x[5:]})["logits"]
    assert sqnr_db(wanted, logits(model.integer, x[5:])) > 32
    weights = sum(
        c.array.size for c in model.integer.constants.values() if c.array.dtype == np.int8
    )
    assert abs(weights - TINY_WEIGHTS) < 0.02 * TINY_WEIGHTS


@pytest.mark.slow
def test_boards_that_hold_it(export):
    graph = integer_model(export(12), {"image": images(2)}, CompileOptions()).integer
    for board in (*list_boards(), large_m7()):
        program = lowered(graph, board)
        assert 5.7e6 < program.constant_bytes < 6.5e6
        assert program.arena_bytes < 300_000
        demand = Demand(program.arena_bytes, program.constant_bytes, (), ())
        if board.flash_bytes is None or board.flash_bytes > program.constant_bytes:
            check_fits(demand, board)
            continue
        with pytest.raises(MemoryPlanError, match="flash is short|RAM is short") as caught:
            check_fits(demand, board)
        assert board.name in (caught.value.where or "")


def large_m7() -> Board:
    """A Cortex-M7 with 8 MB of flash in its memory map."""
    board = load_board("nucleo_h7a3zi_q")
    assert board.memory is not None
    flash = replace(board.memory.flash, size_bytes=8 << 20)
    return replace(board, memory=replace(board.memory, flash=flash))

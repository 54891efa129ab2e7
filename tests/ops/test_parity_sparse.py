"""Oracle = generated C for layers whose weights are mostly zero."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from dense_layers import Case, graph_of
from emulated import check_emulated, need_emulator
from loop_nets import stream_of
from mixed_forms import Mixed
from parity import check_host, compiled, samples_of
from quantized_loops import RECURRENT, recurrent_graph
from random_transformer import Layer
from sparse_weights import with_zeros

from edgec.base.dtypes import DType
from edgec.base.options import Optimize
from edgec.ir import Graph, QuantParams, qops
from edgec.ir.weighted import plain_inputs
from edgec.kernels.generic.sparse_rows import FAMILY, SparseRows, computes, stored, words_of
from edgec.kernels.registry import FAMILIES
from edgec.kernels.select import kernel_candidates, select_kernels
from edgec.sim.compare import compare_trace
from edgec.sim.host import HostModel
from edgec.target.board import load_board
from edgec.target.target import Target
from edgec.toolchain.cc import WARNING_FLAGS

RNG = np.random.default_rng(0)
FIRST = (replace(FAMILY, accepts=computes), *FAMILIES)
"""With sparse layers wherever they can be computed, however few their bytes are."""
BOARDS = ("nucleo_l4r5zi", "nucleo_g0b1re", "nucleo_f207zg", "raspberry_pi_2", "raspberry_pi_3")
CASES = (
    *(Case(1, depth, units) for depth in (40, 255, 256, 257, 300, 640) for units in (2, 3, 37)),
    Case(1, 200, 30, bounds=(-100, 90), shift=38),
    Case(3, 300, 9),
    Case(5, 64, 33, kernel=1),
    Case(4, 48, 20, kernel=1, residual=True),
    Case(2, 40, 12, kernel=2, width=2),
)


def check_kernels(graph: Graph, board: str) -> None:
    choices = select_kernels(graph, Target.of(load_board(board)), families=FIRST)
    assert all(isinstance(choice.spec, SparseRows) for choice in choices)


@pytest.mark.parametrize("zeros", [0.75, 0.97])
def test_on_the_host(zeros: float, tmp_path: Path):
    check_host(with_zeros(graph_of(1, CASES), zeros), tmp_path, families=FIRST)


@pytest.mark.few_cases(1)
@pytest.mark.parametrize("board", BOARDS)
def test_on_an_emulated_core(board: str, tmp_path: Path):
    need_emulator(board)
    graph = with_zeros(graph_of(2, CASES), 0.8)
    program = compiled(graph, tmp_path / "library", board=board, families=FIRST)
    assert all(isinstance(kernel.spec, SparseRows) for kernel in program.kernels)
    samples = [samples_of(graph)[i] for i in (0, 2, 4)]
    check_emulated(board, tmp_path / "library", program, samples, tmp_path / "project")


def wide(seed: int) -> Graph:
    """Layers that read or give int16."""
    layer = Layer(seed)
    types = (DType.INT8, DType.INT16)
    for x_type, y_type in ((x, y) for x in types for y in types if x is not y or x is types[1]):
        x = layer.input(1, 300, dtype=x_type)
        form = qops.Requant31(38, 0, -32767 if y_type is DType.INT16 else -90, 99, y_type)
        inputs = [
            x,
            layer.constant(-128, 127, 20, 300),
            layer.constant(-9000, 9000, 20, dtype=np.int32),
            layer.constant(1 << 17, 1 << 19, 20, dtype=np.int32),
        ]
        y = layer.node(qops.QGemm(form), inputs, y_type)
        value = layer.builder.values[y]
        layer.builder.value(replace(value, quant=QuantParams.per_tensor(0.05, 0, y_type)))
    return layer.builder.build()


def test_int16(tmp_path: Path):
    graph = with_zeros(wide(3), 0.85)
    check_kernels(graph, "host")
    check_host(graph, tmp_path, families=FIRST)


class Forms(Mixed):
    """Layers of several forms of requantization."""

    def layer(self, form: qops.Requantization, multiplier: int, dtype: type) -> None:
        x = self.input(1, 3, 270)
        inputs = [
            x,
            self.constant(-127, 127, 16, 270),
            self.constant(-900, 900, 16, dtype=np.int32),
            self.array(np.full(16, multiplier, dtype)),
        ]
        self.builder.outputs.append(self.put(qops.QGemm(form), inputs, 4))


def test_forms(tmp_path: Path):
    net = Forms(5)
    net.layer(qops.Rescale16x15(2, 26, -128, 127), 30_000, np.int16)
    net.layer(qops.TwoRoundings31((-8,) * 16, 4), 1 << 30, np.int32)
    net.layer(qops.TwoRoundings31((-9, -8) * 8, 4, -20, 100), 1 << 30, np.int32)
    graph = with_zeros(net.builder.build(), 0.8)
    check_kernels(graph, "host")
    check_host(graph, tmp_path, families=FIRST)


def test_stored_weights():
    weights = np.zeros((3, 300), np.int8)
    weights[0, [3, 255, 256]] = 5, -128, 7
    weights[2, 299] = -1
    words = [[3, 255, 5, -128], [0, 0, 7, 0], [43, 0, -1, 0]]
    expected = [*np.array(words).ravel().astype(np.uint8), 1, 1, 0, 0, 0, 1]
    assert stored(weights).view(np.uint8).tolist() == expected
    assert words_of(weights) == 3


@pytest.mark.parametrize("depth", [1, 255, 256, 257, 1000])
def test_the_number_of_words(depth: int):
    weights = RNG.integers(-128, 128, (7, depth)).astype(np.int8)
    weights[RNG.random(weights.shape) < 0.6] = 0
    assert stored(weights).size == 4 * words_of(weights) + 7 * -(-depth // 256)


def pruned(zeros: float, depth: int = 256) -> Graph:
    return with_zeros(graph_of(4, (Case(1, depth, 64),)), zeros)


def kernel(graph: Graph, board: str, optimize: Optimize = Optimize.SPEED) -> str:
    (choice,) = select_kernels(graph, Target.of(load_board(board), optimize))
    return choice.spec.family


@pytest.mark.parametrize(
    ("board", "dense", "zeros", "too_few"),
    [
        ("nucleo_l4r5zi", "dense_1x4_dsp", 0.88, 0.72),
        ("nucleo_g0b1re", "dense_1x4_s8_m0", 0.70, 0.45),
        ("raspberry_pi_3", "gemm", 0.98, 0.85),
    ],
)
def test_chosen_where_it_is_faster(board: str, dense: str, zeros: float, too_few: float):
    assert kernel(pruned(too_few), board) == dense
    assert kernel(pruned(zeros), board) == "sparse_rows"


def test_chosen_for_bytes_where_small_code_is_preferred():
    assert kernel(pruned(0.6), "nucleo_l4r5zi", Optimize.SIZE) == "sparse_rows"
    # Where it saves little, it is not worth its time.
    assert kernel(pruned(0.45), "nucleo_l4r5zi", Optimize.SIZE) == "dense_1x4_dsp"
    # Fewer bytes, but not by as much as the function takes.
    assert kernel(pruned(0.6, depth=20), "nucleo_l4r5zi", Optimize.SIZE) == "dense_1x4_dsp"


@pytest.mark.parametrize(
    ("board", "packed"),
    [("nucleo_l4r5zi", "dense_1x4_packed_dsp"), ("nucleo_g0b1re", "packed_filters")],
)
def test_chosen_for_bytes_before_weights_of_few_bits(board: str, packed: str):
    """Weights of 4 bits take half the room as they are, so that more of them must be zero."""
    few, many = (of_few_bits(pruned(zeros)) for zeros in (0.7, 0.85))
    assert kernel(few, board, Optimize.SIZE) == packed
    assert kernel(many, board, Optimize.SIZE) == "sparse_rows"
    assert kernel(many, board) == packed


def of_few_bits(graph: Graph) -> Graph:
    """The graph with weights of 4 bits; those that are zero stay so."""
    constants = dict(graph.constants)
    for node in graph.nodes:
        name = plain_inputs(node).w
        narrow = constants[name].array.astype(np.int64) * 7 / 128
        constants[name] = replace(constants[name], array=np.trunc(narrow).astype(np.int8))
    return replace(graph, constants=constants)


def test_no_candidate_where_it_would_take_more_bytes():
    for zeros, is_candidate in ((0.3, False), (0.7, True)):
        graph = pruned(zeros)
        found = kernel_candidates(graph, graph.nodes[0], Target.of(load_board("nucleo_l4r5zi")))
        assert any(each.spec.family == "sparse_rows" for each in found) is is_candidate


@pytest.mark.few_cases(1)
@pytest.mark.parametrize("name", RECURRENT)
def test_gates_of_recurrent_layers(name: str, tmp_path: Path):
    graph = with_zeros(recurrent_graph(name), 0.9)
    program = compiled(graph, tmp_path / "library", families=FIRST)
    assert any(isinstance(kernel.spec, SparseRows) for kernel in program.kernels)
    stream = HostModel(tmp_path / "library", tmp_path / "build", flags=WARNING_FLAGS).stream()
    for inputs, oracle in stream_of(graph, 3):
        compare_trace(program, oracle, stream.trace(inputs))

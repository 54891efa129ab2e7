"""Oracle = generated C for layers with packed weights of 2 to 4 bits, on every kind of core."""

from pathlib import Path

import pytest
from cross import DOT, MACHINES, check_cross
from emulated import check_emulated, need_emulator
from exact_chain import ENDS, chain
from few_bits import few_bits, packed_specs, packing_all
from hypothesis import HealthCheck, given, seed, settings
from parity import check_host, compiled, samples_of
from random_graphs import single_ops
from random_transformer import operators

from edgec.ir import Graph
from edgec.kernels.packed.codes import WIDTHS

BOARDS = ("host", "nucleo_f207zg", "nucleo_l4r5zi", "nucleo_g0b1re")
CORES = ("mps2_an385", "nucleo_g0b1re", "nucleo_l4r5zi", "nucleo_h7a3zi_q", "nucleo_u575zi_q")
PARTS = (4096, 64)
"""Bytes unpacked at a time: all of a small layer, or four filters."""
RESCALING_ENDS = {"rescale16": 4, "rescale16_added": 6, "rescale16_table": 8}
"""Ends of layers of transformers, and a seed that gives a product with it."""


@pytest.mark.few_cases(4)
@pytest.mark.parametrize("board", BOARDS[::2])
@pytest.mark.parametrize("op", ["conv", "gemm"])
@pytest.mark.parametrize("bits", WIDTHS)
def test_random_layers_on_the_host(op: str, bits: int, board: str, tmp_path: Path) -> None:
    @seed(bits)
    @settings(
        max_examples=1,
        deadline=None,
        database=None,
        suppress_health_check=[HealthCheck.function_scoped_fixture],
    )
    @given(single_ops(op, count=10))
    def check(graph: Graph) -> None:
        for part in PARTS:
            folder = tmp_path / str(len(list(tmp_path.iterdir())))
            folder.mkdir()
            check_host(few_bits(graph, bits), folder, board=board, families=packing_all(part))

    check()


@pytest.mark.few_cases(1)
@pytest.mark.parametrize("board", BOARDS[1:3])
def test_layers_of_transformers_on_the_host(board: str, tmp_path: Path) -> None:
    graph = few_bits(operators(4, ["gemm", "conv"], 8), 4)
    program = check_host(graph, tmp_path, board=board, families=packing_all(PARTS[0]))
    assert {spec.end for spec in packed_specs(program)} == set(RESCALING_ENDS)


@pytest.mark.parametrize("board", BOARDS[1:3])
@pytest.mark.parametrize("end", RESCALING_ENDS)
def test_parts_of_layers_of_transformers_on_the_host(end: str, board: str, tmp_path: Path) -> None:
    """Alone, a layer finds no memory that others need in any case."""
    graph = few_bits(operators(RESCALING_ENDS[end], ["gemm"], 1), 4)
    program = check_host(graph, tmp_path, board=board, families=packing_all(PARTS[1]))
    (spec,) = packed_specs(program)
    assert (spec.has_batches, spec.end) == (True, end)


@pytest.mark.few_cases(1)
@pytest.mark.parametrize("board", BOARDS[1:])
@pytest.mark.parametrize("end", ENDS)
def test_layers_with_the_codes_of_tflm_on_the_host(end: str, board: str, tmp_path: Path) -> None:
    graph = few_bits(chain(1, end, 26, saturates=end != "two_roundings31_any"), 3)
    program = check_host(graph, tmp_path, board=board)
    assert any(spec.has_batches for spec in packed_specs(program))


@pytest.mark.few_cases(1)
@pytest.mark.parametrize("name", CORES)
def test_on_an_emulated_core(name: str, tmp_path: Path) -> None:
    need_emulator(name)
    graph = few_bits(chain(2, "offset31", 12), 4)
    families = packing_all(256)
    program = compiled(graph, tmp_path / "library", board=name, families=families)
    assert len(packed_specs(program)) > 1
    samples = samples_of(graph)[2:4]
    check_emulated(name, tmp_path / "library", program, samples, tmp_path / "project")


@pytest.mark.slow
@pytest.mark.parametrize("bits", WIDTHS)
@pytest.mark.parametrize("name", CORES)
def test_layers_of_transformers_on_an_emulated_core(name: str, bits: int, tmp_path: Path) -> None:
    need_emulator(name)
    graph = few_bits(operators(7, ["gemm", "conv"], 3), bits)
    program = compiled(graph, tmp_path / "library", board=name, families=packing_all(128))
    samples = samples_of(graph)[2:5]
    check_emulated(name, tmp_path / "library", program, samples, tmp_path / "project")


@pytest.mark.few_cases(1)
@pytest.mark.parametrize("machine", MACHINES)
@pytest.mark.parametrize("bits", WIDTHS)
def test_with_neon(bits: int, machine: str, tmp_path: Path) -> None:
    graph = few_bits(chain(3, "offset31", 26), bits)
    program = check_cross(MACHINES[machine], graph, samples_of(graph), tmp_path)
    inner = {type(spec.called).__name__ for spec in packed_specs(program)}
    assert "Dense4x4" in inner


@pytest.mark.few_cases(1)
def test_on_a_core_with_dot_products(tmp_path: Path) -> None:
    graph = few_bits(chain(3, "offset31", 26), 4)
    program = check_cross(DOT, graph, samples_of(graph), tmp_path)
    assert {type(spec.called).__name__ for spec in packed_specs(program)} == {"Dense4x4"}

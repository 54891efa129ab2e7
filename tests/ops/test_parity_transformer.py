"""Oracle = generated C for the integer operators of transformers."""

from pathlib import Path

import pytest
from c_programs import SANITIZE, Build
from emulated import check_emulated
from parity import check_build, check_host, compiled, samples_of
from random_transformer import OPERATORS, operators

from edgec.toolchain import process

KERNELS = {"plain": "host", "dsp": "nucleo_l4r5zi"}
"""Boards whose cores get the plain kernels, and those for the DSP extension."""
CORES = {
    "m0plus": "nucleo_g0b1re",
    "m3": "nucleo_f207zg",
    "m4": "nucleo_l4r5zi",
    "m7": "nucleo_h7a3zi_q",
    "m33": "nucleo_u575zi_q",
}
GROUPS = {
    "layers": ["gemm", "gemm", "conv", "depthwise", "norm", "norm", "fused_attention"],
    "others": [
        *("matmul", "mul", "reduce", "rescale", "add_wide_stream", "embedding"),
        *("attention", "fused_attention", "movers"),
    ],
    "rare": [
        *("biased_attention", "biased_attention", "softmax", "is_equal"),
        *("int8_stream", "long_attention"),
    ],
}
"""Operators of one firmware, which has at most 16 inputs."""
_QUICK = [("layers", "m0plus"), ("layers", "m4"), ("rare", "m4")]
_SLOW = [
    pytest.param(group, core, marks=pytest.mark.slow)
    for group in GROUPS
    for core in CORES
    if (group, core) not in _QUICK
]


@pytest.mark.few_cases(1)
@pytest.mark.parametrize("kernels", KERNELS)
def test_operators_on_the_host(kernels: str, tmp_path: Path) -> None:
    check_host(operators(1, list(OPERATORS), 3), tmp_path, board=KERNELS[kernels])


@pytest.mark.slow
@pytest.mark.parametrize(
    ("kernels", "seed"),
    [("plain", 2), ("dsp", 3), ("plain", 4), ("dsp", 5), ("plain", 6), ("dsp", 7)],
)
@pytest.mark.parametrize("name", OPERATORS)
def test_operator_on_the_host_thoroughly(
    name: str, kernels: str, seed: int, tmp_path: Path
) -> None:
    check_host(operators(seed, [name], 25), tmp_path, board=KERNELS[kernels])


@pytest.mark.parametrize("kernels", ["dsp", pytest.param("plain", marks=pytest.mark.slow)])
def test_nothing_overflows_under_the_sanitizers(kernels: str, tmp_path: Path) -> None:
    graph = operators(11, [*OPERATORS, "attention", "attention", "attention"], 1)
    program = compiled(graph, tmp_path / "library", board=KERNELS[kernels])
    check_build(Build("gcc", SANITIZE), tmp_path / "library", program, samples_of(graph), tmp_path)


@pytest.mark.few_cases(1)
@pytest.mark.parametrize(("group", "core"), [*_QUICK, *_SLOW])
def test_operators_on_emulated_cores(group: str, core: str, tmp_path: Path) -> None:
    if process.which("arm-none-eabi-gcc") is None:
        pytest.skip("arm-none-eabi-gcc is not installed")
    pytest.importorskip("unicorn")
    graph = operators(3, GROUPS[group], 1)
    assert len(graph.inputs) <= 16
    program = compiled(graph, tmp_path / "library", board=CORES[core])
    samples = samples_of(graph)[2:5]
    check_emulated(CORES[core], tmp_path / "library", program, samples, tmp_path / "project")

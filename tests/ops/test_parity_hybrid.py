"""Networks of convolutions and attention with int16 codes: oracle = host C = emulated firmware."""

from pathlib import Path

import pytest
from emulated import check_emulated, need_emulator
from hybrid_nets import CHOICES, HYBRIDS, hybrid, mixed
from lower_samples import DSP_BOARD
from parity import check_host, compiled, samples_of
from small_transformers import inputs_of

from edgec.base.options import CompileOptions, Precision, QuantOptions
from edgec.ir import qops
from edgec.ir.graph import Graph
from edgec.ir.verify import Stage, verify
from edgec.kernels.select import select_kernels
from edgec.quant import quantize


def graph_of(network: str, choice: str) -> Graph:
    graph = mixed(HYBRIDS[network](), CHOICES[choice])
    verify(graph, Stage.INTEGER, "the test")
    return graph


@pytest.mark.few_cases(4)
@pytest.mark.parametrize("choice", CHOICES)
@pytest.mark.parametrize("network", HYBRIDS)
def test_generated_c_computes_the_same(network: str, choice: str, tmp_path: Path) -> None:
    check_host(graph_of(network, choice), tmp_path)


def test_the_hybrid_has_every_operator_of_mixed_types() -> None:
    found = {type(node.attrs) for node in graph_of("hybrid", "all").nodes}
    assert {
        qops.QConv,
        qops.QAdd,
        qops.QMul,
        qops.QDiv,
        qops.QMatMul,
        qops.QLut,
        qops.QAttention,
        qops.QNorm,
    } <= found


@pytest.mark.few_cases(1)
@pytest.mark.parametrize("precision", [Precision.INT16, Precision.AUTO])
def test_emulated_firmware_computes_the_same(precision: Precision, tmp_path: Path) -> None:
    need_emulator("nucleo_l4r5zi")
    target = 45.0 if precision is Precision.AUTO else None
    options = CompileOptions(quant=QuantOptions(precision=precision, target_db=target))
    graph = quantize(hybrid(), inputs_of(hybrid(), 16), options).integer
    families = {choice.spec.family for choice in select_kernels(graph, DSP_BOARD)}
    assert "dense_2x2_s16_dsp" in families
    program = compiled(graph, tmp_path / "library", board="nucleo_l4r5zi")
    samples = samples_of(graph)[2:5]
    check_emulated("nucleo_l4r5zi", tmp_path / "library", program, samples, tmp_path / "p")

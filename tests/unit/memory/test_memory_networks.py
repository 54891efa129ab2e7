"""Arenas of whole networks against the largest sum of tensors that are alive at one step."""

import warnings
from pathlib import Path

import pytest
from data_folder import needed_data_folder
from own_networks import OWN_NETWORKS

from edgec.base.options import CompileOptions
from edgec.kernels.buffers import buffers_of
from edgec.kernels.select import select_kernels
from edgec.memory import Buffer, Overlap, Peak, check_plan, disjoint_bound, plan_memory
from edgec.target.board import load_board
from edgec.target.target import Target
from edgec.workflow.integer import integer_model


def memory_of(path: Path) -> tuple[list[Buffer], list[Overlap]]:
    """Buffers and overlaps of a network as compiled for the Nucleo; ranges do not matter here."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        graph = integer_model(path, None, CompileOptions()).integer
    buffers, overlaps, _ = buffers_of(graph, select_kernels(graph, Target.of(load_board("nucleo"))))
    return list(buffers), list(overlaps)


def check_arena(path: Path, stated_bytes: int, reached_bytes: int) -> None:
    buffers, overlaps = memory_of(path)
    disjoint = plan_memory(buffers, [])
    check_plan(disjoint, buffers, [])
    assert disjoint.arena_bytes <= disjoint_bound(buffers) * 1.05
    assert disjoint.arena_bytes <= stated_bytes * 1.05
    plan = plan_memory(buffers, overlaps)
    check_plan(plan, buffers, overlaps)
    assert Peak.of(buffers, overlaps, 1).arena_bytes <= plan.arena_bytes <= reached_bytes * 1.02


@pytest.mark.few_cases(2)
@pytest.mark.parametrize(
    ("name", "stated_bytes", "reached_bytes"),
    [
        # Stated: tensors and scratch alive at one step.  Reached, when this test was written.
        ("digits_mlp", 360, 360),
        ("digits_resnet", 2_216, 2_120),
        ("resnet8", 53_192, 36_808),
        ("resnet10", 57_224, 40_840),
    ],
)
def test_arena(name: str, stated_bytes: int, reached_bytes: int) -> None:
    check_arena(OWN_NETWORKS[name], stated_bytes, reached_bytes)


@pytest.mark.data
@pytest.mark.parametrize(
    ("file", "stated_bytes", "reached_bytes"),
    [
        # Stated without overlaps; reached, with them, when this test was written.
        ("mlperf_autoencoder_toycar_int8_qdq.onnx", 2_184, 2_056),
        # Nine tensors of 8,000 bytes in a row, four of which take the place of the one before.
        ("mlperf_dscnn_kws_int8_qdq.onnx", 16_552, 9_872),
        # A line of widened columns (`conv_4x2_s8_dsp`) is scratch beside two tensors of 16 KB.
        ("mlperf_resnet8_cifar10_int8_qdq.onnx", 53_192, 36_808),
        ("mlperf_mobilenetv1_025_vww96_int8_qdq.onnx", 73_728, 41_984),
        ("resnet20_cifar10.onnx", 59_016, 42_632),
        ("mcunet_vww80_float.onnx", 97_024, 81_944),
    ],
)
def test_arena_of_a_public_network(file: str, stated_bytes: int, reached_bytes: int) -> None:
    check_arena(needed_data_folder() / "models" / file, stated_bytes, reached_bytes)

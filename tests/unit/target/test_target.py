"""What kernels may ask about a processor, and that they ask for nothing it lacks."""

from pathlib import Path

import pytest
from lower_samples import small_net
from places import PACKAGE
from targets import bare_target

from edgec.kernels.select import kernel_candidates, select_kernels
from edgec.target.board import Board, list_boards, load_board
from edgec.target.cores import CORES, Core, Fpu, InstructionSet
from edgec.target.target import Target

KERNELS = ("lower", "kernels", "weightpool")
"""Packages that choose and describe kernels."""


def without_dsp(folder: Path) -> Board:
    """The board with a Cortex-M33, as if its chip had been made without the DSP extension."""
    text = (PACKAGE.parent / "boards" / "nucleo_u575zi_q.toml").read_text("utf-8")
    assert "dsp = true" in text
    path = folder / "no_dsp.toml"
    path.write_text(text.replace("dsp = true", "dsp = false"), "utf-8")
    return load_board(path)


def families(target: Target) -> list[str]:
    return [choice.spec.family for choice in select_kernels(small_net(), target)]


def possible(target: Target) -> list[set[str]]:
    """The families that could compute each layer."""
    graph = small_net()
    return [
        {each.spec.family for each in kernel_candidates(graph, choice.node, target)}
        for choice in select_kernels(graph, target)
    ]


def test_an_m33_without_dsp_gets_no_kernel_with_smlad(tmp_path: Path) -> None:
    target = Target.of(without_dsp(tmp_path))
    assert not target.has_dsp
    assert not any(
        "dsp" in family or family in {"dense_3x2_s8_dsp", "dense_4x2_s8_dsp", "conv_4x2_s8_dsp"}
        for family in families(target)
    )
    with_dsp = Target.of(load_board("nucleo_u575zi_q"))
    assert "dense_4x2_s8_dsp" in families(with_dsp)


def test_an_m33_without_dsp_gets_the_kernels_of_a_cortex_m3(tmp_path: Path) -> None:
    """Which of them it takes is another matter: a part of a call takes other cycles there."""
    m3 = possible(bare_target(Core.CORTEX_M3))
    assert possible(Target.of(without_dsp(tmp_path))) == m3
    assert any("dense_5x2_s8_m0" in found for found in m3)


@pytest.mark.parametrize("board", list_boards(), ids=lambda board: board.name)
def test_sizes_and_options_come_from_the_board_file(board: Board) -> None:
    target = Target.of(board)
    assert (target.has_dsp, target.fpu) == (board.dsp, board.fpu)
    assert target.has_fpu == (board.fpu is not Fpu.NONE)
    assert target.arena_limit_bytes == board.arena_limit_bytes
    if board.memory is not None:
        flash = board.memory.flash
        assert target.flash_bytes == flash.size_bytes
        assert target.flash_wait_states == flash.wait_states
        assert target.instruction_cache_bytes == flash.instruction_cache_bytes
        assert target.data_cache_bytes == flash.data_cache_bytes


def test_every_core_names_the_document_of_its_facts() -> None:
    assert set(CORES) == set(Core)
    assert all(len(facts.source) > 20 for facts in CORES.values())


def test_abilities_follow_from_instruction_sets() -> None:
    for core in Core:
        target = bare_target(core)
        assert target.is_aarch64 == (target.instruction_set is InstructionSet.ARMV8_A)
        assert target.is_cortex_m == core.name.startswith("CORTEX_M")
        assert target.has_long_multiply == (target.instruction_set is not InstructionSet.ARMV6_M)
        assert target.has_wide_thumb == (
            (target.is_cortex_m and target.has_long_multiply)
            or core.name in ("CORTEX_A7", "CORTEX_A8")
        )


def test_scratch_memory_leaves_half_of_the_arena() -> None:
    assert bare_target(Core.CORTEX_M4).scratch_limit_bytes == 16 * 1024
    small = Target.of(load_board("microbit"))
    assert small.arena_limit_bytes is not None
    assert small.scratch_limit_bytes == small.arena_limit_bytes // 2 < 16 * 1024


def test_long_loops_need_a_cache_where_flash_is_slow() -> None:
    assert not Target.of(load_board("nucleo_l4r5zi")).runs_from_cache(2048)
    assert Target.of(load_board("nucleo_l4r5zi")).runs_from_cache(1024)
    assert Target.of(load_board("nucleo_u575zi_q")).runs_from_cache(2048)
    assert Target.of(load_board("mps2_an386")).runs_from_cache(2048)


def test_no_kernel_asks_for_a_core_by_its_name() -> None:
    texts = {
        path: path.read_text("utf-8")
        for package in KERNELS
        for path in (PACKAGE / package).rglob("*.py")
    }
    wrong = [
        path.name
        for path, text in texts.items()
        if "possible_dsp" in text or "edgec.target.cores" in text
    ]
    assert not wrong

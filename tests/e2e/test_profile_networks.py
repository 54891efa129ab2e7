"""Profiles of MLPerf Tiny's networks: quick enough, plausible, the same natively and in Python."""

import shutil
import time
from pathlib import Path

import pytest
from profile_networks import SHARED, compile_for

from edgec.profile import Profile, profile

pytestmark = [
    pytest.mark.shared,
    pytest.mark.skipif(not SHARED.is_dir(), reason="needs the networks of ../shared"),
]


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("networks")


def profiled(network: str, board: str, root: Path) -> Profile:
    folder = root / f"{network}-{board}"
    if not folder.is_dir():
        compile_for(network, board, folder)
    return profile(folder)


@pytest.mark.skipif(shutil.which("gcc") is None, reason="the native tracer needs gcc")
@pytest.mark.parametrize(("network", "seconds"), [("resnet8-qdq", 15.0), ("dscnn-qdq", 4.0)])
def test_a_profile_is_quick(network: str, seconds: float, root: Path):
    compile_for(network, "nucleo_l4r5zi", root / f"{network}-nucleo_l4r5zi")
    began = time.process_time()
    profiled(network, "nucleo_l4r5zi", root)
    assert time.process_time() - began < seconds


@pytest.mark.parametrize("network", ["resnet8-qdq", "dscnn-qdq", "vww-qdq"])
def test_cycles_per_instruction_are_those_of_such_code_on_an_l4r5(network: str, root: Path):
    """CMSIS-NN's networks on an L4R5 at 120 MHz: 1.46 to 1.78 (../shared/kernels.md, section 5)."""
    assert 1.46 <= profiled(network, "nucleo_l4r5zi", root).cycles_per_instruction <= 1.78


def test_weights_that_stream_from_flash_make_the_core_wait(root: Path):
    found = profiled("resnet8-qdq", "nucleo_l4r5zi", root)
    assert found.total.data_stalls > 0
    assert found.total.fetch_stalls > 0
    assert found.macs == 12_501_632


@pytest.mark.parametrize("board", ["nucleo_g0b1re", "nucleo_f207zg", "nucleo_h7a3zi_q"])
def test_two_profiles_are_equal(board: str, root: Path):
    assert profiled("dscnn-qdq", board, root) == profiled("dscnn-qdq", board, root)

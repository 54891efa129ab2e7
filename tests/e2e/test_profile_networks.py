"""Profiles of whole networks: plausible, the same each time."""

from pathlib import Path

import pytest
from _pytest.mark.structures import ParameterSet
from own_networks import OWN_NETWORKS, digit_images, digits
from profile_networks import OPTIONS, compile_for

from edgec.commands.compile import compile_model
from edgec.floatrun.float_model import FloatModel
from edgec.profile import Profile, profile

PUBLIC = ("resnet8-qdq", "dscnn-qdq", "vww-qdq")


def network(name: str) -> ParameterSet:
    """A parameter; public networks are there with their folder only."""
    return pytest.param(name, marks=[pytest.mark.data] if name in PUBLIC else [])


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("networks")


def profiled(network: str, board: str, root: Path) -> Profile:
    folder = root / f"{network}-{board}"
    if not folder.is_dir():
        build(network, board, folder)
    return profile(folder)


def build(network: str, board: str, folder: Path) -> None:
    if network in PUBLIC:
        compile_for(network, board, folder)
        return
    path = OWN_NETWORKS[network]
    (name,) = FloatModel(path).input_names
    samples = {name: digits("calibration")[0] if name == "x" else digit_images("calibration", 20)}
    compile_model(path, board, calibration=samples, out=folder, options=OPTIONS)


@pytest.mark.few_cases(2)
@pytest.mark.parametrize("name", ["resnet8", *map(network, PUBLIC)])
def test_cycles_per_instruction_are_those_of_such_code_on_an_l4r5(name: str, root: Path):
    """CMSIS-NN's networks: 1.46 to 1.78; edgec's load less often, and from RAM what they load again
    and again (docs/simulator.md)."""
    assert 1.1 <= profiled(name, "nucleo_l4r5zi", root).cycles_per_instruction <= 1.78


@pytest.mark.slow
def test_weights_that_stream_from_flash_make_the_core_wait(root: Path):
    found = profiled("resnet8", "nucleo_l4r5zi", root)
    assert found.total.data_stalls > 0
    assert found.total.fetch_stalls > 0
    assert found.macs == 12_501_632


@pytest.mark.few_cases(1)
@pytest.mark.parametrize("board", ["nucleo_g0b1re", "nucleo_f207zg", "nucleo_h7a3zi_q"])
def test_two_profiles_are_equal(board: str, root: Path):
    assert profiled("digits_resnet", board, root) == profiled("digits_resnet", board, root)

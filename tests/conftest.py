"""Options, markers and fixtures that all tests share."""

import importlib.util
import math
import os
import re
import signal
import sys
import time
import zlib
from collections.abc import Callable, Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import hypothesis
import numpy as np
import pytest
from data_folder import DATA_VARIABLE, data_folder
from few_cases import mark_others_slow
from shared_builds import SharedBuilds

from edgec.toolchain import process
from edgec.toolchain.doctor import diagnose

HAS_TORCH = importlib.util.find_spec("torch") is not None
LOADS_TORCH = re.compile(r"^(import|from) torch\b", re.MULTILINE)
"""A module that cannot even be read without PyTorch; all its tests have the marker `torch`."""

# Every run tries the same examples; `--hypothesis-profile explore` tries others each time.
hypothesis.settings.register_profile("steady", derandomize=True)
hypothesis.settings.register_profile("explore", derandomize=False)
hypothesis.settings.load_profile("steady")

LAST_START = pytest.StashKey[float]()
"""Seconds since the epoch after which no test starts (--start-within)."""
TESTS = Path(__file__).resolve().parent
HELPERS = [path.stem for path in sorted((TESTS / "helpers").glob("*.py"))]
GOLDEN = TESTS / "golden"


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--update-golden",
        action="store_true",
        help="write the expected outputs in tests/golden anew",
    )
    parser.addoption(
        "--data-dir",
        help=f"folder of public networks and data (docs/data.md); default: ${DATA_VARIABLE}",
    )
    parser.addoption(
        "--start-within",
        type=float,
        metavar="SECONDS",
        help="skip tests that have not started so many seconds after the run began",
    )


def pytest_configure(config: pytest.Config) -> None:
    """Make the folder of --data-dir the one that tests and what they start read.

    Builds are not kept: a test compiles, and leaves the cache of whoever runs it alone.
    """
    os.environ["EDGEC_CACHE_LIMIT"] = "0"
    seconds = config.getoption("--start-within")
    end = time.time() + (math.inf if seconds is None else seconds)
    # Processes of xdist start later than the run.
    config.stash[LAST_START] = getattr(config, "workerinput", {}).get("last_start", end)
    chosen = config.getoption("--data-dir")
    if chosen:
        os.environ[DATA_VARIABLE] = str(Path(chosen).resolve())
    folder = data_folder()
    if folder is not None and not folder.is_dir():
        raise pytest.UsageError(f"no such data folder: {folder} (see docs/data.md)")


@pytest.hookimpl(optionalhook=True)
def pytest_configure_node(node: Any) -> None:
    """Tell a process of xdist what it needs to know of the run."""
    node.workerinput["last_start"] = node.config.stash[LAST_START]


def pytest_report_header() -> list[str]:
    """Say what is left out."""
    folder = data_folder()
    absent = [each for each in diagnose() if each.name.endswith("-gcc") and not each.ok]
    return [
        *(f"tests left out: {each.name} is {each.found}; {each.install}" for each in absent),
        f"public networks and data: {folder or 'none (docs/data.md)'}",
        *([] if HAS_TORCH else ["PyTorch: not installed; tests of training are left out"]),
    ]


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """Do not read modules that load PyTorch where it is missing or no test of them is to run."""
    if collection_path.suffix != ".py" or (HAS_TORCH and "not torch" not in config.option.markexpr):
        return None
    return bool(LOADS_TORCH.search(collection_path.read_text(encoding="utf-8"))) or None


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Skip what needs files or packages that are not here.

    Comes first: pytest chooses by markers (-m) in the same hook.
    """
    mark_others_slow(items)
    no_data = pytest.mark.skip(reason="no data folder: --data-dir (docs/data.md)")
    no_torch = pytest.mark.skip(reason="PyTorch is not installed (pip install '.[train]')")
    has_data = data_folder() is not None
    for item in items:
        if item.get_closest_marker("data") and not has_data:
            item.add_marker(no_data)
        if item.get_closest_marker("torch") and not HAS_TORCH:
            item.add_marker(no_torch)


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item: pytest.Item) -> None:
    """Skip a test whose turn comes too late."""
    if time.time() > item.config.stash[LAST_START]:
        pytest.skip("no time left: --start-within")


@pytest.fixture(scope="session", autouse=True)
def _builds(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SharedBuilds]:
    """Compilers and PlatformIO as `shared_builds` runs them, for all processes of the session."""
    own = tmp_path_factory.getbasetemp()
    session = own.parent if "PYTEST_XDIST_WORKER" in os.environ else own
    with pytest.MonkeyPatch.context() as patch:
        builds = SharedBuilds(session / "objects")
        patch.setattr(process, "run", builds.run)
        yield builds


@pytest.fixture(autouse=True)
def _same_random_numbers(request: pytest.FixtureRequest) -> None:
    """Start the generators of random numbers of the test's module and of the helpers anew.

    Each test draws the same numbers, whichever tests ran before it in its process.
    """
    modules = [module for module in (request.module, *_helpers()) if module is not None]
    for module in modules:
        for name in ("RNG", "_RNG"):
            if isinstance(generator := getattr(module, name, None), np.random.Generator):
                seed = zlib.crc32(module.__name__.encode())
                generator.bit_generator.state = type(generator.bit_generator)(seed).state


def _helpers() -> list[ModuleType]:
    """The modules of tests/helpers that are loaded."""
    return [sys.modules[name] for name in HELPERS if name in sys.modules]


@pytest.fixture(autouse=True)
def use_platformio(
    request: pytest.FixtureRequest, _builds: SharedBuilds
) -> Iterator[Callable[[bool], None]]:
    """Build with PlatformIO in tests marked so; the test may call this to change that."""

    def use(platformio: bool) -> None:
        _builds.platformio = platformio

    use(request.node.get_closest_marker("platformio") is not None)
    yield use
    use(False)


@pytest.fixture
def terminal_signals() -> Iterator[None]:
    """Signals as a shell in a terminal leaves them: a run in the background ignores two of them."""
    usual = {signal.SIGINT: signal.default_int_handler, signal.SIGHUP: signal.SIG_DFL}
    before = {number: signal.signal(number, handler) for number, handler in usual.items()}
    yield
    for number, handler in before.items():
        signal.signal(number, handler)


@pytest.fixture
def golden(request: pytest.FixtureRequest) -> Callable[[str, str], None]:
    """`golden(name, text)`: `text` must be what tests/golden/`name` holds."""

    def check(name: str, text: str) -> None:
        path = GOLDEN / name
        if request.config.getoption("--update-golden"):
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, "utf-8")
        assert path.is_file(), f"{path} is missing; run pytest --update-golden"
        assert text == path.read_text("utf-8"), f"{name} differs; see pytest --update-golden"

    return check

"""Options, markers and fixtures that all tests share."""

import importlib.util
import os
from collections.abc import Callable
from pathlib import Path

import pytest
from data_folder import DATA_VARIABLE, data_folder

GOLDEN = Path(__file__).resolve().parent / "golden"


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


def pytest_configure(config: pytest.Config) -> None:
    """Make the folder of --data-dir the one that tests and what they start read."""
    chosen = config.getoption("--data-dir")
    if chosen:
        os.environ[DATA_VARIABLE] = str(Path(chosen).resolve())
    folder = data_folder()
    if folder is not None and not folder.is_dir():
        raise pytest.UsageError(f"no such data folder: {folder} (see docs/data.md)")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Skip what needs files or packages that are not here."""
    no_data = pytest.mark.skip(reason="no data folder: --data-dir (docs/data.md)")
    no_torch = pytest.mark.skip(reason="PyTorch is not installed (pip install '.[train]')")
    has_data, has_torch = data_folder() is not None, importlib.util.find_spec("torch") is not None
    for item in items:
        if item.get_closest_marker("data") and not has_data:
            item.add_marker(no_data)
        if item.get_closest_marker("torch") and not has_torch:
            item.add_marker(no_torch)


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

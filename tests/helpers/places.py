"""Where the repository has what tests read."""

from pathlib import Path

REPOSITORY = Path(__file__).resolve().parents[2]
PACKAGE = REPOSITORY / "edgec"
NETWORKS = REPOSITORY / "networks"
HELPERS = REPOSITORY / "tests" / "helpers"

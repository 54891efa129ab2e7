"""Campaigns of hostile input: `python -m tests.fuzz CAMPAIGN --cases N --seed S` (docs/testing.md).

`campaign` has the records that a campaign is made of, `harness` runs the cases, each in a process
with limits of time and memory, `findings` keeps what failed as small files, and `campaigns` lists
the campaigns.
"""

import sys
from pathlib import Path

_HELPERS = str(Path(__file__).resolve().parents[1] / "helpers")
if _HELPERS not in sys.path:  # where pytest has not put it
    sys.path.insert(0, _HELPERS)

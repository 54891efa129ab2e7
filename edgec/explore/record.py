"""The outcome of a trial, as the storage keeps it beside the trial's values."""

from __future__ import annotations

from optuna.trial import FrozenTrial

from edgec.explore.trial import Outcome

OUTCOME = "edgec:outcome"
"""Key of the outcome among the attributes of a trial."""


def outcome_of(trial: FrozenTrial) -> Outcome:
    """The outcome of a finished trial."""
    kept = trial.user_attrs[OUTCOME]
    return Outcome(kept["figures"], kept["refused"], kept["found"])

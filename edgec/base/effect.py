"""Options that would have no effect are errors.

Whoever knows the facts writes a table: a row for each option and each condition under which alone
it has an effect.  `refuse_without_effect` is the one place that turns a row into an error.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from edgec.base.errors import ConfigError


@dataclass(frozen=True, slots=True)
class Effect:
    """A condition under which alone an option has an effect.

    Attributes:
        option: its name on the command line, e.g. "--observer".
        given: the user asked for it.
        holds: the condition is met.
        why: why the option has no effect where the condition is not met.
        hint: what to do then.
    """

    option: str
    given: bool
    holds: bool
    why: str
    hint: str = "leave the option out"


def refuse_without_effect(table: Iterable[Effect]) -> None:
    """Refuse options that were given and have no effect.

    Raises:
        ConfigError: names every option that the first unmet condition concerns, and says why.
    """
    idle = [row for row in table if row.given and not row.holds]
    if idle:
        options = dict.fromkeys(row.option for row in idle if row.why == idle[0].why)
        raise ConfigError(idle[0].why, where=", ".join(options), hint=idle[0].hint)

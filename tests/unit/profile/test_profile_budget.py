"""Budgets as the user writes them, and the stack that must fit its reserve."""

import pytest

from edgec.base.errors import BudgetError, ConfigError, MemoryPlanError
from edgec.base.options import Budget
from edgec.report.model import CheckReport
from edgec.target.board import load_board
from edgec.workflow.stack import stack_warnings

NUCLEO = load_board("nucleo")


@pytest.mark.parametrize(
    ("text", "budget"),
    [
        ("flash=256K,ram=64K,ms=50", Budget(262_144, 65_536, 50.0)),
        ("ms=0.25", Budget(time_ms=0.25)),
        ("flash=1M", Budget(flash_bytes=1_048_576)),
        ("ram=1000, flash=2k", Budget(2048, 1000)),
    ],
)
def test_budget_is_read(text: str, budget: Budget) -> None:
    assert Budget.parse(text) == budget


@pytest.mark.parametrize(
    "text",
    [
        *("", "flash", "flash=", "flash=-1", "flash=0", "flash=1G", "flash=1.5K", "ms=0", "ms=nan"),
        *("ms=1e3", "ram=1K,ram=2K", "time=3", "flash=1K;ram=2K", "flash=" + "9" * 400, "ms=٣"),
    ],
)
def test_other_texts_are_refused(text: str) -> None:
    with pytest.raises(ConfigError, match="cannot read"):
        Budget.parse(text)


def test_budget_errors_have_their_own_exit_code() -> None:
    assert BudgetError("x").exit_code == 11


def used(stack_bytes: int | None) -> list[CheckReport]:
    return [CheckReport("host", 3, 5), CheckReport("emulator", 1, 5, stack_bytes=stack_bytes)]


def test_stack_with_room_or_not_measured_is_silent() -> None:
    assert stack_warnings(used(3072), NUCLEO) == ()
    assert stack_warnings(used(None), NUCLEO) == ()
    assert stack_warnings(used(4000), load_board("host")) == ()


def test_nearly_full_stack_is_a_warning_and_a_full_one_an_error() -> None:
    (warning,) = stack_warnings(used(3080), NUCLEO)
    assert "3,080 of 4,096 bytes" in warning
    with pytest.raises(MemoryPlanError, match="4,096 of 4,096"):
        stack_warnings(used(4096), NUCLEO)

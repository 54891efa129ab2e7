"""Of tests with many like cases the default set runs a few."""

from collections.abc import Sequence

import pytest
from few_cases import few

pytest_plugins = ["pytester"]
CASES = range(21)


@pytest.mark.parametrize("count", [1, 2, 5, 21])
def test_the_kept_ones_are_far_apart(count: int):
    kept = few(CASES, count, "a test")
    assert len(kept) == count
    gaps = [b - a for a, b in zip(kept, [*kept[1:], kept[0] + len(CASES)], strict=True)]
    assert max(gaps) - min(gaps) <= 1


def test_other_tests_keep_others():
    firsts = {few(CASES, 1, f"test {number}")[0] for number in range(200)}
    assert firsts == set(CASES)


def test_few_of_fewer_are_all():
    cases: Sequence[str] = ["a", "b"]
    assert few(cases, 3, "a test") == cases


def test_the_others_are_slow(pytester: pytest.Pytester, request: pytest.FixtureRequest):
    helpers = request.config.rootpath / "tests" / "helpers"
    pytester.makeini("[pytest]\nmarkers =\n  slow\n  few_cases\n")
    pytester.makeconftest(
        f"""
        import sys
        sys.path.insert(0, {str(helpers)!r})
        from few_cases import mark_others_slow

        def pytest_collection_modifyitems(items):
            mark_others_slow(items)
        """
    )
    pytester.makepyfile(
        """
        import pytest

        @pytest.mark.few_cases(2)
        @pytest.mark.parametrize("core", range(6))
        def test_core(core): pass

        @pytest.mark.parametrize("core", range(3))
        def test_all(core): pass
        """
    )
    pytester.runpytest_inprocess("-m", "not slow").assert_outcomes(passed=5, deselected=4)
    pytester.runpytest_inprocess("-m", "slow").assert_outcomes(passed=4, deselected=5)
    pytester.runpytest_inprocess().assert_outcomes(passed=9)

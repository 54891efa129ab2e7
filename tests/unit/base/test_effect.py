"""`base.errors`: the one place that refuses options without effect."""

import pytest

from edgec.base.errors import ConfigError, Effect, refuse_without_effect


def test_only_options_that_were_given_and_have_no_effect_are_refused():
    refuse_without_effect([])
    refuse_without_effect([Effect("--a", False, False, "no"), Effect("--a", True, True, "no")])


def test_the_error_names_all_options_of_the_first_reason():
    table = [
        Effect("--a", True, True, "x"),
        Effect("--b", True, False, "y", "do z"),
        Effect("--c", True, False, "other"),
        Effect("--d", True, False, "y"),
        Effect("--b", True, False, "y"),
    ]
    with pytest.raises(ConfigError) as caught:
        refuse_without_effect(table)
    error = caught.value
    assert (error.what, error.where, error.hint) == ("y", "--b, --d", "do z")

"""The filters that templates may use."""

import pytest

from edgec.codegen.env import environment, html_environment


def test_nested_text_is_indented_by_blocks() -> None:
    template = environment().from_string(
        "{% filter nested(2) %}\nif {\n    x;\n}\n{% endfilter %}\n"
    )
    assert template.render() == "        if {\n            x;\n        }\n"


@pytest.mark.parametrize(
    ("source", "text"),
    [
        ("{{ 2.345 | fixed(2) }}", "2.35"),
        ("{{ 80.0 | general }}", "80"),
        ("{{ 0.1234 | percent(1) }}", "12.3 %"),
        ("{{ 1234567 | thousands }}", "1,234,567"),
    ],
)
def test_numbers_of_pages(source: str, text: str) -> None:
    assert html_environment().from_string(source).render() == text

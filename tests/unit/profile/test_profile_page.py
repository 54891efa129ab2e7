"""The HTML page: self-contained, escaped, always the same bytes; geometry inside its frame."""

import html.parser
import re

import pytest
from profile_samples import layer_profile, sample_profile, sample_report

from edgec.profile.charts import WIDTH, arena_chart, bar_chart, roofline
from edgec.profile.html import render_html
from edgec.profile.measured import Measurement, with_measurement

NASTY = "</title><script>alert(1)</script><img src=x onerror='x'>\"&amp;\u202e{{ 7*7 }}"


class Elements(html.parser.HTMLParser):
    """Collects elements and attributes as a browser sees them."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.attributes: list[tuple[str, str | None]] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.attributes += attrs


def test_names_from_models_stay_text() -> None:
    found = sample_profile(layer_profile(NASTY, 10, 100), layer_profile("b", 0, 50))
    page = render_html(found, sample_report(NASTY, "b"))
    elements = Elements(page)
    assert "script" not in elements.tags
    assert "img" not in elements.tags
    assert not any(name.startswith("on") for name, _ in elements.attributes)
    assert "{{ 7*7 }}" in page


def test_page_needs_nothing_from_elsewhere() -> None:
    page = render_html(sample_profile(), sample_report("a", "b"))
    elements = Elements(page)
    assert not {"script", "link", "img", "iframe", "object"} & set(elements.tags)
    assert not [name for name, _ in elements.attributes if name in ("src", "href")]
    assert not re.search(r"https?://|url\(|@import", page)
    assert "default-src 'none'" in page


def test_page_has_its_parts_and_is_the_same_each_time() -> None:
    found = with_measurement(sample_profile(), Measurement((2900, 600), 1))
    page = render_html(found, sample_report("a", "b"))
    for part in ("totals", "layers", "arena", "roofline", "table", "functions"):
        assert f'id="{part}"' in page
    assert page.count('class="bar"') == 2
    assert page.count('class="tensor"') == 2
    assert page.count('class="measured"') == 2
    assert "0.5 cycles per MAC" in page
    assert "a data sheet" in page
    assert page == render_html(found, sample_report("a", "b"))


def test_a_model_without_products_has_no_roofline() -> None:
    found = sample_profile(layer_profile("a", 0, 10))
    assert roofline(found) is None
    assert "No layer multiplies" in render_html(found, sample_report("a"))


@pytest.mark.parametrize("count", [1, 2, 37, 200])
def test_everything_lies_inside_the_pictures(count: int) -> None:
    names = [f"layer {index} " + "x" * index for index in range(count)]
    found = sample_profile(*(layer_profile(n, 10 + i, 3 + i * i) for i, n in enumerate(names)))
    report = sample_report(*names)
    for bar in bar_chart(found).bars:
        assert 0 < bar.ideal + bar.stalls <= WIDTH
    top = max(buffer.offset_bytes + buffer.size_bytes for buffer in report.buffers)
    arena = arena_chart(report.buffers, top, count)
    assert len(arena.boxes) == count
    for box in arena.boxes:
        assert arena.plot.left <= box.x
        assert box.x + box.width <= arena.plot.right + 0.5
        assert arena.plot.top - 0.5 <= box.y
        assert box.y + box.height <= arena.plot.bottom + 0.5
    roof = roofline(found)
    assert roof is not None
    for dot in roof.dots:
        assert roof.plot.left <= dot.x <= roof.plot.right
        assert roof.plot.top <= dot.y <= roof.plot.bottom
    assert sum(len(dot.label.split(",")) for dot in roof.dots) == count


def test_layers_at_one_place_share_a_dot() -> None:
    found = sample_profile(*(layer_profile(name, 1000, 3000) for name in "abc"))
    roof = roofline(found)
    assert roof is not None
    assert [dot.label for dot in roof.dots] == ["0, 1, 2"]

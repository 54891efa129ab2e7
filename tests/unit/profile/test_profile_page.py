"""The HTML page: self-contained, escaped, always the same bytes; geometry inside its frame."""

import html.parser
import random
import re
from dataclasses import replace

import pytest
from profile_samples import layer_profile, sample_profile, sample_report

from edgec.profile.charts import WIDTH, arena_chart, bar_chart, roofline
from edgec.profile.html import render_html
from edgec.profile.measured import Measurement, with_measurement
from edgec.report.model import BufferReport

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


def overlapping(one: tuple[float, ...], two: tuple[float, ...]) -> bool:
    return one[0] < two[2] and two[0] < one[2] and one[1] < two[3] and two[1] < one[3]


@pytest.mark.parametrize("count", [2, 5, 19, 60])
def test_labels_of_the_arena_are_apart_and_in_their_boxes(count: int) -> None:
    """Tensors that are written over each other, as in networks with residual additions."""
    generator = random.Random(count)
    buffers = []
    for index in range(count):
        first = generator.randrange(count)
        offset = generator.choice((0, 64, 512))
        size = generator.choice((64, 700, 1500))
        name = f"/block.{index}/attention/output_{index}"
        buffers.append(BufferReport(name, offset, size, first, first + generator.randrange(1, 6)))
    boxes = arena_chart(buffers, 2100, count).boxes
    places = [box.label_place for box in boxes if box.label]
    assert places
    for index, place in enumerate(places):
        assert not any(overlapping(place, other) for other in places[:index])
    for box in boxes:
        if box.label:
            left, top, right, bottom = box.label_place
            assert box.x <= left
            assert right <= box.x + box.width
            assert box.y <= top + 1
            assert bottom <= box.y + box.height + 1


def test_two_tensors_at_one_place_have_labels_on_two_lines() -> None:
    buffers = [BufferReport(name, 0, 1024, 0, 2) for name in ("first", "second")]
    one, two = arena_chart(buffers, 1024, 2).boxes
    assert {one.label, two.label} == {"first", "second"}
    assert one.label_y != two.label_y


def test_labels_of_bars_fit_left_of_the_bars() -> None:
    layer = replace(layer_profile("n" * 80, 10, 100), kernel="pooled_conv_responses_multiply")
    chart = bar_chart(sample_profile(layer))
    (bar,) = chart.bars
    assert len(bar.label) * 7.2 <= chart.label_x
    assert bar.label.endswith("multiply · 0")


class Wide(html.parser.HTMLParser):
    """Finds pictures and tables that no container lets scroll."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.found: list[str] = []
        self.loose: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag in ("svg", "table"):
            self.found.append(tag)
            if "scroll" not in self.open:
                self.loose.append(tag)
        if tag == "div":
            self.open.append(dict(attrs).get("class") or "")

    def handle_endtag(self, tag: str) -> None:
        if tag == "div":
            self.open.pop()


def test_wide_parts_scroll_instead_of_shrinking_or_being_clipped() -> None:
    page = render_html(sample_profile(), sample_report("a", "b"))
    wide = Wide(page)
    assert (sorted(wide.found), wide.loose) == (["svg"] * 3 + ["table"] * 2, [])
    style = page[page.index("<style>") : page.index("</style>")]
    assert re.search(r"\.scroll \{[^}]*overflow-x: auto", style)
    (least,) = re.findall(r"^svg \{[^}]*min-width: (\d+)px", style, re.M)
    # A text of 12 units is no smaller than 10 pixels.
    assert 12 * int(least) / WIDTH >= 10

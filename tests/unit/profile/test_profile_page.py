"""The HTML page: self-contained, escaped, always the same bytes; geometry inside its frame."""

import html.parser
import itertools
import random
import re
from dataclasses import replace

import pytest
from page_scripts import without_zoom
from profile_samples import layer_profile, sample_profile, sample_report

from edgec.profile.charts import arena_boxes, arena_chart, bar_chart, roofline, roofline_points
from edgec.profile.html import render_html
from edgec.profile.measured import Measurement, with_measurement
from edgec.profile.plot import HEIGHT, NARROW, WIDE, Tick, spaced
from edgec.profile.points import Point, label_box, labelled
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
    elements = Elements(without_zoom(page))
    assert "script" not in elements.tags
    assert "img" not in elements.tags
    assert not any(name.startswith("on") for name, _ in elements.attributes)
    assert "{{ 7*7 }}" in page


def test_page_needs_nothing_from_elsewhere() -> None:
    page = without_zoom(render_html(sample_profile(), sample_report("a", "b")))
    elements = Elements(page)
    assert not {"script", "link", "img", "iframe", "object"} & set(elements.tags)
    assert not [name for name, _ in elements.attributes if name in ("src", "href")]
    assert not re.search(r"https?://|url\(|@import", page)
    assert "default-src 'none'" in page


def test_page_has_its_parts_and_is_the_same_each_time() -> None:
    found = with_measurement(sample_profile(), Measurement((2900, 600), 1))
    page = render_html(found, sample_report("a", "b"))
    for part in ("cycles", "arena", "roofline", "table", "functions"):
        assert f'id="{part}"' in page
    assert page.count('class="bar"') == 2
    assert page.count('class="mark box ') == 2
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
    bars = bar_chart(found)
    for bar, layer in zip(bars, found.layers, strict=True):
        most = max(each.counts.cycles for each in found.layers)
        assert bar.ideal + bar.stalls == pytest.approx(100 * layer.counts.cycles / most)
    top = max(buffer.offset_bytes + buffer.size_bytes for buffer in report.buffers)
    boxes = arena_boxes(report.buffers, top, count)
    assert len(boxes) == len(arena_chart(report.buffers, top, count).marks) == count
    for box in boxes:
        assert 0 <= box.x < box.x + box.width <= 1 + 1e-9
        assert -1e-9 <= box.y < box.y + box.height <= 1 + 1e-9
    dots = roofline_points(found)
    assert all(0 <= dot.x <= 1 and 0 <= dot.y <= 1 for dot in dots)
    if count <= 37:
        assert sum(len(dot.label.split(",")) for dot in dots) == count


def test_layers_at_one_place_share_a_dot() -> None:
    found = sample_profile(*(layer_profile(name, 1000, 3000) for name in "abc"))
    assert [dot.label for dot in roofline_points(found)] == ["0, 1, 2"]
    many = sample_profile(*(layer_profile(name, 1000, 3000) for name in "abcdefgh"))
    (dot,) = roofline_points(many)
    assert dot.label == "0, 1, 2, 3, …"
    assert "7 h (conv2d)" in dot.title


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
    boxes = arena_boxes(buffers, 2100, count)
    for of, width in (("narrow", NARROW[0]), ("wide", WIDE[0])):
        shown = [(box, getattr(box, of)) for box in boxes if getattr(box, of) is not None]
        assert shown or of == "narrow"
        places = [box.label_place(line, width) for box, line in shown]
        for index, place in enumerate(places):
            assert not any(overlapping(place, other) for other in places[:index])
        for (box, _), (left, top, right, bottom) in zip(shown, places, strict=True):
            assert box.x <= left < right <= box.x + box.width
            assert box.y <= top < bottom <= box.y + box.height + 1e-9


def test_two_tensors_at_one_place_have_labels_on_two_lines() -> None:
    buffers = [BufferReport(name, 0, 1024, 0, 2) for name in ("first", "second")]
    one, two = arena_boxes(buffers, 1024, 2)
    assert {one.wide, two.wide} == {one.narrow, two.narrow} == {0, 1}


def test_labels_of_points_are_apart_at_every_width() -> None:
    generator = random.Random(1)
    points = [
        Point(generator.random(), generator.random(), 6.0, "", f"label {i}") for i in range(24)
    ]
    found = labelled(points, HEIGHT)
    for of, (low, high) in (("narrow", NARROW), ("wide", WIDE)):
        shown = [(each, getattr(each, of)) for each in found if getattr(each, of) is not None]
        assert len(shown) >= 10
        for step in range(9):
            width = low + (high - low) * step / 8
            boxes = [label_box(point, place, HEIGHT, width) for point, place in shown]
            for index, box in enumerate(boxes):
                assert not any(overlapping(box, other) for other in boxes[:index])
                assert 0 <= box[0] < box[2] <= width
                assert 0 <= box[1] < box[3] <= HEIGHT


def test_ticks_are_apart_and_narrow_pages_have_fewer() -> None:
    found = spaced([Tick(i / 99, f"{i:,}") for i in range(100)])
    narrow = [tick for tick in found if tick.narrow]
    assert 3 <= len(narrow) < len(found) < 100
    for ticks, width in ((found, WIDE[0]), (narrow, NARROW[0])):
        gaps = [width * (b.at - a.at) for a, b in itertools.pairwise(ticks)]
        assert min(gaps) >= 2 * 7.2
    assert spaced([]) == ()


def test_a_bar_says_what_it_is() -> None:
    layer = replace(layer_profile("n" * 80, 10, 100), kernel="pooled_conv_responses_multiply")
    (bar,) = bar_chart(sample_profile(layer))
    assert bar.name == f"0 {'n' * 80}"
    assert bar.kernel == "pooled_conv_responses_multiply"
    assert bar.value == "100 · 90.9% · 10.00/MAC"


class Wide(html.parser.HTMLParser):
    """Finds tables that no container lets scroll."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.found: list[str] = []
        self.loose: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag == "table":
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
    assert (sorted(wide.found), wide.loose) == (["table"] * 2, [])
    style = page[page.index("<style>") : page.index("</style>")]
    assert re.search(r"\.scroll \{[^}]*overflow-x: auto", style)

"""Every page with charts at three widths, light and dark, measured by a browser with its fonts."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from pathlib import Path

import pytest
from browser import ALL_PANELS, DARK, NEEDS_CHROMIUM, measured, measured_at
from page_samples import CYCLES, pages

pytestmark = NEEDS_CHROMIUM
NAMES = ("compile", "report", "profile", "evaluation", "compare", "widths", "pools", "explore")
_LABELS = ("widths", "pools", "compare")
WIDTHS = (400, 800, 1400)

MEASURE = r"""
(document, window) => {
const box = each => each.getBoundingClientRect(), style = each => window.getComputedStyle(each);
const of = names => [...document.querySelectorAll(names)].filter(each =>
    box(each).width > 0 && box(each).height > 0 && style(each).opacity != "0");
const meets = (a, b) => Math.min(a.right, b.right) - Math.max(a.left, b.left) > 1
    && Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top) > 3;

// Texts of a chart that lie over each other.
const overlaps = [];
for (const chart of of(".plot, .bars, .parallel")) {
    const texts = [...chart.querySelectorAll(
        ".tick, .label, .box-name, .y-name, .x-name, .what, .value, .hint")]
        .filter(each => box(each).width > 0);
    texts.forEach((a, i) => texts.slice(0, i).forEach(b => {
        if (meets(box(a), box(b))) overlaps.push(a.textContent + " | " + b.textContent);
    }));
}
for (const table of of("table")) {
    const cells = [...table.querySelectorAll("td, th")].filter(each => each.textContent);
    cells.forEach((a, i) => cells.slice(0, i).forEach(b => {
        if (meets(box(a), box(b))) overlaps.push(a.textContent + " | " + b.textContent);
    }));
}

// What is cut: beyond the window or its card without a way to scroll there, or in a hidden part.
const scrolls = each => each.closest(".scroll") !== null;
const cut = of(".plot *, .bars *, p, h1, h2, h3, .tile, .tile *, svg, figcaption, code, .ends")
    .filter(each => !scrolls(each) && !each.closest(".say"))
    .filter(each => box(each).right > window.innerWidth + 0.5 || box(each).left < -0.5
        || box(each).right > (each.closest("section") ? box(each.closest("section")).right : 1e9))
    .map(each => each.className + ": " + each.textContent);
const hidden = of("body *").filter(each => style(each).overflowX == "hidden"
    && style(each).textOverflow != "ellipsis" && each.scrollWidth > each.clientWidth + 1)
    .map(each => each.className);

// Data points are in their frames, and in the window without scrolling sideways.
const points = of(".point"), inside = points.filter(each => {
    const at = box(each), area = box(each.closest(".area"));
    const x = (at.left + at.right) / 2, y = (at.top + at.bottom) / 2;
    return x >= area.left - 1 && x <= area.right + 1 && y >= area.top - 1 && y <= area.bottom + 1
        && at.right <= window.innerWidth && at.left >= 0;
});
const labels = of(".area .label, .area .box-name").filter(each => {
    const at = box(each), area = box(each.closest(".area"));
    return at.left < area.left - 1 || at.right > area.right + 1
        || at.top < area.top - 1 || at.bottom > area.bottom + 1;
}).map(each => each.textContent);

const lengths = of(".bar .track").map(track =>
    [...track.querySelectorAll(".ideal, .stalls")].reduce((sum, i) => sum + box(i).width, 0)
        / box(track).width);
const tracks = new Set(of(".bar .track").map(each => Math.round(box(each).width)));

// Least contrast of a text with the card, by the formula of WCAG 2.
const rgb = text => text.match(/[\d.]+/g).slice(0, 3).map(Number);
const light = text => rgb(text).map(v => v / 255)
    .map(v => v <= 0.03928 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4)
    .reduce((sum, v, i) => sum + v * [0.2126, 0.7152, 0.0722][i], 0);
const card = light(style(document.querySelector("section")).backgroundColor);
const contrasts = of("p, td, th, h2, .tick, .label, .box-name, .what, .value").map(each => {
    const text = light(style(each).color);
    return (Math.max(text, card) + 0.05) / (Math.min(text, card) + 0.05);
});
return {overlaps, cut, hidden, lost: points.length - inside.length, points: points.length, labels,
    lengths, tracks: tracks.size, contrast: Math.min(...contrasts),
    texts: of(".area .label, .area .box-name").length,
    smallest: Math.min(...of("p, td, th, .tick, .label, .box-name, .what, .value, small, code")
        .map(each => parseFloat(style(each).fontSize))),
    sideways: document.documentElement.scrollWidth - window.innerWidth};
}
"""


@pytest.fixture(scope="module")
def written() -> Mapping[str, str]:
    return pages()


@pytest.mark.few_cases(4)
@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("name", NAMES)
def test_nothing_overlaps_and_nothing_is_cut(
    written: Mapping[str, str], tmp_path: Path, name: str, scheme: str
) -> None:
    page = tmp_path / f"{name}.html"
    page.write_text(written[name], "utf-8")
    options = [DARK] if scheme == "dark" else []
    at_widths = measured_at(page, tmp_path, MEASURE, WIDTHS, options)
    assert set(at_widths) == set(WIDTHS)
    for width, found in at_widths.items():
        where = f"{name}, {scheme}, {width} pixels: {json.dumps(found)}"
        assert found["overlaps"] == found["cut"] == found["hidden"] == found["labels"] == [], where
        assert found["sideways"] <= 0, where
        assert found["lost"] == 0, where
        assert found["smallest"] >= 10.5, where
        assert found["contrast"] >= 4.5, where
        assert found["points"] == written[name].count('class="mark point '), where
        if name in _LABELS or (width >= 800 and name not in ("explore", "evaluation")):
            assert found["texts"], where
        if name in ("profile", "report"):
            assert found["tracks"] == 1, where
            wanted = [cycles / max(CYCLES) for cycles in CYCLES]
            assert found["lengths"] == pytest.approx(wanted, abs=0.01), where


SAYS = r"""
document.head.insertAdjacentHTML("beforeend", PANELS);
const inputs = [...document.querySelectorAll(".mark input")];
const read = input => {
    input.focus();
    const say = input.parentElement.querySelector(".say"), at = say.getBoundingClientRect();
    const plot = input.closest(".plot").getBoundingClientRect();
    return {text: say.textContent, seen: getComputedStyle(say).opacity == "1",
        inside: at.left >= plot.left - 1 && at.right <= plot.right + 1
            && at.bottom <= plot.bottom + 1 && at.top >= plot.top};
};
const hidden = [...document.querySelectorAll(".say")]
    .filter(each => getComputedStyle(each).opacity != "0").length;
document.title = JSON.stringify({hidden, said: inputs.map(read),
    groups: new Set(inputs.map(each => each.name)).size,
    figures: document.querySelectorAll("figure.plot").length,
    named: document.querySelectorAll("figure.plot[aria-label]").length});
"""


@pytest.mark.few_cases(1)
@pytest.mark.parametrize("name", [name for name in NAMES if name != "evaluation"])
def test_marks_say_what_they_are_to_the_keyboard(
    written: Mapping[str, str], tmp_path: Path, name: str
) -> None:
    """Arrow keys move within a group of radio buttons; a label is what a screen reader says."""
    page = tmp_path / f"{name}.html"
    page.write_text(written[name], "utf-8")
    found = measured(page, tmp_path, f"const PANELS = {ALL_PANELS!r};{SAYS}", 800)
    assert found["hidden"] == 0
    assert found["said"]
    assert all(each["text"] and each["seen"] and each["inside"] for each in found["said"])
    marks = re.findall(r'<label class="mark [^"]*"[^>]*><input type="radio"', written[name])
    assert len(marks) == len(found["said"])
    assert found["figures"] == found["named"] >= found["groups"] >= 1


TABS = r"""
const shown = () => [...document.querySelectorAll(".panel")]
    .filter(each => each.getBoundingClientRect().height > 0).map(each => each.id);
const current = () => [...document.querySelectorAll(".tabs a")]
    .filter(each => getComputedStyle(each).fontWeight == "650").map(each => each.hash.slice(1));
const found = [[shown(), current(), "tab-summary"]];
for (const tab of document.querySelectorAll(".tabs a")) {
    location.hash = tab.hash;
    found.push([shown(), current(), tab.hash.slice(1)]);
}
location.hash = "#roofline";  // a part of a tab opens it
found.push([shown(), current(), "tab-profile"]);
document.title = JSON.stringify({found, top: window.scrollY});
"""


def test_tabs_show_one_part_without_a_script(written: Mapping[str, str], tmp_path: Path) -> None:
    page = tmp_path / "report.html"
    page.write_text(written["report"], "utf-8")
    found = measured(page, tmp_path, TABS, 800)["found"]
    assert len(found) == 1 + 7 + 1
    for shown, current, wanted in found:
        assert shown == current == [wanted]

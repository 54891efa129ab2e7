"""Plots can be enlarged: by buttons without a script, and by wheel, keys and dragging with one."""

from __future__ import annotations

import base64
import hashlib
import html
import json
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from browser import ALL_PANELS, NEEDS_CHROMIUM, browse
from page_samples import pages
from page_scripts import without_zoom

pytestmark = NEEDS_CHROMIUM
NAMES = ("compile", "profile", "compare", "widths", "pools", "explore")

FIND = r"""
const box = each => each.getBoundingClientRect();
const plot = [...document.querySelectorAll("figure.plot")]
    .find(each => each.querySelector(".mark"));
const view = plot.querySelector(".view"), area = plot.querySelector(".area");
const zoom = value => plot.querySelector(`.zoom [value="${value}"]`);
const inView = each => box(each).left >= box(view).left - 1
    && box(each).right <= box(view).right + 1 && box(each).top >= box(view).top - 1
    && box(each).bottom <= box(view).bottom + 1;
const shown = names => [...names].filter(each => box(each).width > 0);
const ticks = name => shown(plot.querySelectorAll(name + " .tick"));
const meets = (a, b) =>
    Math.min(box(a).right, box(b).right) - Math.max(box(a).left, box(b).left) > 1
    && Math.min(box(a).bottom, box(b).bottom) - Math.max(box(a).top, box(b).top) > 3;
const state = () => {
    const texts = [...ticks(".xs"), ...ticks(".ys")];
    const names = shown(area.querySelectorAll(".label, .box-name"));
    return {
        width: box(area).width, height: box(area).height, view: box(view).height,
        bars: view.scrollWidth > view.clientWidth + 1, left: view.scrollLeft, top: view.scrollTop,
        x: ticks(".xs").length, y: ticks(".ys").length,
        seen: ticks(".xs").filter(inView).length,
        side: box(plot.querySelector(".ys")).left - box(view).left,
        overlaps: [texts, names].flatMap(all => all.flatMap((a, i) => all.slice(0, i)
            .filter(b => meets(a, b)).map(b => a.textContent + " | " + b.textContent))),
        sideways: document.documentElement.scrollWidth - innerWidth,
        checked: plot.querySelector(".zoom :checked").value,
    };
};
const leave = found => { document.title = JSON.stringify(found); };
"""


@pytest.fixture(scope="module")
def written() -> Mapping[str, str]:
    return pages()


def found_by(text: str, tmp_path: Path, script: str, width: int = 800) -> Any:
    """What a script leaves in the title of a page whose policy lets this script run, too."""
    code = f"{FIND}{{{script}}}"
    digest = base64.b64encode(hashlib.sha256(code.encode()).digest()).decode()
    text = text.replace("script-src ", f"script-src 'sha256-{digest}' ")
    assert digest in text
    page = tmp_path / "page.html"
    page.write_text(text.replace("</body>", f"{ALL_PANELS}<script>{code}</script></body>"), "utf-8")
    size = f"--window-size={width},900"
    document = browse(page, tmp_path, [size, "--dump-dom", "--virtual-time-budget=5000"])
    (title,) = re.findall(r"<title>([\[{].*?[\]}])</title>", document)
    return json.loads(html.unescape(title))


BUTTONS = r"""
const found = [state()];
for (const value of [2, 4, 8, 1]) { zoom(value).click(); found.push(state()); }
leave(found);
"""


@pytest.mark.few_cases(2)
@pytest.mark.parametrize("width", [500, 1400])
@pytest.mark.parametrize("name", NAMES)
def test_buttons_enlarge_a_plot_without_a_script(
    written: Mapping[str, str], tmp_path: Path, name: str, width: int
) -> None:
    text = without_zoom(written[name]).replace("style-src", "script-src ; style-src")
    first, *zoomed, last = found_by(text, tmp_path, BUTTONS, width)
    assert first == last
    assert not first["bars"]
    for by, found in zip((2, 4, 8), zoomed, strict=True):
        assert found["checked"] == str(by)
        assert found["width"] == pytest.approx(by * first["width"], rel=0.01)
        assert found["height"] == pytest.approx(by * first["height"], rel=0.01)
        assert found["view"] == pytest.approx(first["view"], abs=16)
        assert found["bars"]
        assert found["x"] >= first["x"]
        assert found["y"] >= first["y"]
        assert found["overlaps"] == []
        assert found["sideways"] <= 0
    assert zoomed[-1]["y"] > first["y"]


SCRIPTED = r"""
const place = {x: Math.round(box(area).left + 0.7 * box(area).width),
    y: Math.round(box(area).top + 0.6 * box(area).height)};  // events have whole pixels
const share = {x: (place.x - box(area).left) / box(area).width,
    y: (place.y - box(area).top) / box(area).height};
const at = () => ({x: box(area).left + share.x * box(area).width,
    y: box(area).top + share.y * box(area).height});
const wheel = (dy, ctrlKey) => !view.dispatchEvent(new WheelEvent("wheel", {deltaY: dy, ctrlKey,
    clientX: place.x, clientY: place.y, bubbles: true, cancelable: true}));
const key = name => zoom(1).dispatchEvent(new KeyboardEvent("keydown",
    {key: name, bubbles: true, cancelable: true}));
const pointer = (type, x, y) => area.dispatchEvent(new PointerEvent(type,
    {clientX: x, clientY: y, pointerType: "mouse", bubbles: true}));
const found = {hint: getComputedStyle(plot.querySelector(".keys")).display};
found.plain = [wheel(-200, false), state()];
found.wheel = [-100, -100, -100, -100].map(dy => [wheel(dy, true), state(), at()]);
found.place = place;
found.back = [wheel(100, true), state(), at()];
key("-"); found.minus = state(); key("+"); found.plus = state();
pointer("pointerdown", 400, 300); pointer("pointermove", 350, 280);
found.dragged = [found.plus.left, view.scrollLeft, found.plus.top, view.scrollTop];
const mark = plot.querySelector(".mark input");
pointer("pointerup", 350, 280);
mark.checked = false; mark.click(); found.chosen = mark.checked;
pointer("pointerdown", 400, 300); pointer("pointercancel", 400, 300);
found.cancelled = [view.scrollLeft, view.scrollTop];
pointer("pointermove", 350, 280); found.cancelled.push(view.scrollLeft, view.scrollTop);
found.selects = [getComputedStyle(view).userSelect];
pointer("pointerdown", 400, 300); pointer("pointermove", 350, 280); pointer("pointerup", -9, 280);
setTimeout(() => {  // no click has followed
    mark.click(); found.later = mark.checked;
    key("0"); found.zero = state(); found.selects.push(getComputedStyle(view).userSelect);
    zoom(8).click(); view.scrollTo(view.scrollWidth, 0);
});
setTimeout(() => {
    zoom(4).click(); found.four = [view.scrollLeft, view.scrollWidth, view.clientWidth];
    zoom(1).click(); mark.focus(); leave(found);
}, 100);
"""


def test_wheel_keys_and_mouse_enlarge_and_move_a_plot(
    written: Mapping[str, str], tmp_path: Path
) -> None:
    found = found_by(written["report"], tmp_path, SCRIPTED, 1000)
    assert found["hint"] == "inline"
    handled, state = found["plain"]
    assert (handled, state["checked"]) == (False, "1")  # a page scrolls as ever
    zooms = [state["checked"] for _, state, _ in found["wheel"]]
    assert zooms == ["2", "4", "8", "8"]
    for handled, _, at in found["wheel"]:
        assert handled
        assert at == pytest.approx(found["place"], abs=3)  # the place that is pointed at
    assert found["back"][1]["checked"] == "4"
    assert found["back"][2] == pytest.approx(found["place"], abs=3)
    assert (found["minus"]["checked"], found["plus"]["checked"]) == ("2", "4")
    left, moved_left, top, moved_top = found["dragged"]
    assert (moved_left - left, moved_top - top) == pytest.approx((50, 20), abs=2)
    assert (found["chosen"], found["later"]) == (False, True)  # dragging chooses no mark
    assert found["cancelled"][:2] == found["cancelled"][2:]
    assert found["selects"] == ["none", "auto"]  # a drag selects no texts
    assert (found["zero"]["checked"], found["zero"]["left"]) == ("1", 0)
    for each in ("minus", "plus"):
        assert found[each]["side"] == pytest.approx(0, abs=1)  # the axis stays beside the plot
        assert found[each]["seen"] >= 2
    scrolled, whole, seen = found["four"]
    middle = (whole - 84) * (1 - 0.5 / 8)  # of the eighth that was shown
    assert scrolled + seen / 2 == pytest.approx(middle, rel=0.15)


def test_a_page_runs_no_script_but_its_own(written: Mapping[str, str], tmp_path: Path) -> None:
    page = tmp_path / "page.html"
    foreign = "<script>document.title = 'ran'</script><img src=x onerror=\"document.title='ran'\">"
    page.write_text(written["report"].replace("</body>", f"{foreign}</body>"), "utf-8")
    document = browse(page, tmp_path, ["--dump-dom", "--virtual-time-budget=3000"])
    assert "<title>ran" not in document
    assert re.search(r'<html[^>]* class="scripted"', document)

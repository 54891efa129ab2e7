"use strict";
{
// Where plots were scrolled to before their enlargement changed: the browser moves what became too wide.
const before = new WeakMap();
const zooms = plot => [...plot.querySelectorAll(".zoom input")];
const zoomOf = plot => Number(zooms(plot).find(each => each.checked).value);
const known = view => before.get(view) || {zoom: 1, left: 0, top: 0};
const remember = view =>
    before.set(view, {zoom: zoomOf(view.closest(".plot")), left: view.scrollLeft, top: view.scrollTop});

// The place at (x, y), in pixels from the corner of what is seen of the plot, stays where it is.
const keep = (view, x, y) => {
    const was = known(view), ratio = zoomOf(view.closest(".plot")) / was.zoom;
    view.scrollLeft = (was.left + x) * ratio - x;
    view.scrollTop = (was.top + y) * ratio - y;
    remember(view);
};
const corner = view => {
    const all = view.getBoundingClientRect(), side = view.querySelector(".ys").getBoundingClientRect();
    // Rows of the style: 6 pixels above the plot, 26 below.
    return {x: side.right, y: all.top + 6, width: all.right - side.right, height: all.height - 32};
};
const middle = view => keep(view, corner(view).width / 2, corner(view).height / 2);
const step = (plot, by) => {
    const all = zooms(plot), now = all.findIndex(each => each.checked);
    const next = all[Math.min(Math.max(now + by, 0), all.length - 1)];
    const changed = !next.checked;
    next.checked = true;
    return changed;
};

document.addEventListener("change", event => {
    const zoom = event.target.closest(".zoom");
    if (zoom) middle(zoom.closest(".plot").querySelector(".view"));
});
document.addEventListener("scroll", event => {
    if (event.target.classList && event.target.classList.contains("view")) remember(event.target);
}, true);

// The pinch of a touchpad comes as a wheel with Ctrl, in small parts.
let turned = 0;
document.addEventListener("wheel", event => {
    const view = event.target.closest(".view");
    if (!view || !(event.ctrlKey || event.metaKey)) return;
    event.preventDefault();
    turned += event.deltaMode ? 100 * event.deltaY : event.deltaY;
    if (Math.abs(turned) < 40) return;
    const from = corner(view), by = turned < 0 ? 1 : -1;
    turned = 0;
    if (step(view.closest(".plot"), by)) keep(view, event.clientX - from.x, event.clientY - from.y);
}, {passive: false});

document.addEventListener("keydown", event => {
    const plot = event.target.closest(".plot"), by = {"+": 1, "=": 1, "-": -1, "0": -9}[event.key];
    if (!plot || !plot.querySelector(".zoom") || !by || event.ctrlKey || event.metaKey || event.altKey) return;
    event.preventDefault();
    if (step(plot, by)) middle(plot.querySelector(".view"));
});

// Drag with the mouse; fingers and pens scroll by themselves.
let drag = null;
document.addEventListener("pointerdown", event => {
    const view = event.target.closest(".view");
    if (!view || event.pointerType != "mouse" || event.button || zoomOf(view.closest(".plot")) == 1) return;
    drag = {view, x: event.clientX, y: event.clientY, left: view.scrollLeft, top: view.scrollTop, far: false};
});
document.addEventListener("pointermove", event => {
    if (!drag) return;
    const x = event.clientX - drag.x, y = event.clientY - drag.y;
    drag.far = drag.far || Math.abs(x) + Math.abs(y) > 4;
    if (drag.far) drag.view.scrollTo(drag.left - x, drag.top - y);
});
document.addEventListener("pointerup", () => {
    if (drag && drag.far) {
        // A click that follows at once would choose a mark; outside the window, none follows.
        const stop = event => event.preventDefault();
        addEventListener("click", stop, true);
        setTimeout(() => removeEventListener("click", stop, true));
    }
    drag = null;
});
document.addEventListener("pointercancel", () => { drag = null; });
document.documentElement.classList.add("scripted");
}

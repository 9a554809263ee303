// What every chart has around its plot: a caption, a legend with values, its size, a place that the pointer and the
// arrow keys move, its figures in words.

import { h, mount, setText } from "../dom.js";
import { theme } from "../theme.js";
import { surface } from "./surface.js";
import { toneColour } from "./tone.js";

export const HEIGHT = 220;

// parts: what differs between the kinds of chart, each a function that is asked whenever something is drawn.
//   series() -> [{ label, tone }] · shown(index, at) -> text · when(at) -> text · steps() -> how many places there are
//   draw(surface, isHidden) -> { find(x, y) -> place or null, mark(surface, at) } · inWords() -> text
// A place is null where nobody points. -> { element, update(isOther), destroy() }; isOther: other series than before.
export function frame(options, parts) {
  const host = h("div", {
    class: "chart-plot", tabindex: "0", role: "slider", "aria-readonly": "true", "aria-valuemin": "0",
    on: { pointermove: follow, pointerleave: () => goTo(null), keydown: walk, blur: () => goTo(null) },
  });
  const legend = h("ul", { class: "chart-legend" });
  const words = h("p", { class: "unseen" });
  const element = h("figure", { class: "chart" },
    options.title && h(
      "figcaption", null, options.title, options.unit && h("span", { class: "unit" }, ` ${options.unit}`), options.tools
    ),
    host, legend, words);
  const height = () => options.height ?? HEIGHT;
  const canvas = surface(host);
  const hidden = new Set();
  const isHidden = (index) => hidden.has(parts.series()[index].label);
  let legendValues = [];
  let drawn = null; // null: it has no size yet
  let at = null;

  function say() {
    parts.series().forEach((_, index) => setText(legendValues[index], parts.shown(index, at)));
    legend.dataset.when = parts.when(at);
    const shown = parts.series().map((one, index) => `${one.label} ${parts.shown(index, at)}`).join(", ");
    host.setAttribute("aria-valuetext", `${parts.when(at)}: ${shown}`);
    host.setAttribute("aria-valuenow", String(at ?? Math.max(0, parts.steps() - 1)));
    host.setAttribute("aria-valuemax", String(Math.max(0, parts.steps() - 1)));
  }

  function goTo(place) {
    if (place === at || !drawn) return;
    at = place;
    canvas.clearAbove();
    if (at !== null) drawn.mark(canvas, at);
    say();
  }

  function follow(event) {
    const box = host.getBoundingClientRect();
    goTo(drawn?.find(event.clientX - box.left, event.clientY - box.top) ?? null);
  }

  function walk(event) {
    const last = parts.steps() - 1;
    const next = {
      ArrowRight: () => (at === null ? last : at + 1), ArrowLeft: () => (at ?? last + 1) - 1,
      ArrowDown: () => (at === null ? 0 : at + 1), ArrowUp: () => (at ?? last + 1) - 1,
      Home: () => 0, End: () => last,
    }[event.key];
    if (!next || last < 0) return;
    event.preventDefault();
    goTo(Math.max(0, Math.min(last, next())));
  }

  function drawLegend() {
    legendValues = parts.series().map(() => h("span", { class: "chart-value" }));
    mount(legend, parts.series().map((one, index) => {
      const swatch = h("span", { class: "swatch" });
      swatch.style.setProperty("background", toneColour(one.tone, index));
      const toggle = h("button", { type: "button", "aria-pressed": String(!hidden.has(one.label)), on: { click: () => {
        if (!hidden.delete(one.label)) hidden.add(one.label);
        toggle.setAttribute("aria-pressed", String(!hidden.has(one.label)));
        draw();
      } } }, swatch, one.label);
      return h("li", null, toggle, legendValues[index]);
    }));
  }

  function draw() {
    const width = host.clientWidth;
    if (!width) return; // not on the page: it is drawn when it has a size
    host.style.setProperty("min-height", `${height()}px`);
    if (canvas.width !== width || canvas.height !== height()) canvas.resize(width, height());
    if (!drawn) drawLegend();
    canvas.clear();
    canvas.clearAbove();
    drawn = parts.draw(canvas, isHidden);
    if (at !== null && at >= parts.steps()) at = null;
    if (at !== null) drawn.mark(canvas, at);
    say();
    setText(words, parts.inWords());
    const named = options.label ?? options.title ?? parts.series().map((one) => one.label).join(", ");
    host.setAttribute("aria-label", `${named}: values`);
  }

  function drawAnew() {
    drawn = null;
    draw();
  }

  host.style.setProperty("min-height", `${height()}px`);
  host.setAttribute("aria-label", options.label ?? options.title ?? "Chart");
  host.setAttribute("aria-valuenow", "0");
  const watch = new ResizeObserver(() => {
    if (host.clientWidth && host.clientWidth !== canvas.width) draw();
  });
  watch.observe(host);
  const forget = theme.onChange(drawAnew);
  return {
    element,
    update: (isOther) => (isOther ? drawAnew() : draw()),
    destroy() {
      watch.disconnect();
      forget();
    },
  };
}

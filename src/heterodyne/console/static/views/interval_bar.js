// One number that is known to lie between two others, on a line with the marks that it is judged by.

import { h } from "../lib/dom.js";

const LEFT = -1.5; // of the furthest mark: what is drawn of a bar that reaches far beyond all that matters
const RIGHT = 2.5;

// intervalBar({ label, low, high, tone, marks: [{ name, value, tone }] }) -> Node
// `low` and `high` may be null: nothing is known, and the bar takes the whole line.
export function intervalBar({ label, low, high, tone, marks }) {
  const unit = Math.max(...marks.map((mark) => mark.value));
  const place = (value) => Math.max(0, Math.min(100, ((value / unit - LEFT) / (RIGHT - LEFT)) * 100));
  const [from, to] = [low === null ? 0 : place(low), high === null ? 100 : place(high)];
  const bar = h("span", {
    class: [
      "interval-bar", `interval-${low === null && high === null ? "unknown" : tone}`,
      from === 0 && "is-open-low", to === 100 && "is-open-high",
    ],
  });
  bar.style.setProperty("left", `${from}%`);
  bar.style.setProperty("width", `${Math.max(to - from, 0.6)}%`);
  const lines = [{ name: "no change", value: 0, tone: "zero" }, ...marks].map((mark) => {
    const line = h("span", { class: `interval-mark mark-${mark.tone}`, title: mark.name });
    line.style.setProperty("left", `${place(mark.value)}%`);
    return line;
  });
  return h("div", { class: "interval", role: "img", "aria-label": label }, bar, lines);
}

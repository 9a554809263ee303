// A line without axes, for a cell or a card.

import { h } from "../dom.js";
import { pale, theme } from "../theme.js";
import { drawDot, drawLine } from "./marks.js";
import { linear } from "./scale.js";
import { surface } from "./surface.js";
import { toneColour } from "./tone.js";

const EDGE_PX = 2;

// -> { element, update(values, label?), destroy() }; gaps are spanned.
export function spark(values, { label = "", tone = "accent", width = 120, height = 28 } = {}) {
  let shown = values;
  const host = h("div", { class: "spark", role: "img", "aria-label": label });
  const canvas = surface(host);
  canvas.resize(width, height);

  function draw() {
    canvas.clear();
    const there = shown.flatMap((value, index) => (value === null ? [] : [[index, value]]));
    const known = there.map(([, value]) => value);
    const high = Math.max(0, ...known);
    const x = linear([0, Math.max(1, shown.length - 1)], [1, width - 1]);
    const y = linear([Math.min(0, ...known), high > 0 ? high : 1], [height - EDGE_PX, EDGE_PX]);
    const points = there.map(([index, value]) => [x(index), y(value)]);
    const stroke = toneColour(tone, 0);
    if (points.length > 1) {
      drawLine(canvas.picture, points, { stroke, width: 1.25, fill: pale(stroke, 0.12), base: y(0) });
    } else if (points.length === 1) drawDot(canvas.picture, points[0], stroke);
  }

  draw();
  const forget = theme.onChange(draw);
  return {
    element: host,
    update(newValues, newLabel) {
      if (newLabel) host.setAttribute("aria-label", newLabel);
      if (newValues.length === shown.length && newValues.every((value, index) => value === shown[index])) return;
      shown = newValues;
      draw();
    },
    destroy: forget,
  };
}

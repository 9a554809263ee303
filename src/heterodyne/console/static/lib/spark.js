// A line without axes, for a cell or a card.

import { toneColour } from "./chart_options.js";
import { h } from "./dom.js";
import { pale, theme } from "./theme.js";

// -> { element, update(values), destroy() }
export function spark(values, { label = "", tone = "accent", width = 120, height = 28 } = {}) {
  let shown = values;
  const host = h("div", { class: "spark", role: "img", "aria-label": label });
  const data = () => [shown.map((_, index) => index), shown];
  const build = () => ({
    width, height,
    legend: { show: false }, cursor: { show: false }, padding: [2, 1, 2, 1],
    axes: [{ show: false }, { show: false }],
    scales: { x: { time: false }, y: { range: (_, low, high) => [Math.min(0, low ?? 0), (high ?? 0) > 0 ? high : 1] } },
    series: [{}, {
      stroke: toneColour(tone, 0), width: 1.25, points: { show: () => isSparse(shown), size: 4 }, spanGaps: true,
      fill: pale(toneColour(tone, 0), 0.12),
    }],
  });
  let plot = new uPlot(build(), data(), host);
  const forget = theme.onChange(() => {
    plot.destroy();
    plot = new uPlot(build(), data(), host);
  });
  return {
    element: host,
    update(newValues, newLabel) {
      if (newLabel) host.setAttribute("aria-label", newLabel);
      if (newValues.length === shown.length && newValues.every((value, index) => value === shown[index])) return;
      shown = newValues;
      plot.setData(data());
    },
    destroy() {
      forget();
      plot.destroy();
    },
  };
}

// A line needs two points; fewer are shown as dots.
const isSparse = (values) => values.filter((value) => value !== null).length < 2;

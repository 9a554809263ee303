// What every chart has around its plot: a caption, a legend with values, its size, its colours, its figures in words.

import { toneColour } from "./chart_options.js";
import { h, mount, setText } from "./dom.js";
import { theme } from "./theme.js";

export const HEIGHT = 220;

// parts: what differs between the kinds of chart, each a function that is asked whenever something is drawn.
// -> { element, update(isOther), destroy() }; isOther: the series are not those of before.
export function frame(options, parts) {
  const plotHost = h("div", { class: "chart-plot", "aria-hidden": "true" });
  const legend = h("ul", { class: "chart-legend" });
  const words = h("p", { class: "unseen" });
  const element = h("figure", { class: "chart" },
    options.title && h(
      "figcaption", null, options.title, options.unit && h("span", { class: "unit" }, ` ${options.unit}`)
    ),
    plotHost, legend, words);
  const height = () => options.height ?? HEIGHT;
  plotHost.style.setProperty("min-height", `${height()}px`);
  let plot = null;
  let legendValues = [];
  const hidden = new Set();

  function write(at) {
    parts.series().forEach((_, index) => {
      const value = parts.shown(index, at ?? parts.last());
      setText(legendValues[index], at === null && parts.last() === null ? "" : parts.write(value));
    });
    legend.dataset.when = parts.when(at);
  }

  function drawLegend() {
    legendValues = parts.series().map(() => h("span", { class: "chart-value" }));
    mount(legend, parts.series().map((one, index) => {
      const swatch = h("span", { class: "swatch" });
      swatch.style.setProperty("background", toneColour(one.tone, index));
      const toggle = h("button", { type: "button", "aria-pressed": String(!hidden.has(one.label)), on: { click: () => {
        if (!hidden.delete(one.label)) hidden.add(one.label);
        toggle.setAttribute("aria-pressed", String(!hidden.has(one.label)));
        plot?.setSeries(index + 1, { show: !hidden.has(one.label) });
      } } }, swatch, one.label);
      return h("li", null, toggle, legendValues[index]);
    }));
  }

  function build() {
    plot?.destroy();
    plot = null;
    const width = plotHost.clientWidth;
    if (!width) return; // not on the page: it is drawn when it has a size
    plotHost.style.setProperty("min-height", `${height()}px`);
    const made = parts.options({ width, height: height() });
    made.hooks = { setCursor: [(u) => write(u.cursor.idx ?? null)] };
    made.series.slice(1).forEach((one, index) => { one.show = !hidden.has(parts.series()[index].label); });
    plot = new uPlot(made, parts.data(), plotHost);
    drawLegend();
    write(null);
    setText(words, parts.inWords());
  }

  const watch = new ResizeObserver(() => {
    const width = plotHost.clientWidth;
    if (!width) return;
    if (!plot) build();
    else if (plot.width !== width) plot.setSize({ width, height: height() });
  });
  watch.observe(plotHost);
  const forget = theme.onChange(build);
  return {
    element,
    update(isOther) {
      if (isOther || !plot) return build();
      plot.setData(parts.data());
      write(plot.cursor.idx ?? null);
      setText(words, parts.inWords());
    },
    destroy() {
      watch.disconnect();
      forget();
      plot?.destroy();
      plot = null;
    },
  };
}

// Operating curves: what being faster costs. Each line is one way to serve, from one request at once to as many as the
// targets allow; to the left it is cheaper, below it is faster. lib/chart.js has the charts of time and of bars.

import { h, mount } from "../lib/dom.js";
import { ms, usd } from "../lib/format.js";
import { colour, theme } from "../lib/theme.js";
import { tabs } from "../lib/widgets.js";

const HEIGHT = 300;
const LINES_MAX = 6; // more cannot be told apart
const MEASURES = [{ id: "ttft_ms", title: "First token" }, { id: "itl_ms", title: "Between tokens" }];

// -> { element, destroy() }; null where nothing has a price
export function operatingCurves(choices) {
  const priced = choices.filter((choice) => choice.usd_per_million_tokens !== null && choice.curve.length > 1);
  const lines = priced.slice(0, LINES_MAX);
  if (!lines.length) return null;
  let measure = MEASURES[0].id;
  let plot = null;
  const place = h("div", { class: "chart-plot", "aria-hidden": "true" });
  const words = h("p", { class: "unseen" });
  const pick = tabs({ label: "Time", items: MEASURES, value: measure, onChange: (id) => {
    measure = id;
    draw();
  } });
  const legend = h("ul", { class: "chart-legend" });
  const element = h("figure", { class: "chart" },
    h("figcaption", { class: "curve-head" }, "Latency against dollars per million tokens", pick.element),
    place, legend, words);

  function draw() {
    plot?.destroy();
    plot = null;
    const width = place.clientWidth;
    if (!width) return;
    plot = new uPlot(optionsOf(lines, width), dataOf(lines, measure), place);
    mount(legend, lines.map((line, index) => {
      const swatch = h("span", { class: "swatch" });
      swatch.style.setProperty("background", colour(`series-${index + 1}`));
      return h("li", null, swatch, nameOf(line));
    }));
    mount(words, lines.map((line) => inWords(line, measure)).join("; "));
  }

  place.style.setProperty("min-height", `${HEIGHT}px`);
  const watch = new ResizeObserver(() => {
    if (place.clientWidth && plot?.width !== place.clientWidth) draw();
  });
  watch.observe(place);
  const forget = theme.onChange(draw);
  return {
    element,
    destroy() {
      watch.disconnect();
      forget();
      plot?.destroy();
    },
  };
}

// All prices of all lines share one axis; a line has nothing at the prices of the others.
function dataOf(lines, measure) {
  const all = lines.flatMap((line) => line.curve.map((point) => point.usd_per_million_tokens));
  const prices = [...new Set(all)].sort((a, b) => a - b);
  return [prices, ...lines.map((line) => {
    const byPrice = new Map(line.curve.map((point) => [point.usd_per_million_tokens, point[measure]]));
    return prices.map((price) => byPrice.get(price) ?? null);
  })];
}

function optionsOf(lines, width) {
  const axis = (own) => ({
    stroke: colour("muted"), font: "11px system-ui, sans-serif", ticks: { show: false },
    grid: { stroke: colour("line"), width: 1 }, ...own,
  });
  const written = (write) => (_, splits) => splits.map((value) => (value === null ? "" : write(value)));
  return {
    width, height: HEIGHT, legend: { show: false }, cursor: { drag: { x: false, y: false } }, padding: [8, 16, 0, 0],
    scales: { x: { time: false, distr: 3 }, y: { distr: 3 } },
    axes: [
      axis({ values: written(usd), filter: roundOnes, size: 30 }),
      axis({ values: written(ms), filter: roundOnes, size: 64 }),
    ],
    series: [{}, ...lines.map((line, index) => ({
      label: nameOf(line), stroke: colour(`series-${index + 1}`), width: 1.5, spanGaps: true,
      points: { show: true, size: 5 },
    }))],
  };
}

// On a logarithmic axis 1, 2 and 5 of each decade are named.
function roundOnes(_, splits) {
  const digit = (value) => Math.round(value / 10 ** Math.floor(Math.log10(value) + 1e-9));
  return splits.map((value) => ([1, 2, 5].includes(digit(value)) ? value : null));
}

function nameOf(line) {
  return `${line.tp} × ${line.hardware}`;
}

function inWords(line, measure) {
  const [first, last] = [line.curve[0], line.curve.at(-1)];
  return `${nameOf(line)}: ${ms(first[measure])} for ${usd(first.usd_per_million_tokens)} with one request at once, `
    + `${ms(last[measure])} for ${usd(last.usd_per_million_tokens)} with ${last.concurrency}`;
}
